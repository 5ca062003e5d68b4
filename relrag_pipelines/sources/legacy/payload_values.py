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
"""characters to which `message` of a document may be truncated"""
_MILLISECONDS = 10**11
"""larger times are in milliseconds, others in seconds"""
_MIN, _MAX = -(2**63), 2**63 - 1
"""range of numbers that a table can hold"""
_INTEGER = re.compile(r"-?\d{1,19}")


class PayloadError(RelragError):
    """A payload holds what no store of points can hold; the point is listed as a failure."""


def snake_case(name: str) -> str:
    """`emailFrom` as `email_from`."""
    return _CAMEL.sub("_", name).lower()


def in_snake_case(payload: Mapping[str, Any]) -> dict[str, Any]:
    """The payload with names in snake case; a field that already has its name in snake case takes precedence.

    Half of a surrogate pair becomes U+FFFD, since no file can hold it; a number beyond 64 bits becomes text. Raises
    PayloadError for values that JSON doesn't have.
    """
    cleaned: dict[str, Any] = _clean(dict(payload))
    return {snake_case(name): value for name, value in cleaned.items()} | cleaned


def _clean(value: Any) -> Any:
    if isinstance(value, str):
        return _SURROGATES.sub("\ufffd", value)
    if isinstance(value, list | tuple):
        return [_clean(element) for element in value]
    if isinstance(value, dict) and all(isinstance(name, str) for name in value):
        return {_clean(name): _clean(element) for name, element in value.items()}
    if isinstance(value, int):
        return value if _MIN <= value <= _MAX else str(value)
    if value is None or isinstance(value, float):
        return value
    raise PayloadError


def first_of(fields: Mapping[str, Any], *names: str) -> Any:
    """The value of the first of these fields that isn't empty; None if all are."""
    return next((fields[name] for name in names if fields.get(name) not in (None, "", [])), None)


def text_of(fields: Mapping[str, Any]) -> str:
    """The text without what was prepended for embedding, if the point has both; else whichever it has."""
    own = first_of(fields, "message", "text", "content", "summary")
    own = own if isinstance(own, str) else ""
    full = _node_text(fields.get("_node_content"))
    if not own:
        return full
    begins = full.find(own) if len(own) >= _PREVIEW else -1
    return full[begins:] if begins >= 0 else own


def _node_text(node: Any) -> str:
    """The text of a LlamaIndex node in JSON; empty if it isn't one."""
    if not isinstance(node, str):
        return ""
    try:
        text = json.loads(node)["text"]
    except (ValueError, KeyError, TypeError):
        return ""
    return text if isinstance(text, str) else ""


def time_of(fields: Mapping[str, Any], timezone: str) -> tuple[int | None, str]:
    """Seconds since 1970, UTC, and date_quality."""
    for name in ("timestamp", "email_received_at", "date", "created_at"):
        time = _parse_time(fields.get(name), timezone)
        if time is not None:
            return time
    return None, "none"


def _parse_time(value: Any, timezone: str) -> tuple[int, str] | None:
    """Seconds since 1970 and date_quality of a number or an ISO 8601 text; None for other values."""
    if isinstance(value, str) and _INTEGER.fullmatch(value.strip()):
        value = int(value)
    if isinstance(value, int | float) and not isinstance(value, bool) and _MIN <= value <= _MAX:
        return math.floor(value / 1000 if abs(value) >= _MILLISECONDS else value), "exact"
    if not isinstance(value, str):
        return None
    try:
        moment = datetime.fromisoformat(value.strip())
    except ValueError:
        return None
    has_time = len(value.strip()) > len("2025-01-14")
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=ZoneInfo(timezone) if has_time else UTC)
    return math.floor(moment.timestamp()), "exact" if has_time else "day"


def whole_number(value: Any) -> int | None:
    """A whole number from 0 on, which one of the systems writes as a string; None beyond 64 bits."""
    if isinstance(value, str) and _INTEGER.fullmatch(value):
        value = int(value)
    return value if type(value) is int and 0 <= value <= _MAX else None
