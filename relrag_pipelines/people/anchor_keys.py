"""Adds to the journal the anchors of people under a new pseudonym key, next to those under the current key.

An anchor holds keyed hashes, which cannot be turned back into values; so the private records are read again. The
journal then identifies everybody under both keys, and the key can change at any moment afterwards.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from relrag_pipelines.identity.journal_statements import (
    PERSON,
    Allocation,
    Merge,
    RelationshipNote,
    Split,
    StatedFact,
    StatedIdentifier,
    StatedRelationship,
    Undo,
)
from relrag_pipelines.identity.participants import names_in
from relrag_pipelines.journal import journal
from relrag_pipelines.journal.entry_kinds import CallDecision, DistinctPair, GraphRAGIndex, PageAction
from relrag_pipelines.privacy.keys import Keys
from relrag_pipelines.records import ManualLink
from relrag_pipelines.stores import lake
from relrag_pipelines.text.names.personal_name import parse
from relrag_pipelines.workspace import Workspace


def add(workspace: Workspace, new: Keys) -> int:
    """Adds each anchor of the journal under the new key too; returns the number of entries that changed.

    Raises JournalError if the journal cannot be read.
    """
    hashes = _hashes(workspace, new)
    return journal.rewrite(workspace.home, lambda statement: add_new_anchors(statement, hashes))


def add_new_anchors(statement: Any, hashes: Mapping[str, str]) -> Any:
    """A statement of the journal with each of its anchors under the new key too; `hashes` maps old hashes to new ones.

    Raises TypeError for a kind of statement that is not listed here: a rotation would lose its anchors.
    """
    match statement:
        case Allocation():
            return replace(statement, anchors=_with_new(statement.anchors, hashes))
        case Split():
            return replace(statement, out=_with_new(statement.out, hashes), stay=_with_new(statement.stay, hashes))
        case StatedIdentifier():
            _, *later = _with_new(statement.every_anchor, hashes)
            return replace(statement, later_anchors=tuple(later), anchors=_with_new(statement.anchors, hashes))
        case Merge() | Undo() | StatedFact() | StatedRelationship() | RelationshipNote():
            return statement
        case ManualLink() | CallDecision() | GraphRAGIndex() | DistinctPair() | PageAction():
            return statement
    raise TypeError(f"{type(statement).__name__}: a kind of entry whose anchors nothing translates")


def _with_new(anchors: tuple[str, ...], hashes: Mapping[str, str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys([*anchors, *(_translate(anchor, hashes) for anchor in anchors)]))


def _translate(anchor: str, hashes: Mapping[str, str]) -> str:
    """`email:<keyed>/<keyed>` or `name:<source>:<keyed>` with the new hashes; other anchors are returned unchanged."""
    *head, last = anchor.split(":")
    if not head or head[0] in ("card", "pin"):
        return anchor
    return ":".join([*head, "/".join(hashes.get(value_hash, value_hash) for value_hash in last.split("/"))])


def _hashes(workspace: Workspace, new: Keys) -> dict[str, str]:
    """Old hash -> new hash of every name and identifier of people in the private records."""
    old, home = workspace.keys, workspace.home
    texts = {(PERSON, parse(workspace.settings.owner).full)}
    for source in sorted(lake.sources(home)):
        for month in lake.manifest(home, "private_records", source):
            for identifier in names_in(lake.read(home, "private_records", source, month), workspace.regions):
                texts |= {(identifier.kind, identifier.normalised), (PERSON, parse(identifier.value).full)}
        for month, entry in lake.manifest(home, "identifiers", source).items():
            values = lake.read(home, "identifiers", source, month)["value"].unique() if entry.rows else ()
            texts |= {(PERSON, parse(value.as_py()).full) for value in values}
    return {old.pseudonym(kind, text): new.pseudonym(kind, text) for kind, text in texts}
