"""What people are to one another, seen from either end."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from relrag_pipelines.records import PersonRelationship

FAMILY = frozenset({"spouse", "child", "parent", "sibling"})
"""relationship types that family is expanded to"""
KIN_PATHS = {
    "parent": (("sibling", "parent"),),
    "child": (("spouse", "child"),),
    "sibling": (("parent", "child"), ("sibling", "sibling")),
    "grandparent": (("parent", "parent"),),
    "grandchild": (("child", "child"),),
    "aunt_or_uncle": (("parent", "sibling"),),
    "nephew_or_niece": (("sibling", "child"),),
    "cousin": (("aunt_or_uncle", "child"),),
    "parent_in_law": (("spouse", "parent"),),
    "child_in_law": (("child", "spouse"),),
    "sibling_in_law": (("spouse", "sibling"), ("sibling", "spouse")),
}
"""by way of whom somebody is a relative, where nothing says that he is: the parent of a spouse is a parent-in-law"""


@dataclass(frozen=True)
class Relation:
    """A relationship as one of the two sees it."""

    person_id: int
    """who is looked at"""
    other_id: int
    type: str
    """what the other is to that person"""
    row: PersonRelationship


def is_of_type(type_: str, wanted: Collection[str]) -> bool:
    """Whether a relationship type is one of these, or has one of them behind a word: `former_manager`."""
    return type_ in wanted or any(type_.endswith(f"_{one}") for one in wanted if type_.startswith(("former_", "ex_")))
