"""Events of a calendar file or mail part: iCalendar (RFC 5545, RFC 5546), and vCalendar 1.0 from old phones.

Mails and meetings read calendars with it. The parser is lenient: a broken line, a missing END or an unknown time zone
affects only itself; parts that cannot be read are failures beside the events.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from icalendar.prop import vDuration, vRecur

from relrag_pipelines.records import Failure
from relrag_pipelines.sources.formats.calendar import recurrence
from relrag_pipelines.sources.formats.calendar.components import MAX_EVENTS, CalendarParts, Component, calendars
from relrag_pipelines.sources.formats.calendar.moments import Moment, UnreadableMoment, read_moment
from relrag_pipelines.sources.formats.calendar.people import Person, read_people, without_repeats
from relrag_pipelines.sources.formats.calendar.zones import UnknownZone, Zones
from relrag_pipelines.sources.formats.charset_detection import CharsetError, decode
from relrag_pipelines.sources.formats.content_line_bytes import unfold_bytes
from relrag_pipelines.sources.formats.text_cleaning import clean

__all__ = ["CalendarContents", "CalendarError", "Event", "Moment", "Person", "decode_calendar", "read"]

MAX_CHARACTERS = 1_000_000
"""A longer calendar is refused; one event has some 2,000."""

_MAX_ZONE_NAME = 60
"""characters of a zone's name that a failure quotes"""


class CalendarError(Exception):
    """Nothing of the calendar can be read. `fault` is the fault word; the message says what is wrong."""

    def __init__(self, fault: str, message: str) -> None:
        super().__init__(message)
        self.fault = fault

    def __reduce__(self) -> tuple[type[CalendarError], tuple[str, str]]:
        return CalendarError, (self.fault, str(self))  # it travels between processes


@dataclass(frozen=True)
class Event:
    """One event, or one changed occurrence of a repeated one."""

    uid: str
    """the same in the invitation, its replies, changes and cancellation; empty if the calendar has none"""
    summary: str
    start: Moment | None
    end: Moment | None
    """exclusive"""
    organiser: Person | None
    attendees: tuple[Person, ...]
    """in the order of the calendar, without duplicates"""
    location: str
    description: str
    method: str
    """the calendar's: REQUEST, REPLY, CANCEL, PUBLISH, ...; empty if it has none"""
    status: str
    """TENTATIVE, CONFIRMED, CANCELLED or empty"""
    rule: str
    """its recurrence rule (RRULE); empty if it occurs once"""
    occurrence: Moment | None
    """the occurrence of a repeated event that this one replaces"""
    occurrences: tuple[Moment, ...] = ()
    """when it takes place, where a time was given up to which it is expanded"""
    is_task: bool = False
    """a VTODO, whose end is the time at which it is due"""
    completed: Moment | None = None
    """when a task was completed"""
    changed: Moment | None = None
    """when this version was written (LAST-MODIFIED, else DTSTAMP)"""
    sequence: int = 0
    """number of the version, from 0"""
    changes_later: bool = False
    """whether it changes all occurrences after the one that it replaces (RANGE=THISANDFUTURE)"""

    @property
    def people(self) -> tuple[Person, ...]:
        """The organiser, then the attendees, without duplicates."""
        return without_repeats([self.organiser, *self.attendees] if self.organiser else self.attendees)


@dataclass(frozen=True)
class CalendarContents:
    """The events of a calendar, and failures for unreadable parts."""

    events: list[Event]
    failures: list[Failure]


def decode_calendar(data: bytes, charset: str | None = None) -> str:
    """The text of a calendar; `charset` is the one that its mail declares. UTF-8 and UTF-16 are detected.

    Raises CalendarError if the bytes aren't text.
    """
    try:
        return clean(decode(unfold_bytes(data), charset).text)
    except CharsetError as error:
        raise CalendarError("not_a_calendar", f"no text: {error}; export the calendar again") from None


