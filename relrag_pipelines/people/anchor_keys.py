"""The anchors of people under the pseudonym key that is to come, beside those under the one that is in use.

An anchor holds keyed hashes, of which nobody can tell what they stand for; so the private records are read again. The
journal then knows everybody under both keys, and the key can change at any moment after.
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
from relrag_pipelines.journal.entry_kinds import CallDecision, GraphRAGIndex
from relrag_pipelines.privacy.keys import Keys
from relrag_pipelines.records import ManualLink
from relrag_pipelines.stores import lake
from relrag_pipelines.text.names.personal_name import parse
from relrag_pipelines.workspace import Workspace


def add(workspace: Workspace, new: Keys) -> int:
    """Adds to each anchor in the journal the same under the new key; returns how many entries got any.

    Raises JournalError where the journal cannot be read.
    """
    hashes = _hashes(workspace, new)
    return journal.rewrite(workspace.home, lambda said: add_new_anchors(said, hashes))


def add_new_anchors(said: Any, hashes: Mapping[str, str]) -> Any:
    """What an entry says, with each of its anchors under the new key too; `hashes` leads from old ones to new ones.

    Raises TypeError for a kind of entry of which nothing here says whether it has anchors: a rotation would lose it.
    """
    match said:
        case Allocation():
            return replace(said, anchors=_with_new(said.anchors, hashes))
        case Split():
            return replace(said, out=_with_new(said.out, hashes), stay=_with_new(said.stay, hashes))
        case StatedIdentifier():
            _, *later = _with_new(said.every_anchor, hashes)
            return replace(said, later_anchors=tuple(later), anchors=_with_new(said.anchors, hashes))
        case Merge() | Undo() | StatedFact() | StatedRelationship() | RelationshipNote():
            return said
        case ManualLink() | CallDecision() | GraphRAGIndex():
            return said
    raise TypeError(f"{type(said).__name__}: a kind of entry whose anchors nothing translates")


def _with_new(anchors: tuple[str, ...], hashes: Mapping[str, str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys([*anchors, *(_translate(anchor, hashes) for anchor in anchors)]))


def _translate(anchor: str, hashes: Mapping[str, str]) -> str:
    """`email:<keyed>/<keyed>` or `name:<source>:<keyed>` with the hashes of the new key; other anchors as they are."""
    *head, last = anchor.split(":")
    if not head or head[0] in ("card", "pin"):
        return anchor
    return ":".join([*head, "/".join(hashes.get(one, one) for one in last.split("/"))])


def _hashes(workspace: Workspace, new: Keys) -> dict[str, str]:
    """The hash under the new key by that under the old one, of all that names people in the private records."""
    old, home = workspace.keys, workspace.home
    named = {(PERSON, parse(workspace.settings.owner).full)}
    for source in sorted(lake.sources(home)):
        for month in lake.manifest(home, "private_records", source):
            for one in names_in(lake.read(home, "private_records", source, month), workspace.regions):
                named |= {(one.kind, one.normalised), (PERSON, parse(one.value).full)}
        for month, entry in lake.manifest(home, "identifiers", source).items():
            values = lake.read(home, "identifiers", source, month)["value"].unique() if entry.rows else ()
            named |= {(PERSON, parse(value.as_py()).full) for value in values}
    return {old.pseudonym(kind, text): new.pseudonym(kind, text) for kind, text in named}
