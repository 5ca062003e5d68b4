"""The strings in the JSON of a record's `extra`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import orjson

from relrag_pipelines.pii import RedactionError

LONG_NUMBER = 10**6
"""from here on a number in JSON can be a phone or a card"""


def parsed(text: str) -> Any:
    """The JSON as Python has it. Raises RedactionError, which tells nothing of the text."""
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:
        fault = "extra is no JSON"
    raise RedactionError(fault)  # outside the except block: the first error holds the text


def shown(extra: str) -> Iterator[str]:
    """Every string and large number in the JSON of `extra`, keys too, each by itself. Raises RedactionError."""
    return strings(parsed(extra))


def strings(value: Any) -> Iterator[str]:
    """Every string and large number in a value that JSON can have."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        yield from value
        yield from strings(list(value.values()))
    elif isinstance(value, list):
        for one in value:
            yield from strings(one)
    elif isinstance(value, int) and abs(value) >= LONG_NUMBER:
        yield str(value)
