"""The HTTP API, by a real server."""

from __future__ import annotations

import http.client
import json
import logging
import re
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

import sicetnon
from sicetnon.web.settings import Settings
from support.debates import AGAINST, FOR, QUESTION, both_sides
from support.served import Client, served

RUN = "1 Q0 S1-A1 1 2.5 tag\n1 Q0 S1-A2 2 1.5 tag\n"
QRELS = "1 0 S1-A1 2\n1 0 S1-A2 0\n"


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> sicetnon.Index:
    return both_sides(tmp_path_factory.mktemp("web") / "index")


@pytest.fixture(scope="module")
def client(index: sicetnon.Index) -> Iterator[Client]:
    with served(index) as running:
        yield running


def is_problem(answer: Any, status: int) -> str:
    """The detail of a problem (RFC 9457)."""
    assert answer.status == status, answer.data
    assert answer.headers["content-type"] == "application/problem+json"
    found = answer.json()
    assert found["status"] == status
    assert found.keys() >= {"type", "title", "detail", "request_id"}
    assert found["request_id"] == answer.headers["x-request-id"]
    assert "Traceback" not in found["detail"]
    return str(found["detail"])


class TestOwnRoutes:
    def test_search_says_what_the_library_says(self, client: Client, index: Any) -> None:
        found = client.json("/api/v1/search", q=QUESTION, k=8)
        assert found["next"] is None
        expected = [answer.as_json() for answer in index.search(QUESTION, 9, balance=False)]
        assert found["answers"] == json.loads(json.dumps(expected))

    def test_pages_follow_each_other(self, client: Client) -> None:
        whole = client.json("/api/v1/search", q=QUESTION, k=8)["answers"]
        found, after = [], ""
        while after is not None:
            page = client.json("/api/v1/search", q=QUESTION, k=3, after=after)
            found += page["answers"]
            after = page["next"]
        assert [each["id"] for each in found] == [each["id"] for each in whole]
        assert [each["rank"] for each in found] == list(range(1, len(whole) + 1))

    def test_documents(self, client: Client) -> None:
        found = client.json("/api/v1/documents/0")
        assert found["document"]["texts"]["text"] == FOR[0]
        is_problem(client.get("/api/v1/documents/none"), 404)
        is_problem(client.get("/api/v1/documents/..%2F..%2Fetc%2Fpasswd"), 404)

    def test_documents_of_any_id(self, tmp_path: Path) -> None:
        ids = ["10.1000/182", "a/../b", "/a//", "..", "a%2Fb", "a?b#c", "a\\b+é", "http://e.org/x"]
        rows = (json.dumps({"id": each, "text": "tenure"}) + "\n" for each in ids)
        (tmp_path / "documents.jsonl").write_text("".join(rows))
        with (
            sicetnon.Index.build(tmp_path / "documents.jsonl") as index,
            served(index) as client,
        ):
            host = client.url.removeprefix("http://")
            for identifier in ids:
                for path in (
                    f"/api/v1/documents/{quote(identifier, safe='')}",
                    f"/api/v1/documents/{quote(identifier)}",
                    f"/document?id={quote(identifier)}",
                    f"/reply?id={quote(identifier)}",
                ):
                    # other clients resolve dots before they ask
                    connection = http.client.HTTPConnection(host)
                    connection.request("GET", path)
                    answer = connection.getresponse()
                    assert (path, answer.status) == (path, 200)
                    text = answer.read()
                    assert not path.startswith("/api") or json.loads(text)["id"] == identifier
                    connection.close()

    def test_parse(self, client: Client) -> None:
        found = client.json("/api/v1/parse", q="Which is better, a laptop or a desktop?")
        assert (found["kind"], found["first"]) == ("comparative", "laptop")

    def test_annotate(self, client: Client) -> None:
        body = {"task": "quality", "texts": FOR}
        scores = client.post("/api/v1/annotate", body).json()["annotations"]
        assert len(scores) == len(FOR)
        assert all(0 <= score <= 1 for score in scores)
        asked = {"task": "side", "texts": FOR[:1], "question": QUESTION}
        (side,) = client.post("/api/v1/annotate", asked).json()["annotations"]
        assert side["side"] == "FOR"
        assert sum(side["probabilities"]) == pytest.approx(1, abs=1e-3)

    def test_brief_in_each_format(self, client: Client, index: Any) -> None:
        made = sicetnon.brief(index, QUESTION)
        assert client.json("/api/v1/brief", q=QUESTION) == json.loads(json.dumps(made.as_json()))
        html = client.get("/api/v1/brief", q=QUESTION, format="html")
        assert html.headers["content-type"].startswith("text/html")
        assert html.data.decode() == made.as_html()
        markdown = client.get("/api/v1/brief", q=QUESTION, format="markdown")
        assert markdown.data.decode() == made.as_markdown()

    def test_reply(self, client: Client) -> None:
        answer = client.post("/api/v1/reply", {"text": "Teachers should get tenure.", "k": 2})
        replies = answer.json()["replies"]
        assert 1 <= len(replies) <= 2
        assert {each["text"] for each in replies} <= set(AGAINST)

    def test_health_says_when_the_model_is_loaded(self, index: sicetnon.Index) -> None:
        with served(index) as client:
            while not client.json("/api/v1/health")["ready"]:
                time.sleep(0.01)

    def test_health_and_metrics(self, client: Client) -> None:
        assert client.json("/api/v1/health")["documents"] == 8
        client.get("/nowhere")
        text = client.get("/api/v1/metrics").data.decode()
        assert 'route="/api/v1/health",status="200"' in text
        assert 'route="none",status="404"' in text
        assert re.search(r"^sicetnon_requests_in_flight [1-9]\d*$", text, re.MULTILINE)
        assert QUESTION not in text

    @pytest.mark.parametrize("is_wanted", [True, False])
    def test_the_log_holds_questions_only_where_it_may(
        self, index: sicetnon.Index, caplog: pytest.LogCaptureFixture, is_wanted: bool
    ) -> None:
        caplog.set_level(logging.INFO, "sicetnon.web")
        turn = {"messages": [{"role": "user", "content": "I am for tenure."}]}
        call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call"}
        named = {"name": "search", "arguments": {"question": "Is tenure\nfair?"}}
        both = {"Accept": "application/json, text/event-stream"}
        with served(index, Settings(logs_questions=is_wanted)) as client:
            answers = [
                client.get("/", q="Is tenure good?"),
                client.get("/api/v1/health"),
                client.post("/api/v1/reply", {"text": "Tenure is bad."}),
                client.post("/", turn),
                client.post("/mcp", call | {"params": named}, both),
            ]
        assert {answer.status for answer in answers} == {200}
        # another test's server may write its last line now
        ours = {answer.headers["x-request-id"] for answer in answers}
        every = [json.loads(each.getMessage()) for each in caplog.records]
        lines = [line for line in every if line["id"] in ours]
        asked = ["Is tenure good?", "Tenure is bad.", "I am for tenure.", "Is tenure fair?"]
        # a line is written after its answer was sent, so the next request may come before it
        logged = sorted(line["asked"] for line in lines if "asked" in line)
        assert logged == (sorted([text] for text in asked) if is_wanted else [])
        assert len(lines) >= 5

    def test_validate_and_evaluate(self, client: Client) -> None:
        body = {"run": RUN, "task": "touche-2020-task-1"}
        found = client.post("/api/v1/validate", body).json()
        assert "/tmp" not in json.dumps(found)
        assert found["task"] == "touche-2020-task-1"
        asked = {"runs": {"../mine": RUN}, "qrels": {"judged": QRELS}, "measures": ["nDCG@5"]}
        (score,) = client.post("/api/v1/evaluate", asked).json()["scores"]
        assert score["run"] == "../mine"
        assert score["mean"] == pytest.approx(1)


