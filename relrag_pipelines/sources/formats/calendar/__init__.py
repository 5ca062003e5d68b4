"""Events of a calendar file or mail part: iCalendar (RFC 5545, RFC 5546), and vCalendar 1.0 as old phones write it.

Mails and meetings read calendars here. Components and lines are separated leniently, so that a broken line, a missing
END or an unknown time zone costs only itself; what cannot be read is a failure beside the events.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta

from icalendar.prop import vDuration, vRecur

from relrag_pipelines.records import Failure
from relrag_pipelines.sources.formats.calendar.components import MAX_EVENTS, CalendarParts, Component, calendars
from relrag_pipelines.sources.formats.calendar.moments import Moment, UnreadableMoment, read_moment
from relrag_pipelines.sources.formats.calendar.people import Person, read_people, without_repeats
from relrag_pipelines.sources.formats.calendar.zones import UnknownZone, Zones
from relrag_pipelines.sources.formats.charset_detection import CharsetError, decode
from relrag_pipelines.sources.formats.text_cleaning import clean

__all__ = ["CalendarContents", "CalendarError", "Event", "Moment", "Person", "decode_calendar", "read"]

MAX_CHARACTERS = 1_000_000
"""A longer calendar is refused; one event has some 2,000."""

_LONGEST_ZONE = 60
"""characters of a zone's name that a failure shows"""


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
    start: Moment | None
    end: Moment | None
    """exclusive"""
    organiser: Person | None
    attendees: tuple[Person, ...]
    """in the order of the calendar, each once"""
    location: str
    description: str
    method: str
    """of the calendar: REQUEST, REPLY, CANCEL, PUBLISH, ...; empty where it has none"""
    status: str
    """TENTATIVE, CONFIRMED, CANCELLED or empty"""
    rule: str
    """how it is repeated (RRULE), empty when it is not"""
    occurrence: Moment | None
    """which occurrence of a repeated event this one replaces"""

    @property
    def people(self) -> tuple[Person, ...]:
        """The organiser, then the attendees, nobody twice."""
        return without_repeats([self.organiser, *self.attendees] if self.organiser else self.attendees)


@dataclass(frozen=True)
class CalendarContents:
    """The events of a calendar, and what of it could not be read."""

    events: list[Event]
    failures: list[Failure]


def decode_calendar(data: bytes, charset: str | None = None) -> str:
    """The text of a calendar; `charset` is what its mail declares. UTF-8 and UTF-16 are told by the bytes.

    Raises CalendarError where the bytes are no text.
    """
    try:
        return clean(decode(data, charset).text)
    except CharsetError as error:
        raise CalendarError("not_a_calendar", f"no text: {error}; export the calendar again") from None


def read(text: str, timezone: str = "UTC") -> CalendarContents:
    """The events in order; `timezone` applies to times that name none. Raises CalendarError if it is not a calendar."""
    if len(text) > MAX_CHARACTERS:
        raise CalendarError("too_large", f"a calendar of {len(text):,} characters; up to {MAX_CHARACTERS:,} are read")
    found = calendars(text)
    if not found:
        raise CalendarError("not_a_calendar", "no VCALENDAR and no VEVENT in it")
    faults = _Faults()
    events: list[Event] = []
    if "BEGIN:VEVENT" in text.upper() and not any(calendar.events for calendar in found):
        raise CalendarError("unreadable_calendar", "its events cannot be read; none has a readable line")
    for calendar in found:
        zones = Zones(calendar.zones, calendar.zone_name, timezone)
        for component in calendar.events[: MAX_EVENTS - len(events)]:
            faults.event = len(events) + 1
            events.append(_event(component, calendar, zones, faults))
    if left_out := sum(len(calendar.events) for calendar in found) - len(events):
        faults.add("too_many_events", f"{left_out:,} events behind the first {MAX_EVENTS:,} are not read")
    return CalendarContents(events, faults.failures())


@dataclass
class _Faults:
    """Collects failures; an equal one of several events is reported once, with their number."""

    event: int = 0
    """the event that is read, from 1"""
    found: dict[tuple[str, str], list[int]] = field(default_factory=dict)

    def add(self, fault: str, message: str) -> None:
        self.found.setdefault((fault, message), []).append(self.event)

    def failures(self) -> list[Failure]:
        return [Failure(_location(events), *fault) for fault, events in self.found.items()]


def _location(events: list[int]) -> str:
    different = sorted(set(events))
    more = f" and {len(different) - 1:,} more" if len(different) > 1 else ""
    return f"event {different[0]}{more}"


def _event(component: Component, calendar: CalendarParts, zones: Zones, faults: _Faults) -> Event:
    for _ in range(component.unreadable_lines):
        faults.add("bad_calendar_line", "a line is no property of a calendar and was left out")
    start = _moment(component, "DTSTART", zones, faults)
    return Event(
        uid=_text(component, "UID"),
        summary=_text(component, "SUMMARY"),
        start=start,
        end=_moment(component, "DTEND", zones, faults) or _end(component, start, faults),
        organiser=next(iter(_people(component, "ORGANIZER")), None),
        attendees=_people(component, "ATTENDEE"),
        location=_text(component, "LOCATION"),
        description=_text(component, "DESCRIPTION"),
        method=calendar.method,
        status=_text(component, "STATUS").upper(),
        rule=_rule(component, faults),
        occurrence=_moment(component, "RECURRENCE-ID", zones, faults),
    )


def _text(component: Component, name: str) -> str:
    return component.first(name).text.strip() if component.has(name) else ""


def _moment(component: Component, name: str, zones: Zones, faults: _Faults) -> Moment | None:
    if not component.has(name):
        return None
    try:
        return read_moment(component.first(name), zones)
    except UnknownZone as unknown:
        shown = unknown.name[:_LONGEST_ZONE]
        why = f'the time zone "{shown}" is not known and not defined in the file'
        faults.add("unknown_zone", f"{why}; its times are kept as written, without a zone")
        return unknown.local
    except UnreadableMoment:
        faults.add("bad_calendar_property", f"{name} is no date or time; the rest of the event was read")
        return None


def _end(component: Component, start: Moment | None, faults: _Faults) -> Moment | None:
    """The end that the length of an event gives; a day lasts until the next."""
    if start is None:
        return None
    if not component.has("DURATION"):
        return start.plus(timedelta(days=1)) if start.is_day else None
    try:
        return start.plus(vDuration.from_ical(component.first("DURATION").value.strip()))  # type: ignore[no-untyped-call]
    except (ValueError, OverflowError, TypeError):
        faults.add("bad_calendar_property", "DURATION is no length of time; the rest of the event was read")
        return None


def _rule(component: Component, faults: _Faults) -> str:
    if not component.has("RRULE"):
        return ""
    try:
        rule = vRecur.from_ical(component.first("RRULE").value.strip())
        return rule.to_ical().decode("utf-8", "replace") if rule["FREQ"] else ""
    except (ValueError, AttributeError, TypeError, KeyError, IndexError):
        faults.add("bad_calendar_property", "RRULE is no rule of repetition; the rest of the event was read")
        return ""


def _people(component: Component, name: str) -> tuple[Person, ...]:
    return without_repeats(person for line in component.all(name) for person in read_people(line))
