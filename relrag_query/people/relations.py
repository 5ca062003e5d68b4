"""What people are to one another, seen from either end."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from relrag_pipelines.records import PersonRelationship
from relrag_pipelines.text import kinship
from relrag_pipelines.text.fact_phrases import INTRODUCER

FAMILY = frozenset({"spouse", "child", "parent", "sibling"})
"""relationship types that family is expanded to"""
_INVERSE = {
    "parent": "child", "grandparent": "grandchild", "aunt_or_uncle": "nephew_or_niece", "parent_in_law": "child_in_law",
    "mentor": "mentee", "manager": "report", "former_manager": "former_report", "teacher": "student",
    "landlord": "tenant", "assistant": "manager", INTRODUCER: "introduced",
}  # fmt: skip
_CLIENT_TERMS = {"doctor": "patient", "dentist": "patient", "therapist": "patient"}
"""what those with an occupation call whom they serve, where it is not a client"""
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
INVERSE = {
    **{there: here for here, there in _INVERSE.items()},
    **{role: _CLIENT_TERMS.get(role, "client") for role in kinship.ROLES},
    **_INVERSE,
}
"""what `from` is to `to`; a type that is missing is the same in both directions"""


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
