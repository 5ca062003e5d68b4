"""The events of a calendar part or .ics file (RFC 5545, RFC 5546)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from icalendar import Component
from icalendar import Event as Entry
from icalendar.prop import vBroken, vRecur

from relrag_pipelines.sources.formats.text_cleaning import clean

MAX_CHARACTERS = 1_000_000
"""A longer calendar is refused; one event has some 2,000."""
MAX_EVENTS = 2_000
MAX_ZONES = 50

_METHOD = re.compile(r"^METHOD[^:\n]{0,100}:[ \t]*(\w{1,40})", re.IGNORECASE | re.MULTILINE)
_FREQUENT = re.compile(r"^RRULE.{0,200}?FREQ=(?!YEARLY)", re.IGNORECASE | re.MULTILINE)


class CalendarError(Exception):
    """Nothing of the calendar can be read. It has a fault word, and what was found."""

    def __init__(self, fault: str, message: str) -> None:
        super().__init__(message)
        self.fault = fault

    def __reduce__(self) -> tuple[type[CalendarError], tuple[str, str]]:
        return CalendarError, (self.fault, str(self))  # it travels between processes


@dataclass(frozen=True)
class Event:
    """One event, or one changed occurrence of a repeated one."""

    uid: str
    """the same in the invitation, its answers, changes and cancellation; empty where the calendar has none"""
    summary: str
    start: datetime | None
    """UTC; of an event that takes all day the midnight that begins its date, with UTC as its zone by convention"""
    end: datetime | None
    """UTC, exclusive, likewise"""
    all_day: bool
    organiser: str | None
    """mail address, lower case"""
    attendees: tuple[str, ...]
    """mail addresses, lower case, in the order of the calendar"""
    location: str
    description: str
    method: str
    """of the calendar: REQUEST, REPLY, CANCEL, PUBLISH, ...; empty where it has none"""
    status: str
    """TENTATIVE, CONFIRMED, CANCELLED or empty"""
    rule: str
    """how it is repeated (RRULE), empty when it is not"""
    occurrence: datetime | None
    """which occurrence of a repeated event this one replaces, UTC"""
    defects: tuple[str, ...]
    """names of the properties that could not be read, sorted"""


def events(text: str, zone: str = "UTC") -> list[Event]:
    """The events in order; `zone` applies to times that name none. Raises CalendarError if it is not a calendar."""
    if len(text) > MAX_CHARACTERS:
        raise CalendarError("too_large", f"a calendar of {len(text):,} characters; up to {MAX_CHARACTERS:,} are read")
    method = _METHOD.search(text)
    found = [_event(entry, method[1].upper() if method else "", ZoneInfo(zone)) for entry in _entries(text)]
    if not found and re.search("BEGIN:VEVENT", text, re.IGNORECASE):
        raise CalendarError("unreadable_calendar", "its events cannot be read; none is complete")
    if not found and not re.search("BEGIN:VCALENDAR", text, re.IGNORECASE):
        raise CalendarError("not_a_calendar", "no VCALENDAR and no VEVENT in it")
    return found


def _entries(text: str) -> list[Entry]:
    """The entries of the whole calendar; where it is broken, of each entry by itself, without its time zones."""
    zones, entries = list(_blocks(text, "VTIMEZONE")), list(_blocks(text, "VEVENT"))
    kept = [block for block in zones[:MAX_ZONES] if not _FREQUENT.search(block)]
    blocks = entries[:MAX_EVENTS]
    whole = "\n".join(["BEGIN:VCALENDAR", *kept, *blocks, "END:VCALENDAR\n"])
    parsed = _parse(whole)
    return parsed if len(parsed) >= len(blocks) else [entry for block in blocks for entry in _parse(block)]


def _parse(text: str) -> list[Entry]:
    try:
        components = Component.from_ical(text, multiple=True)
    except (ValueError, AttributeError):  # AttributeError: its way with a VTIMEZONE within other components
        return []
    found = [entry for component in components for entry in component.walk("VEVENT")]
    return [entry for entry in found if isinstance(entry, Entry)]


def _blocks(text: str, name: str) -> Iterator[str]:
    """The components of this name; one that the end of the text or the next one cuts off is closed."""
    parts = re.split(rf"^[ \t]*BEGIN:{name}[ \t]*\r?$", text, flags=re.IGNORECASE | re.MULTILINE)
    for part in parts[1:]:
        inner = re.split(rf"^[ \t]*END:(?:{name}|VCALENDAR)[ \t]*\r?$", part, maxsplit=1, flags=re.I | re.M)[0]
        yield f"BEGIN:{name}\n{inner.strip()}\nEND:{name}"


def _event(entry: Entry, method: str, zone: ZoneInfo) -> Event:
    begin, end = _when(entry, "DTSTART"), _when(entry, "DTEND")
    length = getattr(_first(entry, "DURATION"), "dt", None)
    all_day = isinstance(begin, date) and not isinstance(begin, datetime)
    if end is None and begin is not None:
        lasts = length if isinstance(length, timedelta) else timedelta(days=1) if all_day else None
        end = _plus(begin, lasts) if lasts is not None else None
    return Event(
        uid=_text(entry, "UID"),
        summary=_text(entry, "SUMMARY"),
        start=_utc(begin, zone),
        end=_utc(end, zone),
        all_day=all_day,
        organiser=next(iter(_addresses(entry, "ORGANIZER")), None),
        attendees=tuple(dict.fromkeys(_addresses(entry, "ATTENDEE"))),
        location=_text(entry, "LOCATION"),
        description=_text(entry, "DESCRIPTION"),
        method=method,
        status=_text(entry, "STATUS").upper(),
        rule=_rule(entry),
        occurrence=_utc(_when(entry, "RECURRENCE-ID"), zone),
        defects=tuple(sorted({name or "unreadable line" for name, _ in entry.errors})),
    )


def _all(entry: Entry, name: str) -> list[Any]:
    """The values of a property, without those that could not be parsed."""
    value = entry.get(name)
    values = value if isinstance(value, list) else [] if value is None else [value]
    return [item for item in values if not isinstance(item, vBroken)]


def _first(entry: Entry, name: str) -> Any:
    return next(iter(_all(entry, name)), None)


def _text(entry: Entry, name: str) -> str:
    return clean(str(_first(entry, name) or "")).strip()


def _rule(entry: Entry) -> str:
    rule = _first(entry, "RRULE")
    written: bytes = rule.to_ical() if isinstance(rule, vRecur) else b""  # type: ignore[no-untyped-call]
    return written.decode("utf-8", "replace")


def _addresses(entry: Entry, name: str) -> list[str]:
    values = (str(value).strip() for value in _all(entry, name))
    found = [re.sub("^mailto:", "", value, flags=re.IGNORECASE).strip().lower() for value in values]
    return [address for address in found if "@" in address]


def _when(entry: Entry, name: str) -> date | None:
    value = getattr(_first(entry, name), "dt", None)
    return value if isinstance(value, date) else None


def _plus(begin: date, lasts: timedelta) -> date | None:
    try:
        return begin + lasts
    except OverflowError:
        return None


def _utc(moment: date | None, zone: ZoneInfo) -> datetime | None:
    if moment is None:
        return None
    if not isinstance(moment, datetime):
        return datetime.combine(moment, time(), UTC)
    try:
        return (moment if moment.tzinfo else moment.replace(tzinfo=zone)).astimezone(UTC)
    except OverflowError:
        return None
