"""The page Judge over HTTP: forms, scripts, tokens, many assessors at once."""

from __future__ import annotations

import io
import os
import re
import shutil
import signal
import subprocess
import sys
import uuid
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import AsyncMock

import pytest

import sicetnon
from sicetnon.cli import main
from sicetnon.judging import JudgingFile
from sicetnon.judging.votes import events, progress, standing_votes
from sicetnon.web.settings import Settings
from support.databases import opened_database
from support.debates import both_sides
from support.judging_cases import GONE, key
from support.judging_pages import TOPICS, Assessor, form_of, forms, sample_pool
from support.served import served

IDS = [str(number) for number in range(8)]
LITTLE = 200_000
"""Bytes left on a disk that is soon full."""


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> sicetnon.Index:
    return both_sides(tmp_path_factory.mktemp("web") / "index")


@pytest.fixture
def pool(tmp_path: Path) -> Path:
    return sample_pool(tmp_path / "pool.sqlite", IDS, dimensions=("relevance", "side"))


@pytest.fixture
def anna(index: sicetnon.Index, pool: Path) -> Iterator[Assessor]:
    with served(index, Settings(judging=pool)) as client:
        yield Assessor(client.url, "anna")


def votes(pool: Path) -> list[tuple[str, str]]:
    with JudgingFile(pool) as file:
        return [(each.dimension, each.label) for each in standing_votes(file)]


