"""The name under which a type of relationship or fact is stored."""

from __future__ import annotations

import re

from relrag_pipelines.text import kinship
from relrag_query.people.indexed_person import PeopleError


def type_name(text: str) -> str:
    """`Business partner` is business_partner; a word for a relative gives its type: `brother` is sibling."""
    name = re.sub(r"[^\w]+", "_", kinship.type_of(text)[0].strip().lower()).strip("_")
    if not name:
        raise PeopleError("the type is empty; write mentor, spouse, friend ...")
    return name
