"""The pages on which the owner changes the archive: the first steps, sources, forgetting, people who may be one.

They show what there is to do; a script (static/owner.js) sends an operation of `operations/owner_table.py` as JSON,
which no form of another site can send. The pages of a team and of clients have none of this.
"""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from http import HTTPStatus
from typing import Any
from urllib.parse import quote

import orjson
from pydantic import BaseModel, ValidationError
from starlette.requests import Request
from starlette.responses import FileResponse, Response, StreamingResponse
from starlette.routing import Route

from relrag_pipelines.errors import RelragError
from relrag_pipelines.maintenance.backup import latest as latest_backup
from relrag_pipelines.settings import OFF, Settings
from relrag_pipelines.stores import generations
from relrag_query.http.byte_range import bytes_response
from relrag_query.http.concurrency import RequestLimiter
from relrag_query.http.problems import BodyTooLong, NotJson, WrongFields, WrongMediaType, problem, wrong_fields
from relrag_query.operations.operation import Operation
from relrag_query.operations.owner_table import OWNER_OPERATIONS
from relrag_query.owner import (
    attachments,
    calls,
    folders,
    originals,
    people,
    settings_form,
    switch,
    transcript,
    uploads,
    work,
)
from relrag_query.people.indexed_person import SeveralPeople
from relrag_query.service import Service
from relrag_query.web.page_errors import describe_on_page, described_choice, people_meant
from relrag_query.web.wording import preferred_wording

UPLOAD = "/owner/upload"
"""path that takes pieces of files"""
_MAX_BODY_BYTES = 2**18
_PIECE_TYPE = "application/octet-stream"
_JSON = "application/json"
_PLAYED_SECONDS = 3_600

Endpoint = Callable[[Request], Awaitable[Response]]
Render = Callable[..., Response]
"""renders a template with its context as a page"""


