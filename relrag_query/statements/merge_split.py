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

_MAX_NAMES = 3
"""largest number of names that an error lists"""


def merge(into: str, others: Sequence[str], *, config: Path | None = None, wait: float = 0) -> StatementReceipt:
    """States that these are one person, who keeps the number of the first.

    One of them may be a phone number or an address that no person has yet.
    """
    with writable_archive(config, wait) as archive, archive.people() as people:
        unknown = [name for name in (into, *others) if not people.find(name)]
        if len(unknown) == 1 and len(others) == 1:
            receipt = _add_identifier(archive, people, unknown[0], (into, *others))
            if receipt:
                return receipt
        persons = [people.find_one(name) for name in (into, *others)]
        ids = list(dict.fromkeys(person.person_id for person in persons))
        if len(ids) < 2:
            raise PeopleError("that is one person already", code="one_already")
        notice = "it takes effect now; the next `relrag sync` writes it to all passages"
        names = {person.person_id: person.name for person in persons}
        merged = Merge(ids[0], tuple(ids[1:]), tuple(names[person_id] for person_id in ids))
        return record(archive, tuple(persons), [merged], notice)


def _add_identifier(archive: Archive, people: People, text: str, ends: Sequence[str]) -> StatementReceipt | None:
    """States that an unassigned phone number or address belongs to a person; None if the text is neither."""
    workspace = Workspace(archive.settings)
    identifiers = [
        identifier for identifier in parse_identifiers(text, regions=workspace.regions) if identifier.kind != "name"
    ]
    if len(identifiers) != 1:
        return None
    kind, normalised = identifiers[0].kind, identifiers[0].normalised
    person = people.find_one(*(name for name in ends if name != text))
    anchor = f"{kind}:{workspace.keys.pseudonym(kind, normalised)}"
    resolution, _ = read_people(workspace)
    statement = StatedIdentifier(person.person_id, anchor, tuple(_same_as_synced(person, resolution.people).anchors))
    after, _ = read_people(workspace, statement)
    if anchor not in after.people[after.redirects.get(person.person_id, person.person_id)].anchors:
        raise PeopleError(
            f'no record has "{text}"; write it as records do, or run `relrag sync` first',
            code="identifier_absent",
            text=text,
        )
    return record(archive, (person,), [statement], FROM_NEXT_SYNC)


def split(person: str, aliases: Sequence[str], *, config: Path | None = None, wait: float = 0) -> StatementReceipt:
    """States that these aliases of a person belong to somebody else; takes effect with the next sync."""
    with writable_archive(config, wait) as archive, archive.people() as people:
        target = people.find_one(person)
        workspace = Workspace(archive.settings)
        resolution, keyed = read_people(workspace)
        resolved = _same_as_synced(target, resolution.people)
        try:
            statement = lookup.split(resolved, set(aliases), keyed)
        except lookup.NoAliasStays as error:
            raise PeopleError(str(error), code="alias_last") from None
        except ValueError as error:
            raise PeopleError(str(error), code="alias_absent") from None
        after, _ = read_people(workspace, statement)
        _require_apart(target, after.people.get(target.person_id), aliases)
        return record(archive, (target,), [statement], FROM_NEXT_SYNC)


def _same_as_synced(person: IndexedPerson, people: dict[int, ResolvedPerson]) -> ResolvedPerson:
    """The person as resolved from the current records. Raises PeopleError if the index is older."""
    if person.person_id not in people:
        raise PeopleError(
            f"{person.name} has changed since the last sync; run `relrag sync` first",
            code="person_changed",
            name=person.name,
        )
    return people[person.person_id]


def _require_apart(person: IndexedPerson, after: ResolvedPerson | None, aliases: Sequence[str]) -> None:
    """Raises PeopleError for an alias that a split cannot move, because its card has other aliases that stay."""
    entries = after.entries if after else []
    for alias in aliases:
        cards = [entry for entry in entries if alias in {claim.value for claim in entry.claims}]
        others = sorted({claim.value for entry in cards for claim in entry.claims} - {*aliases})
        if others:
            names = ", ".join(f'"{value}"' for value in others[:_MAX_NAMES])
            raise PeopleError(
                f'"{alias}" stands on one card, or in one header, with {names}, so it stays with {person.name}; '
                "change it there, or name all of these",
                code="alias_stays",
                name=alias,
                others=names,
            )
