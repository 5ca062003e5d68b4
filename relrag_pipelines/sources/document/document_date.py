"""The date of a document: as its text states it, else from its metadata, file name, title or modification time.

A modification time changes when the file is copied or checked out, and a PDF's metadata date its printing; the date in
the text doesn't change.
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
"""No office program is older; earlier dates are zeros of a clock, or part of what the document is about."""
_TEMPLATE = datetime(2013, 12, 23, 23, 15, tzinfo=UTC)
"""The date in every file that python-docx wrote without setting one."""


def document_date(document: DocumentText, name: str, mtime_ns: int, timezone: str) -> tuple[int, str]:
    """Seconds since 1970, UTC, and the date_quality of a document.

    `exact` is a time in the document's metadata, `modified` the file's modification time. `day` and `year` stand for
    their first second in UTC, whatever the time zone, so that they stay in their month.
    """
    from_metadata = None if document.date is None else _sane(document.date, document.date_has_time, timezone)
    written = from_metadata[0] if from_metadata else mtime_ns // 10**9
    latest = _next_day(written)  # the same day in any time zone
    day = _stated_day(document)
    if day and _EARLIEST.date() <= day <= latest and not (from_metadata and _is_day_of(from_metadata[0], day)):
        return _midnight(day), "day"
    if from_metadata:
        return from_metadata
    if day := _day_in_name(name):
        return _midnight(day), "day"
    return _date_in_titles(PurePath(name).stem, document.title or "", latest) or (written, "modified")


def _date_in_titles(stem: str, title: str, latest: date) -> tuple[int, str] | None:
    """A day, else a year, in the file name or title, up to the day `latest`."""
    for text in (stem, title):
        if (day := written_dates.title_date(text)) and _EARLIEST.date() <= day <= latest:
            return _midnight(day), "day"
    if (year := written_dates.title_year(stem, title)) and _EARLIEST.year <= year <= latest.year:
        return _midnight(date(year, 1, 1)), "year"
    return None


def _stated_day(document: DocumentText) -> date | None:
    """The day that the text states as the document's own; None for tables, whose rows have dates of their own."""
    return None if document.content_type in csv.CONTENT_TYPES.values() else written_dates.stated_date(document.text)


def _next_day(ts: int) -> date:
    """The day after that of a time; the last day of the calendar for a time beyond it."""
    try:
        return datetime.fromtimestamp(ts, UTC).date() + timedelta(1)
    except (OverflowError, ValueError, OSError):
        return date.max


def _is_day_of(ts: int, day: date) -> bool:
    """Whether a time falls on a day, in some time zone; 3/4 may also mean the fourth of March."""
    days = [day, day.replace(month=day.day, day=day.month)] if day.day <= 12 else [day]
    return any(abs(ts - _midnight(candidate) - 43_200) <= 86_400 for candidate in days)


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
