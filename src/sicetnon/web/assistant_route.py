"""The tools for assistants at `/mcp`, beside the pages."""

from __future__ import annotations

import asyncio
import contextlib
import importlib.util
from collections.abc import AsyncIterator, Callable

from starlette.applications import Starlette
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from sicetnon.errors import MissingExtraError
from sicetnon.web.state import State

PATH = "/mcp"
"""The path at which the tools answer over HTTP."""


class AssistantRoute:
    """The tools for assistants, loaded by the first request for them.

    Loading takes half as long as the start of the server, and most servers get no such request.
    """

    def __init__(self, state: State):
        # a GET would open a stream for messages of the server, which has none to send
        self.route = Route(PATH, self, methods=["POST"])
        self._state, self._closed = state, asyncio.Event()
        self._app: asyncio.Future[ASGIApp] | None = None
        self._running: asyncio.Task[None] | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request.

        Raises:
            MissingExtraError: The package `mcp` is not installed.
        """
        scope["route"] = self.route
        if self._app is None:
            if importlib.util.find_spec("mcp") is None:
                raise MissingExtraError("answering assistants", "mcp")
            self._app = asyncio.get_running_loop().create_future()
            self._running = asyncio.create_task(self._run(self._app))
        # a client that hangs up does not end the loading, for which others may wait
        app = await asyncio.shield(self._app)
        await app(scope, receive, send)

    @contextlib.asynccontextmanager
    async def lifespan(self, _: Starlette) -> AsyncIterator[None]:
        """Keep the workers, and the tools once they are loaded, while the application runs."""
        with self._state.at_work():
            yield
            self._closed.set()
            if self._running is not None:
                await self._running

    async def _run(self, loaded: asyncio.Future[ASGIApp]) -> None:
        """Keep the tools running: what starts them must end them, so both are in one task."""
        try:
            # others are answered while they are imported
            over_http = await asyncio.to_thread(_imported)
            app = over_http(self._state, PATH)
            async with app.router.lifespan_context(app):
                loaded.set_result(app)
                await self._closed.wait()
        except Exception as error:
            if loaded.done():
                raise
            loaded.set_exception(error)


def _imported() -> Callable[[State, str], Starlette]:
    from sicetnon.web.assistant import assistant_over_http

    return assistant_over_http
