"""Errors as problem details (RFC 9457). They say what was asked wrongly, and nothing of the archive."""

from __future__ import annotations

from http import HTTPStatus

from pydantic import ValidationError
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from relrag_pipelines.errors import RelragError
from relrag_pipelines.privacy import fault_report
from relrag_query.archive import ArchiveError
from relrag_query.people.indexed_person import PeopleError, WrongType
from relrag_query.retrieval.connection_sharing import WrongQuestion
from relrag_query.service import NotServed, UnknownRef

MEDIA_TYPE = "application/problem+json"


class Busy(RelragError):
    """More is asked at once than is answered."""


class NotJson(RelragError):
    """A body that cannot be read."""


class BodyTooLong(RelragError):
    """A body that is not read to its end."""


def problem(status: int, detail: str = "", **more: object) -> Response:
    """The answer that says what went wrong."""
    said = {"type": "about:blank", "title": HTTPStatus(status).phrase, "status": status, "detail": detail, **more}
    headers = {"Retry-After": "1"} if status == HTTPStatus.SERVICE_UNAVAILABLE else None
    return JSONResponse(said, status, headers, media_type=MEDIA_TYPE)


def describe(error: Exception) -> tuple[int, str]:
    """The status of an error, and what is said of it: the text of one that was not foreseen is withheld."""
    match error:
        case WrongQuestion() | WrongType():
            return 400, str(error)
        case UnknownRef() | NotServed() | PeopleError():
            return 404, str(error)
        case BodyTooLong():
            return 413, str(error)
        case Busy() | ArchiveError():
            return 503, str(error)
        case RelragError():
            return 400, str(error)
    fault = f"unexpected {type(error).__name__} at {fault_report.place(error)}"
    return 500, f"{fault}; this is a fault of relrag: try again, and if it stays so, report this line"


def of_error(error: Exception) -> Response:
    """The problem that an error is; of a request that does not fit its model, each field that is wrong."""
    if isinstance(error, ValidationError):
        wrong = [{"field": ".".join(map(str, one["loc"])), "error": one["msg"]} for one in error.errors()]
        return problem(422, "the request does not fit; /api/v1/openapi.json says what does", errors=wrong)
    return problem(*describe(error))


async def answer_error(_: Request, error: Exception) -> Response:
    """As Starlette calls it."""
    return of_error(error)
