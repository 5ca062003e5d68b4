"""Calendars: iCalendar files (.ics, RFC 5545), vCalendar 1.0 (.vcs), and zips of them, as Google exports them.

One event is one record. A repeated event is one record an occurrence, up to a year after the file was written, and all
of them are a thread; a changed occurrence takes the place of the one that it changes. The UID, as a keyed hash, relates
an event to its invitation in a mail and beside a meeting.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from relrag_pipelines.files.regular_files import open_plain
from relrag_pipelines.records import Failure, Record
from relrag_pipelines.sources import ReadContext, Unit
from relrag_pipelines.sources.calendar.calendar_file import HEAD_BYTES, has_event, is_calendar, read_calendar
from relrag_pipelines.sources.formats.members import ZIP, Member, read_members, zip_names

__all__ = ["SUFFIXES", "read", "recognise"]

SUFFIXES = (".ics", ".ical", ".vcs")
_TRANSCRIPTS = (".vtt", ".srt", ".sbv", ".txt", ".md")
"""an invitation beside one of these is read with the meeting"""


def read(unit: Unit, reading: ReadContext) -> Iterator[Record | Failure]:
    """The events and tasks of a file or zip in order, each preceded by failures."""

    def read_member(member: Member) -> Iterator[Record | Failure]:
        return read_calendar(member, reading)

    return read_members(unit, reading, lambda path: path.lower().endswith(SUFFIXES), read_member)


def recognise(file: Path) -> bool:
    """Whether a calendar begins in the file and holds events, or the file is a zip of calendars."""
    if file.suffix.lower() == ZIP:
        names = zip_names(file)
        return (
            bool(names)
            and all(name.lower().endswith((*SUFFIXES, ".html")) for name in names)
            and any(name.lower().endswith(SUFFIXES) for name in names)
        )
    if any(file.with_suffix(suffix).exists() for suffix in _TRANSCRIPTS):
        return False
    with open_plain(file) as opened:
        head = opened.read(HEAD_BYTES)
    return is_calendar(head) and has_event(head)
