"""When a repeated event takes place: RRULE, RDATE and EXDATE of RFC 5545, computed by dateutil in local time."""

from __future__ import annotations

import heapq
import re
import warnings
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, date, datetime, timedelta, tzinfo
from itertools import islice
from typing import TYPE_CHECKING

from dateutil.rrule import HOURLY, rrule, rruleset, rrulestr

from relrag_pipelines.sources.formats.calendar.content_lines import Property
from relrag_pipelines.sources.formats.calendar.moments import Moment, UnreadableMoment, read_moment

if TYPE_CHECKING:
    from relrag_pipelines.sources.formats.calendar.components import Component
    from relrag_pipelines.sources.formats.calendar.zones import Zones

MAX_OCCURRENCES = 1_000
"""Occurrences of one event that are read, those nearest to the time of the file: 19 years of weeks."""
MAX_COMPUTED = 600_000
"""Occurrences of one event that are computed: every hour over MAX_DAYS."""
FUTURE = timedelta(366)
"""how far beyond the time of its file an event is expanded"""
MAX_DAYS = 60 * 366
"""Days over which an event is expanded; that of one which began earlier, such as a birthday, over the last ones."""

_UNTIL = re.compile(r"UNTIL=([^;]*)", re.IGNORECASE)
_RULE = re.compile(r"[A-Za-z]+=[^=;]{1,400}(?:;[A-Za-z]+=[^=;]{1,400}){0,20};?")


class UnreadableRule(ValueError):
    """A rule of repetition that cannot be read, or that repeats every minute."""


def expand(component: Component, start: Moment, zones: Zones, until: datetime) -> tuple[Moment, ...]:
    """The occurrences of an event that begins at `start`, up to the time `until`, which is FUTURE beyond its file's.

    Raises UnreadableRule, and UnknownZone for a time in a zone that is not known.
    """
    if not (component.has("RRULE") or component.has("RDATE")) or component.has("RECURRENCE-ID"):
        return (start,)
    zone = UTC if start.precision != "time" else _zone(component.first("DTSTART"), zones)
    first, last = _local(start, zone), _local(Moment(until), zone)
    rules = rruleset()
    rules.rdate(first)
    for line in component.all("RRULE")[:5]:
        rules.rrule(_rule(line.value.strip(), first, last, zone))
    for _, moment in _moments(component.all("RDATE"), zones):
        rules.rdate(_local(moment, UTC if moment.is_day else zone))
    excluded, excluded_days = _exceptions(component.all("EXDATE"), zones, zone, start)
    for local in excluded:
        rules.exdate(local)
    occurrences = [
        local
        for local in islice(rules, MAX_COMPUTED)
        if local <= max(last, first) and local.date() not in excluded_days
    ]
    return tuple(_global(local, zone, start) for local in _nearest(occurrences, last))


def _nearest(occurrences: list[datetime], last: datetime) -> list[datetime]:
    """The occurrences nearest to the time of the file, in order."""
    if len(occurrences) <= MAX_OCCURRENCES:
        return occurrences
    written = last - FUTURE
    return sorted(heapq.nsmallest(MAX_OCCURRENCES, occurrences, key=lambda local: abs(local - written)))


def _exceptions(
    lines: list[Property], zones: Zones, zone: tzinfo, start: Moment
) -> tuple[list[datetime], frozenset[date]]:
    """The times without an occurrence, and the days without any: a program may write a day for an event with a time."""
    moments = list(_moments(lines, zones))
    times = [_local(moment, zone) for _, moment in moments if moment.is_day == start.is_day]
    days = [date.fromisoformat(text.replace("-", "")[:8]) for text, moment in moments if moment.is_day != start.is_day]
    return times, frozenset(days)


def _zone(property_: Property, zones: Zones) -> tzinfo:
    text = property_.value.strip().upper()
    if text.endswith("Z"):
        return UTC
    return zones.zone(property_.parameters.get("TZID", ""), datetime(2000, 1, 1))  # noqa: DTZ001  the zone's name decides


def _local(moment: Moment, zone: tzinfo) -> datetime:
    return moment.at.astimezone(zone).replace(tzinfo=None)


def _global(local: datetime, zone: tzinfo, start: Moment) -> Moment:
    return Moment(local.replace(tzinfo=zone).astimezone(UTC), start.precision)


def _rule(text: str, first: datetime, last: datetime, zone: tzinfo) -> rrule:
    """The rule, ended at `last` if it has no earlier end."""
    if not _RULE.fullmatch(text):
        raise UnreadableRule("RRULE is no rule of repetition")
    end = last
    if match := _UNTIL.search(text):
        end = min(last, _end(match[1].strip(), zone))
        text = _UNTIL.sub("", text).replace(";;", ";").strip(";")
    if first < last - timedelta(MAX_DAYS):
        first = first.replace(year=last.year - MAX_DAYS // 366) if (first.month, first.day) != (2, 29) else last
    try:
        rule = rrulestr(text, dtstart=first, ignoretz=True)
        if not isinstance(rule, rrule) or rule._freq > HOURLY:
            raise UnreadableRule("RRULE repeats by the minute, which no event does")
        with warnings.catch_warnings():  # a count and an end: a rule that never comes true must end too
            warnings.simplefilter("ignore", DeprecationWarning)
            return rule.replace(until=end)
    except UnreadableRule:
        raise
    except (ValueError, TypeError, OverflowError, AttributeError, KeyError, IndexError):
        raise UnreadableRule("RRULE is no rule of repetition") from None


def _end(text: str, zone: tzinfo) -> datetime:
    try:
        end = datetime.fromisoformat(text.upper())
    except ValueError:
        raise UnreadableRule("the end of RRULE is no date") from None
    if len(text) == len("20240101"):
        return end + timedelta(hours=23, minutes=59)
    return end.astimezone(zone).replace(tzinfo=None) if end.tzinfo else end


def _moments(lines: list[Property], zones: Zones) -> Iterator[tuple[str, Moment]]:
    """The readable times of properties that list some, each as it is written and as it is meant."""
    for line in lines:
        for value in line.value.split(",")[:MAX_OCCURRENCES]:
            text = value.split("/")[0].strip()
            with suppress(UnreadableMoment):
                yield text, read_moment(Property(line.name, line.parameters, text), zones)
