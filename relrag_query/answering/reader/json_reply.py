"""Reads the JSON object of a model's reply, also while it is still being written, or where other text surrounds it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from pydantic_core import from_json

_DECODER = json.JSONDecoder()
_END_OF_REASONING = "</think>"
"""models that reason write their reasons before it"""


class JsonReply:
    """The reply so far; hands out each statement once, when it is complete."""

    def __init__(self) -> None:
        self.text = ""
        self._count = 0
        """statements handed out"""

    def add(self, piece: str) -> Iterator[Mapping[str, Any]]:
        """The statements that a further piece completes."""
        self.text += piece
        if "}" not in piece:
            return
        reply = _partial_object(self.text)
        # without `answerable` nothing is shown yet: the model may still say that there is no answer
        if reply and reply.get("answerable") is True:
            yield from self._new(_statements(reply)[:-1])  # the last one may be incomplete

    def end(self) -> Iterator[Mapping[str, Any]]:
        """The remaining statements. Of a reply that was cut off, the last one is left out."""
        reply = complete_object(self.text)
        if reply is not None:
            yield from self._new(_statements(reply) if _is_answerable(reply) else [])
        elif (cut := _partial_object(self.text)) and _is_answerable(cut):
            yield from self._new(_statements(cut)[:-1])

    @property
    def is_readable(self) -> bool:
        """Whether the reply holds a JSON object with a field of the protocol."""
        return _partial_object(self.text) is not None or complete_object(self.text) is not None

    @property
    def is_refusal(self) -> bool:
        """Whether the model says that the passages do not answer."""
        reply = complete_object(self.text) or _partial_object(self.text) or {}
        return not _is_answerable(reply)

    def _new(self, statements: list[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
        new = statements[self._count :]
        self._count = max(self._count, len(statements))
        return new


def complete_object(text: str) -> dict[str, Any] | None:
    """The first complete JSON object of a text that has a field of the protocol; None where there is none."""
    text = text.rpartition(_END_OF_REASONING)[2]
    start = text.find("{")
    while start >= 0:
        try:
            value, _ = _DECODER.raw_decode(text, start)
        except (ValueError, RecursionError):
            value = None
        if _is_reply(value):
            return dict(value)
        start = text.find("{", start + 1)
    return None


def _partial_object(text: str) -> dict[str, Any] | None:
    """The JSON object that begins at the first brace and may lack its end; None where it has no field of the protocol.

    A text behind a complete object is no part of it.
    """
    text = text.rpartition(_END_OF_REASONING)[2]
    start = text.find("{")
    if start < 0:
        return None
    try:
        value = from_json(text[start:], allow_partial=True)
    except ValueError:
        value = complete_object(text[start:])
    return dict(value) if _is_reply(value) else None


def _is_reply(value: Any) -> bool:
    return isinstance(value, dict) and ("answerable" in value or "statements" in value)


def _is_answerable(reply: Mapping[str, Any]) -> bool:
    """Whether a reply answers; without the field, whether it has statements."""
    return bool(reply.get("answerable", bool(reply.get("statements"))))


def _statements(reply: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    statements = reply.get("statements")
    if not isinstance(statements, list):
        return []
    return [statement if isinstance(statement, dict) else {} for statement in statements]
