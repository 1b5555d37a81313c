"""Requests to slow hosts: a second one is sent where a host is gone, not where it works."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from sicetnon.cluster.address import parse_address
from sicetnon.cluster.connection import Connection, Patience

pytest.importorskip("opensearchpy", reason="the extra cluster is not installed")

SLOW = 0.6
FOUND = {"_shards": {"total": 1, "successful": 1, "failed": 0}, "hits": {"hits": []}}
PATIENCE = Patience(attempt=0.2, total=30.0, is_hedged=True)


class SlowHost(ThreadingHTTPServer):
    """A host that works on a search for a while.

    Attributes:
        searches: Number of searches that it was asked for.
        hangs: Whether it answers nothing at all.
        end: Set when the test ends.
    """

    daemon_threads = True

    def __init__(self, hangs: bool):
        super().__init__(("127.0.0.1", 0), Answering)
        self.searches, self.hangs, self.end = 0, hangs, threading.Event()

    def handle_error(self, *_: object) -> None:
        """Say nothing of clients that went away."""


class Answering(BaseHTTPRequestHandler):
    """Answers as a node does."""

    server: SlowHost

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self.server.searches += 1
        time.sleep(SLOW)
        self._answer(FOUND)

    def do_GET(self) -> None:
        self._answer({"nodes": {"a": {"name": "node"}}})

    def log_message(self, *_: object) -> None:
        """Say nothing."""

    def _answer(self, what: object) -> None:
        if self.server.hangs:
            self.server.end.wait()
        data = json.dumps(what).encode()
        self.send_response(200)
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


def test_a_busy_host_is_not_asked_twice() -> None:
    with hosts(False, False) as (servers, connection):
        assert connection.ask("POST", "/index/_search", {}, patience=PATIENCE) == FOUND
        assert sum(server.searches for server in servers) == 1


def test_where_a_host_hangs_another_one_is_asked() -> None:
    with hosts(True, False) as (servers, connection):
        for _ in range(2):
            answer = connection.ask("POST", "/index/_search", {}, patience=PATIENCE)
            assert answer == FOUND
        assert servers[1].searches == 2
        assert servers[0].searches <= 1, "a host that hangs is left for a while"
