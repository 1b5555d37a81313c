"""Requests that are meant to harm: none stops the others, fills the memory, or learns of files."""

from __future__ import annotations

import contextlib
import json
import shutil
import socket
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

import sicetnon
from sicetnon.services.chatnoir import page_uuid
from sicetnon.web import compat_api, state
from sicetnon.web.application import application
from sicetnon.web.problems import without_folders
from sicetnon.web.settings import Settings
from support.debates import AGAINST, FOR, QUESTION, both_sides
from support.loop_time import answered
from support.patience import HANGS
from support.served import Client, served, served_tools

_SECONDS = 0.5
"""Processor time of the event loop; what is quadratic takes many times that."""
_LONG = 60_000
_OPEN = Settings("0.0.0.0", token="a token of ours")
_UNITS = (b"%20", b"a%20", b"%22", b"%5C%22", b";", b",", b"=", b"%0A", b"&q=", b"/")


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> sicetnon.Index:
    return both_sides(tmp_path_factory.mktemp("hostile") / "index")


@pytest.fixture(scope="module")
def app(index: sicetnon.Index) -> Any:
    made = application(index, Settings())
    answered(made, "GET", b"/?q=zoos", {})
    return made


def is_slow(
    app: Any, method: str, target: bytes, headers: dict[str, bytes], body: bytes = b""
) -> bool:
    """Whether three tries in a row are slow: an import or a garbage collection slows one."""
    for _ in range(3):
        answer = answered(app, method, target, headers, body)
        assert answer.status < 500
        if answer.seconds < _SECONDS:
            return False
    return True


