"""Normalises the values of a payload: names in snake case, text, times, numbers."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any
from zoneinfo import ZoneInfo

from relrag_pipelines.errors import RelragError

_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_SURROGATES = re.compile("[\ud800-\udfff]")
_PREVIEW = 2_000
"""characters to which `message` of a document may be cut"""
_MILLISECONDS = 10**11
"""from here on a number of seconds is one of milliseconds"""
_LEAST, _MOST = -(2**63), 2**63 - 1
"""of a number that a table can hold"""
_INTEGER = re.compile(r"-?\d{1,19}")


class PayloadError(RelragError):
    """A payload holds what no store of points can hold; the point is listed as a failure."""


def snake_case(name: str) -> str:
    """`emailFrom` as `email_from`."""
    return _CAMEL.sub("_", name).lower()


def in_snake_case(payload: Mapping[str, Any]) -> dict[str, Any]:
    """The payload with names in snake case; of a field in both cases, the one in snake case counts.

    Half of a surrogate pair becomes U+FFFD, since no file can hold it; of a number beyond 64 bits its digits are left
    as text. Raises PayloadError for what is not JSON.
    """
    whole: dict[str, Any] = _clean(dict(payload))
    return {snake_case(name): value for name, value in whole.items()} | whole


def _clean(value: Any) -> Any:
    if isinstance(value, str):
        return _SURROGATES.sub("\ufffd", value)
    if isinstance(value, list | tuple):
        return [_clean(one) for one in value]
    if isinstance(value, dict) and all(isinstance(name, str) for name in value):
        return {_clean(name): _clean(one) for name, one in value.items()}
    if isinstance(value, int):
        return value if _LEAST <= value <= _MOST else str(value)
    if value is None or isinstance(value, float):
        return value
    raise PayloadError


def first_of(said: Mapping[str, Any], *names: str) -> Any:
    """The value of the first of these fields that has one."""
    return next((said[name] for name in names if said.get(name) not in (None, "", [])), None)


def text_of(said: Mapping[str, Any]) -> str:
    """The text alone, where the point has it, else with what was put before it to be embedded."""
    own = first_of(said, "message", "text", "content", "summary")
    own = own if isinstance(own, str) else ""
    whole = ""
    if isinstance(node := said.get("_node_content"), str):
        try:
            found = json.loads(node)
            whole = found["text"] if isinstance(found["text"], str) else ""
        except (ValueError, KeyError, TypeError):
            pass
    if not own:
        return whole
    begins = whole.find(own) if len(own) >= _PREVIEW else -1
    return whole[begins:] if begins >= 0 else own


def time_of(said: Mapping[str, Any], timezone: str) -> tuple[int | None, str]:
    """Seconds since 1970, UTC, and date_quality."""
    for name in ("timestamp", "email_received_at", "date", "created_at"):
        value = said.get(name)
        if isinstance(value, str) and _INTEGER.fullmatch(value.strip()):
            value = int(value)
        if isinstance(value, int | float) and not isinstance(value, bool) and _LEAST <= value <= _MOST:
            return math.floor(value / 1000 if abs(value) >= _MILLISECONDS else value), "exact"
        if isinstance(value, str):
            try:
                moment = datetime.fromisoformat(value.strip())
            except ValueError:
                continue
            has_time = len(value.strip()) > len("2025-01-14")
            if moment.tzinfo is None:
                moment = moment.replace(tzinfo=ZoneInfo(timezone) if has_time else UTC)
            return math.floor(moment.timestamp()), "exact" if has_time else "day"
    return None, "none"


def whole_number(value: Any) -> int | None:
    """A whole number from 0 on, which one of the systems writes as a string; None for one beyond 64 bits."""
    if isinstance(value, str) and _INTEGER.fullmatch(value):
        value = int(value)
    return value if type(value) is int and 0 <= value <= _MOST else None
