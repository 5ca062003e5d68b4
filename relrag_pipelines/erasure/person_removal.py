"""Forgets people: removes the owner's statements about them, and reserves their ids for ever."""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pyarrow as pa

from relrag_pipelines.erasure import statement_anchors
from relrag_pipelines.erasure.rule_file import ForgettingError
from relrag_pipelines.erasure.rule_matching import RuleMatcher
from relrag_pipelines.identity.journal_statements import (
    Allocation,
    Merge,
    RelationshipNote,
    Split,
    StatedFact,
    StatedIdentifier,
    StatedRelationship,
    Statement,
    valid_entries,
)
from relrag_pipelines.journal import journal
from relrag_pipelines.journal.journal import JournalError
from relrag_pipelines.stores import archive_tables, lake, unit_state
from relrag_pipelines.stores.fingerprint import fingerprint
from relrag_pipelines.stores.lake import LakeError
from relrag_pipelines.workspace import Workspace

_TABLES = ("person_aliases", "person_entries", "person_redirects")
"""tables that identify people"""


def remove_statements(workspace: Workspace, asset_ids: AbstractSet[str], matcher: RuleMatcher) -> int:
    """Removes statements about forgotten people from the journal; returns the number of erased entries.

    A person is forgotten if a rule names them, or if they appear only in the removed records `asset_ids`. It reads the
    tables of people, so it runs before these are removed: if they are incomplete, it already ran before a kill. An
    unreadable journal stays; the search reports it.
    """
    if not _journal_names_people(workspace) or missing_sources(workspace):
        return 0
    with suppress(JournalError):
        people = _with_former_ids(workspace, _people_to_erase(workspace, asset_ids, matcher))
        numbers = [entry.number for entry in journal.entries(workspace.home) if _is_about(entry.statement, people)]
        if numbers:
            journal.append(workspace.home, [Allocation(person_id, ()) for person_id in sorted(people)])
            journal.forget_entries(workspace.home, numbers)
        _remove_anchors(workspace, asset_ids)
        _forget_names(workspace, _remaining_names(workspace, asset_ids))
        return len(numbers)
    return 0


def _remove_anchors(workspace: Workspace, asset_ids: AbstractSet[str]) -> None:
    """Removes the anchors that only forgotten records give, and statements that mean nothing without them."""
    entries = journal.entries(workspace.home)
    anchors = {anchor for entry in entries for anchor in statement_anchors.anchors_of(entry.statement)}
    orphans = statement_anchors.orphaned_anchors(_identifiers(workspace), asset_ids, anchors, workspace.keys)
    if not orphans:
        return
    remaining = statement_anchors.remaining_anchors(entries, orphans)

    def reduced(statement: object) -> object:
        return statement_anchors.without_anchors(statement, orphans, remaining)

    empty = [entry.number for entry in entries if entry.statement is not None and reduced(entry.statement) is None]
    journal.forget_entries(workspace.home, empty)
    journal.rewrite(workspace.home, reduced)


def _identifiers(workspace: Workspace) -> Iterator[tuple[str, pa.Table]]:
    """Yields the source and the rows of every month of identifiers that has rows."""
    for source in sorted(lake.sources(workspace.home)):
        for month, output in lake.manifest(workspace.home, "identifiers", source).items():
            if output.rows:
                yield source, lake.read(workspace.home, "identifiers", source, month)


def require(workspace: Workspace) -> None:
    """Raises ForgettingError if the people of the owner's statements cannot be identified."""
    if missing := missing_sources(workspace):
        raise ForgettingError(
            f"of whom your statements are cannot be told: {missing}; "
            "run `relrag sync` first, or `relrag verify --repair`"
        )


def missing_sources(workspace: Workspace) -> str:
    """The missing or unreadable table that identifies people; empty if none is, or the journal names nobody."""
    home = workspace.home
    if not _journal_names_people(workspace):
        return ""
    try:
        for table in _TABLES:
            if archive_tables.entry(home, table) is None:
                return f"{table} is not there"
            archive_tables.read(home, table)
        for source in sorted(lake.sources(home)):
            if problem := _missing_identifiers(workspace, source):
                return problem
    except LakeError as error:
        return str(error)
    return ""


