"""The application: routes over one index."""

from __future__ import annotations

from fastapi import FastAPI, Response

from sicetnon._version import VERSION
from sicetnon.app.index import Index
from sicetnon.web import api, compat_api
from sicetnon.web.assistant_route import AssistantRoute
from sicetnon.web.middleware import Guard, Sessions
from sicetnon.web.pages import api_reference, ask, brief, document, judge, runs, token
from sicetnon.web.problems import Problem, add_handlers
from sicetnon.web.rendering import assets
from sicetnon.web.settings import Settings
from sicetnon.web.state import State

_ABOUT = (
    "Arguments for and against a question. Errors are problem details (RFC 9457). Every answer has "
    "an X-Request-ID."
)
_A_YEAR = "public, max-age=31536000, immutable"


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
    app.state.sessions, app.state.results = Sessions(), runs.Results()
    for page in (ask, document, brief, api_reference, judge, runs, token):
        app.include_router(page.router)
    app.add_api_route("/static/{name}", _static, include_in_schema=False)
    for router in (api.router, api.file_router, compat_api.router):
        app.include_router(router)
    app.router.routes.append(tools.route)
    add_handlers(app)
    app.add_middleware(Guard, settings=settings, metrics=state.metrics)
    return app


async def _static(name: str) -> Response:
    """A file that the pages load."""
    asset = assets().get(name)
    if asset is None:
        raise Problem(404, "there is no such file")
    headers = {"Cache-Control": _A_YEAR, "ETag": f'"{asset.digest}"'}
    return Response(asset.data, media_type=asset.media_type, headers=headers)
