"""The anchors of people under the pseudonym key that is to come, beside those under the one that is in use.

An anchor holds keyed hashes, of which nobody can tell what they stand for; so the private records are read again. The
journal then knows everybody under both keys, and the key can change at any moment after.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from relrag_pipelines.identity.participants import names_in
from relrag_pipelines.identity.statements import Allocation, Split
from relrag_pipelines.journal import journal
from relrag_pipelines.people.stage import PERSON
from relrag_pipelines.privacy.keys import Keys
from relrag_pipelines.stores import lake
from relrag_pipelines.text.names.personal_name import parse
from relrag_pipelines.workspace import Workspace


def add(workspace: Workspace, new: Keys) -> int:
    """Adds to each anchor in the journal the same under the new key; returns how many entries got any.

    Raises JournalError where the journal cannot be read.
    """
    hashes = _hashes(workspace, new)

    def under_new_key(said: Any) -> Any:
        if isinstance(said, Allocation):
            return replace(said, anchors=_with_new(said.anchors, hashes))
        if isinstance(said, Split):
            return replace(said, out=_with_new(said.out, hashes), stay=_with_new(said.stay, hashes))
        return said

    return journal.rewrite(workspace.home, under_new_key)


def _with_new(anchors: tuple[str, ...], hashes: dict[str, str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys([*anchors, *(_translated(anchor, hashes) for anchor in anchors)]))


def _translated(anchor: str, hashes: dict[str, str]) -> str:
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
            for one in names_in(lake.read(home, "private_records", source, month)):
                named |= {(one.kind, one.normalised), (PERSON, parse(one.value).full)}
        for month, entry in lake.manifest(home, "identifiers", source).items():
            values = lake.read(home, "identifiers", source, month)["value"].unique() if entry.rows else ()
            named |= {(PERSON, parse(value.as_py()).full) for value in values}
    return {old.pseudonym(kind, text): new.pseudonym(kind, text) for kind, text in named}
