"""Errors as problem details (RFC 9457), which describe the wrong request and contain no text of the archive."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from http import HTTPStatus

from pydantic import ValidationError
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from relrag_pipelines.errors import RelragError
from relrag_pipelines.privacy import fault_report
from relrag_pipelines.stores.lock import LockedByOther
from relrag_query.archive import ArchiveError
from relrag_query.jobs import JobRuns
from relrag_query.operations.requests import DatesContradict
from relrag_query.owner.folders import FolderRefused
from relrag_query.owner.switch import OnlyReads
from relrag_query.owner.uploads import OutOfStep, TooLarge
from relrag_query.people.indexed_person import PeopleError, WrongType
from relrag_query.retrieval.connection_sharing import WrongQuestion
from relrag_query.service import NotServed, UnknownRef
from relrag_query.service.cursors import StaleCursor
from relrag_query.service.original_file import NoOriginal

MEDIA_TYPE = "application/problem+json"


class Busy(RelragError):
    """Too many concurrent requests."""


class NotJson(RelragError):
    """A body that is not JSON."""


class WrongMediaType(RelragError):
    """A body whose media type is not JSON."""


class WrongFields(RelragError):
    """A body whose fields do not fit; `fields` lists them as `wrong_fields` does."""

    fields: Sequence[Mapping[str, str]] = ()


class BodyTooLong(RelragError):
    """A body above the size limit."""


_STATUSES: dict[type[RelragError], int] = {
    DatesContradict: 409,
    WrongQuestion: 400,
    WrongType: 400,
    UnknownRef: 404,
    NoOriginal: 404,
    NotServed: 404,
    PeopleError: 404,
    StaleCursor: 409,
    JobRuns: 409,
    LockedByOther: 409,
    OutOfStep: 409,
    OnlyReads: 403,
    FolderRefused: 403,
    TooLarge: 413,
    BodyTooLong: 413,
    WrongMediaType: 415,
    WrongFields: 422,
    Busy: 503,
    ArchiveError: 503,
    RelragError: 400,
}
"""the first class that matches an error decides"""


def problem(status: int, detail: str = "", headers: Mapping[str, str] | None = None, **more: object) -> Response:
    """The response that describes an error."""
    body = {"type": "about:blank", "title": HTTPStatus(status).phrase, "status": status, "detail": detail, **more}
    if status == HTTPStatus.SERVICE_UNAVAILABLE:
        headers = {"Retry-After": "1"}
    return JSONResponse(body, status, headers, media_type=MEDIA_TYPE)


def describe(error: Exception) -> tuple[int, str]:
    """The status and description of an error. The text of an unexpected error is withheld: it may be private."""
    for kind, status in _STATUSES.items():
        if isinstance(error, kind):
            return status, str(error)
    fault = f"unexpected {type(error).__name__} at {fault_report.code_location(error)}"
    return 500, f"{fault}; this is a fault of relrag: try again, and if it stays so, report this line"


def wrong_fields(error: ValidationError) -> list[dict[str, str]]:
    """The invalid fields of a request with their errors, without their values."""
    return [{"field": ".".join(map(str, fault["loc"])), "error": fault["msg"]} for fault in error.errors()]


def error_response(error: Exception, *, envelope: bool = False) -> Response:
    """The response for an error; for an invalid request it lists the wrong fields.

    With `envelope` it has `data`, null, and `error`, the description.
    """
    status, detail = describe(error)
    more: dict[str, object] = {}
    if isinstance(error, ValidationError):
        status, detail = 422, "the request does not fit; /api/v1/openapi.json says what does"
        more = {"errors": wrong_fields(error)}
    return problem(status, detail, None, **more, **({"data": None, "error": detail} if envelope else {}))


async def answer_error(_: Request, error: Exception) -> Response:
    """The handler of unexpected errors, with the signature that Starlette requires."""
    return error_response(error)