class OwnerPages:
    """The endpoints of the owner's pages."""

    def __init__(self, service: Service, limiter: RequestLimiter, render: Render) -> None:
        self._service, self._limiter, self._render = service, limiter, render
        self._noted_until: dict[str, float] = {}
        """record -> until when further parts of its original need no note of their own, in monotonic seconds"""

    @property
    def endpoints(self) -> dict[str, Endpoint]:
        """The pages by their paths."""
        return {
            "/original": self.original,
            "/original/file": self.file,
            "/original/attachments": self.attachments,
            "/archive/settings": self.settings,
            "/calls": self.calls,
            "/archive/add": self.add,
            "/archive/activity": self.activity,
            "/forget": self.forget,
            "/people/pairs": self.pairs,
        }

    async def add(self, request: Request) -> Response:
        """The folders in a folder; with `look`, the sources in it."""
        path, look = request.query_params.get("folder", ""), "look" in request.query_params
        incoming = str(folders.incoming(self._service.settings))
        if "incoming" in request.query_params:
            path, look = incoming, True
        folder = await self._limiter.run(folders.browse, self._service, path)
        proposal = await self._limiter.run(folders.recognise, self._service, path) if look and path else None
        return self._render(request, "add.html", folder=folder, proposal=proposal, incoming=incoming)

    async def forget(self, request: Request) -> Response:
        """What forgetting a record or a source would remove."""
        ref, source = request.query_params.get("ref", ""), request.query_params.get("source", "")
        refs = [ref] if ref else []
        preview = await self._limiter.run(work.preview_forget, self._service, refs, source)
        return self._render(request, "forget.html", preview=preview, refs=refs, source=source)

    async def pairs(self, request: Request) -> Response:
        """People who may be one, and the owner's statements."""
        suggested = await self._limiter.run(people.suggested_pairs, self._service)
        stated = await self._limiter.run(people.stated_lines, self._service)
        return self._render(request, "pairs.html", pairs=suggested, stated=stated)

    async def activity(self, request: Request) -> Response:
        """What is going on, as a part of a page."""
        return self._render(request, "activity_part.html", **await self._limiter.run(activity_context, self._service))

    async def settings(self, request: Request) -> Response:
        """The settings that the pages change."""
        return self._render(
            request, "settings.html", fields=await self._limiter.run(settings_form.fields, self._service)
        )

    async def original(self, request: Request) -> Response:
        """The original of a record: pictures and sound with its transcript on the page, and a link to have it."""
        ref = request.query_params.get("ref", "")
        original = await self._limiter.run(originals.find, self._service, ref)
        is_sound = original.media_type.startswith("audio/")
        segments = await self._limiter.run(transcript.of_record, self._service, ref) if is_sound else []
        return self._render(request, "original_file.html", ref=ref, original=original, segments=segments)

    async def calls(self, request: Request) -> Response:
        """A page of the calls that wait for approval; with `ref`, that one with its sound and transcript."""
        ref, number = request.query_params.get("ref", ""), request.query_params.get("page", "")
        transcript = await self._limiter.run(calls.open_transcript, self._service, ref) if ref else None
        page_number = int(number) if number.isdecimal() and len(number) < 10 else 1
        page = await self._limiter.run(calls.reviewed_calls, self._service, page_number, ref)
        zone = self._service.zone
        return self._render(request, "calls.html", listing=page, ref=ref, transcript=transcript, zone=zone)

    async def file(self, request: Request) -> Response:
        """The bytes of an original; a browser shows pictures and sound, and stores everything else."""
        parameters, parts = request.query_params, request.headers.get("range", "bytes=0-")
        ref, moment = parameters.get("ref", ""), time.monotonic()
        # a player asks for part after part: the first one is noted
        is_next_part = not parts.startswith("bytes=0-") and moment < self._noted_until.get(ref, 0)
        find = originals.find if is_next_part else originals.open_original
        opened = await self._limiter.run(find, self._service, ref)
        if not is_next_part:
            self._noted_until = {other: end for other, end in self._noted_until.items() if moment < end}
            self._noted_until[ref] = moment + _PLAYED_SECONDS
        is_shown = bool(opened.media_type) and "download" not in parameters
        media_type = opened.media_type if is_shown else "application/octet-stream"
        disposition = "inline" if is_shown else "attachment"
        if opened.content is not None:
            named = f"{disposition}; filename*=utf-8''{quote(opened.name, safe='')}"
            return bytes_response(request, opened.content, media_type, {"Content-Disposition": named})
        return FileResponse(
            opened.file, media_type=media_type, filename=opened.name, content_disposition_type=disposition
        )

    async def attachments(self, request: Request) -> Response:
        """All attachments of a record or thread as a zip."""
        who = originals.owner_of(self._service.settings, "page")
        ref = request.query_params.get("ref", "")
        pieces = await self._limiter.run(
            attachments.pack, self._service, ref, who, lambda reason: describe_on_page(request, reason)[1]
        )
        named = f'attachment; filename="{attachments.NAME}"'
        headers = {"Content-Disposition": named}
        return StreamingResponse(self._pulled(pieces), media_type="application/zip", headers=headers)

    async def _pulled(self, pieces: Iterator[bytes]) -> AsyncIterator[bytes]:
        """The pieces, each in a turn of its own: a turn may read a mail, and a slow download holds none between two."""
        while piece := await self._limiter.go_on(_next_piece, pieces):
            yield piece


def operation_routes(service: Service, limiter: RequestLimiter) -> list[Route]:
    """The routes of the operations, and the one for pieces of files."""
    routes = [
        Route(operation.path, _endpoint(operation, service, limiter), methods=["POST"])
        for operation in OWNER_OPERATIONS
    ]
    return [*routes, Route(UPLOAD, _upload(service, limiter), methods=["POST"])]


def switch_context(service: Service) -> dict[str, Any]:
    """Whether the pages may change the archive, for every template."""
    return {"writes": service.writes, "asks_writes": switch.is_unanswered(service)}


def activity_context(service: Service) -> dict[str, Any]:
    """What is going on, for the templates that show it."""
    settings = service.settings
    return {"activity": work.activity(settings), "published": generations.current_number(settings.home_path)}


