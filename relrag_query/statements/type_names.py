"""The name under which a type of relationship or fact is stored."""

from __future__ import annotations

import re

from rapidfuzz.distance import OSA

from relrag_pipelines.text import kinship
from relrag_pipelines.text.names.tables import plain
from relrag_query.people.indexed_person import PeopleError

_SHORTEST = 5
"""letters of a type that may be misspelt: `mum` is near too many"""


def type_name(text: str) -> str:
    """`Business partner` is business_partner; a word for a relative gives its type: `brother` is sibling."""
    name = re.sub(r"[^\w]+", "_", kinship.type_of(text)[0].strip().lower()).strip("_")
    if not name:
        raise PeopleError("the type is empty; write mentor, spouse, friend ...")
    return name


def require_no_misspelling(text: str) -> None:
    """Raises PeopleError for a type that is a known one but for a letter: `freind`. Any other word is a type."""
    written = " ".join(text.lower().replace("_", " ").split())
    known = kinship.types_of_names().keys() | {one.replace("_", " ") for one in kinship.relationship_types()}
    if plain(written) in known or len(written) < _SHORTEST:
        return
    near = sorted(one for one in known if OSA.distance(plain(written), one, score_cutoff=1) == 1)
    if near:
        raise PeopleError(f'"{text}" is no type that relrag knows; did you mean {" or ".join(near)}?')
