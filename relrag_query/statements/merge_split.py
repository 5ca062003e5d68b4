"""State who is one person and who is several."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from relrag_pipelines.identity import lookup
from relrag_pipelines.identity.journal_statements import Merge, StatedIdentifier
from relrag_pipelines.identity.participants import parse_identifiers
from relrag_pipelines.identity.resolve import ResolvedPerson
from relrag_pipelines.people.stage import read_people
from relrag_pipelines.workspace import Workspace
from relrag_query.archive import Archive
from relrag_query.people.indexed_person import IndexedPerson, PeopleError
from relrag_query.people.people import People
from relrag_query.statements.record import FROM_NEXT_SYNC, StatementReceipt, record, writable_archive

_MOST_NAMED = 3
"""names of somebody else that an error lists"""


def merge(into: str, others: Sequence[str], *, config: Path | None = None, wait: float = 0) -> StatementReceipt:
    """States that these are one person, who keeps the number of the first.

    One of them may be a telephone number or an address that nobody named.
    """
    with writable_archive(config, wait) as archive, archive.people() as people:
        unknown = [one for one in (into, *others) if not people.find(one)]
        if len(unknown) == 1 and len(others) == 1:
            receipt = _add_identifier(archive, people, unknown[0], (into, *others))
            if receipt:
                return receipt
        persons = [people.one(one) for one in (into, *others)]
        ids = list(dict.fromkeys(one.person_id for one in persons))
        if len(ids) < 2:
            raise PeopleError("that is one person already")
        notice = "it takes effect now; the next `relrag sync` writes it to all passages"
        names = {one.person_id: one.name for one in persons}
        merged = Merge(ids[0], tuple(ids[1:]), tuple(names[one] for one in ids))
        return record(archive, tuple(persons), [merged], notice)


def _add_identifier(archive: Archive, people: People, text: str, ends: Sequence[str]) -> StatementReceipt | None:
    """States that a number or address that nobody named is somebody's; None where the text is neither."""
    workspace = Workspace(archive.settings)
    identifiers = [one for one in parse_identifiers(text, regions=workspace.regions) if one.kind != "name"]
    if len(identifiers) != 1:
        return None
    kind, normalised = identifiers[0].kind, identifiers[0].normalised
    person = people.one(*(one for one in ends if one != text))
    anchor = f"{kind}:{workspace.keys.pseudonym(kind, normalised)}"
    found, _ = read_people(workspace)
    statement = StatedIdentifier(person.person_id, anchor, tuple(_same_as_synced(person, found.people).anchors))
    after, _ = read_people(workspace, statement)
    if anchor not in after.people[after.redirects.get(person.person_id, person.person_id)].anchors:
        raise PeopleError(f'no record has "{text}"; write it as records do, or run `relrag sync` first')
    return record(archive, (person,), [statement], FROM_NEXT_SYNC)


def split(person: str, aliases: Sequence[str], *, config: Path | None = None, wait: float = 0) -> StatementReceipt:
    """States that these aliases of a person are somebody else's; it counts from the next sync on."""
    with writable_archive(config, wait) as archive, archive.people() as people:
        whose = people.one(person)
        workspace = Workspace(archive.settings)
        found, keyed = read_people(workspace)
        resolved = _same_as_synced(whose, found.people)
        try:
            statement = lookup.split(resolved, set(aliases), keyed)
        except ValueError as error:
            raise PeopleError(str(error)) from None
        after, _ = read_people(workspace, statement)
        _require_apart(whose, after.people.get(whose.person_id), aliases)
        return record(archive, (whose,), [statement], FROM_NEXT_SYNC)


def _same_as_synced(person: IndexedPerson, people: dict[int, ResolvedPerson]) -> ResolvedPerson:
    """The person as private records have it; PeopleError where the index is older."""
    if person.person_id not in people:
        raise PeopleError(f"{person.name} has changed since the last sync; run `relrag sync` first")
    return people[person.person_id]


def _require_apart(person: IndexedPerson, after: ResolvedPerson | None, aliases: Sequence[str]) -> None:
    """Raises PeopleError for an alias that a split cannot move, because the card it stands on has others that stay."""
    entries = after.entries if after else []
    for alias in aliases:
        cards = [entry for entry in entries if alias in {claim.value for claim in entry.claims}]
        others = sorted({claim.value for entry in cards for claim in entry.claims} - {*aliases})
        if others:
            names = ", ".join(f'"{one}"' for one in others[:_MOST_NAMED])
            raise PeopleError(
                f'"{alias}" stands on one card, or in one header, with {names}, so it stays with {person.name}; '
                "change it there, or name all of these"
            )
