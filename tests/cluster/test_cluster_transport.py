"""Requests to slow hosts: a second one is sent where a host is gone, not where it works."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import unquote

import pytest

from sicetnon.cluster.address import parse_address
from sicetnon.cluster.responses import ClusterError
from sicetnon.cluster.transport import Connection, Request, TimeLimits
from support.dripping import DRIPS, dripping

pytest.importorskip("opensearchpy", reason="the extra cluster is not installed")

SLOW = 0.6
FOUND = {"_shards": {"total": 1, "successful": 1, "failed": 0}, "hits": {"hits": []}}
LIMITS = TimeLimits(attempt=0.2, total=30.0, is_hedged=True)


class SlowHost(ThreadingHTTPServer):
    """A host that works on a search for a while.

    Attributes:
        paths: The paths of the searches that it was asked for.
        hangs: Whether it answers nothing at all.
        seconds: The time that a search takes.
        refusal: The status and the answer where its node alone may work on a search, if it refuses.
        end: Set when the test ends.
    """

    daemon_threads = True

    def __init__(self, hangs: bool):
        super().__init__(("127.0.0.1", 0), Answering)
        self.paths: list[str] = []
        self.hangs, self.seconds, self.end = hangs, SLOW, threading.Event()
        self.refusal: tuple[int, object] | None = None

    @property
    def searches(self) -> int:
        """Number of searches that it was asked for."""
        return len(self.paths)

    def handle_error(self, *_: object) -> None:
        """Say nothing of clients that went away."""


class Answering(BaseHTTPRequestHandler):
    """Answers as a node does."""

    server: SlowHost

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.paths.append(unquote(f"{self.path} {body.decode()}"))
        self.server.end.wait(self.server.seconds)
        if self.server.refusal and "_only_nodes" in self.server.paths[-1]:
            self._answer(self.server.refusal[1], self.server.refusal[0])
        else:
            self._answer({"responses": [FOUND]} if "_msearch" in self.path else FOUND)

    def do_GET(self) -> None:
        self._answer({"nodes": {f"node-{self.server.server_address[1]}": {"name": "node"}}})

    def log_message(self, *_: object) -> None:
        """Say nothing."""

    def _answer(self, what: object, status: int = 200) -> None:
        if self.server.hangs:
            self.server.end.wait()
        data = json.dumps(what).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


@contextmanager
def hosts(*hangs: bool) -> Iterator[tuple[list[SlowHost], Connection]]:
    """Hosts that hang, or work slowly, and a connection to all of them."""
    with ExitStack() as stack:
        servers = [SlowHost(each) for each in hangs]
        for server in servers:
            threading.Thread(target=server.serve_forever, daemon=True).start()
            stack.callback(server.server_close)
            stack.callback(server.shutdown)
            stack.callback(server.end.set)
        names = ",".join(f"127.0.0.1:{server.server_address[1]}" for server in servers)
        connection = Connection(parse_address(f"opensearch+http://{names}/index"))
        stack.callback(connection.close)
        yield servers, connection


def test_a_host_without_tls_is_named_so() -> None:
    with hosts(False) as (servers, _):
        address = f"opensearch+https://127.0.0.1:{servers[0].server_address[1]}/index"
        connection = Connection(parse_address(address))
        with pytest.raises(ClusterError, match=r"without TLS; .* say opensearch\+http://"):
            connection.ask("GET", "/")
        connection.close()


def test_a_busy_host_is_not_asked_twice() -> None:
    with hosts(False, False) as (servers, connection):
        assert connection.ask("POST", "/index/_search", {}, time_limits=LIMITS) == FOUND
        assert sum(server.searches for server in servers) == 1


def test_where_a_host_hangs_another_one_is_asked() -> None:
    with hosts(True, False) as (servers, connection):
        for _ in range(2):
            answer = connection.ask("POST", "/index/_search", {}, time_limits=LIMITS)
            assert answer == FOUND
        assert servers[1].searches == 2
        assert servers[0].searches <= 1, "a host that hangs is left for a while"


def test_a_host_that_lives_is_not_left_because_it_is_late(monkeypatch: pytest.MonkeyPatch) -> None:
    # on a busy machine a probe of a host that lives takes its time
    for name in ("_PROBE_SECONDS", "_LONGEST_PROBE"):
        monkeypatch.setattr(f"sicetnon.cluster.transport.{name}", 10.0)
    with hosts(False, False) as (servers, connection):
        for server in servers:
            server.seconds = 60.0
        with pytest.raises(ClusterError, match=r"no answer|does not answer in time"):
            connection.ask("POST", "/index/_search", {}, time_limits=TimeLimits(0.1, 1.2, True))
        time.sleep(0.3)  # the requests end a little later than the wait for them
        assert not connection._hosts.dead()


def test_a_host_that_answers_again_is_asked_again() -> None:
    with hosts(True, False) as (servers, connection):
        connection.ask("POST", "/index/_search", {}, time_limits=LIMITS)
        assert len(connection._hosts.dead()) == 1
        servers[0].hangs = False
        time.sleep(0.5)  # what a probe found is kept for a while
        with ThreadPoolExecutor(2) as threads:
            assert connection._hosts.probe(threads)
        assert not connection._hosts.dead()


def test_a_host_that_was_waited_for_long_is_left_longer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sicetnon.cluster.transport._DEAD_SECONDS", 0.1)
    with hosts(True, False) as (servers, connection):
        servers[1].seconds = 0.0
        limits = TimeLimits(attempt=1.0, total=30.0)
        while servers[1].searches < 10:
            assert connection.ask("POST", "/index/_search", {}, time_limits=limits) == FOUND
            time.sleep(0.15)
        # to be asked by turns would have cost a second each time; a slow machine asks it once more
        assert servers[0].searches <= 2


def test_after_half_of_the_time_another_host_is_asked() -> None:
    # the first host answers probes, and waits for a node that is no host of the address
    time_limits = TimeLimits(attempt=0.1, total=6.0, is_hedged=True)
    with hosts(False, False) as (servers, connection):
        servers[0].seconds, servers[1].seconds = 60.0, 0.0
        begin = time.monotonic()
        assert connection.ask("POST", "/index/_search", {}, time_limits=time_limits) == FOUND
        assert time.monotonic() - begin > 3
        assert [server.searches for server in servers] == [1, 1]
        names = ",".join(f"node-{server.server_address[1]}" for server in servers)
        assert f"?preference=_only_nodes:{names} " in servers[1].paths[0]
        assert "preference" not in servers[0].paths[0]
        # a while after, the nodes of the hosts work alone from the start
        assert connection._hosts.nodes() == names


@pytest.mark.parametrize(("status", "seconds"), [(429, 0.0), (200, 1.0)])
def test_while_a_cluster_is_busy_no_second_host_is_asked(status: int, seconds: float) -> None:
    with hosts(False, False) as (servers, connection):
        connection._hosts.note(status, seconds)
        for server in servers:
            server.seconds = 2.0
        time_limits = TimeLimits(attempt=0.1, total=3.0, is_hedged=True)
        assert connection.ask("POST", "/index/_search", {}, time_limits=time_limits) == FOUND
        assert sum(server.searches for server in servers) == 1


def test_each_of_several_searches_in_one_request_names_its_nodes() -> None:
    request = Request("POST", "/_msearch", b'{"index":"a"}\n{}\n', {})
    assert request.at("") is request
    asked = request.at("b")
    assert asked.body == b'{"preference":"_only_nodes:b","index":"a"}\n{}\n'
    # where a node that hangs may be asked, few searches wait for it
    asked = request.at("b", is_limited=False)
    assert asked.body == b'{"preference":"_prefer_nodes:b","index":"a"}\n{}\n'
    assert asked.params == {"max_concurrent_searches": "2"}


def test_an_answer_that_may_lack_shards_has_them_from_wherever_they_are() -> None:
    partial = Request("POST", "/a/_search", b"{}", {"allow_partial_search_results": "true"})
    assert partial.at("b").params["preference"] == "_prefer_nodes:b"


NO_COPY = {"type": "illegal_argument_exception", "reason": "no data nodes with criteria [b] found"}
BEING_MADE = {"type": "search_phase_execution_exception", "reason": "Partial shards failure"}


@pytest.mark.parametrize(("status", "error"), [(400, NO_COPY), (503, BEING_MADE)])
def test_nodes_that_lack_a_shard_do_not_work_alone(status: int, error: dict[str, str]) -> None:
    search = json.dumps({}).encode()
    with hosts(True, False) as (servers, connection):
        connection.ask("POST", "/index/_search", {}, time_limits=LIMITS)
        one = {"error": {**error, "root_cause": [error]}, "status": status}
        for path, refusal in (
            ("/index/_search", (status, one)),
            ("/_msearch", (200, {"responses": [one]})),
        ):
            connection._hosts._others_until = 0.0
            servers[1].refusal = refusal
            del servers[1].paths[:]
            body = b'{"index":"index"}\n' + search + b"\n"
            assert connection.ask("POST", path, body, time_limits=LIMITS)
            first, second = servers[1].paths
            assert "_only_nodes" in first
            assert "_prefer_nodes" in second


def test_requests_share_the_time_that_they_wait() -> None:
    with hosts(True, True) as (_, connection):
        begin = time.monotonic()
        with connection.waiting(1.5):
            for _ in range(3):
                # an attempt may end a moment before the wait for it does
                with pytest.raises(ClusterError, match=r"no answer|does not answer in time"):
                    connection.ask("POST", "/index/_search", {}, time_limits=LIMITS)
        assert 1.4 < time.monotonic() - begin < 1.9, "a probe must not outlast the limit"


def test_searches_beside_one_another_may_wait_as_long_as_all_of_them() -> None:
    time_limits = TimeLimits(attempt=0.1, total=0.4, is_hedged=True)
    with hosts(False) as (_, connection):
        with pytest.raises(ClusterError, match=r"no answer|does not answer in time"):
            connection.ask("POST", "/index/_search", {}, time_limits=time_limits)
        with connection.sharing(8):
            assert connection.ask("POST", "/index/_search", {}, time_limits=time_limits) == FOUND
        assert connection.parallel == 1


def test_limits_do_not_count_the_time_of_a_block_beyond_them() -> None:
    with hosts(False) as (_, connection), connection.within(2.0), connection.waiting(2.0):
        with connection.beyond_limits():
            for _ in range(4):
                assert connection.ask("POST", "/index/_search", {}, time_limits=LIMITS) == FOUND
        assert connection.ask("POST", "/index/_search", {}, time_limits=LIMITS) == FOUND
        time.sleep(1.5)
        with pytest.raises(ClusterError, match=r"no answer|does not answer in time"):
            connection.ask("POST", "/index/_search", {}, time_limits=LIMITS)


@pytest.mark.parametrize("is_hedged", [True, False])
@pytest.mark.parametrize("name", DRIPS)
def test_a_host_that_drips_is_given_up(name: str, is_hedged: bool) -> None:
    with dripping(name) as url:
        host = url.removeprefix("http://")
        connection = Connection(parse_address(f"opensearch+http://{host}/a"))
        begin = time.monotonic()
        with pytest.raises(ClusterError):
            connection.ask("POST", "/a/_search", {}, time_limits=TimeLimits(0.1, 0.4, is_hedged))
        assert time.monotonic() - begin < 5
        connection.close()