class TestForms:
    def test_a_vote_leads_to_what_comes_next(self, anna: Assessor, pool: Path) -> None:
        page = anna.page()
        first = form_of(page, "vote")
        assert any(title.split("<")[0] in page for title in TOPICS.values())
        answer = anna.submit(first | {"label": "2"})
        assert (answer.status, answer.headers["location"]) == (303, "/judge?assessor=anna")
        assert votes(pool) == [("relevance", "2")]
        again = anna.page()
        assert form_of(again, "vote")["item"] == first["item"]
        second = next(each for each in forms(again) if each.get("dimension") == "side")
        assert anna.submit(second | {"label": "FOR"}).status == 303
        assert form_of(anna.page(), "vote")["item"] != first["item"]
        # a form that is sent again, as by a reload, changes nothing
        assert anna.submit(second | {"label": "FOR"}).status == 303
        assert votes(pool) == [("relevance", "2"), ("side", "FOR")]

    def test_undo_skip_and_note(self, anna: Assessor, pool: Path) -> None:
        page = anna.page()
        item = form_of(page, "skip")["item"]
        note = anna.submit(form_of(page, "note") | {"note": "a\r\n<b>"})
        assert note.headers["location"] == f"/judge?assessor=anna&item={item}"
        assert "a\n&lt;b&gt;</textarea>" in anna.page(note.headers["location"])
        assert anna.submit(form_of(page, "skip")).status == 303
        page = anna.page()
        assert form_of(page, "skip")["item"] != item
        undone = anna.submit(form_of(page, "undo"))
        assert undone.headers["location"] == f"/judge?assessor=anna&item={item}&undone=1"
        assert "Undone" in anna.page(undone.headers["location"])
        assert form_of(anna.page(undone.headers["location"]), "vote")["item"] == item
        with JudgingFile(pool) as file:
            assert [each["kind"] for each in events(file)] == ["note", "skip", "undo"]

    def test_a_document_is_undone_whole(self, anna: Assessor, pool: Path) -> None:
        for dimension, label in (("relevance", "2"), ("side", "FOR")):
            page = anna.page()
            form = next(each for each in forms(page) if each.get("dimension") == dimension)
            assert anna.submit(form | {"label": label}).status == 303
        page = anna.page()
        once = form_of(page, "undo")
        for _ in range(2):  # a form that is sent again changes nothing
            assert anna.submit(once).headers["location"].endswith(f"item={form['item']}&undone=1")
            assert votes(pool) == []

    def test_what_is_no_argument_is_asked_for_nothing_else(
        self, index: sicetnon.Index, tmp_path: Path
    ) -> None:
        pool = sample_pool(
            tmp_path / "task.sqlite",
            IDS,
            task="touche-2020-task-1",
            dimensions=("relevance", "quality", "side"),
        )
        with served(index, Settings(judging=pool)) as client:
            self.judge_no_argument(Assessor(client.url, "anna"), pool)

    def judge_no_argument(self, anna: Assessor, pool: Path) -> None:
        form = form_of(anna.page(), "vote")
        for _ in range(2):
            assert anna.submit(form | {"label": "-2"}).status == 303
            assert votes(pool) == [("quality", "0"), ("relevance", "-2"), ("side", "NONE")]
        page = anna.page()
        assert "1 of 16 judged" in page
        assert anna.submit(form_of(page, "undo")).status == 303
        assert votes(pool) == []
        assert anna.submit(form | {"item": str(2**70), "label": "-2"}).status in (409, 422)

    def test_the_overview_has_the_judgments_to_download(self, anna: Assessor) -> None:
        assert "/judge/overview?assessor=anna" in anna.page()
        page = anna.page("/judge/overview?assessor=anna")
        assert "0 of 16 judged" in page
        assert 'href="/judge/judgments"' in page
        assert "needs a second assessor" in anna.page("/judge/agreement")

    def test_texts_are_escaped(self, anna: Assessor) -> None:
        found = anna.ahead(16)
        assert len(found["items"]) == 16
        pages = "".join(each["html"] for each in found["items"])
        assert "Is homework &lt;b&gt;useful&lt;/b&gt;?" in pages
        assert "<b>useful" not in pages

    def test_the_rank_is_hidden(self, anna: Assessor) -> None:
        pages = "".join(each["html"] for each in anna.ahead(16)["items"])
        assert not re.search(r"\brank\b|\bscore\b", pages)
        order = re.findall(r"<code><bdi>(\d+)</bdi></code>", pages)
        assert sorted(order[:8]) == IDS != order[:8]

    @pytest.mark.parametrize(
        "change",
        [{"csrf": ""}, {"csrf": "0" * 64}, {"label": "7"}, {"item": "x"}, {"item": "999"}],
    )
    def test_what_cannot_be_saved(self, anna: Assessor, pool: Path, change: dict[str, str]) -> None:
        form = form_of(anna.page(), "vote") | {"label": "1"} | change
        assert anna.submit(form).status in (403, 409, 422)
        assert votes(pool) == []

    def test_a_form_of_another_browser_is_refused(self, anna: Assessor, pool: Path) -> None:
        form = form_of(anna.page(), "vote") | {"label": "1"}
        anna.cookie = "sicetnon-session=mine"
        assert anna.submit(form).status == 403
        anna.cookie = ""
        assert anna.submit(form).status == 403
        assert votes(pool) == []

    @pytest.mark.parametrize("site", ["cross-site", "same-site"])
    def test_another_site_takes_no_documents(self, anna: Assessor, pool: Path, site: str) -> None:
        headers = {"Sec-Fetch-Site": site}
        page = anna.ask("GET", "/judge?assessor=eve", headers=headers)
        assert b"Who judges?" in page.data
        assert anna.ask("GET", "/judge/next?assessor=eve", headers=headers).status == 403
        with JudgingFile(pool) as file:
            assert progress(file).assessors == []

    def test_pages_without_a_pool(self, index: sicetnon.Index) -> None:
        with served(index) as client:
            visitor = Assessor(client.url, "anna")
            assert "Nothing to judge" in visitor.page()
            assert visitor.ask("GET", "/judge/next?assessor=anna").status == 404
            assert visitor.ask("GET", "/judge/agreement").status == 404

    def test_progress_and_agreement(self, anna: Assessor) -> None:
        assert "Who judges?" in anna.page("/judge")
        anna.submit(form_of(anna.page(), "vote") | {"label": "2"})
        assert "anna" in anna.page("/judge")
        assert "No two assessors differ" in anna.page("/judge/agreement")
        assert "No document has two votes yet" in anna.page("/judge/agreement")
        assert anna.ask("GET", "/judge?assessor=%00").status == 422

    def test_judgments_are_downloaded(self, anna: Assessor) -> None:
        assert anna.ask("GET", "/judge/judgments").status == 422  # there is no vote yet
        anna.submit(form_of(anna.page(), "vote") | {"label": "2"})
        assert "/judge/judgments" in anna.page("/judge")
        packed = anna.ask("GET", "/judge/judgments?by=lowest")
        with zipfile.ZipFile(io.BytesIO(packed.data)) as archive:
            names = archive.namelist()
            lines = [archive.read(name).decode() for name in names if name.endswith(".qrels")]
        assert "votes.jsonl" in names
        assert any(line.split()[3:] == ["2"] for text in lines for line in text.splitlines())


