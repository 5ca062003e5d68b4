"""What every tool replies with: JSON without what a model has no use for, and errors without private text."""

from __future__ import annotations

import functools
from collections.abc import Callable
from contextvars import ContextVar
from typing import Any, TypeVar

import orjson
from mcp.server.mcpserver.exceptions import ToolError
from pydantic import BaseModel

from relrag_query.archive import ArchiveError
from relrag_query.http.problems import describe
from relrag_query.mcp.reply_budget import DATA, MOST_BYTES, clip, compact
from relrag_query.retrieval.redacted_hits import change_texts, context_redaction
from relrag_query.service.service import Service

_NOT_SENT = {"trace", "intents", "score", "timestamp", "when", "source_role", "chunk_index", "chunk_count"}
"""fields of replies that a model has no use for"""
_CURSORS = {"next_cursor"}
_REDACTION: ContextVar[Callable[[str], str] | None] = ContextVar("redaction", default=None)
"""what the texts of the reply that is being made go through"""
Said = TypeVar("Said")


def seal_errors(tool: Callable[..., Said]) -> Callable[..., Said]:
    """The tool with errors that hold no private text."""

    @functools.wraps(tool)
    def call(*given: Any, **named: Any) -> Said:
        try:
            return tool(*given, **named)
        except Exception as error:  # noqa: BLE001  the library would show and log its text
            raise ToolError(describe(error)[1]) from None

    return call


def redact_again(tool: Callable[..., str], service: Service) -> Callable[..., str]:
    """The tool with what it says redacted once more where policies have changed since the archive was indexed.

    Fields are redacted before they are cut to what fits: a number across a cut would be none in either part.
    """

    @functools.wraps(tool)
    def call(*given: Any, **named: Any) -> str:
        redact = _redaction(service)  # first: what is published meanwhile has been redacted already
        token = _REDACTION.set(redact)
        try:
            return tool(*given, **named)
        except ToolError as error:
            raise ToolError(redact(str(error)) if redact else str(error)) from None
        finally:
            _REDACTION.reset(token)

    return call


@seal_errors
def _redaction(service: Service) -> Callable[[str], str] | None:
    try:
        with service.reading() as archive:
            return context_redaction(service.settings, archive.generation)
    except ArchiveError:  # nothing is published; what a tool says all the same is of an index that lies elsewhere
        return context_redaction(service.settings, None)


def reply(model: BaseModel) -> str:
    """A reply that is no list, within the budget."""
    return to_json({"note": DATA, **clip(fields(model), MOST_BYTES - 200)})


def fields(model: BaseModel) -> dict[str, Any]:
    """The fields of a reply that say something."""
    found: dict[str, Any] = compact(_without(model.model_dump(mode="json", by_alias=True)))
    redact = _REDACTION.get()
    if redact is None:
        return found
    redacted: dict[str, Any] = change_texts(found, redact) | {name: found[name] for name in _CURSORS & found.keys()}
    return redacted


def _without(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _without(one) for name, one in value.items() if name not in _NOT_SENT}
    return [_without(one) for one in value] if isinstance(value, list) else value


def to_json(value: dict[str, Any]) -> str:
    """As it is sent."""
    return orjson.dumps(value).decode()
