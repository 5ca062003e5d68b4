"""Normalises the names of types of relationships and facts."""

from __future__ import annotations

import re

from rapidfuzz.distance import OSA, Levenshtein

from relrag_pipelines.text import kinship
from relrag_pipelines.text.names.tables import plain
from relrag_query.people.indexed_person import PeopleError, WrongType


def type_name(text: str) -> str:
    """The stored name of a type: `Business partner` is business_partner; `brother` is its kinship type, sibling."""
    name = re.sub(r"[^\w]+", "_", kinship.type_of(text)[0].strip().lower()).strip("_")
    if not name:
        raise PeopleError("the type is empty; write mentor, spouse, friend ...", code="type_empty")
    return name


def require_no_misspelling(text: str) -> None:
    """Raises WrongType for a known type with two letters swapped: `freind`. Any other word is a type of its own.

    Words that differ by a letter are often two words: `sitter` and `sister`, `oncle` and `uncle`.
    """
    written = plain(" ".join(text.lower().replace("_", " ").split()))
    types = kinship.types_of_names().keys() | {type_.replace("_", " ") for type_ in kinship.relationship_types()}
    near = sorted(
        candidate
        for candidate in types
        if OSA.distance(written, candidate) == 1 and Levenshtein.distance(written, candidate) == 2
    )
    if near and written not in types:
        raise WrongType(
            f'"{text}" is not a type that relrag knows; did you mean {" or ".join(near)}?',
            code="type_misspelled",
            text=text,
            near=", ".join(near),
        )
