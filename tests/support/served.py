"""The application behind a real server on a free port of this machine."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import threading
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import urllib3

import sicetnon
from sicetnon.web.settings import Settings
from support.patience import HANGS

# the server is loaded where one is started, and not by every process that collects tests
if TYPE_CHECKING:
    from starlette.types import ASGIApp


@dataclass(frozen=True)
class Client:
    """Asks a server.

    Attributes:
        url: Its address.
    """

    url: str

    def get(self, path: str, headers: Mapping[str, str] | None = None, **fields: Any) -> Any:
        """The answer to a GET."""
        return self._ask("GET", path, headers, fields=fields)

    def post(self, path: str, body: Any, headers: Mapping[str, str] | None = None) -> Any:
        """The answer to a POST of JSON, or of bytes."""
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        given = {"Content-Type": "application/json"} | dict(headers or {})
        return self._ask("POST", path, given, body=data)

    def stream(self, path: str, parts: Iterable[bytes]) -> Any:
        """The answer to a POST whose length is not said beforehand."""
        headers = {"Content-Type": "application/json"}
        return self._ask("POST", path, headers, body=parts, chunked=True)

    def ask(self, method: str, path: str) -> Any:
        """The answer to a request without a body."""
        return self._ask(method, path, None)

    def json(self, path: str, **fields: Any) -> Any:
        """The JSON of a successful GET."""
        answer = self.get(path, **fields)
        assert answer.status == 200, answer.data
        return answer.json()

    def _ask(self, method: str, path: str, headers: Mapping[str, str] | None, **more: Any) -> Any:
        # a connection each: no test depends on what another left behind
        with urllib3.PoolManager(retries=False, timeout=HANGS) as pool:
            return pool.request(method, self.url + path, headers=headers, **more)


def patient(settings: Settings) -> Settings:
    """Settings whose limits in seconds are the tests' own, except those that a test has set."""
    usual = Settings()
    limits = ("seconds", "head_seconds")
    kept = [name for name in limits if getattr(settings, name) == getattr(usual, name)]
    return replace(settings, **dict.fromkeys(kept, HANGS))


@contextmanager
def served(index: sicetnon.Index, settings: Settings | None = None) -> Iterator[Client]:
    """A running server over an index."""
    from sicetnon.web.application import application

    settings = patient(settings or Settings())
    with _running(application(index, settings), settings) as url:
        yield Client(url)


@contextmanager
def served_tools(index: sicetnon.Index, settings: Settings | None = None) -> Iterator[str]:
    """A running server of tools for assistants over an index, by its address."""
    from sicetnon.web.assistant_route import PATH
    from sicetnon.web.server import assistant_application

    settings = patient(settings or Settings())
    with _running(assistant_application(index, settings), settings) as url:
        yield url + PATH


@contextmanager
def _running(app: ASGIApp, settings: Settings) -> Iterator[str]:
    import uvicorn

    from sicetnon.web.server import uvicorn_config

    server = uvicorn.Server(uvicorn_config(app, settings))
    with socket.create_server(("127.0.0.1", 0)) as bound:
        # it listens already: requests wait until the server takes them
        thread = threading.Thread(target=server.run, kwargs={"sockets": [bound]}, daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{bound.getsockname()[1]}"
        finally:
            server.should_exit = True
            thread.join(HANGS)


@contextmanager
def program(index: Path, pool: Path, port: int) -> Iterator[subprocess.Popen[str]]:
    """A running `sicetnon serve` over an index and a pool, in a process of its own."""
    command = [sys.executable, "-m", "sicetnon", "serve", "--port", str(port), "--judge", str(pool)]
    with subprocess.Popen(
        [*command, "--index", str(index)], stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stderr
        assert "answers" in process.stderr.readline()
        try:
            yield process
        finally:
            process.kill()
