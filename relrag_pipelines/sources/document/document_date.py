"""The date of a document: the one in its metadata, else the one in its name, else the file's.

A file's own time changes when it is copied or checked out; what the file carries does not.
"""

from __future__ import annotations

import re
from datetime import UTC, date, datetime
from zoneinfo import ZoneInfo

from relrag_pipelines.sources.document.document_text import DocumentText

_IN_NAME = re.compile(r"(?<!\d)((?:19|20)\d\d)([-_.]?)(0[1-9]|1[0-2])\2(0[1-9]|[12]\d|3[01])(?!\d)")
_EARLIEST = datetime(1985, 1, 1, tzinfo=UTC)
"""No office program is older; earlier dates are the zeros of some clock."""
_TEMPLATE = datetime(2013, 12, 23, 23, 15, tzinfo=UTC)
"""Stands in every file that python-docx wrote without setting a date."""


def document_date(found: DocumentText, name: str, mtime_ns: int, timezone: str) -> tuple[int, str]:
    """Seconds since 1970, UTC, and the date_quality of a document.

    `modified` for a time that the document or its file carries, `day` for a day without a time, which stands for its
    midnight in UTC whatever the time zone, so that it stays in its month.
    """
    if found.date is not None and (carried := _sane(found.date, found.date_has_time, timezone)):
        return carried
    if match := _IN_NAME.search(name):
        try:
            return _midnight(date(int(match[1]), int(match[3]), int(match[4]))), "day"
        except ValueError:  # 30 February
            pass
    return mtime_ns // 10**9, "modified"


def _sane(moment: datetime, has_time: bool, timezone: str) -> tuple[int, str] | None:
    if not has_time:
        return (_midnight(moment.date()), "day") if moment.year >= _EARLIEST.year else None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=ZoneInfo(timezone))
    if moment.year < _EARLIEST.year or moment == _TEMPLATE:
        return None
    return int(moment.timestamp()), "modified"


def _midnight(day: date) -> int:
    return int(datetime(day.year, day.month, day.day, tzinfo=UTC).timestamp())