class TestScripts:
    def test_actions_have_receipts(self, anna: Assessor, pool: Path) -> None:
        found = anna.ahead(3)
        actions: list[dict[str, Any]] = [
            {
                "key": key(),
                "kind": "vote",
                "item": each["id"],
                "dimension": "relevance",
                "label": "1",
            }
            for each in found["items"]
        ]
        actions.append({"key": key(), "kind": "undo", "item": actions[0]["item"]})
        actions[-1]["target"] = actions[0]["key"]
        said = anna.send(actions, found["csrf"]).json()
        assert [each["outcome"] for each in said["receipts"]] == ["saved"] * 4
        again = anna.send(actions, found["csrf"]).json()
        assert [each["outcome"] for each in again["receipts"]] == ["repeated"] * 4
        assert len(votes(pool)) == 2

    @pytest.mark.parametrize(
        "body", [b"", b"[]", b"{", b"\xff", b'{"assessor":"a","actions":[{"key":1}]}']
    )
    def test_bodies_that_cannot_be_read(self, anna: Assessor, body: bytes) -> None:
        headers = {"X-CSRF-Token": anna.ahead()["csrf"]}
        answer = anna.ask("POST", "/judge/actions", body=body, headers=headers)
        assert answer.status == 422
        many = [{"key": key(), "kind": "skip", "item": 1}] * 201
        assert anna.send(many, headers["X-CSRF-Token"]).status == 422

    def test_a_full_disk_is_said(self, index: sicetnon.Index, small_disk: Path) -> None:
        pool = sample_pool(small_disk / "pool", IDS, votes=9)
        free = shutil.disk_usage(small_disk).free
        (small_disk / "other").write_bytes(bytes(max(0, free - LITTLE)))
        acknowledged: set[str] = set()
        with served(index, Settings(judging=pool)) as client:
            anna = Assessor(client.url, "anna")
            found = anna.ahead(8)
            for _ in range(2000):
                action = {"key": key(), "kind": "note", "item": 1, "note": "why? " * 390}
                answer = anna.send([action] * 1, found["csrf"])
                if answer.status != 200:
                    break
                acknowledged.add(action["key"])
            assert answer.status == 507
            assert "nothing was saved" in answer.json()["detail"]
            assert anna.page()
        with JudgingFile(pool) as file:
            assert len(list(events(file))) == len(acknowledged) > 10


@pytest.mark.parametrize("gone", GONE)
def test_a_pool_that_is_gone_takes_no_votes(
    index: sicetnon.Index, tmp_path: Path, gone: Callable[[Path], None]
) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    pool = sample_pool(folder / "pool.sqlite", IDS, votes=9)
    with served(index, Settings(judging=pool)) as client:
        anna = Assessor(client.url, "anna")
        found = anna.ahead(4)
        action = {"key": key(), "kind": "skip", "item": 1}
        assert anna.send([action], found["csrf"]).status == 200
        gone(pool)
        answer = anna.send([action | {"key": key(), "item": 2}], found["csrf"])
        assert answer.status == 507
        assert "nothing was saved" in answer.json()["detail"]
        assert anna.ask("GET", "/judge?assessor=anna").status == 507
    if pool.exists() and pool.stat().st_size > 4096:
        with JudgingFile(pool) as file:
            assert list(events(file)) == []


