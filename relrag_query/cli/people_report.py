"""Prints a person and statements, for `relrag people`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from zoneinfo import ZoneInfo

from relrag_pipelines.settings import now
from relrag_query.display.amounts import number
from relrag_query.display.source_line import time_of
from relrag_query.people.ages import age
from relrag_query.people.indexed_person import IndexedPerson
from relrag_query.people.page import Moment, PersonPage
from relrag_query.people.traffic import Traffic
from relrag_query.retrieval.excerpts import plain
from relrag_query.statements.wording import period_in_words

_MAX_PAIRS = 10
"""a page lists at most this many pairs; --json lists all"""
_MAX_COLUMN = 60
"""longer texts are cut to this many characters"""


def page_lines(page: PersonPage, zone: ZoneInfo) -> Iterator[str]:
    """The page about a person, line by line."""
    person = page.person
    yield f"{title(person)}  (person {person.person_id})"
    for kind, heading in (("name", "Names"), ("phone", "Phones"), ("email", "Addresses"), ("whatsapp", "WhatsApp")):
        aliases = list(dict.fromkeys(alias["alias"] for alias in person.aliases if alias["kind"] == kind))
        if aliases:
            yield f"  {heading}: {', '.join(aliases)}"
    yield from _fact_lines(page, zone)
    yield from _relationship_lines(page)
    yield from _contact_lines(page, zone)


def _fact_lines(page: PersonPage, zone: ZoneInfo) -> Iterator[str]:
    if page.facts:
        yield "Facts"
    for fact in page.facts:
        validity = f" ({period_in_words(fact.valid_from, fact.valid_to)})" if fact.valid_from or fact.valid_to else ""
        years = age(fact.value, now().astimezone(zone).date()) if fact.predicate == "birthday" else None
        age_note = f", {years} years old" if years is not None else ""
        quote = f': "{fact.source_quote}"' if fact.source_quote and fact.confidence < 1 else ""
        yield f"  {fact.predicate.replace('_', ' ')}: {fact.value}{age_note}{validity}{quote}  [{fact.source_ref}]"


def _relationship_lines(page: PersonPage) -> Iterator[str]:
    if page.relations:
        yield "Relationships"
    for relation in page.relations:
        row = relation.row
        figures = ("attitude", row.attitude), ("proximity", row.proximity)
        details = [row.description, *(f"{name} {value}" for name, value in figures if value), *row.notes]
        suffix = f": {'; '.join(filter(None, details))}" if any(details) else ""
        other = f"{page.others[relation.other_id].name} ({relation.other_id})"
        yield f"  {relation.type.replace('_', ' ')}: {other}{suffix}  [{row.source_ref}]"


def _pair_lines(page: PersonPage, zone: ZoneInfo) -> Iterator[str]:
    """Counts of records exchanged with each of the people met most."""
    if page.pairs:
        yield "Traffic"
    for pair in page.pairs[:_MAX_PAIRS]:
        (other,) = numbered_names([page.others[pair.other_id]])
        yield f"  {other}, {pair.asset_type}: {_pair_traffic(pair, zone)}"
    if len(page.pairs) > _MAX_PAIRS:
        yield f"  and {number(len(page.pairs) - _MAX_PAIRS, 'more', 'more')} (--json has all)"


def _contact_lines(page: PersonPage, zone: ZoneInfo) -> Iterator[str]:
    """Counts of records exchanged with others, and the latest records."""
    if page.traffic:
        yield f"Contact: {_time(page.first_contact, zone)} to {_time(page.last_contact, zone)}"
        yield "  " + ", ".join(f"{count['records']} {count['asset_type']}" for count in page.traffic)
    if page.mentions:
        yield f"  named in {number(page.mentions, 'more record')}"
    yield from _pair_lines(page, zone)
    if page.latest:
        yield "Latest"
    for record in page.latest:
        text = " ".join(plain(record["text"] or record["subject"] or "", record["asset_type"]).split())
        when = time_of(record["ts"], zone, record["asset_type"], record["date_quality"])
        yield f"  {when}  {record['asset_type']}, {record['role']}: {shorten(text)}"
        yield f"    {record['asset_ref']}"


def _pair_traffic(pair: Traffic, zone: ZoneInfo) -> str:
    figures = (
        (pair.written, "written"),
        (pair.received, "received"),
        (pair.together, "together"),
        (pair.groups, "shared group" if pair.groups == 1 else "shared groups"),
    )
    counts = ", ".join(f"{count} {what}" for count, what in figures if count)
    return f"{counts}; {_pair_times(pair, zone)}" if pair.first is not None else counts


def _pair_times(pair: Traffic, zone: ZoneInfo) -> str:
    return " to ".join(time_of(ts, zone, pair.asset_type) for ts in (pair.first, pair.last))


def _time(moment: Moment, zone: ZoneInfo) -> str:
    return time_of(moment.ts, zone, moment.rag_source_type, moment.date_quality)


def numbered_names(people: Iterable[IndexedPerson]) -> list[str]:
    """Names with the numbers that commands accept: Dana Levi (7)."""
    return [f"{person.name or 'somebody'} ({person.person_id})" for person in people]


def title(person: IndexedPerson) -> str:
    """The name of a person, marked if it is the owner's."""
    return f"{person.name or '(no name)'}{' (owner)' if person.is_owner else ''}"


def shorten(text: str) -> str:
    """The text, shortened to fit a column."""
    return text if len(text) <= _MAX_COLUMN else f"{text[: _MAX_COLUMN - 3]}..."