class TestDebates:
    def test_the_protocol_of_the_task(self, client: Client) -> None:
        messages = [{"role": "user", "content": "I think that teachers should get tenure."}]
        answer = client.post("/", {"messages": messages, "model": "any"}).json()
        assert answer["content"] in AGAINST
        assert answer["content"] in answer["arguments"][0]["text"]
        messages += [{"role": "assistant", "content": answer["content"]}, messages[0]]
        assert client.post("/", {"messages": messages}).json()["content"] != answer["content"]

    @pytest.mark.parametrize(
        "body", [b"{", b"\xff", b"[]", b'{"messages": 3}', b"null", b"[" * 9999]
    )
    def test_bad_requests(self, client: Client, body: bytes) -> None:
        answer = client.post("/", body)
        is_problem(answer, 400 if answer.status == 400 else 422)


class TestProblems:
    @pytest.mark.parametrize(
        ("fields", "said"),
        [
            ({}, "query.q"),
            ({"q": "  "}, "empty"),
            ({"q": "a" * 2001}, "at most 2,000"),
            ({"q": "a", "k": 0}, "query.k"),
            ({"q": "a", "k": "many"}, "query.k"),
            ({"q": "a", "system": "none"}, "none"),
            ({"q": "a", "after": "!!"}, "next"),
            ({"q": "a", "after": "LTEgYQ=="}, "next"),
        ],
    )
    def test_wrong_queries(self, client: Client, fields: dict[str, Any], said: str) -> None:
        assert said in is_problem(client.get("/api/v1/search", **fields), 422)

    def test_a_cursor_of_another_index(self, client: Client) -> None:
        is_problem(client.get("/api/v1/search", q=QUESTION, after="MSBub25l"), 410)

    def test_unknown_paths_and_methods(self, client: Client) -> None:
        is_problem(client.get("/api/v1/nothing"), 404)
        answer = client.post("/api/v1/search", {})
        is_problem(answer, 405)
        assert answer.headers["allow"] == "GET"
        assert client.ask("PUT", "/api/v1/_search").headers["allow"] == "GET, POST"

    def test_the_head_alone(self, client: Client) -> None:
        answer = client.ask("HEAD", "/api/v1/health")
        assert (answer.status, answer.data) == (200, b"")
        assert int(answer.headers["content-length"]) > 0

    @pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", ""])
    def test_bodies_that_are_no_json(self, client: Client, kind: str) -> None:
        headers = {"Content-Type": kind}
        for path in ("/", "/api/v1/reply", "/api/v1/evaluate", "/api/v1/_search"):
            assert "application/json" in is_problem(client.post(path, {}, headers), 415)

    @pytest.mark.parametrize("path", ["/api/v1/reply", "/api/v1/annotate", "/api/v1/evaluate"])
    def test_wrong_bodies(self, client: Client, path: str) -> None:
        for body in (b"", b"{", b"[]", b"{}", b'{"text": "\\ud800"}'):
            answer = client.post(path, body)
            if answer.status != 200:
                is_problem(answer, 422)

    def test_long_bodies(self, client: Client) -> None:
        is_problem(client.post("/api/v1/reply", b" " * (1 << 20) + b"{}"), 413)

    def test_long_bodies_of_unknown_length(self, client: Client) -> None:
        parts = (b" " * (1 << 16) for _ in range(17))
        is_problem(client.stream("/api/v1/reply", parts), 413)

    def test_a_fault_of_the_program(self, client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
        def fails(*_: object) -> None:
            raise RuntimeError("secret")

        monkeypatch.setattr("sicetnon.web.api.brief", fails)
        assert "secret" not in is_problem(client.get("/api/v1/brief", q="Is it a fault?"), 500)

    def test_no_request_can_name_a_file(self, client: Client, tmp_path: Path) -> None:
        (tmp_path / "run.txt").write_text(RUN)
        body = {"runs": {"a": str(tmp_path / "run.txt")}, "qrels": {"b": QRELS}}
        is_problem(client.post("/api/v1/evaluate", body), 422)


class TestGuard:
    def test_request_ids(self, client: Client) -> None:
        given = client.get("/api/v1/health", headers={"X-Request-ID": "abc-1"})
        assert given.headers["x-request-id"] == "abc-1"
        other = client.get("/api/v1/health", headers={"X-Request-ID": "<script>"})
        assert re.fullmatch("[0-9a-f]{32}", other.headers["x-request-id"])

    def test_headers_of_every_answer(self, client: Client) -> None:
        for path in ("/api/v1/health", "/nowhere"):
            headers = client.get(path).headers
            assert "default-src 'none'" in headers["content-security-policy"]
            assert headers["x-content-type-options"] == "nosniff"
            assert "access-control-allow-origin" not in headers
            assert "server" not in headers

    @pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example:80", ""])
    def test_other_hosts_are_refused(self, client: Client, host: str) -> None:
        is_problem(client.get("/api/v1/health", headers={"Host": host}), 421)

    def test_too_many_requests_are_refused_and_the_rest_answered(self, index: Any) -> None:
        with served(index, Settings(threads=1, waiting=1, cached=0)) as client:
            questions = [f"{QUESTION} {place}" for place in range(12)]
            with ThreadPoolExecutor(12) as pool:
                ask = lambda q: client.get("/api/v1/brief", q=q)  # noqa: E731
                answers = list(pool.map(ask, questions))
            assert {answer.status for answer in answers} <= {200, 503}
            assert any(answer.status == 200 for answer in answers)
            for answer in answers:
                if answer.status == 503:
                    is_problem(answer, 503)
                    assert answer.headers["retry-after"]
            assert client.get("/api/v1/health").status == 200

    def test_requests_for_the_same_share_the_work(self, index: Any, monkeypatch: Any) -> None:
        made = []
        original = sicetnon.brief

        def counted(*arguments: Any) -> Any:
            made.append(arguments)
            return original(*arguments)

        monkeypatch.setattr("sicetnon.web.api.brief", counted)
        with served(index) as client, ThreadPoolExecutor(8) as pool:
            answers = list(pool.map(lambda _: client.get("/api/v1/brief", q=QUESTION), range(8)))
        assert {answer.status for answer in answers} == {200}
        assert len({answer.data for answer in answers}) == len(made) == 1

    def test_a_request_has_a_time_limit(self, index: Any) -> None:
        with served(index, Settings(seconds=1e-9)) as client:
            assert "took longer" in is_problem(client.get("/api/v1/brief", q=QUESTION), 503)

    def test_a_changed_index_is_opened_again(self, tmp_path: Path) -> None:
        index = both_sides(tmp_path / "index")
        with served(index) as client:
            assert client.json("/api/v1/health")["documents"] == 8
            index.delete(["7"])
            assert client.json("/api/v1/health")["documents"] == 7
            assert "7" not in {
                each["id"] for each in client.json("/api/v1/search", q=QUESTION, k=9)["answers"]
            }


def test_the_openapi_document_has_examples(client: Client) -> None:
    found = client.json("/api/v1/openapi.json")
    assert set(found["paths"]) >= {"/", "/api/v1/search", "/api/v1/brief", "/api/v1/reply"}
    for path, methods in found["paths"].items():
        for method, operation in methods.items():
            assert operation["summary"], (method, path)
    assert QUESTION in json.dumps(found)
