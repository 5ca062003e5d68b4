"""Removes from the owner's statements the anchors that only forgotten records give.

An anchor names a card, or is the keyed hash of a name, a number or an address. A statement about a remaining person
keeps the anchors that other records give. A statement without any anchor left is removed.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import replace
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from relrag_pipelines.identity.components import possible_anchors
from relrag_pipelines.identity.entries import naming_entries
from relrag_pipelines.identity.journal_statements import (
    PERSON,
    Allocation,
    NumberedEntry,
    Split,
    StatedIdentifier,
)
from relrag_pipelines.privacy.keys import Keys


def orphaned_anchors(
    identifiers: Iterable[tuple[str, pa.Table]], asset_ids: AbstractSet[str], among: AbstractSet[str], keys: Keys
) -> set[str]:
    """The anchors `among` that only the records `asset_ids` give; `identifiers` are (source, rows) by month."""
    going: set[str] = set()
    staying: set[str] = set()
    ids = pa.array(sorted(asset_ids), pa.string())
    for source, table in identifiers:
        goes = pc.is_in(table["asset_id"], ids)
        going |= _anchors(source, table.filter(goes), keys) & among
        staying |= _anchors(source, table.filter(pc.invert(goes)), keys) & among
    return going - staying


def _anchors(source: str, identifiers: pa.Table, keys: Keys) -> set[str]:
    anchors: set[str] = set()
    for entry in naming_entries({source: identifiers}):
        anchors |= possible_anchors(entry, lambda name: keys.pseudonym(PERSON, name))
    return anchors


def anchors_of(statement: object) -> tuple[str, ...]:
    """All anchors that a statement names."""
    match statement:
        case Allocation():
            return statement.anchors
        case Split():
            return (*statement.out, *statement.stay)
        case StatedIdentifier():
            return (*statement.every_anchor, *statement.anchors)
    return ()


def remaining_anchors(entries: Iterable[NumberedEntry], orphans: AbstractSet[str]) -> dict[int, list[str]]:
    """person_id -> the remaining anchors that its id was allocated to."""
    remaining: defaultdict[int, list[str]] = defaultdict(list)
    for entry in entries:
        if isinstance(entry.statement, Allocation):
            remaining[entry.statement.person_id] += _without(entry.statement.anchors, orphans)
    return remaining


def without_anchors(statement: Any, orphans: AbstractSet[str], remaining: Mapping[int, list[str]]) -> Any:
    """The statement without these anchors; None if it means nothing without them.

    `remaining` are the remaining anchors by person, to which a statement about a remaining person is moved.
    """
    if orphans.isdisjoint(anchors_of(statement)):
        return statement
    match statement:
        case Allocation():  # even without anchors it reserves the id
            return replace(statement, anchors=_without(statement.anchors, orphans))
        case Split():
            out, stay = _without(statement.out, orphans), _without(statement.stay, orphans)
            return replace(statement, out=out, stay=stay) if out and stay else None
        case StatedIdentifier() if orphans.isdisjoint(statement.every_anchor):
            anchors = _without(statement.anchors, orphans) or tuple(remaining.get(statement.person_id, ()))
            return replace(statement, anchors=anchors) if anchors else None
    return None


def _without(anchors: tuple[str, ...], orphans: AbstractSet[str]) -> tuple[str, ...]:
    return tuple(anchor for anchor in anchors if anchor not in orphans)
