"""What the journal says of people under two pseudonym keys: no kind of entry is forgotten by a rotation."""

from __future__ import annotations

import pytest

from relrag_pipelines.identity.journal_statements import Allocation, Split, StatedIdentifier
from relrag_pipelines.journal import entry_kinds
from relrag_pipelines.people.anchor_keys import add_new_anchors
from relrag_pipelines.stores.table_schema import columns

HASHES = {"a1": "a2", "b1": "b2", "c1": "c2"}


@pytest.mark.parametrize(
    ("said", "after"),
    [
        (Allocation(7, ("email:a1/b1", "card:c1")), Allocation(7, ("email:a1/b1", "card:c1", "email:a2/b2"))),
        (
            Split(("phone:a1",), ("name:chat:b1",)),
            Split(("phone:a1", "phone:a2"), ("name:chat:b1", "name:chat:b2")),
        ),
        (
            StatedIdentifier(7, "phone:a1", ("email:b1",)),
            StatedIdentifier(7, "phone:a1", ("email:b1", "email:b2"), ("phone:a2",)),
        ),
        (
            StatedIdentifier(7, "phone:x", ("email:y",), ("phone:a1",)),
            StatedIdentifier(7, "phone:x", ("email:y",), ("phone:a1", "phone:a2")),
        ),
    ],
)
def test_anchors_are_there_under_both_keys(said: object, after: object) -> None:
    assert add_new_anchors(said, HASHES) == after
    assert add_new_anchors(after, HASHES) == after


@pytest.mark.parametrize("name", entry_kinds.KINDS)
def test_every_kind_that_has_anchors_is_translated(name: str) -> None:
    """Each text of an entry is given an anchor: a kind whose fields speak of anchors must not come back as it was."""
    row = entry_kinds.KINDS[name]
    lists = {column.name for column in columns(row) if str(column.type).startswith("list")}
    said = entry_kinds.parse(name, {c.name: ["phone:a1"] if c.name in lists else "phone:a1" for c in columns(row)})
    has_anchors = any("anchor" in column.meaning or "hash" in column.meaning for column in columns(row))
    assert (add_new_anchors(said, HASHES) != said) == has_anchors


def test_a_kind_that_nobody_thought_of_stops_a_rotation() -> None:
    with pytest.raises(TypeError, match="object: a kind of entry whose anchors nothing translates"):
        add_new_anchors(object(), HASHES)
