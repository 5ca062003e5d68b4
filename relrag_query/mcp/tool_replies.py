"""What every tool replies with: JSON without what a model has no use for, and errors without private text."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar

import orjson
from mcp.server.mcpserver.exceptions import ToolError
from pydantic import BaseModel

from relrag_query.http.problems import describe
from relrag_query.mcp.reply_budget import DATA, MOST_BYTES, clip, compact

_NOT_SENT = {"trace", "intents", "score", "timestamp", "when", "source_role", "chunk_index", "chunk_count"}
"""fields of replies that a model has no use for"""
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
