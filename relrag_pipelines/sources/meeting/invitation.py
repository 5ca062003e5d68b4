"""The invitation to a meeting (.ics): title, time, participants and UID."""

from __future__ import annotations

from dataclasses import dataclass, field

from relrag_pipelines.records import Failure
from relrag_pipelines.sources.formats import calendar

MAX_BYTES = 1_000_000
"""A larger file isn't an invitation, which has some 2,000 bytes."""


class InvitationError(Exception):
    """A file without an event."""


@dataclass(frozen=True)
class Invitation:
    """The contents of an invitation."""

    uid: str | None
    title: str | None
    participants: list[str] = field(default_factory=list)
    """organiser first; names, or addresses where there is no name"""
    addresses: list[str] = field(default_factory=list)
    """the same as `Name <address>`"""
    ts: int | None = None
    """for a day, or a time in an unknown zone: midnight at the beginning of the day, UTC"""
    has_time: bool = True
    failures: list[Failure] = field(default_factory=list)
    """parts that could not be read"""


def parse(data: bytes, timezone: str) -> Invitation:
    """The first event in a calendar; `timezone` applies to local times. Raises InvitationError if there is none."""
    if len(data) > MAX_BYTES:
        raise InvitationError(f"larger than {MAX_BYTES} bytes, so it is a whole calendar; export the one invitation")
    try:
        contents = calendar.read(calendar.decode_calendar(data), timezone)
    except calendar.CalendarError as error:
        raise InvitationError(f"{error}; export the invitation again") from None
    if not contents.events:
        raise InvitationError("the file holds no event (VEVENT); export the invitation again")
    event = contents.events[0]
    ts, has_time = _when(event.start)
    return Invitation(
        uid=event.uid or None,
        title=" ".join(event.summary.split()) or None,
        participants=list(dict.fromkeys(person.name or person.address for person in event.people)),
        addresses=[person.full for person in event.people],
        ts=ts,
        has_time=has_time,
        failures=contents.failures,
    )


def _when(start: calendar.Moment | None) -> tuple[int | None, bool]:
    if start is None:
        return None, False
    if start.precision == "time":
        return int(start.at.timestamp()), True
    return int(start.at.replace(hour=0, minute=0, second=0, microsecond=0).timestamp()), False
