"""Forgets people: removes what the owner stated about them, and never gives their ids to anybody else."""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from contextlib import suppress
from dataclasses import replace

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
    holding,
)
from relrag_pipelines.journal import journal
from relrag_pipelines.journal.journal import JournalError
from relrag_pipelines.stores import archive_tables, lake
from relrag_pipelines.stores.fingerprint import fingerprint
from relrag_pipelines.stores.lake import LakeError
from relrag_pipelines.workspace import Workspace

_TABLES = ("person_aliases", "person_entries", "person_redirects")
"""tables that tell who is who"""


def remove_statements(workspace: Workspace, asset_ids: AbstractSet[str], matcher: RuleMatcher) -> int:
    """Takes what was said of forgotten people out of the journal; returns how many entries that were.

    Forgotten is who bears a name that the rules name, and who appears in no record that stays; `asset_ids` are those
    that go. It reads the tables of people, so it comes before these are removed: where these are not whole it was done
    before a kill, and is not done again. A journal that cannot be read is left, for the search to name.
    """
    if not _journal_names_people(workspace) or missing_sources(workspace):
        return 0
    with suppress(JournalError):
        gone = _with_former(workspace, _people_to_erase(workspace, asset_ids, matcher))
        numbers = [entry.number for entry in journal.entries(workspace.home) if _is_about(entry.statement, gone)]
        if numbers:
            journal.append(workspace.home, [Allocation(one, ()) for one in sorted(gone)])
            journal.forget_entries(workspace.home, numbers)
        _remove_anchors(workspace, asset_ids)
        _forget_names(workspace, _names_that_stay(workspace, asset_ids))
        return len(numbers)
    return 0


def _remove_anchors(workspace: Workspace, asset_ids: AbstractSet[str]) -> None:
    """Takes out of the journal the anchors that only forgotten records give, and what says nothing without them."""
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
    """The source and the rows of every month of identifiers that has any."""
    for source in sorted(lake.sources(workspace.home)):
        for month, held in lake.manifest(workspace.home, "identifiers", source).items():
            if held.rows:
                yield source, lake.read(workspace.home, "identifiers", source, month)


def require(workspace: Workspace) -> None:
    """Raises ForgettingError where it cannot be told of whom the owner's statements are."""
    if what := missing_sources(workspace):
        raise ForgettingError(
            f"of whom your statements are cannot be told: {what}; run `relrag sync` first, or `relrag verify --repair`"
        )


def missing_sources(workspace: Workspace) -> str:
    """What is missing or cannot be read of what tells who is who; empty where all is there, or nothing was stated."""
    home = workspace.home
    if not _journal_names_people(workspace):
        return ""
    try:
        for table in _TABLES:
            if archive_tables.entry(home, table) is None:
                return f"{table} is not there"
            archive_tables.read(home, table)
        for source in sorted(lake.sources(home)):
            known = lake.manifest(home, "identifiers", source)
            private = lake.manifest(home, "private_records", source)
            there = {path.stem for path in lake.folder(home, "private_records", source).glob("*.parquet")}
            for month in sorted(there):
                # what lies before the first month that is kept has no partition
                if month not in known and month >= workspace.settings.first_month:
                    return f"identifiers of {source}, {month}, is not there"
            for month, held in known.items():
                # such as after a kill between reading an export and what follows
                if month in private and held.input != fingerprint([private[month].output]):
                    return f"identifiers of {source}, {month}, are of older records"
                lake.read(home, "identifiers", source, month)
    except LakeError as error:
        return str(error)
    return ""


def _journal_names_people(workspace: Workspace) -> bool:
    """Whether the journal speaks of people; a damaged one may."""
    try:
        return any(isinstance(entry.statement, Statement) for entry in journal.entries(workspace.home))
    except JournalError:
        return True


def _with_former(workspace: Workspace, gone: set[int]) -> set[int]:
    """These people under every id that they had: one that leads to theirs, now or by a merge that holds."""
    redirects = archive_tables.read(workspace.home, "person_redirects").to_pylist()
    leads = [(row["person_id"], {row["former_person_id"]}) for row in redirects]
    held = [entry.statement for entry in holding(journal.entries(workspace.home))]
    leads += [(one.into, set(one.others)) for one in held if isinstance(one, Merge)]
    found, waiting = set(gone), set(gone)
    while waiting:
        waiting = set().union(*(others for into, others in leads if into in waiting)) - found
        found |= waiting
    return found


def _people_to_erase(workspace: Workspace, asset_ids: AbstractSet[str], matcher: RuleMatcher) -> set[int]:
    home = workspace.home
    columns = archive_tables.read(home, "person_aliases").select(["person_id", "kind", "alias"]).to_pydict().values()
    named = {
        one
        for one, kind, alias in zip(*columns, strict=True)
        if kind == "name" and matcher.of_persons and matcher.names(alias)
    }
    entries = archive_tables.read(home, "person_entries").to_pylist()
    whose = {(one["source"], one["entry"], one["pinned_person_id"]): one["person_id"] for one in entries}
    appearing: set[int] = set()
    losing: set[int] = set()
    for source, rows in _identifiers(workspace):
        names = ("asset_id", "entry", "person_id")
        for asset_id, entry, pinned in zip(*(rows[name].to_pylist() for name in names), strict=True):
            person_id = whose.get((source, entry, -1 if pinned is None else pinned))
            if person_id is not None:
                (losing if asset_id in asset_ids else appearing).add(person_id)
    return named | (losing - appearing)


def _names_that_stay(workspace: Workspace, asset_ids: AbstractSet[str]) -> set[str]:
    """The names that stand in some record that does not go."""
    found = {"", workspace.settings.owner}
    for _, rows in _identifiers(workspace):
        values = zip(rows["asset_id"].to_pylist(), rows["value"].to_pylist(), strict=True)
        found |= {value for asset_id, value in values if asset_id not in asset_ids}
    return found


def _forget_names(workspace: Workspace, kept: AbstractSet[str]) -> None:
    """Takes out of merges the names of then that no record has any more."""

    def drop_names(said: object) -> object:
        if not isinstance(said, Merge) or kept >= {*said.names}:
            return said
        return replace(said, names=tuple(name if name in kept else "" for name in said.names))

    if any(isinstance(entry.statement, Merge) for entry in journal.entries(workspace.home)):
        journal.rewrite(workspace.home, drop_names)


def _is_about(said: object, people: AbstractSet[int]) -> bool:
    """Whether an entry says something of one of these people; all of a split is hashes, and another follows from it."""
    match said:
        case Allocation(person_id, anchors):
            return bool(anchors) and person_id in people
        case StatedFact() | StatedIdentifier():
            return said.person_id in people
        case StatedRelationship() | RelationshipNote():
            return not people.isdisjoint({said.from_person_id, said.to_person_id})
        case Merge(into, others, _):
            return not people.isdisjoint({into, *others})
        case Split():
            return False
    return False
