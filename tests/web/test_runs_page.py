"""The page Runs over HTTP: files in, leaderboards and comparisons out."""

from __future__ import annotations

import gzip
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import sicetnon
from sicetnon.evaluation import evaluate
from sicetnon.web.settings import Settings
from support.debates import both_sides
from support.judging_pages import Assessor
from support.served import served

TOPICS = (
    "<topics><topic><number>1</number><title>Should zoos &lt;b&gt; be closed?</title></topic>"
    "<topic><number>2</number><title>Is homework useful?</title></topic></topics>"
)
QRELS = "".join(f"{topic} 0 {n} {n % 3}\n" for topic in (1, 2) for n in range(6))


def run(tag: str, first: int) -> str:
    """A run that ranks the documents from some place on."""
    lines = [
        f"{topic} Q0 {(first + n) % 8} {n + 1} {9 - n} {tag}" for topic in (1, 2) for n in range(8)
    ]
    return "\n".join(lines) + "\n"


RUNS = {"one.txt": run("one", 0), "two.txt": run("two", 3)}


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> sicetnon.Index:
    return both_sides(tmp_path_factory.mktemp("web") / "index")


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("files")
    texts = RUNS | {"relevance.qrels": QRELS, "topics.xml": TOPICS}
    for name, text in texts.items():
        (folder / name).write_text(text)
    return {name: folder / name for name in texts}


@pytest.fixture(scope="module")
def url(index: sicetnon.Index, files: dict[str, Path]) -> Iterator[str]:
    settings = Settings(
        runs=(files["one.txt"], files["two.txt"]),
        qrels=(files["relevance.qrels"],),
        topics=files["topics.xml"],
        upload_bytes=1 << 20,
    )
    with served(index, settings) as client:
        yield client.url


@pytest.fixture
def visitor(url: str) -> Assessor:
    return Assessor(url, "visitor")


Field = tuple[str, Any]


def upload(visitor: Assessor, *fields: Field, csrf: str | None = None) -> Any:
    """Send the form with files."""
    found = re.search(r'name="csrf" value="(\w+)"', visitor.page("/runs"))
    assert found
    all_fields = [("csrf", found[1] if csrf is None else csrf), *fields]
    return visitor.ask("POST", "/runs", fields=all_fields)


def runs_and_qrels(**texts: str | bytes) -> list[Field]:
    given = RUNS | texts
    runs = [("runs", (name, text)) for name, text in given.items() if name.endswith("txt")]
    return [*runs, ("qrels", ("relevance.qrels", QRELS))]


class TestServedRuns:
    def test_the_leaderboard_is_that_of_evaluate(
        self, visitor: Assessor, files: dict[str, Path]
    ) -> None:
        page = visitor.page("/runs/served")
        scores = evaluate([files["one.txt"], files["two.txt"]], files["relevance.qrels"])
        for score in scores:
            assert f'data-v="{score.mean:.6g}">{score.mean:.3f}<' in page
        # the map of topics, and the differences of one run to the other
        assert page.count("<svg") == 2
        assert "Should zoos &lt;b&gt; be closed?" in page
        assert "zoos <b>" not in page

    def test_two_runs_side_by_side(self, visitor: Assessor) -> None:
        page = visitor.page("/runs/served/compare?first=one&second=two")
        assert re.findall(r"topic=(\d)", page) == ["1", "2"]
        page = visitor.page("/runs/served/compare?first=one&second=two&topic=1")
        assert page.count('<p class="chips">') == 16
        assert "4. in the other" in page
        assert "relevance</bdi> 2" in page
        assert "zoos" in page

    def test_the_better_run_is_named(self, visitor: Assessor) -> None:
        page = visitor.page("/runs/served/compare?first=one&second=two")
        rows = re.findall(r"<tr><th.*?</tr>", page)
        said = re.findall(r"<bdi>(one|two)</bdi> better by (\d\.\d{3})<", page)
        scores = [re.findall(r'<td class="n">([\d.]+)', row) for row in rows]
        assert len(said) == len(scores[1:]) == 2
        for (name, difference), (first, second) in zip(said, scores[1:], strict=True):
            assert name == ("one" if float(first) > float(second) else "two")
            assert abs(abs(float(first) - float(second)) - float(difference)) < 0.0015
        turned = visitor.page("/runs/served/compare?first=two&second=one&topic=1")
        assert f"<bdi>{said[0][0]}</bdi> better by {said[0][1]}" in turned

    def test_each_file_of_judgments_has_its_own_comparison(self, visitor: Assessor) -> None:
        files = [*runs_and_qrels(), ("qrels", ("quality.qrels", QRELS.replace(" 2\n", " 0\n")))]
        address = upload(visitor, *files).headers["location"]
        both = f"{address}/compare?first=one.txt&second=two.txt"
        first, second = visitor.page(both), visitor.page(f"{both}&part=2")
        assert "nDCG@5 by <bdi>Relevance" in first
        assert "nDCG@5 by <bdi>Quality" in second
        scores = [re.findall(r'<td class="n">([^<]+)', page) for page in (first, second)]
        assert scores[0] != scores[1]

    @pytest.mark.parametrize(
        "path",
        [
            "/runs/none",
            "/runs/..%2F..%2Fetc%2Fpasswd",
            "/runs/served/compare?first=one&second=none",
            "/runs/served/compare?first=one&second=two&topic=9",
            "/runs/served/compare?first=one&second=two&part=9",
        ],
    )
    def test_what_is_not_there(self, visitor: Assessor, path: str) -> None:
        assert visitor.ask("GET", path).status == 404

    def test_pages_allow_no_script_of_others(self, visitor: Assessor) -> None:
        policy = visitor.ask("GET", "/runs/served").headers["content-security-policy"]
        assert "script-src 'self'" in policy
        assert "style-src 'self'" in policy


