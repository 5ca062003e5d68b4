"""What stood in a record before it was redacted, shown to the owner who says why; to no program and no model.

It is asked for by a script of the record's page: a form of another site can send no JSON, and the guard refuses other
pages anyway. The answer is kept by no cache, and nothing of it is logged.
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
from relrag_query.http.turns import Turns
from relrag_query.service import reveal as revealing

WHO = "the owner"
"""who asks, where the settings name no owner: whoever is logged in"""
_WAIT_SECONDS = 10
_LONGEST_BODY = 10_000
"""bytes"""


class RevealRequest(BaseModel, extra="forbid"):
    """What is to be shown, and why."""

    ref: Annotated[str, StringConstraints(min_length=1, max_length=2000)]
    why: Annotated[str, StringConstraints(strip_whitespace=True, min_length=3, max_length=500)]


def endpoint(settings: Settings, turns: Turns, templates: Environment) -> Callable[[Request], Awaitable[Response]]:
    """The original as a part of a page; 422 where no reason is said, 404 where there is nothing."""
    part = templates.get_template("original.html")

    async def reveal(request: Request) -> Response:
        try:
            asked = RevealRequest.model_validate_json(await _body(request))
        except ValidationError:
            return HTMLResponse(part.render(lines=[], said="Say in a few words why you need it."), 422)
        try:
            lines = await turns.run(_revealed, settings, asked)
        except VaultError:
            return HTMLResponse(part.render(lines=[], said="There is no original of this any more."), 404)
        return HTMLResponse(part.render(lines=lines, said=""))

    return reveal


async def _body(request: Request) -> bytes:
    body = bytearray()
    async for piece in request.stream():
        body += piece
        if len(body) > _LONGEST_BODY:
            return b""
    return bytes(body)


def _revealed(settings: Settings, asked: RevealRequest) -> list[str]:
    """The lines of the original, once it is noted who asks for it."""
    lines = revealing.originals(settings, asked.ref)
    revealing.note(settings, f"{settings.owner or WHO} (page)", asked.why, [asked.ref], _WAIT_SECONDS)
    return lines
