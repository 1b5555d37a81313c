"""The application: routes over one index."""

from __future__ import annotations

from fastapi import FastAPI

from sicetnon._version import VERSION
from sicetnon.library.index import Index
from sicetnon.web import (
    debate_routes,
    judge_routes,
    own_routes,
    page_routes,
    runs_routes,
    service_routes,
    token_routes,
    upload_routes,
)
from sicetnon.web.assistant_server import AssistantRoute
from sicetnon.web.middleware import Guard, Sessions
from sicetnon.web.problems import add_handlers
from sicetnon.web.settings import Settings
from sicetnon.web.state import State

_ABOUT = (
    "Arguments for and against a question. Errors are problem details (RFC 9457). Every answer has "
    "an X-Request-ID."
)


def application(index: Index, settings: Settings) -> FastAPI:
    """The pages, the HTTP API and the tools for assistants over an index (ASGI)."""
    state = State.of(index, settings)
    tools = AssistantRoute(state)
    app = FastAPI(
        title="Sic et Non",
        version=VERSION,
        description=_ABOUT,
        openapi_url="/api/v1/openapi.json",
        # their pages load scripts from elsewhere
        docs_url=None,
        redoc_url=None,
        servers=[{"url": settings.root_path}] if settings.root_path else None,
        lifespan=tools.lifespan,
    )
    app.state.served = state
    app.state.sessions, app.state.results = Sessions(), runs_routes.Results()
    for routes in (
        page_routes,
        judge_routes,
        runs_routes,
        token_routes,
        own_routes,
        upload_routes,
        service_routes,
        debate_routes,
    ):
        app.include_router(routes.router)
    app.router.routes.append(tools.route)
    add_handlers(app)
    app.add_middleware(Guard, settings=settings, metrics=state.metrics)
    return app
