"""Types of relationships between people, and the paths of two that lead to a third."""

from __future__ import annotations

from collections.abc import Collection

FAMILY = frozenset({"spouse", "child", "parent", "sibling"})
"""relationship types of a family"""
LEAST_SIMILARITY = 0.33
"""similarity of a relationship that comes near by meaning alone; measured on invented ones, where others reach 0.31"""
FORMER = "former_"
"""prefix of the type of a relationship that has ended; `ex_` is another"""
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
"""the paths of two relationships that lead to a relative: the parent of a spouse is a parent-in-law"""


def means(sought: str, type_: str) -> bool:
    """Whether a question's relationship type is this one: `former_spouse` means `ex_spouse` too."""
    return type_ == sought or (sought.startswith(FORMER) and type_ == f"ex_{sought.removeprefix(FORMER)}")


def is_of_type(type_: str, types: Collection[str]) -> bool:
    """Whether a relationship type is one of these types, or a former one: `former_manager`, `ex_spouse`."""
    if type_ in types:
        return True
    return type_.startswith(("former_", "ex_")) and any(type_.endswith(f"_{base}") for base in types)
