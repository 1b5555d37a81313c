"""The MCP server over its two transports: standard input and output, and streamable HTTP."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from starlette.applications import Starlette

from sicetnon.library.index import Index
from sicetnon.web.assistant import assistant
from sicetnon.web.assistant_route import PATH, AssistantRoute
from sicetnon.web.guard import Guard
from sicetnon.web.listener import uvicorn_server
from sicetnon.web.server import bound_socket, said_address
from sicetnon.web.settings import Settings
from sicetnon.web.state import State


def serve_pipe(index: Index, settings: Settings) -> None:
    """Answer an assistant that has started this process, until it closes standard input."""
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
    with bound_socket(settings.host, port) as bound:
        said_address(settings, bound, PATH, say)
        uvicorn_server(assistant_application(index, settings), settings).run(sockets=[bound])


def assistant_application(index: Index, settings: Settings) -> Starlette:
    """The tools over HTTP, as an ASGI application."""
    state = State.of(index, settings)
    tools = AssistantRoute(state)
    app = Starlette(routes=[tools.route], lifespan=tools.lifespan)
    app.add_middleware(Guard, settings=settings, metrics=state.metrics)
    return app
