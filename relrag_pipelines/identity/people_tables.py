"""The people of a resolution as tables: persons, aliases, redirects, entries, and mentions in texts."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

import pyarrow as pa

from relrag_pipelines.identity.mentions import MentionFinder
from relrag_pipelines.identity.resolve import Resolution
from relrag_pipelines.records import Person, PersonAlias, PersonEntry, PersonMention, PersonRedirect
from relrag_pipelines.stores.table_schema import to_table
from relrag_pipelines.text.names.spelling import script

_NO_ID = -1


def persons(resolution: Resolution, owner: int | None = None) -> pa.Table:
    """Rows of persons; `owner` is the owner of the archive."""
    people = [person for _, person in sorted(resolution.people.items())]
    return to_table([Person(person.person_id, person.name, person.person_id == owner) for person in people], Person)


def person_aliases(resolution: Resolution) -> pa.Table:
    """Rows of person_aliases; the aliases of cards are stated."""
    rows: dict[tuple[int, str, str, str], PersonAlias] = {}
    for person_id, person in resolution.people.items():
        for entry in person.entries:
            is_stated = entry.is_card or entry.person_id is not None
            for claim in entry.claims:
                written = script(claim.value) if claim.kind == "name" else ""
                key = (person_id, claim.kind, claim.keyed, claim.value)
                row = rows.setdefault(key, PersonAlias(person_id, claim.value, written, claim.kind, claim.keyed))
                row.stated |= is_stated
    return to_table([rows[key] for key in sorted(rows)], PersonAlias)


def person_redirects(resolution: Resolution) -> pa.Table:
    """Rows of person_redirects."""
    return to_table([PersonRedirect(old, new) for old, new in sorted(resolution.redirects.items())], PersonRedirect)


def person_entries(resolution: Resolution) -> pa.Table:
    """Rows of person_entries."""
    rows = [
        PersonEntry(source, entry, _NO_ID if pinned is None else pinned, person_id)
        for (source, entry, pinned), person_id in resolution.person_of.items()
    ]
    return to_table(sorted(rows, key=lambda row: (row.source, row.entry, row.pinned_person_id)), PersonEntry)


def finder(resolution: Resolution, only: Iterable[int] | None = None) -> MentionFinder:
    """A finder of the people of a resolution, or of `only` some of them, by all their names."""
    people = resolution.people
    if only is not None:
        people = {person_id: people[person_id] for person_id in only if person_id in people}
    names = {
        person_id: sorted({claim.value for entry in person.entries for claim in entry.names})
        for person_id, person in people.items()
    }
    return MentionFinder(names)


def mention_rows(
    finder: MentionFinder, lake_month: str, texts: Mapping[str, Sequence[str]], present: Mapping[str, Collection[int]]
) -> list[PersonMention]:
    """The people whom the texts of each asset_id mention, such as its subject and body; `present` has participants."""
    rows = []
    for asset_id, parts in texts.items():
        participants = present.get(asset_id, ())
        mentioned = {person_id for part in parts for person_id in finder.people(part, participants)}
        rows += [PersonMention(lake_month, asset_id, person_id) for person_id in sorted(mentioned)]
    return rows