def upkeep_context(service: Service) -> dict[str, Any]:
    """The schedule and the backups, for the page of the archive."""
    settings = service.settings
    latest = latest_backup(settings.backup_path)
    return {
        "backup_folder": str(settings.backup_path),
        "backed_up_at": latest[1] if latest else "",
        "nightly": settings.nightly_time if settings.is_scheduled else "",
        "usual_time": settings.nightly_time or Settings.model_fields["nightly"].default,
        "no_schedule": f"{OFF} {settings.nightly_time}".strip(),
    }


def _next_piece(pieces: Iterator[bytes]) -> bytes:
    """The next piece; empty at the end."""
    return next(filter(None, pieces), b"")


def _endpoint(operation: Operation, service: Service, limiter: RequestLimiter) -> Endpoint:
    async def endpoint(request: Request) -> Response:
        try:
            parsed = _parsed(operation, await _body(request, _JSON, _MAX_BODY_BYTES))
            reply = await limiter.run(operation.call, service, parsed)
            return Response(operation.adapter.dump_json(reply), media_type=_JSON)
        except Exception as error:  # noqa: BLE001  reported without private text
            return _problem(service, request, error)

    return endpoint


def _parsed(operation: Operation, body: bytes) -> BaseModel:
    """The request in a body. Raises NotJson and WrongFields."""
    try:
        return operation.request.model_validate(orjson.loads(body), strict=True)
    except orjson.JSONDecodeError:
        raise NotJson("the body is not JSON") from None
    except ValidationError as error:
        wrong = WrongFields("a field is empty, too long, or of another form than expected", code="wrong_field")
        wrong.fields = wrong_fields(error)
    raise wrong


def _upload(service: Service, limiter: RequestLimiter) -> Endpoint:
    async def endpoint(request: Request) -> Response:
        """Stores the next piece of an upload; `upload` is its id, `offset` where the piece begins."""
        upload, offset = request.query_params.get("upload", ""), request.query_params.get("offset", "")
        try:
            if not offset.isdecimal() or len(offset) > 15:
                raise uploads.OutOfStep("a piece begins at a number of bytes")
            piece = await _body(request, _PIECE_TYPE, uploads.PIECE_BYTES)
            reply = await limiter.run(uploads.add_piece, service, upload, int(offset), piece)
            return Response(reply.model_dump_json(), media_type=_JSON)
        except Exception as error:  # noqa: BLE001  reported without private text
            return _problem(service, request, error)

    return endpoint


def _problem(service: Service, request: Request, error: Exception) -> Response:
    """The response for an error, which a script shows: its `code`, wrong fields, people whom a name may mean."""
    status, message = describe_on_page(request, error)
    if isinstance(error, SeveralPeople):
        return problem(HTTPStatus.CONFLICT, message, code=error.code, choices=_choices(service, request, error))
    more: dict[str, object] = {"errors": error.fields} if isinstance(error, WrongFields) else {}
    return problem(status, message, None, code=error.code if isinstance(error, RelragError) else "", **more)


def _choices(service: Service, request: Request, error: SeveralPeople) -> list[dict[str, str]]:
    """The people whom a name may mean, each with what tells them apart, and the name as it was typed."""
    words = preferred_wording(request.headers.get("accept-language", ""))
    return [
        {
            "name": choice.name,
            "number": str(choice.person_id),
            "about": described_choice(choice, words),
            "typed": str(error.values["name"]),
        }
        for choice in people_meant(service, error)
    ]


async def _body(request: Request, media_type: str, most: int) -> bytes:
    """The body. Raises WrongMediaType and BodyTooLong."""
    if request.headers.get("content-type", "").partition(";")[0].strip() != media_type:
        raise WrongMediaType(f"send it as Content-Type: {media_type}")
    body = bytearray()
    async for part in request.stream():
        body += part
        if len(body) > most:
            raise BodyTooLong(f"the body is longer than {most:,} bytes")
    return bytes(body)
