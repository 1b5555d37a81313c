"""Work stops when its time is up or its client has gone; slow clients stop nobody."""

from __future__ import annotations

import contextlib
import json
import re
import socket
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from urllib.parse import urlsplit

import pytest

import sicetnon
from sicetnon.web.settings import Settings
from support.debates import QUESTION, both_sides
from support.patience import HANGS
from support.served import Client, served

# half a minute of work for the model
LONG = {
    "task": "quality",
    "texts": [f"{place} {'Zoos save animals, because people pay. ' * 390}" for place in range(64)],
}


@pytest.fixture(scope="module")
def index() -> sicetnon.Index:
    return both_sides()


@pytest.fixture(scope="module")
def quick(index: sicetnon.Index) -> Iterator[Client]:
    # the model is loaded, which is no part of what is measured
    with served(index) as client:
        client.json("/api/v1/search", q=QUESTION)
    with served(index, Settings(seconds=1)) as client:
        yield client


def counted(client: Client, name: str) -> float:
    """A number of the metrics."""
    text = client.get("/api/v1/metrics").data.decode()
    found = re.search(rf"^{name} (\S+)$", text, re.MULTILINE)
    assert found, text
    return float(found[1])


def wait_until_idle(client: Client) -> None:
    """Wait until nothing is worked on, for less than the work itself takes."""
    # of processor time, which is the same on a busy machine
    start = time.process_time()
    while counted(client, "sicetnon_requests_busy"):
        assert time.process_time() - start < 10
        time.sleep(0.02)


def connected(client: Client) -> socket.socket:
    parts = urlsplit(client.url)
    return socket.create_connection((str(parts.hostname), parts.port or 0), timeout=HANGS)


def head(path: str, length: int) -> bytes:
    lines = (f"POST {path} HTTP/1.1", "Host: localhost", "Content-Type: application/json")
    return "\r\n".join([*lines, f"Content-Length: {length}", "", ""]).encode()


def read_to_the_end(open_one: socket.socket) -> bytes:
    parts = []
    # what comes after the other end has closed is answered with a reset
    with contextlib.suppress(ConnectionResetError):
        while part := open_one.recv(1 << 16):
            parts.append(part)
    return b"".join(parts)


def test_the_time_limit_stops_the_work(quick: Client) -> None:
    stopped = counted(quick, "sicetnon_stopped_total")
    answer = quick.post("/api/v1/annotate", LONG)
    assert answer.status == 503
    assert "longer than 1 s of work" in answer.json()["detail"]
    wait_until_idle(quick)
    assert counted(quick, "sicetnon_stopped_total") >= stopped


def test_a_client_that_hangs_up_stops_the_work(index: sicetnon.Index) -> None:
    with served(index) as client:
        client.get("/api/v1/search", q=QUESTION)
        body = json.dumps(LONG).encode()
        with connected(client) as gone:
            gone.sendall(head("/api/v1/annotate", len(body)) + body)
            while not counted(client, "sicetnon_requests_busy"):
                time.sleep(0.01)
            time.sleep(0.3)  # a thread begins it
        wait_until_idle(client)
        assert counted(client, "sicetnon_hung_up_total") == 1


def test_a_server_that_is_stopped_answers_what_it_can(index: sicetnon.Index) -> None:
    with ThreadPoolExecutor(1) as pool:
        with served(index, Settings(grace_seconds=1)) as client:
            client.get("/api/v1/search", q=QUESTION)
            unfinished = pool.submit(client.post, "/api/v1/annotate", LONG)
            while not counted(client, "sicetnon_requests_busy"):
                time.sleep(0.01)
        answer = unfinished.result(HANGS)
    assert answer.status == 503
    assert "the server stops" in answer.json()["detail"]


def test_who_stays_gets_the_answer_that_another_did_not_wait_for(index: Any) -> None:
    request = (
        f"GET /api/v1/brief?q={QUESTION.replace(' ', '+')} HTTP/1.1\r\nHost: localhost\r\n\r\n"
    )
    with served(index) as client, connected(client) as gone, connected(client) as stays:
        for one in (gone, stays):
            one.sendall(request.encode())
        gone.close()
        assert stays.recv(12) == b"HTTP/1.1 200"


def test_a_head_that_does_not_end_closes_the_connection(index: sicetnon.Index) -> None:
    with (
        served(index, Settings(head_seconds=0.3)) as client,
        connected(client) as silent,
        connected(client) as slow,
    ):
        slow.sendall(b"GET /api/v1/health HTTP/1.1\r\nHost: loc")
        assert read_to_the_end(silent) == b""
        assert read_to_the_end(slow) == b""


def test_a_body_that_does_not_end_is_a_problem(quick: Client) -> None:
    with connected(quick) as slow:
        slow.sendall(head("/api/v1/reply", 100) + b'{"text"')
        answer = read_to_the_end(slow)
    assert answer.startswith(b"HTTP/1.1 408")
    assert b"application/problem+json" in answer


def test_an_answer_that_is_not_read_stops_nobody(quick: Client) -> None:
    request = b"GET /api/v1/openapi.json HTTP/1.1\r\nHost: localhost\r\n\r\n"
    with connected(quick) as lazy:
        lazy.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1024)
        for _ in range(500):
            lazy.setblocking(False)
            try:
                lazy.sendall(request)
            except BlockingIOError:
                break
        assert quick.get("/api/v1/health").status == 200
