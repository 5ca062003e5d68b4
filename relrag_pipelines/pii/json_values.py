"""The strings in the JSON of a record's `extra`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import orjson

from relrag_pipelines.pii import RedactionError

LONG_NUMBER = 10**6
"""from here on a number in JSON can be a phone or a card"""
_MAX_EXACT_FLOAT = 2**53
"""up to here a float holds every digit"""


def parse(text: str) -> Any:
    """The JSON as Python has it. Raises RedactionError, which tells nothing of the text."""
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:
        fault = "extra is not JSON"
    raise RedactionError(fault)  # outside the except block: the first error holds the text


def visible_strings(extra: str) -> Iterator[str]:
    """Every string and large number in the JSON of `extra`, keys too, each by itself. Raises RedactionError."""
    return iter_strings(parse(extra))


def iter_strings(value: Any) -> Iterator[str]:
    """Every string and large number in a value that JSON can have."""
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
    """A whole number as JSON may write it, `777123456.0` too, as tables with gaps have it; None of all else."""
    if isinstance(value, float) and value.is_integer() and abs(value) <= _MAX_EXACT_FLOAT:
        return int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) else None