class TestTime:
    @pytest.mark.parametrize("unit", _UNITS)
    @pytest.mark.parametrize(
        "path",
        [
            *(b"/?q=", b"/?q=arguments+for", b"/?q=pros+and+cons+of", b"/?q=zoos&source="),
            *(b"/document?id=1&q=", b"/document?id=", b"/reply?id=1&q=", b"/brief?q="),
            *(b"/api/v1/search?q=", b"/api/v1/search?q=a&after=", b"/api/v1/parse?q="),
            *(b"/api/v2/arguments?query=", b"/api/v1/_search?query=", b"/cache?uuid="),
            *(b"/token?next=", b"/judge?assessor=", b"/runs/a/compare?first=", b"/static/"),
        ],
    )
    def test_no_address_is_slow(self, path: bytes, unit: bytes, app: Any) -> None:
        target = path + unit * (_LONG // len(unit))
        assert not is_slow(app, "GET", target, {"accept": b"text/html"})

    @pytest.mark.parametrize("unit", [b'\\"', b"\\", b'"', b";", b"=", b",", b" ", b"a=b;"])
    @pytest.mark.parametrize("start", [b"", b'a="', b'sicetnon-token="', b"multipart/form-data; "])
    @pytest.mark.parametrize(
        "name", ["cookie", "content-type", "accept", "authorization", "x-request-id", "host"]
    )
    def test_no_header_is_slow(self, name: str, start: bytes, unit: bytes, app: Any) -> None:
        value = start + unit * (_LONG // len(unit))
        for method, path in (("GET", b"/judge"), ("POST", b"/token"), ("POST", b"/api/v1/reply")):
            body = b"{}" if method == "POST" else b""
            assert not is_slow(app, method, path, {name: value}, body)

    def test_a_body_of_wrong_types_is_read_up_to_the_first(self, app: Any) -> None:
        wrong = json.dumps({f"run {number}": 1 for number in range(500_000)}).encode()
        for body in (b'{"qrels": {}, "runs": %s}', b'{"runs": {}, "qrels": %s}'):
            headers = {"content-type": b"application/json"}
            answer = answered(app, "POST", b"/api/v1/evaluate", headers, body % wrong)
            assert answer.status == 422
            assert len(answer.body) < 1000
            assert answer.seconds < _SECONDS


@contextlib.contextmanager
def half_sent(client: Client, body: bytes, length: int) -> Iterator[socket.socket]:
    """A request whose body is not whole."""
    parts = urlsplit(client.url)
    with socket.create_connection((parts.hostname, parts.port), HANGS) as sender:
        head = (
            "POST /api/v1/reply HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        )
        sender.sendall(f"{head}Content-Length: {length}\r\n\r\n".encode() + body)
        yield sender


class TestMemory:
    def test_bodies_have_a_limit_together(self, index: sicetnon.Index) -> None:
        part = 1 << 18
        with (
            served(index, Settings(held_bytes=4 * part)) as client,
            contextlib.ExitStack() as open_,
        ):
            for _ in range(4):
                open_.enter_context(half_sent(client, b" " * part, part + 1))
            with half_sent(client, b" " * part, part + 1) as sender:
                said = sender.recv(1 << 16)
            assert said.startswith(b"HTTP/1.1 503 ")
            assert b"retry-after:" in said.lower()
            # what needs no body is answered
            assert client.get("/api/v1/health").status == 200
            open_.close()
            end = time.monotonic() + HANGS
            while (answer := client.post("/api/v1/reply", {"text": "Zoos are bad."})).status == 503:
                assert time.monotonic() < end
            assert answer.status == 200


class TestStrangers:
    @pytest.mark.parametrize("path", ["/", "/api/v1/health", "/judge", "/api/v1/openapi.json"])
    def test_a_name_of_another_site_reads_nothing(self, path: str, index: sicetnon.Index) -> None:
        for settings in (_OPEN, Settings()):
            with served(index, settings) as client:
                for name in ("evil.example", "127.0.0.1.evil.example", "1.2.3.4.evil:80", ""):
                    assert client.get(path, {"Host": name}).status in (400, 421)

    def test_addresses_and_names_that_are_allowed_are_answered(self, index: sicetnon.Index) -> None:
        settings = Settings("0.0.0.0", ("Sic.Example",), token=_OPEN.token)
        names = (
            "localhost:8",
            "10.0.0.1:80",
            "[fe80::1]:80",
            socket.gethostname(),
            "sic.example:1",
        )
        with served(index, settings) as client:
            for name in names:
                assert client.get("/api/v1/health", {"Host": name}).status == 200, name

    def test_the_tools_for_assistants_have_the_same_rule(self, index: sicetnon.Index) -> None:
        with served_tools(index, _OPEN) as url:
            base, _, path = url.rpartition("/")
            assert Client(base).post(f"/{path}", {}, {"Host": "evil.example"}).status == 421

    def test_cookies_are_for_https_alone_behind_it(self, index: sicetnon.Index) -> None:
        with served(index, _OPEN) as client:
            for scheme, is_secure in (("https", True), ("http", False), ("https, http", True)):
                headers = {"Content-Type": "application/x-www-form-urlencoded"}
                headers["X-Forwarded-Proto"] = scheme
                form = b"token=a+token+of+ours"
                cookie = client.post("/token", form, headers).headers["set-cookie"]
                assert ("secure" in cookie.lower()) == is_secure
                # it opens the pages, and does not hold the token
                assert "token of ours" not in cookie
                shown = client.get("/runs", {"Cookie": cookie.partition(";")[0]} | headers)
                assert shown.status == 200
                assert ("secure" in shown.headers["set-cookie"].lower()) == is_secure

    def test_problems_name_no_folder(self, tmp_path: Path) -> None:
        index = both_sides(tmp_path / "index")
        pool = tmp_path / "runs" / "mine.txt"
        pool.parent.mkdir()
        pool.write_text("no run")
        settings = Settings("0.0.0.0", token=_OPEN.token, runs=(pool,), qrels=(pool,))
        with served(index, settings) as client:
            bearer = {"Authorization": f"Bearer {_OPEN.token}"}
            said = client.get("/runs/served", bearer).json()["detail"]
            assert "mine.txt" in said
            assert str(tmp_path) not in said
            body = {"runs": {"a": "x"}, "qrels": {"b": "y"}}
            said = client.post("/api/v1/evaluate", body, bearer).json()["detail"]
            assert "/tmp" not in said

    @pytest.mark.parametrize(
        ("said", "shown"),
        [
            ("/srv/my data/index: is damaged", "index: is damaged"),
            ("/srv/my data/index/segment-1/terms: was cut short", "index/segment-1/terms: was"),
            (
                "is at '/home/anna/a/b.txt'; see https://a.example/b/c",
                "is at 'b.txt'; see https://",
            ),
            ("C:\\Users\\anna\\index: no", "index: no"),
            ("opensearch+http://10.0.0.1:9200/name: no host answers", "name: no host answers"),
            ("found 1/2 of a/b", "found 1/2 of a/b"),
        ],
    )
    def test_what_is_left_of_paths(self, said: str, shown: str) -> None:
        known = ("/srv/my data/index", "opensearch+http://10.0.0.1:9200/name", None)
        assert without_folders(said, known).startswith(shown)


class TestFaults:
    @pytest.mark.parametrize("number", [2**63, -(2**63) - 1, 2**70, 10**30, 0, -1])
    def test_numbers_of_documents_beyond_all_bounds(
        self, number: int, index: sicetnon.Index, tmp_path: Path
    ) -> None:
        run, topics = tmp_path / "run.txt", tmp_path / "topics.xml"
        run.write_text("1 Q0 0 1 2.0 t\n")
        topics.write_text("<topics><topic><number>1</number><title>Tea?</title></topic></topics>")
        sicetnon.make_pool(tmp_path / "pool.sqlite", [run], topics)
        with served(index, Settings(judging=tmp_path / "pool.sqlite")) as client:
            assert client.get("/judge", assessor="anna", item=str(number)).status == 200

    def test_a_copy_that_brings_the_manifest_first_is_opened_when_it_is_whole(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(state, "_PAUSE_SECONDS", 0.0)
        newer = both_sides(tmp_path / "newer")
        newer.delete(["7"])
        shutil.copytree(tmp_path / "newer", tmp_path / "whole")
        with served(both_sides(tmp_path / "index")) as client:
            assert client.json("/api/v1/health")["documents"] == 8
            shutil.rmtree(tmp_path / "index", ignore_errors=True)
            (tmp_path / "index").mkdir()
            shutil.copy(tmp_path / "whole" / "manifest.json", tmp_path / "index")
            assert client.json("/api/v1/health")["documents"] == 8
            shutil.copytree(tmp_path / "whole", tmp_path / "index", dirs_exist_ok=True)
            # the manifest has not changed since
            assert client.json("/api/v1/health")["documents"] == 7

    def test_a_page_is_named_without_hashing_all(
        self, index: sicetnon.Index, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        hashed: list[str] = []

        def counted(name: str) -> str:
            hashed.append(name)
            return page_uuid(name)

        monkeypatch.setattr(compat_api, "page_uuid", counted)
        # as if the names of all pages were too large for the cache
        with served(index, Settings(cached_letters=0)) as client:
            for each in ("3", "5"):
                answer = client.get("/cache", uuid=page_uuid(each))
                assert answer.data.decode() == index.records([each])[0].default_text()
            assert client.get("/cache", uuid="0" * 36).status == 404
            for odd in ("x" * 36, "-2345678" + "x" * 20 + "12345678", "-" * 36, "_" * 36):
                assert client.get("/cache", uuid=odd).status == 404
        assert len(hashed) <= index.size + 2

    def test_links_that_are_no_addresses(self, tmp_path: Path) -> None:
        links = ("http://[1", "http://[2", "https://a:b", "http://a]b")
        entries = [
            {"id": str(place), "text": text, "url": link, "claim": QUESTION}
            for place, (text, link) in enumerate(zip((*FOR, *AGAINST), links * 2, strict=False))
        ]
        index = sicetnon.Index.build(
            entries, tmp_path / "index", fields=["text"], claim_field="claim"
        )
        with served(index) as client:
            for form in ("html", "json", "markdown"):
                assert client.get("/", q=QUESTION, format=form).status == 200
            assert client.get("/brief", q=QUESTION).status == 200
            assert client.get("/document", id="1", q=QUESTION).status == 200

    def test_the_question_of_a_request_for_arguments_is_read(self, app: Any) -> None:
        found = answered(app, "GET", b"/?q=the+best+arguments+for++" + QUESTION.encode(), {})
        assert found.status == 200
        assert QUESTION.encode() in found.body
