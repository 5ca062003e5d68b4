"""The date of a document: what it says of itself, else its metadata, its name, its title, else the file's.

A file's own time changes when it is copied or checked out, and metadata tell when a PDF was printed; what stands in the
document does not change.
"""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta
from pathlib import PurePath
from zoneinfo import ZoneInfo

from relrag_pipelines.sources.document import csv
from relrag_pipelines.sources.document.document_text import DocumentText
from relrag_pipelines.text import written_dates

_IN_NAME = re.compile(r"(?<!\d)((?:19|20)\d\d)([-_.]?)(0[1-9]|1[0-2])\2(0[1-9]|[12]\d|3[01])(?!\d)")
_EARLIEST = datetime(1985, 1, 1, tzinfo=UTC)
"""No office program is older; earlier dates are the zeros of some clock, or of what the document is about."""
_TEMPLATE = datetime(2013, 12, 23, 23, 15, tzinfo=UTC)
"""Stands in every file that python-docx wrote without setting a date."""


def document_date(found: DocumentText, name: str, mtime_ns: int, timezone: str) -> tuple[int, str]:
    """Seconds since 1970, UTC, and the date_quality of a document.

    `exact` for a time that the document carries, `modified` for that of its file; `day` for a day and `year` for a year
    without more, which stand for their first second in UTC whatever the time zone, so that they stay in their month.
    """
    carried = None if found.date is None else _sane(found.date, found.date_has_time, timezone)
    written = carried[0] if carried else mtime_ns // 10**9
    latest = _next_day(written)  # the same day in any time zone
    if (day := _stated(found)) and _EARLIEST.date() <= day <= latest and not (carried and _is_day_of(carried[0], day)):
        return _midnight(day), "day"
    if carried:
        return carried
    if day := _day_in_name(name):
        return _midnight(day), "day"
    stem, title = PurePath(name).stem, found.title or ""
    for text in (stem, title):
        if (day := written_dates.title_date(text)) and _EARLIEST.date() <= day <= latest:
            return _midnight(day), "day"
    if (year := written_dates.title_year(stem, title)) and _EARLIEST.year <= year <= latest.year:
        return _midnight(date(year, 1, 1)), "year"
    return written, "modified"


def _stated(found: DocumentText) -> date | None:
    """What is no table says of when it is; in a table each row has dates of its own."""
    return None if found.content_type in csv.CONTENT_TYPES.values() else written_dates.stated_date(found.text)


def _next_day(ts: int) -> date:
    """The day behind that of a time; the last one there is for a time that no calendar has."""
    try:
        return datetime.fromtimestamp(ts, UTC).date() + timedelta(1)
    except (OverflowError, ValueError, OSError):
        return date.max


def _is_day_of(ts: int, day: date) -> bool:
    """Whether a time is of a day, in some time zone; 3/4 may also be the fourth of March."""
    days = [day, day.replace(month=day.day, day=day.month)] if day.day <= 12 else [day]
    return any(abs(ts - _midnight(one) - 43_200) <= 86_400 for one in days)


def _day_in_name(name: str) -> date | None:
    match = _IN_NAME.search(name)
    try:
        return date(int(match[1]), int(match[3]), int(match[4])) if match else None
    except ValueError:  # 30 February
        return None


def _sane(moment: datetime, has_time: bool, timezone: str) -> tuple[int, str] | None:
    if not has_time:
        return (_midnight(moment.date()), "day") if moment.year >= _EARLIEST.year else None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=ZoneInfo(timezone))
    if moment.year < _EARLIEST.year or moment == _TEMPLATE:
        return None
    return int(moment.timestamp()), "exact"


def _midnight(day: date) -> int:
    return int(datetime(day.year, day.month, day.day, tzinfo=UTC).timestamp())
