"""Serving until the process is asked to end: pages and API, or the tools for assistants alone."""

from __future__ import annotations

import asyncio
import logging
import socket
import webbrowser
from collections.abc import Callable
from typing import TYPE_CHECKING

from sicetnon.app.index import Index
from sicetnon.errors import MissingExtraError, UsageError
from sicetnon.operating_system import allow_many_files, has_screen
from sicetnon.web.settings import Settings

if TYPE_CHECKING:
    import uvicorn
    from starlette.applications import Starlette
    from starlette.types import ASGIApp
    from uvicorn.protocols.http.h11_impl import H11Protocol

_WAITING_CONNECTIONS = 128
_KEPT_ALIVE_SECONDS = 5
_LONGEST_HEAD = 1 << 16


def serve(
    index: Index,
    settings: Settings,
    port: int,
    say: Callable[[str], None],
    is_opened: bool = False,
) -> None:
    """Serve an index over HTTP.

    Args:
        index: An open index.
        settings: Limits, and the address.
        port: The port; 0 takes a free one.
        say: Called with the address once it is bound.
        is_opened: Whether the page is opened in a browser, where there is a screen.

    Raises:
        MissingExtraError: The web server is not installed.
        UsageError: The address cannot be bound.
        DataError: The judging file cannot be used.
    """
    try:
        import uvicorn

        from sicetnon.web.application import application
    except ModuleNotFoundError as error:
        raise MissingExtraError("serving over HTTP", "web") from error
    with bound_socket(settings.host, port) as bound:
        server = uvicorn.Server(uvicorn_config(application(index, settings), settings))
        address = said_address(settings, bound, "", say)
        if not settings.is_local:
            token = f"this token: {settings.token}" if settings.shows_token else "your token"
            say(f"to judge and to upload, people need {token}")
        if is_opened and has_screen():
            # the request waits in the socket until the server takes it
            webbrowser.open(address)
        server.run(sockets=[bound])


def serve_pipe(index: Index, settings: Settings) -> None:
    """Answer an assistant that has started this process, until it closes standard input."""
    from sicetnon.web.assistant import assistant
    from sicetnon.web.state import State

    state = State.of(index, settings)

    async def answer() -> None:
        with state.at_work():
            await assistant(state).run_stdio_async()

    asyncio.run(answer())


def serve_assistants(
    index: Index, settings: Settings, port: int, say: Callable[[str], None]
) -> None:
    """Answer assistants over HTTP, until the process is asked to end.

    Raises:
        UsageError: The address cannot be bound.
    """
    import uvicorn

    from sicetnon.web.assistant_route import PATH

    with bound_socket(settings.host, port) as bound:
        said_address(settings, bound, PATH, say)
        config = uvicorn_config(assistant_application(index, settings), settings)
        uvicorn.Server(config).run(sockets=[bound])


def assistant_application(index: Index, settings: Settings) -> Starlette:
    """The tools over HTTP, as an ASGI application."""
    from starlette.applications import Starlette

    from sicetnon.web.assistant_route import AssistantRoute
    from sicetnon.web.middleware import Guard
    from sicetnon.web.state import State

    state = State.of(index, settings)
    tools = AssistantRoute(state)
    app = Starlette(routes=[tools.route], lifespan=tools.lifespan)
    app.add_middleware(Guard, settings=settings, metrics=state.metrics)
    return app


def said_address(
    settings: Settings, bound: socket.socket, path: str, say: Callable[[str], None]
) -> str:
    """Say where a server answers, and who can reach it.

    Returns:
        The address.
    """
    host = f"[{settings.host}]" if ":" in settings.host else settings.host
    address = f"http://{host}:{bound.getsockname()[1]}{path}"
    say(f"{address} answers; Ctrl-C stops it")
    if not settings.is_local:
        say("it is open to everybody who can reach this machine, without a password")
    return address


def bound_socket(host: str, port: int) -> socket.socket:
    """A socket that is bound to an address and takes connections.

    Args:
        host: The address.
        port: The port; 0 takes a free one.

    Raises:
        UsageError: The address cannot be bound.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # each connection is an open file
    allow_many_files()
    bound = socket.socket(family, socket.SOCK_STREAM)
    try:
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.bind((host, port))
        # requests wait from here on until the server takes them
        bound.listen(_WAITING_CONNECTIONS)
    except (OSError, ValueError) as error:  # such as a name that is none
        bound.close()
        reason = getattr(error, "strerror", None) or error
        raise UsageError(f"{host}, port {port}: {reason}; name another --host or --port") from None
    return bound


def uvicorn_config(app: ASGIApp, settings: Settings) -> uvicorn.Config:
    """The settings of uvicorn, set as an application of ours needs it."""
    import uvicorn

    return uvicorn.Config(
        app,
        http=_impatient(settings.head_seconds),
        access_log=False,
        log_config=None,
        # it would complain of what clients send; faults of ours are in our own log
        log_level=logging.CRITICAL,
        server_header=False,
        timeout_keep_alive=_KEPT_ALIVE_SECONDS,
        timeout_graceful_shutdown=settings.grace_seconds,
        h11_max_incomplete_event_size=_LONGEST_HEAD,
    )


def _impatient(seconds: float) -> type[H11Protocol]:
    """Uvicorn's protocol, which closes a connection that does not send the head of a request.

    Args:
        seconds: Seconds from the first byte, or from the opening, until the head must be complete.
    """
    from uvicorn.protocols.http.h11_impl import H11Protocol

    class Impatient(H11Protocol):
        _closing: asyncio.TimerHandle | None = None

        def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
            super().connection_made(transport)
            self._wait()

        def data_received(self, data: bytes) -> None:
            super().data_received(data)
            if self.cycle is None or self.cycle.response_complete:
                self._wait()
            else:
                self._stop_waiting()

        def connection_lost(self, exc: Exception | None) -> None:
            self._stop_waiting()
            super().connection_lost(exc)

        def _wait(self) -> None:
            if self._closing is None:
                self._closing = self.loop.call_later(seconds, self.transport.close)

        def _stop_waiting(self) -> None:
            if self._closing is not None:
                self._closing.cancel()
                self._closing = None

    return Impatient
