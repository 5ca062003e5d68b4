"""The people of a resolution as tables: persons, aliases, redirects, entries, and who is named in which text."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

import pyarrow as pa

from relrag_pipelines.identity.mentions import MentionFinder
from relrag_pipelines.identity.resolve import Resolution
from relrag_pipelines.records import Person, PersonAlias, PersonEntry, PersonMention, PersonRedirect
from relrag_pipelines.stores.table_schema import to_table
from relrag_pipelines.text.names.spelling import script

_NO_ID = -1


def persons(found: Resolution, owner: int | None = None) -> pa.Table:
    """Rows of persons; `owner` is whose archive it is."""
    people = sorted(found.people.items())
    return to_table([Person(one.person_id, one.name, one.person_id == owner) for _, one in people], Person)


def person_aliases(found: Resolution) -> pa.Table:
    """Rows of person_aliases; what a card says is stated."""
    rows: dict[tuple[int, str, str, str], PersonAlias] = {}
    for person_id, person in found.people.items():
        for entry in person.entries:
            is_stated = entry.is_card or entry.person_id is not None
            for claim in entry.claims:
                written = script(claim.value) if claim.kind == "name" else ""
                key = (person_id, claim.kind, claim.keyed, claim.value)
                known = rows.setdefault(key, PersonAlias(person_id, claim.value, written, claim.kind, claim.keyed))
                known.stated |= is_stated
    return to_table([rows[key] for key in sorted(rows)], PersonAlias)


def person_redirects(found: Resolution) -> pa.Table:
    """Rows of person_redirects."""
    return to_table([PersonRedirect(old, now) for old, now in sorted(found.redirects.items())], PersonRedirect)


def person_entries(found: Resolution) -> pa.Table:
    """Rows of person_entries."""
    rows = [
        PersonEntry(source, entry, _NO_ID if pinned is None else pinned, person_id)
        for (source, entry, pinned), person_id in found.person_of.items()
    ]
    return to_table(sorted(rows, key=lambda one: (one.source, one.entry, one.pinned_person_id)), PersonEntry)


def finder(found: Resolution, only: Iterable[int] | None = None) -> MentionFinder:
    """What finds the people of a resolution in texts by all their names, or `only` some of them."""
    people = found.people if only is None else {one: found.people[one] for one in only if one in found.people}
    names = {
        person_id: sorted({claim.value for entry in person.entries for claim in entry.names})
        for person_id, person in people.items()
    }
    return MentionFinder(names)


def mention_rows(
    finder: MentionFinder, lake_month: str, texts: Mapping[str, Sequence[str]], present: Mapping[str, Collection[int]]
) -> list[PersonMention]:
    """Who is named in texts, by asset_id, such as a subject and what stands below it; `present` has who takes part."""
    return [
        PersonMention(lake_month, asset_id, person_id)
        for asset_id, parts in texts.items()
        for person_id in sorted({one for part in parts for one in finder.people(part, present.get(asset_id, ()))})
    ]
