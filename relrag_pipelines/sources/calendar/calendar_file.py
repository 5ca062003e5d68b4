"""The records of one calendar file, read in parts."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime

from relrag_pipelines.records import Failure, Record
from relrag_pipelines.sources import ReadContext
from relrag_pipelines.sources.calendar.event_record import ChangedOccurrences, EventRecords
from relrag_pipelines.sources.formats import calendar
from relrag_pipelines.sources.formats.calendar.batches import Batch, batches
from relrag_pipelines.sources.formats.calendar.recurrence import FUTURE
from relrag_pipelines.sources.formats.content_line_bytes import as_utf8
from relrag_pipelines.sources.formats.members import Member
from relrag_pipelines.workers.sandbox import ParserStopped, call

HEAD_BYTES = 2**17

_EVENT = re.compile(rb"^[ \t]*BEGIN[ \t]*:[ \t]*VEVENT", re.IGNORECASE | re.MULTILINE)
_TASK = re.compile(rb"^[ \t]*BEGIN[ \t]*:[ \t]*VTODO", re.IGNORECASE | re.MULTILINE)
_CALENDAR = re.compile(
    rb"(?:\xef\xbb\xbf|\xff\xfe|\xfe\xff)?\s*BEGIN[ \t]*:[ \t]*(?:VCALENDAR|VEVENT|VTODO)", re.IGNORECASE
)


def is_calendar(head: bytes) -> bool:
    """Whether a file that begins so is a calendar."""
    return _CALENDAR.match(head.replace(b"\r", b"\n").replace(b"\0", b"")) is not None


def has_event(head: bytes) -> bool:
    """Whether the beginning of a calendar holds an event; one that holds nothing counts as a calendar of events."""
    plain = head.replace(b"\r", b"\n").replace(b"\0", b"")
    return _EVENT.search(plain) is not None or not has_task(head)


def has_task(head: bytes) -> bool:
    """Whether the beginning of a calendar holds a task."""
    return _TASK.search(head.replace(b"\r", b"\n").replace(b"\0", b"")) is not None


def read_calendar(member: Member, reading: ReadContext) -> Iterator[Record | Failure]:
    """The records of a calendar in order, each batch of them preceded by its failures."""
    until = datetime.fromtimestamp(member.mtime, UTC) + FUTURE
    records = EventRecords(member.location, reading, _changed_occurrences(member, reading))
    try:
        with member.open() as stream:
            for batch in batches(stream):
                yield from _read_batch(batch, member, records, until, reading)
    except calendar.CalendarError as error:
        yield Failure(member.inner_path, error.fault, str(error), whole_unit=True)


def _read_batch(
    batch: Batch, member: Member, records: EventRecords, until: datetime, reading: ReadContext
) -> Iterator[Record | Failure]:
    try:
        contents = call(reading.limits, len(batch.data), parse_batch, batch.data, reading.timezone, until)
    except ParserStopped as error:
        location = f"{member.inner_path} events {batch.first_event + 1} to {batch.first_event + batch.events}".strip()
        yield Failure(location, error.fault, str(error), whole_unit=True)
        return
    for failure in contents.failures:
        yield replace(failure, location=f"{member.inner_path} {_numbered(failure.location, batch.first_event)}".strip())
    for event in contents.events:
        yield from records.event_records(event)


def _numbered(location: str, before: int) -> str:
    """The location of a failure within a batch, as one within the file."""
    return re.sub(r"event (\d+)", lambda match: f"event {int(match[1]) + before}", location, count=1)


def parse_batch(data: bytes, timezone: str, until: datetime | None) -> calendar.CalendarContents:
    """The events and tasks of a part of a calendar. Raises CalendarError."""
    return calendar.read(calendar.decode_calendar(data), timezone, until, tasks=True)


def _holds(member: Member, mark: bytes) -> bool:
    """Whether bytes stand anywhere in a file."""
    end = b""
    with as_utf8(member.open()) as stream:
        while block := stream.read(2**18):
            if mark in end + block:
                return True
            end = block[-len(mark) :]
    return False


def _changed_occurrences(member: Member, reading: ReadContext) -> ChangedOccurrences:
    """The occurrences that events of the file replace or change."""
    changed = ChangedOccurrences()
    if not _holds(member, b"RECURRENCE-ID"):
        return changed
    # the second reading reports what is wrong
    with suppress(calendar.CalendarError), member.open() as stream:
        for batch in batches(stream, only=b"RECURRENCE-ID"):
            if not batch.events:
                continue
            with suppress(ParserStopped, calendar.CalendarError):
                contents = call(reading.limits, len(batch.data), parse_batch, batch.data, reading.timezone, None)
                changed.add(contents.events)
    return changed
