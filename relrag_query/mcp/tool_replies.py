"""What every tool replies with: JSON without what a model has no use for, and errors without private text."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import orjson
from mcp.server.mcpserver.exceptions import ToolError
from pydantic import BaseModel

from relrag_query.http.problems import describe
from relrag_query.mcp.reply_budget import DATA, MOST_BYTES, clip, compact
from relrag_query.retrieval.redacted_hits import context_redaction
from relrag_query.service.service import Service

_NOT_SENT = {"trace", "intents", "score", "timestamp", "when", "source_role", "chunk_index", "chunk_count"}
"""fields of replies that a model has no use for"""


def seal_errors(tool: Callable[..., str]) -> Callable[..., str]:
    """The tool with errors that hold no private text."""

    @functools.wraps(tool)
    def call(*given: Any, **named: Any) -> str:
        try:
            return tool(*given, **named)
        except ToolError:
            raise
        except Exception as error:  # noqa: BLE001  the library would show and log its text
            raise ToolError(describe(error)[1]) from None

    return call


def redact_again(tool: Callable[..., str], service: Service) -> Callable[..., str]:
    """The tool with what it says redacted once more where policies have changed since the archive was indexed."""

    @seal_errors
    @functools.wraps(tool)
    def call(*given: Any, **named: Any) -> str:
        with service.reading() as archive:  # first: what is published meanwhile has been redacted already
            redact = context_redaction(service.settings, archive.generation)
        said = tool(*given, **named)
        return said if redact is None else to_json(_each_text(orjson.loads(said), redact))

    return call


def _each_text(value: Any, change: Callable[[str], str]) -> Any:
    if isinstance(value, dict):
        return {name: one if name == "next_cursor" else _each_text(one, change) for name, one in value.items()}
    if isinstance(value, list):
        return [_each_text(one, change) for one in value]
    return change(value) if isinstance(value, str) else value


def reply(model: BaseModel) -> str:
    """A reply that is no list, within the budget."""
    return to_json({"note": DATA, **clip(fields(model), MOST_BYTES - 200)})


def fields(model: BaseModel) -> dict[str, Any]:
    """The fields of a reply that say something."""
    found: dict[str, Any] = compact(_without(model.model_dump(mode="json", by_alias=True)))
    return found


def _without(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _without(one) for name, one in value.items() if name not in _NOT_SENT}
    return [_without(one) for one in value] if isinstance(value, list) else value


def to_json(value: dict[str, Any]) -> str:
    """As it is sent."""
    return orjson.dumps(value).decode()
