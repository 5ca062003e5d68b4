"""Shows the original of a redacted record to the owner, who gives a reason; never to a program or a model.

A script of the record's page requests it with JSON, which a form of another site cannot send, and the guard refuses
other sites anyway. The reply is not cached and not logged.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Annotated

from jinja2 import Environment
from pydantic import BaseModel, StringConstraints, ValidationError
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from relrag_pipelines.settings import Settings
from relrag_pipelines.stores.vault import VaultError
from relrag_query.http.concurrency import RequestLimiter
from relrag_query.service import Service
from relrag_query.service import reveal as service_reveal

WHO = "the owner"
"""name of the logged-in user, if the settings name no owner"""
_WAIT_SECONDS = 10
_MAX_BODY_BYTES = 10_000
"""bytes"""


class RevealRequest(BaseModel, extra="forbid"):
    """The record to show, and the reason."""

    ref: Annotated[str, StringConstraints(min_length=1, max_length=2000)]
    why: Annotated[str, StringConstraints(strip_whitespace=True, min_length=3, max_length=500)]


def endpoint(
    service: Service, limiter: RequestLimiter, templates: Callable[[Request], Environment]
) -> Callable[[Request], Awaitable[Response]]:
    """The endpoint that renders the original as a part of a page; 422 without a reason, 404 for an unknown id."""

    async def reveal(request: Request) -> Response:
        part = templates(request).get_template("original.html")
        try:
            reveal_request = RevealRequest.model_validate_json(await _body(request))
        except ValidationError:
            return HTMLResponse(part.render(lines=[], message="record.say_why"), 422)
        try:
            lines = await limiter.run(_original_lines, service.settings, reveal_request)
        except VaultError:
            return HTMLResponse(part.render(lines=[], message="record.no_original"), 404)
        return HTMLResponse(part.render(lines=lines, message=""))

    return reveal


async def _body(request: Request) -> bytes:
    body = bytearray()
    async for piece in request.stream():
        body += piece
        if len(body) > _MAX_BODY_BYTES:
            return b""
    return bytes(body)


def _original_lines(settings: Settings, reveal_request: RevealRequest) -> list[str]:
    """The lines of the original, after recording who asks and why."""
    lines = service_reveal.originals(settings, reveal_request.ref)
    service_reveal.note(
        settings, f"{settings.owner or WHO} (page)", reveal_request.why, [reveal_request.ref], _WAIT_SECONDS
    )
    return lines