def read(text: str, timezone: str = "UTC", until: datetime | None = None, *, tasks: bool = False) -> CalendarContents:
    """The events in order; `timezone` applies to times that name none. Raises CalendarError if it is not a calendar.

    With `until`, repeated events are expanded up to that time. With `tasks`, tasks follow the events of each calendar.
    """
    if len(text) > MAX_CHARACTERS:
        raise CalendarError("too_large", f"a calendar of {len(text):,} characters; up to {MAX_CHARACTERS:,} are read")
    parsed = calendars(text)
    if not parsed:
        raise CalendarError("not_a_calendar", "no VCALENDAR and no VEVENT in it")
    faults = _Faults()
    events: list[Event] = []
    if "BEGIN:VEVENT" in text.upper() and not any(calendar.events for calendar in parsed):
        raise CalendarError("unreadable_calendar", "its events cannot be read; none has a readable line")
    for calendar in parsed:
        zones = Zones(calendar.zones, calendar.zone_name, timezone)
        for component, is_task in _components(calendar, tasks=tasks)[: MAX_EVENTS - len(events)]:
            faults.event = len(events) + 1
            event = _task(component, calendar, zones, faults) if is_task else _event(component, calendar, zones, faults)
            if until and event.start:
                event = replace(event, occurrences=_occurrences(component, event.start, zones, until, faults))
            events.append(event)
    count = sum(len(_components(calendar, tasks=tasks)) for calendar in parsed)
    if left_out := count - len(events):
        faults.add("too_many_events", f"{left_out:,} events behind the first {MAX_EVENTS:,} are not read")
    return CalendarContents(events, faults.failures())


def _components(calendar: CalendarParts, *, tasks: bool) -> list[tuple[Component, bool]]:
    """The components to read, and whether each is a task."""
    events = [(component, False) for component in calendar.events]
    return events + [(component, True) for component in calendar.tasks] if tasks else events


@dataclass
class _Faults:
    """Collects failures; a failure that several events share is reported once, with their numbers."""

    event: int = 0
    """number of the event being read, from 1"""
    events: dict[tuple[str, str], list[int]] = field(default_factory=dict)

    def add(self, fault: str, message: str) -> None:
        self.events.setdefault((fault, message), []).append(self.event)

    def failures(self) -> list[Failure]:
        return [Failure(_location(numbers), *fault) for fault, numbers in self.events.items()]


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
        changed=_changed(component, zones),
        sequence=_sequence(component),
        changes_later=_changes_later(component),
    )


def _changes_later(component: Component) -> bool:
    if not component.has("RECURRENCE-ID"):
        return False
    return component.first("RECURRENCE-ID").parameters.get("RANGE", "").strip().upper() == "THISANDFUTURE"


def _changed(component: Component, zones: Zones) -> Moment | None:
    """When a version was written; the calendar does not depend on it."""
    name = next((name for name in ("LAST-MODIFIED", "DTSTAMP") if component.has(name)), "")
    try:
        return read_moment(component.first(name), zones) if name else None
    except (UnknownZone, UnreadableMoment):
        return None


def _sequence(component: Component) -> int:
    text = _text(component, "SEQUENCE")
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else 0


def _task(component: Component, calendar: CalendarParts, zones: Zones, faults: _Faults) -> Event:
    task = _event(component, calendar, zones, faults)
    due = _moment(component, "DUE", zones, faults)
    return replace(task, end=due, is_task=True, completed=_moment(component, "COMPLETED", zones, faults))


def _occurrences(
    component: Component, start: Moment, zones: Zones, until: datetime, faults: _Faults
) -> tuple[Moment, ...]:
    try:
        return recurrence.expand(component, start, zones, until)
    except recurrence.UnreadableRule as error:
        faults.add("bad_calendar_property", f"{error}; only its first occurrence was read")
        return (start,)
    except UnknownZone:
        return (start,)


def _text(component: Component, name: str) -> str:
    return component.first(name).text.strip() if component.has(name) else ""


def _moment(component: Component, name: str, zones: Zones, faults: _Faults) -> Moment | None:
    if not component.has(name):
        return None
    try:
        return read_moment(component.first(name), zones)
    except UnknownZone as unknown:
        name = unknown.name[:_MAX_ZONE_NAME]
        why = f'the time zone "{name}" is not known and not defined in the file'
        faults.add("unknown_zone", f"{why}; its times are kept as written, without a zone")
        return unknown.local
    except UnreadableMoment:
        faults.add("bad_calendar_property", f"{name} is no date or time; the rest of the event was read")
        return None


def _end(component: Component, start: Moment | None, faults: _Faults) -> Moment | None:
    """The end computed from an event's duration; an event of whole days ends the next day."""
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
