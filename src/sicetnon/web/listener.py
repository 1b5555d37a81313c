"""uvicorn, set as this application needs it."""

from __future__ import annotations

import logging

import uvicorn
from starlette.types import ASGIApp

from sicetnon.web.connections import impatient
from sicetnon.web.settings import Settings

_KEPT_ALIVE_SECONDS = 5
_LONGEST_HEAD = 1 << 16


def uvicorn_server(app: ASGIApp, settings: Settings) -> uvicorn.Server:
    """A server of an application.

    Args:
        app: The application.
        settings: Limits.
    """
    config = uvicorn.Config(
        app,
        http=impatient(settings.head_seconds),
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
