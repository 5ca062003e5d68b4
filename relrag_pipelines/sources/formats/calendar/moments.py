"""Dates and times of calendars: the basic format of RFC 5545, ISO 8601, and the offsets that programs write."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import UTC, datetime, time, timedelta, tzinfo
from typing import TYPE_CHECKING, Literal

from relrag_pipelines.sources.formats.calendar.content_lines import Property

if TYPE_CHECKING:
    from relrag_pipelines.sources.formats.calendar.zones import Zones

_DATE = re.compile(r"\d{4}(-?)\d\d\1\d\d")
_MOMENT = re.compile(r"\d{4}(-?)\d\d\1\d\d(?:[T ]\d\d(?::?\d\d){0,2}(?:[.,]\d{1,9})? ?(?:Z|[+-]\d\d(?::?\d\d)?)?)?")


class UnreadableMoment(ValueError):
    """A value that is neither a date nor a time."""


@dataclass(frozen=True)
class Moment:
    """When an event begins or ends."""

    at: datetime
    """UTC; midnight for a day; the local time as written if the zone is unknown"""
    precision: Literal["time", "day", "local"] = "time"
    """`local`: in an unknown zone"""
    zone: tzinfo = field(default=UTC, compare=False, repr=False)
    """its zone in the calendar"""

    @property
    def is_day(self) -> bool:
        """Whether it is a whole day without a time."""
        return self.precision == "day"

    def plus(self, length: timedelta) -> Moment | None:
        """The moment later by `length`; None if beyond the calendar."""
        try:
            return Moment(self.at + length, self.precision)
        except OverflowError:
            return None

    def __str__(self) -> str:
        if self.precision == "day":
            return f"{self.at:%Y-%m-%d}"
        return f"{self.at:%Y-%m-%d %H:%M} {'UTC' if self.precision == 'time' else 'local time'}"


def is_moment(value: str) -> bool:
    """Whether a value has the shape of a date or time."""
    return _MOMENT.fullmatch(value.strip().upper()) is not None


def read_moment(property_: Property, zones: Zones) -> Moment:
    """The moment of a property. Raises UnreadableMoment, and UnknownZone if its zone is unknown."""
    text = property_.value.strip().upper()
    if not is_moment(text):
        raise UnreadableMoment
    try:
        parsed = datetime.fromisoformat(text.replace(" ", "T", 1).replace(" ", "").replace(",", "."))
    except ValueError:
        raise UnreadableMoment from None
    if _DATE.fullmatch(text) or property_.parameters.get("VALUE", "").upper() == "DATE":
        return Moment(datetime.combine(parsed.date(), time(), UTC), "day")
    zone = parsed.tzinfo or zones.zone(property_.parameters.get("TZID", ""), parsed)
    return Moment(to_utc(parsed, zone), zone=zone)


def to_utc(parsed: datetime, zone: tzinfo) -> datetime:
    """The time in UTC. Raises UnreadableMoment if it is outside the years 1 to 9999."""
    try:
        return parsed.replace(tzinfo=zone).astimezone(UTC)
    except OverflowError:
        raise UnreadableMoment from None
