"""People who are forgotten: what the owner said of them goes from the journal, and their ids are given to nobody."""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from contextlib import suppress

from relrag_pipelines.erasure.rule_matching import RuleMatcher
from relrag_pipelines.identity.statements import (
    Allocation,
    Merge,
    RelationshipNote,
    Split,
    StatedFact,
    StatedRelationship,
)
from relrag_pipelines.journal import journal
from relrag_pipelines.journal.journal import JournalError
from relrag_pipelines.people import lake_months
from relrag_pipelines.stores import lake
from relrag_pipelines.stores.lake import LakeError
from relrag_pipelines.workspace import Workspace


def remove_statements(workspace: Workspace, asset_ids: AbstractSet[str], matcher: RuleMatcher) -> int:
    """Takes what was said of forgotten people out of the journal; returns how many entries that were.

    Forgotten is who bears a name that the rules name, and who appears in no record that stays; `asset_ids` are those
    that go. It reads the tables of people, so it comes before these are removed. A journal that cannot be read is left,
    for the search to name.
    """
    gone = _forgotten(workspace, asset_ids, matcher)
    with suppress(JournalError):
        numbers = [entry.number for entry in journal.entries(workspace.home) if _is_about(entry.said, gone)]
        if numbers:
            journal.append(workspace.home, [Allocation(one, ()) for one in sorted(gone)])
            return journal.forget_entries(workspace.home, numbers)
    return 0


def _forgotten(workspace: Workspace, asset_ids: AbstractSet[str], matcher: RuleMatcher) -> set[int]:
    home = workspace.home
    columns = lake_months.previous(home, "person_aliases").select(["person_id", "kind", "alias"]).to_pydict().values()
    named = {
        one
        for one, kind, alias in zip(*columns, strict=True)
        if kind == "name" and matcher.of_persons and matcher.names(alias)
    }
    entries = lake_months.previous(home, "person_entries").to_pylist()
    whose = {(one["source"], one["entry"], one["pinned_person_id"]): one["person_id"] for one in entries}
    appearing: set[int] = set()
    losing: set[int] = set()
    for source in lake.sources(home):
        for month, held in lake.manifest(home, "identifiers", source).items():
            if not held.rows:
                continue
            with suppress(LakeError, OSError):
                rows = lake.read(home, "identifiers", source, month)
                names = ("asset_id", "entry", "person_id")
                for asset_id, entry, pinned in zip(*(rows[name].to_pylist() for name in names), strict=True):
                    person_id = whose.get((source, entry, -1 if pinned is None else pinned))
                    if person_id is not None:
                        (losing if asset_id in asset_ids else appearing).add(person_id)
    return named | (losing - appearing)


def _is_about(said: object, people: AbstractSet[int]) -> bool:
    """Whether an entry says something of one of these people; all of a split is hashes, and another follows from it."""
    match said:
        case Allocation(person_id, anchors):
            return bool(anchors) and person_id in people
        case StatedFact():
            return said.person_id in people
        case StatedRelationship() | RelationshipNote():
            return not people.isdisjoint({said.from_person_id, said.to_person_id})
        case Merge(into, others):
            return not people.isdisjoint({into, *others})
        case Split():
            return False
    return False
