"""Other programs at the address of a cluster: one line, and no secret in it."""

from __future__ import annotations

import base64
import gzip
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest

from sicetnon.app.index import Index
from sicetnon.cluster.address import is_address, parse_address, read_credentials
from sicetnon.cluster.responses import ClusterError, is_expected
from sicetnon.cluster.transport import Connection, Host, open_client
from sicetnon.errors import SicetnonError, UsageError

ALIASED = b'{"name.0123456789ab-1": {"aliases": {}}}'
USER, PASSWORD = "bob", "hunter-2-secret"
SENT = base64.b64encode(f"{USER}:{PASSWORD}".encode()).decode()


@contextmanager
def served(
    status: int, content_type: str, body: bytes, headers: Mapping[str, str] = MappingProxyType({})
) -> Iterator[str]:
    """The address of a program that gives one answer to everything."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(status)
            self.send_header("Content-Type", content_type)
            self.send_header("Content-Length", str(len(body)))
            self.send_header("Location", "http://127.0.0.1:1/elsewhere")
            for name, value in headers.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        def do_POST(self) -> None:
            self.do_GET()

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield f"opensearch+http://127.0.0.1:{server.server_port}/name"
        finally:
            server.shutdown()


@pytest.mark.parametrize(
    ("status", "content_type", "body", "message"),
    [
        (200, "text/html", b"<html>It works!</html>", "the answer is no JSON"),
        (200, "text/plain", b"hello", "something else running at this address"),
        (200, "application/json", b"[1,2]", "something else running at this address"),
        (200, "application/json", b"5", "something else running at this address"),
        (200, "application/json", b'"x"', "something else running at this address"),
        (200, "application/json", b"[" * 100_000, "the answer is no JSON"),
        (200, "application/json", b'{"a": NaN}', "the answer is no JSON"),
        (200, "application/json", b'{"a": 1, "b": []}', "none of an OpenSearch cluster"),
        (200, "application/json", b'{"a": {"aliases": {}}}', "is an alias of a, which is no index"),
        (200, "application/json", ALIASED, "none of an OpenSearch cluster"),
        (200, "application/json", ALIASED[:-1] + b',"found": {}}', "none of an OpenSearch cluster"),
        (302, "application/json", b"", "status 302"),
        (400, "application/json", b'{"error": {"root_cause": {"x": 1}}}', "status 400"),
        (400, "application/json", b'{"error": {"root_cause": [5]}}', "status 400"),
        (401, "application/json", b'{"error": {"root_cause": {}}}', "refuses the user"),
        (418, "application/json", b'["a"]', "something else running at this address"),
        (500, "text/plain", b"x" * 100_000, "status 500: xxx"),
        (403, "application/json", b'{"error": "Basic %b"}' % SENT.encode(), r"Basic \*\*\*"),
        (403, "application/json", b'{"error": "%b"}' % PASSWORD.encode(), r"right is .*\*\*\*"),
    ],
)
def test_what_is_no_cluster(
    status: int, content_type: str, body: bytes, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("opensearchpy", reason="the extra cluster is not installed")
    monkeypatch.setenv("SICETNON_CLUSTER_USER", USER)
    monkeypatch.setenv("SICETNON_CLUSTER_PASSWORD", PASSWORD)
    # some answers are asked for again until then; a busy machine needs a second for one
    monkeypatch.setenv("SICETNON_CLUSTER_SECONDS", "3")
    with (
        served(status, content_type, body) as address,
        pytest.raises(SicetnonError, match=message) as caught,
    ):
        Index.open(address)
    assert PASSWORD not in str(caught.value)
    assert SENT not in str(caught.value)


@pytest.mark.parametrize("packed", [False, True])
def test_an_answer_without_end_is_not_read(packed: bool) -> None:
    pytest.importorskip("opensearchpy", reason="the extra cluster is not installed")
    body = b'{"error": "%s"}' % (b"x" * 100_000)
    headers = {"Content-Encoding": "gzip"} if packed else {}
    with served(200, "application/json", gzip.compress(body) if packed else body, headers) as place:
        address = parse_address(place)
        for most_bytes, message in ((len(body), "none of an OpenSearch"), (9_999, "too long")):
            with (
                closing(Connection(address, most_bytes=most_bytes)) as connection,
                pytest.raises(ClusterError, match=message),
            ):
                connection.ask("GET", "/name/_settings")


@pytest.mark.parametrize("times", [1, 2])
def test_an_answer_that_unpacks_to_gigabytes_is_not_read(times: int) -> None:
    pytest.importorskip("opensearchpy", reason="the extra cluster is not installed")
    body = b" " * (64 << 20)
    for _ in range(times):
        body = gzip.compress(body)
    headers = {"Content-Encoding": ", ".join(["gzip"] * times)}
    with (
        served(200, "application/json", body, headers) as place,
        closing(Connection(parse_address(place))) as connection,
        pytest.raises(ClusterError, match="too long"),
    ):
        connection.ask("GET", "/name/_settings")


SHARDS = {"_shards": {"total": 1, "successful": 1, "failed": 0}}
REQUESTS = (
    ("POST", "/x/_search"),
    ("POST", "/x/_search/point_in_time"),
    ("POST", "/_msearch"),
    ("GET", "/x/_doc/state"),
    ("PUT", "/x/_doc/state"),
    ("GET", "/x/_alias/x"),
    ("GET", "/x/_settings"),
    ("POST", "/x/_bulk"),
    ("POST", "/x/_refresh"),
    ("GET", "/x/_stats/store,docs"),
)


@pytest.mark.parametrize(("method", "path"), REQUESTS)
@pytest.mark.parametrize(
    "answer",
    [
        {"ok": True},
        {"hits": 5, "_shards": []},
        SHARDS | {"hits": [], "pit_id": 5, "items": {}, "responses": 5},
        SHARDS | {"hits": {"hits": [5]}, "items": [5], "responses": [{"error": 5}, {}]},
        {"found": True, "_source": {}, "aliases": 5, "x": {"settings": {"index": 5}}},
        {"found": 1, "_shards": {"total": "1"}, "_seq_no": "1", "items": [{"index": {}}]},
        5,
        None,
        [[]],
    ],
)
def test_answers_of_another_form_are_refused(method: str, path: str, answer: Any) -> None:
    is_sharded = isinstance(answer, dict) and answer.get("_shards") == SHARDS["_shards"]
    if not (is_sharded and ("_refresh" in path or "_stats" in path)):
        assert not is_expected(method, path, answer)


def test_answers_of_the_engine_are_taken() -> None:
    search = SHARDS | {"took": 1, "timed_out": False, "hits": {"hits": [{"_id": "1"}]}}
    written = {"_seq_no": 1, "_primary_term": 1}
    for method, path, answer in (
        ("POST", "/x/_search", search),
        ("POST", "/_search", search),
        ("POST", "/x/_search/point_in_time", SHARDS | {"pit_id": "a"}),
        ("DELETE", "/_search/point_in_time", {"pits": []}),
        ("POST", "/_msearch", {"responses": [search, {"error": {"type": "a"}, "status": 429}]}),
        ("GET", "/x/_doc/state", {"found": False}),
        ("GET", "/x/_doc/state", {"found": True, "_source": {"record": "{}"}, **written}),
        ("PUT", "/x/_doc/state", written),
        ("GET", "/x/_settings", {"x": {"settings": {"index": {"number_of_shards": "1"}}}}),
        ("POST", "/x/_bulk", {"errors": False, "items": [{"index": {"status": 201}}]}),
        ("PUT", "/x", {"acknowledged": True}),
        ("PUT", "/x/_settings", {"acknowledged": True}),
    ):
        assert is_expected(method, path, answer)


@pytest.mark.parametrize(
    "body", [b"5", b"[]", b"{}", b'{"nodes": 5}', b'{"nodes": [5]}', b'{"nodes": {}}', b'"x"']
)
def test_a_host_that_is_no_node_is_left(body: bytes) -> None:
    pytest.importorskip("opensearchpy", reason="the extra cluster is not installed")
    with served(200, "application/json", body) as text:
        address = parse_address(text)
        host = Host(open_client(address, 0, read_credentials(address), 1, 1 << 20))
        assert not host.probe()
        host.client.close()


@pytest.mark.parametrize(
    "text",
    [
        "opensearch+http://bob:hunter2@host/x",
        "opensearch+http://bob:hunter2＠host/x",
        "opensearch+http://bob:hunter2%40host:9200/x",
        "opensearch+http://bob:hunter2/host/x",
        "opensearch+http://host:9200/x?password=hunter2",
        "opensearch+http://host:9200/x#hunter2",
        "opensearch://bob:hunter2@host/x",
        "http://bob:hunter2@host:9200/x",
        "HTTPS://bob:hunter2@host:9200/x",
        "http:/bob:hunter2@host:9200/x",
    ],
)
def test_no_message_repeats_a_password(text: str, failing: Callable[..., tuple[int, str]]) -> None:
    assert is_address(text)
    with pytest.raises(UsageError) as caught:
        parse_address(text)
    assert "hunter2" not in str(caught.value)
    for command in (["index", "info", text], ["search", "x", "--index", text]):
        status, line = failing(*command)
        assert status == 2
        assert "hunter2" not in line


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("opensearch+http://host:99999/x", "found the host 'host:99999' in an address"),
        ("opensearch+http://host:٩٢/x", "found the host 'host:…' in an address"),
        ("https://host:9200/x", r"found the address 'https://host:9200/x'; expected opensearch\+"),
    ],
)
def test_a_wrong_address_is_shown(text: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        parse_address(text)


def test_a_folder_is_wanted(failing: Callable[..., tuple[int, str]], tmp_path: Path) -> None:
    address, there = "opensearch+http://127.0.0.1:1/x", str(tmp_path)
    for words in (["merge", there, "-o", address], ["merge", address, "-o", there]):
        assert failing("index", *words)[1].startswith("sicetnon: found the address of a cluster; ")
    for shards, folder in (([there], address), ([address], there), ([5], there)):
        with pytest.raises(UsageError, match="found "):
            Index.merge(shards, folder)  # type: ignore[list-item]
    with pytest.raises(UsageError, match="found the shards '/a/b'; expected a list of folders"):
        Index.merge("/a/b", there)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("place", [None, 5, b"index", ["index"]])
def test_what_is_no_place(place: object) -> None:
    with pytest.raises(UsageError, match=r"found .* as the place of an index; "):
        Index.open(place)  # type: ignore[arg-type]


@pytest.mark.parametrize("text", ["index", "http", "my.index", "/tmp/https:/x", "c:/index"])
def test_a_folder_is_no_address(text: str) -> None:
    assert not is_address(text)
