"""Inverse relationship types: the inverse of parent is child."""

from __future__ import annotations

from relrag_pipelines.text import kinship
from relrag_pipelines.text.fact_phrases import INTRODUCER

_INVERSE = {
    "parent": "child", "grandparent": "grandchild", "aunt_or_uncle": "nephew_or_niece", "parent_in_law": "child_in_law",
    "mentor": "mentee", "manager": "report", "former_manager": "former_report", "teacher": "student",
    "landlord": "tenant", "assistant": "manager", INTRODUCER: "introduced",
}  # fmt: skip
_CLIENT_TERMS = {"doctor": "patient", "dentist": "patient", "therapist": "patient"}
"""occupation -> the person it serves, if that is not called a client"""
INVERSE = {
    **{there: here for here, there in _INVERSE.items()},
    **{role: _CLIENT_TERMS.get(role, "client") for role in kinship.ROLES},
    **_INVERSE,
}
"""type of `to` for `from` -> type of `from` for `to`; a missing type is its own inverse"""