def judge(assessor: Assessor, most: int) -> set[str]:
    """Judge what is there; the keys that were acknowledged."""
    acknowledged: set[str] = set()
    while len(acknowledged) < most and (found := assessor.ahead(3))["items"]:
        label = str(hash(assessor.name) % 3)
        actions = [
            {"key": key(), "kind": "vote", "item": each["id"], "dimension": "relevance"}
            | {"label": label}
            for each in found["items"]
        ]
        # each is sent twice, as by a browser that has not heard of the first
        for _ in range(2):
            answer = assessor.send(actions, found["csrf"])
            assert answer.status == 200, answer.data
        assert {each["outcome"] for each in answer.json()["receipts"]} == {"repeated"}
        acknowledged |= {action["key"] for action in actions}
    return acknowledged


@pytest.mark.parametrize(("wanted", "quota"), [(1, None), (3, 5)])
def test_eight_assessors_at_once(
    index: sicetnon.Index, tmp_path: Path, wanted: int, quota: int | None
) -> None:
    pool = sample_pool(tmp_path / "pool.sqlite", IDS, votes=wanted, quota=quota)
    with served(index, Settings(judging=pool)) as client, ThreadPoolExecutor(8) as threads:
        people = [Assessor(client.url, f"a{number}") for number in range(8)]
        keys = list(threads.map(lambda each: judge(each, 99), people))
    with JudgingFile(pool) as file:
        found = standing_votes(file)
        saved = len(list(events(file)))
    assert saved == len(found) == sum(map(len, keys))
    assert max(Counter((each.topic, each.document) for each in found).values()) <= wanted
    assert max(Counter(each.assessor for each in found).values()) <= (quota or 16)
    assert len(found) == min(16 * wanted, 8 * (quota or 16))


def test_a_killed_server_has_all_it_acknowledged(
    index: sicetnon.Index, pool: Path, tmp_path: Path
) -> None:
    command = [sys.executable, "-m", "sicetnon", "serve", "--port", "0", "--judge", str(pool)]
    command += ["--index", str(index.folder)]
    acknowledged = set()
    for _ in range(1):
        with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
            assert process.stderr
            address = re.match(r"(http://\S+) answers", process.stderr.readline())
            assert address
            acknowledged |= judge(Assessor(address[1], "anna"), 6)
            os.kill(process.pid, signal.SIGKILL)
    with opened_database(pool) as database:
        assert acknowledged == {row[0] for row in database.execute("SELECT key FROM events")}


