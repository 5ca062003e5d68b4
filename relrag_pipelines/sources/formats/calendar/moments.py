"""Dates and times of calendars: the basic form of RFC 5545, ISO 8601 and offsets as programs write them."""

from __future__ import annotations

import re
from dataclasses import dataclass
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
    """UTC; of a day its midnight, and of a time in an unknown zone the time as it is written"""
    precision: Literal["time", "day", "local"] = "time"
    """`local`: in a zone that nobody knows"""

    @property
    def is_day(self) -> bool:
        """Whether it is a whole day."""
        return self.precision == "day"

    def plus(self, length: timedelta) -> Moment | None:
        """The moment so much later; None where no calendar has it."""
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


def read_moment(found: Property, zones: Zones) -> Moment:
    """The moment of a property. Raises UnreadableMoment, and UnknownZone where its zone is not known."""
    written = found.value.strip().upper()
    if not is_moment(written):
        raise UnreadableMoment
    try:
        parsed = datetime.fromisoformat(written.replace(" ", "T", 1).replace(" ", "").replace(",", "."))
    except ValueError:
        raise UnreadableMoment from None
    if _DATE.fullmatch(written) or found.parameters.get("VALUE", "").upper() == "DATE":
        return Moment(datetime.combine(parsed.date(), time(), UTC), "day")
    zone = parsed.tzinfo or zones.zone(found.parameters.get("TZID", ""), parsed)
    return Moment(to_utc(parsed, zone))


def to_utc(parsed: datetime, zone: tzinfo) -> datetime:
    """The time in UTC. Raises UnreadableMoment where it lies before the first or behind the last moment of UTC."""
    try:
        return parsed.replace(tzinfo=zone).astimezone(UTC)
    except OverflowError:
        raise UnreadableMoment from None
