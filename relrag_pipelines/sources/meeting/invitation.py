"""The invitation to a meeting (.ics): title, time, participants and UID."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from typing import Any
from zoneinfo import ZoneInfo

from icalendar import Calendar

MAX_BYTES = 1_000_000
"""A larger file is no invitation; one has some 2,000 bytes."""


class InvitationError(Exception):
    """A file without an event."""


@dataclass(frozen=True)
class Invitation:
    """The contents of an invitation."""

    uid: str | None
    title: str | None
    participants: list[str] = field(default_factory=list)
    """organiser first; names, or addresses of those without one"""
    addresses: list[str] = field(default_factory=list)
    """the same as `Name <address>`"""
    ts: int | None = None
    has_time: bool = True


def parse(data: bytes, timezone: str) -> Invitation:
    """The first event in a calendar; `zone` applies to local times. Raises InvitationError if there is none."""
    if len(data) > MAX_BYTES:
        raise InvitationError(f"larger than {MAX_BYTES} bytes, so it is a whole calendar; export the one invitation")
    try:
        events = [event for calendar in Calendar.from_ical(data, multiple=True) for event in calendar.walk("VEVENT")]
    except (ValueError, IndexError, KeyError, AttributeError, TypeError):
        events = []
    if not events:
        raise InvitationError("the file holds no event (VEVENT); export the invitation again")
    event = events[0]
    begins = event.get("DTSTART")
    ts, has_time = _when(getattr(begins, "dt", None), timezone)
    people = [_person(one) for name in ("ORGANIZER", "ATTENDEE") for one in _several(event.get(name))]
    addresses = list(dict.fromkeys(one for one in people if one))
    names = list(dict.fromkeys(one.partition(" <")[0] for one in addresses))
    return Invitation(_text(event.get("UID")), _text(event.get("SUMMARY")), names, addresses, ts, has_time)


def _several(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value] if value else []


def _person(value: Any) -> str:
    address = str(value).strip()
    address = address[len("mailto:") :] if address.lower().startswith("mailto:") else address
    name = " ".join(str(value.params.get("CN", "")).strip('"').split())
    if not name or name.casefold() == address.casefold():
        return address
    return f"{name} <{address}>" if "@" in address else name


def _text(value: Any) -> str | None:
    return " ".join(str(value).split()) or None if value else None


def _when(begins: Any, timezone: str) -> tuple[int | None, bool]:
    if isinstance(begins, datetime):
        at = begins if begins.tzinfo else begins.replace(tzinfo=ZoneInfo(timezone))
        return int(at.timestamp()), True
    if isinstance(begins, date):
        return int(datetime(begins.year, begins.month, begins.day, tzinfo=UTC).timestamp()), False
    return None, False
