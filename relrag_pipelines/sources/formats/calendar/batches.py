"""Calendars of any size, cut into texts of some hundred events each, so that memory does not grow with the file."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import BinaryIO

from relrag_pipelines.sources.formats.calendar import MAX_CHARACTERS, CalendarError
from relrag_pipelines.sources.formats.calendar.components import MAX_EVENTS
from relrag_pipelines.sources.formats.content_line_bytes import as_utf8

MAX_LINE = 2**20
"""Longest line that is read, bytes; what is longer is cut."""
BATCH_EVENTS = 500

_BORDER_BEGINS = frozenset({b"B", b"E", b"b", b"e", b" ", b"\t"})
"""how lines with BEGIN or END begin"""
_ITEMS = (b"BEGIN:VEVENT", b"BEGIN:VTODO")
_BEGIN = b"BEGIN:VCALENDAR"
_ENDS = {True: (b"END:VCALENDAR",), False: (b"END:VEVENT", b"END:VTODO", b"END:VTIMEZONE")}
"""the last line of a file with BEGIN:VCALENDAR, and of one with events alone"""
_MAX_COMMON = MAX_CHARACTERS // 4
_BATCH_BYTES = MAX_CHARACTERS // 2


@dataclass
class Batch:
    """Part of a calendar: what all its parts share (method, time zones), and some events."""

    data: bytes
    first_event: int
    """number of the events and tasks before it"""
    events: int
    """number of its events and tasks"""


@dataclass
class _Cutter:
    common: list[bytes] = field(default_factory=list)
    events: list[bytes] = field(default_factory=list)
    common_size: int = 0
    size: int = 0
    count: int = 0
    emitted: int = 0

    def batch(self) -> Batch:
        batch = Batch(b"".join([*self.common, *self.events]), self.emitted, self.count)
        self.emitted += self.count
        self.events, self.size, self.count = [], 0, 0
        return batch

    def add_common(self, line: bytes) -> None:
        self.common_size += len(line)
        if self.common_size <= _MAX_COMMON:
            self.common.append(line)

    def add_event(self, lines: list[bytes]) -> None:
        self.events += lines
        self.size += sum(map(len, lines))
        self.count += 1

    @property
    def is_full(self) -> bool:
        return self.count >= min(BATCH_EVENTS, MAX_EVENTS) or self.size >= _BATCH_BYTES


def batches(stream: BinaryIO, only: bytes = b"") -> Iterator[Batch]:
    """The parts of a calendar in order; with `only`, of the events that hold these bytes.

    Raises CalendarError behind the parts of one that is cut off.
    """
    cutter, item = _Cutter(), list[bytes]()
    end, last, is_calendar = b"", b"", False
    for line in _lines(as_utf8(stream)):
        is_border = line[:1] in _BORDER_BEGINS
        last = last if line.isspace() else line
        bare = line.strip().upper().replace(b" ", b"") if is_border else b""
        if bare in _ITEMS:
            yield from _add(cutter, item, only)
            item, end = [line], bare.replace(b"BEGIN", b"END")
        elif end:
            item.append(line)
            end = b"" if bare == end else end
        else:
            if bare == _BEGIN and cutter.common:  # another calendar, with zones of its own
                yield from _add(cutter, item, only)
                yield from [cutter.batch()] if cutter.events else []
                item, cutter.common, cutter.common_size = [], [], 0
            is_calendar |= bare == _BEGIN
            cutter.add_common(line)
    yield from _add(cutter, item, only)
    if cutter.events or not cutter.emitted:
        yield cutter.batch()
    if last.strip().upper().replace(b" ", b"") not in _ENDS[is_calendar]:
        raise CalendarError("truncated", "the calendar ends before its END:VCALENDAR; export it again")


def _add(cutter: _Cutter, item: list[bytes], only: bytes) -> Iterator[Batch]:
    """Adds an event, after the batch that has no room for it."""
    if item and (not only or any(only in line for line in item)):
        if cutter.is_full:
            yield cutter.batch()
        cutter.add_event(item)


def _lines(stream: BinaryIO) -> Iterator[bytes]:
    """Lines with a \\n at their end, however they end in the file; a longer one is cut."""
    while line := stream.readline(MAX_LINE):
        if line[-2:] == b"\r\n" and line.count(b"\r") == 1:
            yield line[:-2] + b"\n"
            continue
        yield from (part + b"\n" for part in line.rstrip(b"\r\n").split(b"\r"))
        while line and not line.endswith(b"\n"):
            line = stream.readline(MAX_LINE)