def _missing_identifiers(workspace: Workspace, source: str) -> str:
    """A month of a source that lacks current identifiers; empty if no month does. Raises LakeError."""
    home = workspace.home
    identifiers = lake.manifest(home, "identifiers", source)
    private = lake.manifest(home, "private_records", source)
    orders = unit_state.file_orders(unit_state.load(home, source))
    months = {path.stem for path in lake.folder(home, "private_records", source).glob("*.parquet")}
    for month in sorted(months):
        # months before the first month have no partition
        if month not in identifiers and month >= workspace.settings.first_month:
            return f"identifiers of {source}, {month}, is not there"
    for month, output in identifiers.items():
        # for example after a kill between reading an export and the next stage; of kinds whose records change, the
        # order of the files decides too
        if month in private and output.input not in _inputs(private[month].output, orders.get(month)):
            return f"identifiers of {source}, {month}, are of older records"
        lake.read(home, "identifiers", source, month)
    return ""


def _inputs(records: str, order: str | None) -> tuple[str, str]:
    """Fingerprints of what a month of identifiers is made from, without and with the order of its files."""
    return fingerprint([records]), fingerprint([records, order])


def _journal_names_people(workspace: Workspace) -> bool:
    """Whether the journal has statements about people; True if it is damaged."""
    try:
        return any(isinstance(entry.statement, Statement) for entry in journal.entries(workspace.home))
    except JournalError:
        return True


def _with_former_ids(workspace: Workspace, people: set[int]) -> set[int]:
    """The ids of these people with all their former ids, by redirects and by valid merges."""
    redirects = archive_tables.read(workspace.home, "person_redirects").to_pylist()
    leads = [(row["person_id"], {row["former_person_id"]}) for row in redirects]
    statements = [entry.statement for entry in valid_entries(journal.entries(workspace.home))]
    leads += [(merge.into, set(merge.others)) for merge in statements if isinstance(merge, Merge)]
    ids, waiting = set(people), set(people)
    while waiting:
        waiting = set().union(*(former for into, former in leads if into in waiting)) - ids
        ids |= waiting
    return ids


def _named_people(home: Path, matcher: RuleMatcher) -> set[int]:
    """Ids of the people that the rules name."""
    columns = archive_tables.read(home, "person_aliases").select(["person_id", "kind", "alias"]).to_pydict().values()
    return {
        person_id
        for person_id, kind, alias in zip(*columns, strict=True)
        if kind == "name" and matcher.names_persons and matcher.names(alias)
    }


def _people_to_erase(workspace: Workspace, asset_ids: AbstractSet[str], matcher: RuleMatcher) -> set[int]:
    home = workspace.home
    cards = archive_tables.read(home, "person_entries").to_pylist()
    person_of = {(row["source"], row["entry"], row["pinned_person_id"]): row["person_id"] for row in cards}
    appearing: set[int] = set()
    losing: set[int] = set()
    for source, rows in _identifiers(workspace):
        names = ("asset_id", "entry", "person_id")
        for asset_id, entry, pinned in zip(*(rows[name].to_pylist() for name in names), strict=True):
            person_id = person_of.get((source, entry, -1 if pinned is None else pinned))
            if person_id is not None:
                (losing if asset_id in asset_ids else appearing).add(person_id)
    return _named_people(home, matcher) | (losing - appearing)


def _remaining_names(workspace: Workspace, asset_ids: AbstractSet[str]) -> set[str]:
    """The names in the remaining records."""
    names = {"", workspace.settings.owner}
    for _, rows in _identifiers(workspace):
        values = zip(rows["asset_id"].to_pylist(), rows["value"].to_pylist(), strict=True)
        names |= {value for asset_id, value in values if asset_id not in asset_ids}
    return names


def _forget_names(workspace: Workspace, remaining: AbstractSet[str]) -> None:
    """Removes names from merges if no remaining record has them."""

    def drop_names(statement: object) -> object:
        if not isinstance(statement, Merge) or remaining >= {*statement.names}:
            return statement
        return replace(statement, names=tuple(name if name in remaining else "" for name in statement.names))

    if any(isinstance(entry.statement, Merge) for entry in journal.entries(workspace.home)):
        journal.rewrite(workspace.home, drop_names)


def _is_about(statement: object, people: AbstractSet[int]) -> bool:
    """Whether a statement is about one of these people; a split holds only hashes, and is handled by its anchors."""
    match statement:
        case Allocation(person_id, anchors):
            return bool(anchors) and person_id in people
        case StatedFact() | StatedIdentifier():
            return statement.person_id in people
        case StatedRelationship() | RelationshipNote():
            return not people.isdisjoint({statement.from_person_id, statement.to_person_id})
        case Merge(into, others, _):
            return not people.isdisjoint({into, *others})
        case Split():
            return False
    return False
