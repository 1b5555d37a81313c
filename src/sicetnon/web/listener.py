"""uvicorn, set as this application needs it."""

from __future__ import annotations

import asyncio
import logging

import uvicorn
from starlette.types import ASGIApp
from uvicorn.protocols.http.h11_impl import H11Protocol

from sicetnon.web.settings import Settings

_KEPT_ALIVE_SECONDS = 5
_LONGEST_HEAD = 1 << 16


def uvicorn_server(app: ASGIApp, settings: Settings) -> uvicorn.Server:
    """A server of an application."""
    config = uvicorn.Config(
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
    return uvicorn.Server(config)


def _impatient(seconds: float) -> type[H11Protocol]:
    """Uvicorn's protocol, which closes a connection that does not send the head of a request.

    Args:
        seconds: Seconds from the first byte, or from the opening, until the head must be whole.
    """

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
