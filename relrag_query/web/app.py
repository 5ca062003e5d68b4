"""The whole server: pages, API and MCP behind one guard."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import StaticFiles

from relrag_pipelines.ui.guard import STYLE_HASH, Guard, GuardedServer, sites
from relrag_pipelines.ui.login import Login
from relrag_query.http import api
from relrag_query.http.concurrency import MAX_QUEUE, RequestLimiter
from relrag_query.http.gone_clients import GoneClients
from relrag_query.http.openapi import PREFIX
from relrag_query.http.problems import answer_error
from relrag_query.mcp import server as mcp_server
from relrag_query.service import Service
from relrag_query.web import pages, webhook
from relrag_query.web.owner_pages import UPLOAD

PORT = 3100
STATIC = Path(__file__).with_name("static")
HEALTH = "/health"
SERVER = GuardedServer(
    "serve",
    "your archive",
    "relrag serve",
    PORT,
    frozenset({HEALTH}),
    "/static/",
    f"default-src 'none'; script-src 'self'; style-src 'self' 'sha256-{STYLE_HASH}'; img-src 'self' data:; "
    "media-src 'self'; font-src 'self'; connect-src 'self'; manifest-src 'none'; worker-src 'none'",
    "web_public_url",
    takes_signature=(webhook.PREFIX,),
    takes_token=(f"{PREFIX}/", "/mcp", "/entities/"),
    checks_media_type=(f"{PREFIX}/", UPLOAD),
)


def create_app(
    service: Service,
    login: Login,
    token: Callable[[], str],
    host: str,
    port: int,
    public_url: str = "",
    max_queue: int = MAX_QUEUE,
) -> Starlette:
    """The ASGI app. `token` returns the token of API and MCP; `public_url` is the address of a proxy, if any."""
    guard = Middleware(Guard, sites=sites(host, port, public_url), login=login, port=port, server=SERVER, token=token)
    return app_of(service, [guard], for_owner=True, max_queue=max_queue)


def app_of(
    service: Service, middleware: Sequence[Middleware] = (), *, for_owner: bool = False, max_queue: int = MAX_QUEUE
) -> Starlette:
    """Pages, API and MCP of one service, behind `middleware`; at most `max_queue` requests may queue."""
    limiter = RequestLimiter(max_queue=max_queue)
    tools = mcp_server.build(service)
    # calls are stateless: there is no session, so any process can answer the next call
    protocol = tools.streamable_http_app(stateless_http=True, json_response=True, host="behind-the-guard")

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        async with tools.session_manager.run():
            yield

    page_routes, unknown_page = pages.routes(service, limiter, for_owner=for_owner)

    async def not_found(request: Request, _: Exception) -> Response:
        return await unknown_page(request)

    routes: list[BaseRoute] = [
        Route(HEALTH, _health),
        *api.routes(service, limiter),
        Mount("/static", StaticFiles(directory=STATIC), name="static"),
        *protocol.routes,
        *(webhook.routes(service, limiter) if for_owner else []),
        *page_routes,
    ]
    faults: dict[Any, Any] = {Exception: answer_error, 404: not_found}
    return Starlette(
        routes=routes, middleware=[Middleware(GoneClients), *middleware], lifespan=lifespan, exception_handlers=faults
    )


async def _health(_: Request) -> Response:
    return PlainTextResponse("ok\n")
