"""Events and tasks of calendars as records."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from operator import itemgetter
from zoneinfo import ZoneInfo

from relrag_pipelines.records import Failure, Json, Record
from relrag_pipelines.sources import ReadContext
from relrag_pipelines.sources.formats.calendar import Event, Moment
from relrag_pipelines.sources.formats.versions import CHANGED, changed
from relrag_pipelines.text import reference_numbers

EVENT, TASK = "calendar_event", "task"
CONTENT_TYPE = "text/calendar"

_CANCELLED = "CANCELLED"


@dataclass
class ChangedOccurrences:
    """The occurrences of repeated events that other events of a calendar replace, and the changes to all later ones."""

    replaced: set[tuple[str, datetime]] = field(default_factory=set)
    """UID and time of each"""
    changes: dict[str, list[Event]] = field(default_factory=dict)
    """by UID the events that change all later occurrences"""

    def add(self, events: Iterable[Event]) -> None:
        """Adds those that these events replace or change."""
        for event in events:
            if event.occurrence:
                self.replaced.add((event.uid, event.occurrence.at))
            if event.changes_later and event.start:
                self.changes.setdefault(event.uid, []).append(event)

    def version(self, event: Event, moment: Moment) -> tuple[Event, Moment]:
        """An occurrence of a repeated event as the last change before it has it, and when that is."""
        changes = [(change.occurrence.at, change) for change in self.changes.get(event.uid, ()) if change.occurrence]
        before = [change for change in changes if change[0] < moment.at]
        if not before:
            return event, moment
        since, change = max(before, key=itemgetter(0))
        moved = _moved(moment, since, change.start) if change.start else None
        return replace(change, rule=event.rule), moved or moment


def _moved(moment: Moment, since: datetime, start: Moment) -> Moment | None:
    """The time of an occurrence after a change that moves another one from `since` to `start`; None if out of range.

    Local times are compared, so that a moved event keeps its hour when the clocks of its zone change.
    """
    if moment.precision != "time" or start.precision != "time":
        return moment.plus(start.at - since)
    zone = start.zone
    before, after, own = (at.astimezone(zone).replace(tzinfo=None) for at in (since, start.at, moment.at))
    try:
        return Moment((own + (after - before)).replace(tzinfo=zone).astimezone(UTC), zone=zone)
    except OverflowError:
        return None


class EventRecords:
    """Makes the records of one calendar."""

    def __init__(self, location: str, reading: ReadContext, changed_occurrences: ChangedOccurrences) -> None:
        self._location, self._reading, self._changed = location, reading, changed_occurrences
        self._versions: dict[str, str] = {}
        """of each id the newest version so far"""
        self._number = 0
        self._zone = ZoneInfo(reading.timezone)

    def event_records(self, event: Event) -> Iterator[Record | Failure]:
        """A record for each occurrence of an event, or one for a task."""
        self._number += 1
        if event.is_task:
            yield self._record(event, event.end or event.start, self._native_id(event), TASK)
            return
        if event.start is None:
            yield Failure(f"event {self._number}", "no_date", "the event has no readable beginning and is left out")
            return
        base, version = self._native_id(event), str(_changed(event).get(CHANGED, ""))
        repeated = bool(event.occurrence or event.rule) or len(event.occurrences) > 1
        for index, moment in enumerate(event.occurrences or (event.start,)):
            if event.occurrence is None and (event.uid, moment.at) in self._changed.replaced:
                continue
            native_id = f"{base}:{_stamp(event.occurrence or moment)}" if repeated else base
            if native_id in self._versions and version <= self._versions[native_id]:
                continue  # a recurring event and a list of its dates may name the same one
            self._versions[native_id] = version
            current, at = (event, moment) if event.occurrence else self._changed.version(event, moment)
            record = self._record(current, at, native_id, EVENT)
            record.thread_id = base if repeated else None
            if index == 0 or not repeated:  # only the first of a series has the UID, else no UID would be rare
                record.extra["calendar_uid"] = base
            yield record

    def _native_id(self, event: Event) -> str:
        """The keyed hash of the UID, which may hold an address; without one, of what the event says."""
        stated = event.uid or "\0".join([event.summary, str(event.start), event.location, event.description])
        return self._reading.hash(stated)

    def _record(self, event: Event, moment: Moment | None, native_id: str, type_: str) -> Record:
        people = [person.full for person in event.people]
        organiser = event.organiser.full if event.organiser else None
        attendees = [person.full for person in event.attendees]
        text = _text(event, moment, self._zone)
        return Record(
            source_id=native_id,
            text=text,
            rag_source_type=type_,
            from_=organiser,
            to=[person for person in attendees if person != organiser],
            participants=people,
            subject=event.summary or None,
            ts=int(moment.at.timestamp()) if moment else None,
            date_quality=_quality(moment),
            content_type=CONTENT_TYPE,
            locations=[self._location],
            numbers=reference_numbers.find_reference_numbers(text),
            extra=_details(event),
        )


def _quality(moment: Moment | None) -> str:
    if moment is None:
        return "none"
    return "day" if moment.is_day else "exact"


def _stamp(moment: Moment) -> str:
    return f"{moment.at:%Y%m%d}" if moment.is_day else f"{moment.at:%Y%m%dT%H%M%S}"


def _text(event: Event, moment: Moment | None, zone: ZoneInfo) -> str:
    """What, when, where, with whom, and what else it says; times are those of the source's zone."""
    when = [_local(time, zone) for time in (moment, _end(event, moment)) if time]
    state = [
        word for word, is_so in (("cancelled", _is_cancelled(event)), ("done", event.completed is not None)) if is_so
    ]
    people = ", ".join(person.full for person in event.people)
    lines = [event.summary, " - ".join(when), *state, event.location, people, event.description]
    return "\n".join(line.strip() for line in lines if line.strip())


def _local(moment: Moment, zone: ZoneInfo) -> str:
    return f"{moment.at.astimezone(zone):%Y-%m-%d %H:%M %Z}" if moment.precision == "time" else str(moment)


def _end(event: Event, moment: Moment | None) -> Moment | None:
    """The end of an occurrence, which lasts as long as the first one; that of a task is when it is due."""
    if event.is_task or not (event.start and event.end and moment):
        return None
    end = moment.plus(event.end.at - event.start.at)
    is_one_day = moment.is_day and end is not None and (end.at - moment.at).days <= 1
    return None if is_one_day or end == moment else end


def _is_cancelled(event: Event) -> bool:
    return event.status == _CANCELLED or event.method == "CANCEL"


def _details(event: Event) -> Json:
    details = {
        "status": event.status.lower(),
        "method": event.method.lower(),
        "location": event.location,
        "rule": event.rule,
        "due": str(event.end or "") if event.is_task else "",
        "completed": str(event.completed or ""),
    }
    return {name: value for name, value in details.items() if value} | _changed(event)


def _changed(event: Event) -> Json:
    return changed(event.changed.at.timestamp() if event.changed else None, event.sequence)