class TestTokens:
    @pytest.fixture
    def opened(self, index: sicetnon.Index, pool: Path) -> Iterator[Assessor]:
        # bound to this machine by the test, and to others by its settings
        with served(index, Settings("0.0.0.0", token="a secret", judging=pool)) as client:
            yield Assessor(client.url, "anna")

    def test_pages_lead_to_the_token(self, opened: Assessor) -> None:
        answer = opened.ask("GET", "/judge?assessor=anna", headers={"Accept": "text/html"})
        assert answer.status == 303
        where = answer.headers["location"]
        assert where == "/token?next=%2Fjudge%3Fassessor%3Danna"
        assert 'value="/judge?assessor=anna"' in opened.page(where)
        wrong = opened.ask("POST", "/token", fields={"token": "another"}, encode_multipart=False)
        assert wrong.status == 403
        fields = {"token": "a secret", "next": "/judge?assessor=anna"}
        right = opened.ask("POST", "/token", fields=fields, encode_multipart=False)
        assert (right.status, right.headers["location"]) == (303, "/judge?assessor=anna")
        cookie = right.headers["set-cookie"]
        assert "HttpOnly" in cookie
        assert "SameSite=strict" in cookie
        opened.cookie = cookie.partition(";")[0]
        assert opened.ask("GET", "/judge?assessor=anna").status == 200

    @pytest.mark.parametrize("place", ["https://example.org", "//example.org", "/\\e", "/judges"])
    def test_the_token_leads_nowhere_else(self, opened: Assessor, place: str) -> None:
        fields = {"token": "a secret", "next": place}
        answer = opened.ask("POST", "/token", fields=fields, encode_multipart=False)
        assert answer.headers["location"] == "/judge"

    @pytest.mark.parametrize(
        ("method", "path"),
        [
            ("GET", "/judge"),
            ("GET", "/judge/next?assessor=anna"),
            ("GET", "/judge/agreement"),
            ("POST", "/judge"),
            ("POST", "/judge/actions"),
            ("POST", "/api/v1/evaluate"),
            ("POST", "/api/v1/validate"),
        ],
    )
    def test_nothing_else_works_without_it(self, opened: Assessor, method: str, path: str) -> None:
        for token in ("", "another", "a secret "):
            opened.token = token.strip() if token == "a secret " else token
            status = opened.ask(method, path, body=b"{}" if method == "POST" else None).status
            assert (status == 401) == (token != "a secret ")

    def test_reading_needs_none(self, opened: Assessor) -> None:
        assert opened.ask("GET", "/api/v1/health").status == 200
        assert opened.ask("GET", "/").status == 200

    def test_the_start_says_so(self, pool: Path, capsys: Any, monkeypatch: Any, index: Any) -> None:
        from sicetnon.web import server

        told: list[str] = []
        monkeypatch.setattr("uvicorn.Server.main_loop", AsyncMock())
        settings = replace(Settings("0.0.0.0", judging=pool), token=uuid.uuid4().hex)
        server.serve(index, settings, 0, told.append)
        assert [line for line in told if settings.token in line]
        assert settings.token not in repr(settings)
        told.clear()
        server.serve(index, Settings(judging=pool), 0, told.append)
        assert not [line for line in told if "token" in line]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"quota": 2}, "your share of 2 documents"),
        ({}, "Every document in the pool has its votes"),
        ({"votes": 2}, "You have judged every document"),
    ],
)
def test_the_end_says_why(
    index: sicetnon.Index, tmp_path: Path, options: dict[str, int], said: str
) -> None:
    pool = sample_pool(tmp_path / "pool", IDS[:3], **options)
    with served(index, Settings(judging=pool)) as client:
        anna = Assessor(client.url, "anna")
        judge(anna, 99)
        assert said in anna.page()
        assert said in anna.ahead()["end"]


def test_what_others_have_is_said(index: sicetnon.Index, tmp_path: Path) -> None:
    pool = sample_pool(tmp_path / "pool", IDS[:3])
    with served(index, Settings(judging=pool)) as client:
        anna, bert = (Assessor(client.url, name) for name in ("anna", "bert"))
        anna.ahead(9)
        assert "with other assessors now" in bert.page()


def test_the_start_says_what_cannot_be_read(
    index: sicetnon.Index, tmp_path: Path, capsys: Any, monkeypatch: Any
) -> None:
    pool = sample_pool(tmp_path / "pool", [*IDS, "elsewhere"])
    monkeypatch.setattr("sicetnon.web.server.serve", lambda *_: None)
    assert main(["serve", "--index", str(index.folder), "--judge", str(pool)]) == 0
    assert "lacks the texts of 1 of 9 documents" in capsys.readouterr().err
    found = Assessor("", "anna")
    with served(index, Settings(judging=pool)) as client:
        found.url = client.url
        pages = "".join(each["html"] for each in found.ahead(18)["items"])
    assert pages.count("does not hold this document") == 2


def test_a_damaged_pool_is_one_line(pool: Path, index: sicetnon.Index, failing: Any) -> None:
    pool.write_bytes(pool.read_bytes()[:5000])
    line = failing("serve", "--index", index.folder, "--judge", pool, "--port", "0")
    assert line[0] == 1
    assert "pool.sqlite" in line[1]
