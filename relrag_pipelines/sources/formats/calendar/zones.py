"""Time zones of calendars: definitions in the file, names of IANA, Windows and Outlook, and offsets.

The definition in a file wins over a name: Outlook calls any zone `GMT`, `Custom` or `Customized Time Zone`.
"""

from __future__ import annotations

import functools
import re
import zoneinfo
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime, timedelta, timezone, tzinfo

from icalendar import Component as LibraryComponent
from icalendar import Timezone
from icalendar.timezone.windows_to_olson import WINDOWS_TO_OLSON

from relrag_pipelines.sources.formats.calendar.moments import Moment

MAX_ZONES = 50
"""definitions of one calendar that are read"""

_FREQUENT = re.compile(r"^RRULE.{0,200}?FREQ=(?!YEARLY)", re.IGNORECASE | re.MULTILINE)
"""a clock changes once a year; other rules only cost computing time"""
_MICROSOFT = re.compile(r"tzone://microsoft/", re.IGNORECASE)
_COPY_NUMBER = re.compile(r" \d{1,3}$")
"""Outlook numbers zones that have the same name: `GMT Standard Time 1`"""
_OFFSET = re.compile(r"(?:UTC|GMT|Z)? ?([+-]) ?(\d{1,2})(?:[:.]?([0-5]\d))?", re.IGNORECASE)
_DISPLAY = re.compile(r"\((?:UTC|GMT)(?: ?([+-]\d\d)[:.]?(\d\d))?\) (.+)", re.IGNORECASE)
"""as Windows and Zimbra show a zone: `(UTC+01:00) Amsterdam, Berlin, Bern`"""
_WITHIN_PARENTHESES = re.compile(r" ?\([^)]*\)")
_BETWEEN_CITIES = re.compile(r" ?[,/] ?")


class UnknownZone(LookupError):
    """A zone that the file doesn't define and whose name is unknown."""

    def __init__(self, name: str, local: Moment) -> None:
        super().__init__(name)
        self.name = name
        self.local = local
        """the time as it is written"""


class Zones:
    """The time zones of one calendar."""

    def __init__(self, defined: Mapping[str, list[str]], calendar_zone: str, default: str) -> None:
        """`defined` has the lines of each VTIMEZONE by name; `default` is used if neither time nor calendar has one."""
        self._defined = dict(list(defined.items())[:MAX_ZONES])
        self._calendar_zone = calendar_zone
        self._default = zoneinfo.ZoneInfo(default)
        self._zones: dict[str, tzinfo | None] = {}

    def zone(self, name: str, moment: datetime) -> tzinfo:
        """The zone with a name; `moment` is the time as written. Raises UnknownZone."""
        name = name.strip().strip("\"'").strip() or self._calendar_zone
        if not name:
            return self._default
        if name not in self._zones:
            self._zones[name] = self._read_definition(name) or zone_by_name(name)
        zone = self._zones[name]
        if zone is None:
            raise UnknownZone(name, Moment(moment.replace(tzinfo=UTC), "local"))
        return zone

    def _read_definition(self, name: str) -> tzinfo | None:
        """The zone as the file defines it, else by the location that its definition names; None if neither works."""
        lines = self._defined.get(name) or self._defined.get(name.strip("/"))
        if lines is None:
            return None
        block = "\n".join(["BEGIN:VTIMEZONE", *lines, "END:VTIMEZONE", ""])
        return _by_definition(block) or _by_location(lines)


def _by_definition(block: str) -> tzinfo | None:
    if _FREQUENT.search(block):
        return None
    try:
        component = LibraryComponent.from_ical(block)
        if not isinstance(component, Timezone):
            return None
        # not by its name: the library keeps the zones of earlier files by name
        zone: tzinfo = component.to_tz(lookup_tzid=False)
        zone.utcoffset(datetime(2000, 1, 1))  # noqa: DTZ001  the definition itself is tried
    except (ValueError, LookupError, AttributeError, TypeError, OverflowError):
        return None
    return zone


def _by_location(lines: Iterable[str]) -> tzinfo | None:
    for line in lines:
        if line.upper().startswith("X-LIC-LOCATION:"):
            return zone_by_name(line.partition(":")[2].strip())
    return None


@functools.lru_cache(256)
def zone_by_name(name: str) -> tzinfo | None:
    """The time zone of a name without a definition; None if that is uncertain."""
    bare = _MICROSOFT.sub("", name).strip()
    for spelling in dict.fromkeys((bare, _COPY_NUMBER.sub("", bare))):
        for find in _LOOKUPS:
            if zone := find(spelling):
                return zone
    return None


def _by_iana_name(name: str) -> tzinfo | None:
    """`Europe/Prague`, also after a program's prefix: `/freeassociation.sourceforge.net/Europe/Prague`."""
    parts = name.casefold().strip("/").split("/")
    for begin in range(len(parts) if name.startswith("/") else 1):
        if key := _iana_keys().get("/".join(parts[begin:])):
            return zoneinfo.ZoneInfo(key)
    return None


def _by_windows_name(name: str) -> tzinfo | None:
    key = _windows_names().get(name.casefold())
    return zoneinfo.ZoneInfo(key) if key else None


def _by_offset(name: str) -> tzinfo | None:
    match = _OFFSET.fullmatch(name)
    if not match:
        return None
    length = timedelta(hours=int(match[2]), minutes=int(match[3] or 0))
    return timezone(-length if match[1] == "-" else length) if length < timedelta(hours=15) else None


def _by_display_name(name: str) -> tzinfo | None:
    """The zone of the cities or the name in a display name, if its standard offset agrees."""
    match = _DISPLAY.fullmatch(name)
    if not match:
        return None
    hours, minutes = int(match[1] or 0), int(match[2] or 0)
    offset = timedelta(hours=hours, minutes=-minutes if (match[1] or "").startswith("-") else minutes)
    label = _WITHIN_PARENTHESES.sub("", match[3]).strip()
    keys = [_windows_names().get(f"{re.sub(' time$', '', label.casefold())} standard time")]
    keys += [_cities().get(city.casefold()) for city in _BETWEEN_CITIES.split(label)]
    zones = (zoneinfo.ZoneInfo(key) for key in keys if key)
    return next((zone for zone in zones if _standard_offset(zone) == offset), None)


def _standard_offset(zone: tzinfo) -> timedelta | None:
    """The offset in standard time: that of January or July, depending on the hemisphere."""
    moments = (datetime(2024, month, 1, tzinfo=zone) for month in (1, 7))
    return next((moment.utcoffset() for moment in moments if not moment.dst()), None)


@functools.cache
def _iana_keys() -> dict[str, str]:
    return {key.casefold(): key for key in sorted(zoneinfo.available_timezones())}


@functools.cache
def _windows_names() -> dict[str, str]:
    return {name.casefold(): key for name, key in WINDOWS_TO_OLSON.items()}


@functools.cache
def _cities() -> dict[str, str]:
    return {key.rpartition("/")[2].replace("_", " ").casefold(): key for key in sorted(zoneinfo.available_timezones())}


_LOOKUPS: tuple[Callable[[str], tzinfo | None], ...] = (
    _by_windows_name,
    _by_iana_name,
    _by_offset,
    _by_display_name,
)
