"""The name under which a type of relationship or fact is stored."""

from __future__ import annotations

import re

from rapidfuzz.distance import OSA, Levenshtein

from relrag_pipelines.text import kinship
from relrag_pipelines.text.names.tables import plain
from relrag_query.people.indexed_person import PeopleError, WrongType


def type_name(text: str) -> str:
    """`Business partner` is business_partner; a word for a relative gives its type: `brother` is sibling."""
    name = re.sub(r"[^\w]+", "_", kinship.type_of(text)[0].strip().lower()).strip("_")
    if not name:
        raise PeopleError("the type is empty; write mentor, spouse, friend ...")
    return name


def require_no_misspelling(text: str) -> None:
    """Raises WrongType for a known type with two letters swapped: `freind`. Any other word is a type of its own.

    Words that differ by a letter are often two words: `sitter` and `sister`, `oncle` and `uncle`.
    """
    written = plain(" ".join(text.lower().replace("_", " ").split()))
    known = kinship.types_of_names().keys() | {one.replace("_", " ") for one in kinship.relationship_types()}
    near = sorted(one for one in known if OSA.distance(written, one) == 1 and Levenshtein.distance(written, one) == 2)
    if near and written not in known:
        raise WrongType(f'"{text}" is not a type that relrag knows; did you mean {" or ".join(near)}?')