class TestUploads:
    def test_files_are_scored(self, visitor: Assessor) -> None:
        topics = ("topics", ("topics.xml", TOPICS))
        answer = upload(visitor, *runs_and_qrels(), topics, ("measure", "P@5"), ("rule", "trec"))
        assert answer.status == 303, answer.data
        page = visitor.page(answer.headers["location"])
        assert "P@5" in page
        assert "Is homework useful?" in page
        both = visitor.page(f"{answer.headers['location']}/compare?first=one.txt&second=two.txt")
        assert "greatest difference first" in both

    def test_gzip_and_names_of_other_machines(self, visitor: Assessor) -> None:
        packed = gzip.compress(RUNS["one.txt"].encode())
        fields = [
            ("runs", ("..\\..\\a.txt", packed)),
            ("runs", ("/etc/a.txt", RUNS["two.txt"])),
            ("qrels", ("<b>relevance", QRELS)),
        ]
        answer = upload(visitor, *fields)
        assert answer.status == 303, answer.data
        page = visitor.page(answer.headers["location"])
        assert "a.txt (2)" in page.replace("<wbr>", "")
        assert "etc/" not in page
        assert "<b>relevance" not in page

    def test_faults_name_the_file_of_the_visitor(self, visitor: Assessor) -> None:
        answer = upload(visitor, *runs_and_qrels(**{"bad.txt": "1 Q0 a one 2 tag\n"}))
        assert answer.status == 422
        detail = answer.json()["detail"]
        assert detail.startswith("bad.txt, line 1: ")
        assert "/tmp" not in detail

    @pytest.mark.parametrize(
        "fields",
        [
            [],
            [("runs", ("a.txt", RUNS["one.txt"]))],
            [("qrels", ("q", QRELS))],
            [("runs", "text"), ("qrels", "text")],
            [*runs_and_qrels(), ("measure", "taste@5")],
            [*runs_and_qrels(), ("rule", "mine")],
            [*runs_and_qrels(), ("topics", ("t", "<topics>"))],
            [*runs_and_qrels(), *[("runs", (f"r{n}", RUNS["one.txt"])) for n in range(20)]],
        ],
    )
    def test_what_cannot_be_scored(self, visitor: Assessor, fields: list[Field]) -> None:
        assert upload(visitor, *fields).status == 422

    def test_forms_of_others_are_refused(self, visitor: Assessor) -> None:
        assert upload(visitor, *runs_and_qrels(), csrf="0" * 64).status == 403
        visitor.cookie = ""
        assert visitor.ask("POST", "/runs", fields={"csrf": ""}).status == 403

    def test_large_and_packed_uploads_are_refused(self, visitor: Assessor) -> None:
        line = RUNS["one.txt"].encode()
        assert upload(visitor, ("runs", ("a", line * 10_000))).status == 413
        bomb = gzip.compress(b"1 Q0 " + bytes(8 << 20))
        answer = upload(visitor, ("runs", ("a", bomb)), ("qrels", ("q", QRELS)))
        assert answer.status == 422
        assert "unpacks to more" in answer.json()["detail"]

    def test_the_last_uploads_are_kept(self, visitor: Assessor) -> None:
        places = [upload(visitor, *runs_and_qrels()).headers["location"] for _ in range(9)]
        statuses = [visitor.ask("GET", place).status for place in places]
        assert statuses == [404] + [200] * 8

    def test_they_need_the_token_elsewhere(self, index: sicetnon.Index) -> None:
        with served(index, Settings("0.0.0.0", token="a secret")) as client:
            visitor = Assessor(client.url, "visitor")
            for method, path in (("GET", "/runs"), ("POST", "/runs"), ("GET", "/runs/served")):
                assert visitor.ask(method, path).status == 401
            page = visitor.ask("GET", "/runs", headers={"Accept": "text/html"})
            assert page.headers["location"] == "/token?next=%2Fruns"
            visitor.token = "a secret"
            assert upload(visitor, *runs_and_qrels()).status == 303


def test_the_command_checks_its_files(files: dict[str, Path], failing: Any) -> None:
    status, line = failing("serve", "--runs", files["one.txt"], "--port", "0")
    assert (status, "--qrels" in line) == (2, True)
    status, line = failing("serve", "--runs", "none", "--qrels", "none", "--port", "0")
    assert (status, "none: found no file" in line) == (2, True)
