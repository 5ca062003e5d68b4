"""The time of a recording, from the name of its file."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

_DATE = r"(?P<yyyy>(?:19|20)\d\d)(?P<gap>[-_.]?)(?P<mm>0[1-9]|1[0-2])(?P=gap)(?P<dd>0[1-9]|[12]\d|3[01])"
_TIME = r"(?P<HH>[01]\d|2[0-3])(?P<between>[-_.:h]?)(?P<MM>[0-5]\d)(?:(?P=between)(?P<SS>[0-5]\d))?"
_IN_NAME = re.compile(rf"(?P<utc>GMT)?(?<!\d){_DATE}(?:(?:[-_ T]|, | at | v )?{_TIME}(?!\d))?(?!\d)")
_IN_NAME_JOINED = re.compile(rf"(?<!\d){_DATE}{_TIME}(?!\d)")


def time_in_name(name: str, timezone: str) -> tuple[int, str] | None:
    """Seconds since 1970 and date_quality of the date in a file's name; None without a date.

    Dates are `2025-01-08` or `20250108`, optionally with a time such as `_093000` or ` 09.30`, local except for Zoom's
    `GMT`. A day without a time is its midnight in UTC, so that it stays in its month.
    """
    match = _match_time(name)
    return parse_moment(match.groupdict(), timezone) if match else None


def strip_time(name: str) -> str:
    """The name with that date replaced by a blank."""
    match = _match_time(name)
    return f"{name[: match.start()]} {name[match.end() :]}" if match else name


def _match_time(name: str) -> re.Match[str] | None:
    return _IN_NAME_JOINED.search(name) or _IN_NAME.search(name)


def parse_moment(parts: dict[str, str | None], timezone: str) -> tuple[int, str] | None:
    """Seconds and date_quality from parts yyyy or yy, mm, dd, and optionally HH, MM, SS; None if invalid."""
    numbers = {name: int(value) for name, value in parts.items() if value and value.isdecimal()}
    year = numbers.get("yyyy", 2000 + numbers.get("yy", -2000))
    zone = UTC if "HH" not in numbers or parts.get("utc") else ZoneInfo(timezone)
    hour, minute, second = (numbers.get(name, 0) for name in ("HH", "MM", "SS"))
    try:
        at = datetime(year, numbers["mm"], numbers["dd"], hour, minute, second, tzinfo=zone)
    except (KeyError, ValueError):
        return None
    return int(at.timestamp()), "exact" if "HH" in numbers else "day"
