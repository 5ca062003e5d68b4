"""The strings in the JSON of a record's `extra`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import orjson

from relrag_pipelines.pii import RedactionError

LONG_NUMBER = 10**6
"""smallest number in JSON that can be a phone or a card"""
_MAX_EXACT_FLOAT = 2**53
"""largest float with exact integer digits"""


def parse(text: str) -> Any:
    """Parses JSON. Raises RedactionError, whose message contains no text."""
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:
        fault = "extra is not JSON"
    raise RedactionError(fault)  # outside the except block: the first error holds the text


def visible_strings(extra: str) -> Iterator[str]:
    """Every string, key and large number in the JSON of `extra`. Raises RedactionError."""
    return iter_strings(parse(extra))


def iter_strings(value: Any) -> Iterator[str]:
    """Every string, key and large number in a parsed JSON value."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        yield from value
        yield from iter_strings(list(value.values()))
    elif isinstance(value, list):
        for element in value:
            yield from iter_strings(element)
    elif (number := as_integer(value)) is not None and abs(number) >= LONG_NUMBER:
        yield str(number)


def as_integer(value: Any) -> int | None:
    """A whole number in JSON, also as a float (`777123456.0`, from tables with gaps); else None."""
    if isinstance(value, float) and value.is_integer() and abs(value) <= _MAX_EXACT_FLOAT:
        return int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) else None
