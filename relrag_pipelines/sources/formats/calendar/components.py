"""The components of a calendar file, separated leniently: any END may be missing."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from relrag_pipelines.sources.formats.calendar.content_lines import Property, read_property, unfold
from relrag_pipelines.sources.formats.calendar.moments import is_moment

MAX_EVENTS = 2_000
"""Events beyond this number are counted, not read."""

_BORDER = re.compile(r"[ \t]*(BEGIN|END)[ \t]*:[ \t]*([A-Za-z0-9-]+)[ \t]*", re.IGNORECASE)
_BORDER_BEGINS = frozenset("BEbe \t")
_TOP = frozenset({"VEVENT", "VTODO", "VJOURNAL", "VFREEBUSY", "VTIMEZONE", "VCALENDAR"})
"""components directly in a calendar: the beginning of one ends the previous one"""
_PROPERTY_NAME = re.compile(r"\s*([^;:\s]*)")
_UNREAD = ("CREATED:", "TRANSP:", "CLASS:", "PRIORITY:", "X-")
"""properties of which nothing is read"""
_MOMENTS = frozenset({"DTSTART", "DTEND", "RECURRENCE-ID"})
_PEOPLE = frozenset({"ORGANIZER", "ATTENDEE"})
_PERSON_LINES = tuple(f"{name}{mark}" for name in sorted(_PEOPLE) for mark in ";:")
_TESTED_BEGINS = frozenset(
    {letter for name in _MOMENTS | _PEOPLE for letter in name[0] + name[0].lower()} | {" ", "\t"}
)
_ADDRESS = re.compile(r"\s*(?:mailto:|[^\s:;,]+@|urn:|invalid:|https?:|/)", re.IGNORECASE)


@dataclass
class Component:
    """The properties of an event."""

    properties: dict[str, list[Property]] = field(default_factory=dict)
    unreadable_lines: int = 0

    def all(self, name: str) -> list[Property]:
        """The properties with a name, in order."""
        return self.properties.get(name, [])

    def has(self, name: str) -> bool:
        """Whether it has a property with this name."""
        return name in self.properties

    def first(self, name: str) -> Property:
        """The first property with a name, which must exist."""
        return self.properties[name][0]


@dataclass
class CalendarParts:
    """One VCALENDAR."""

    method: str = ""
    """in capitals"""
    zone_name: str = ""
    """for times that name no zone (X-WR-TIMEZONE); empty if the calendar has none"""
    zones: dict[str, list[str]] = field(default_factory=dict)
    """name -> the lines of a VTIMEZONE"""
    events: list[Component] = field(default_factory=list)
    tasks: list[Component] = field(default_factory=list)


def calendars(text: str) -> list[CalendarParts]:
    """The calendars in a text; events outside any count as a calendar."""
    parsed: list[CalendarParts] = []
    for name, lines in _top_components(unfold(text)):
        if name == "VCALENDAR":
            parsed.append(_calendar(lines))
            continue
        if not parsed:
            parsed.append(CalendarParts())
        if name in ("VEVENT", "VTODO"):
            event = _event(lines)
            items = parsed[-1].events if name == "VEVENT" else parsed[-1].tasks
            items += [event] if event.properties else []
        elif name == "VTIMEZONE":
            _add_zone(parsed[-1], lines)
        else:
            _add_to_calendar(parsed[-1], lines)
    return parsed


def _top_components(lines: Iterator[str]) -> Iterator[tuple[str, list[str]]]:
    """Name and lines of each component of a calendar; lines after an END belong to the calendar, named `-`."""
    name, body = "", list[str]()
    for line in lines:
        border = _BORDER.fullmatch(line) if line[:1] in _BORDER_BEGINS else None
        word, component = (border[1].upper(), border[2].upper()) if border else ("", "")
        if component not in _TOP:
            body.append(line)
            continue
        if name:
            yield name, body
        name, body = (component if word == "BEGIN" else "-"), []
    if name:
        yield name, body


def _calendar(lines: list[str]) -> CalendarParts:
    calendar = CalendarParts()
    _add_to_calendar(calendar, lines)
    return calendar


def _add_to_calendar(calendar: CalendarParts, lines: list[str]) -> None:
    for line in lines:
        property_ = read_property(line) if line.upper().lstrip().startswith(("METHOD", "X-WR-TIMEZONE")) else None
        if property_ and property_.name == "METHOD":
            calendar.method = property_.text.strip().upper()
        elif property_ and property_.name == "X-WR-TIMEZONE":
            calendar.zone_name = property_.text.strip()


def _add_zone(calendar: CalendarParts, lines: list[str]) -> None:
    properties = (read_property(line) for line in lines if line.upper().lstrip().startswith("TZID"))
    name = next((property_.text.strip().strip('"') for property_ in properties if property_), "")
    if name:
        calendar.zones.setdefault(name, lines)


def _event(lines: list[str]) -> Component:
    """The event in these lines, without its alarms."""
    event = Component()
    for line in _own_lines(lines):
        if line.startswith(_UNREAD):
            continue
        property_ = _read_person(line) if line.startswith(_PERSON_LINES) else read_property(line, _fits(line))
        if property_ is None:
            event.unreadable_lines += 1
        else:
            event.properties.setdefault(property_.name, []).append(property_)
    return event


def _own_lines(lines: list[str]) -> list[str]:
    """Lines outside nested components; lines of a nested one without END come last, since they may be the event's."""
    own, nested, name = list[str](), list[str](), ""
    for line in lines:
        border = _BORDER.fullmatch(line) if line[:1] in _BORDER_BEGINS else None
        if border and not name and border[1].upper() == "BEGIN":
            name, nested = border[2].upper(), []
        elif border and border[2].upper() == name:
            name, nested = "", []
        elif name:
            nested.append(line)
        elif not border:
            own.append(line)
    return [*own, *nested]


def _fits(line: str) -> Callable[[str], bool] | None:
    """A test for the values of a line's property, if its parameters often contain colons."""
    if line[:1] not in _TESTED_BEGINS:
        return None
    match = _PROPERTY_NAME.match(line)
    name = match[1].upper() if match else ""
    if name in _MOMENTS:
        return is_moment
    return _is_address if name in _PEOPLE else None


@functools.lru_cache(4096)
def _read_person(line: str) -> Property | None:
    """A line that names a person, who attends many events of a calendar."""
    return read_property(line, _is_address)


def _is_address(value: str) -> bool:
    return _ADDRESS.match(value) is not None
