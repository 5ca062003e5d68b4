"""What the note on a contact card says its person is to somebody: `sister`, `Pavlova žena`, `אחות של איתן`.

Such a note is a phrase without the name. With the card's name beside it, it is a sentence whose patterns are known.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from relrag_pipelines.identity.kinship import stated_relations
from relrag_pipelines.identity.mentions import Mention, MentionFinder, certain_person
from relrag_pipelines.text import kinship
from relrag_pipelines.text.names.tables import given_names, plain

_MOST_WORDS = 5
"""words of a note that names what somebody is; a longer one tells of something else"""
_FACT = re.compile(r"[a-z ]+: ")
"""how a line of a card begins that the connector wrote for a fact"""


def relations(
    text: str, name: str, person_id: int, owner: int | None, finder: MentionFinder
) -> Iterator[tuple[int, int, str, str]]:
    """Of the text of a card that of its notes: who, to whom, the relationship type (the second is the first's), quote.

    `owner` is whose address book it is, of whom `sister` speaks; None where that is not known.
    """
    for line in text.split("\n")[1:]:
        if _FACT.match(line) or not 0 < len(line.split()) <= _MOST_WORDS:
            continue
        if owner not in (None, person_id) and (kind := _of_owner(line)):
            yield owner, person_id, kind, line
            continue
        sides = ((f"{line} ", ""), ("", f", {line}"))
        for one, other, kind in dict.fromkeys(one for side in sides for one in _stated(*side, name, person_id, finder)):
            one = owner if one is None else one
            if one is not None and one != other and person_id in (one, other):
                yield one, other, kind, line


def _of_owner(line: str) -> str | None:
    word = plain(line.strip(" ."))
    kind = kinship.types_of_names().get(word) if word not in given_names() else None
    return None if kind in kinship.ROLES else kind


def _stated(
    before: str, behind: str, name: str, person_id: int, finder: MentionFinder
) -> Iterator[tuple[int | None, int, str]]:
    """What the card's name says with what stands before or behind it; None: of the owner."""
    own = Mention(len(before), len(before) + len(name), (person_id,), False)
    text = f"{before}{name}{behind}"
    others = [one for one in finder.find(text) if one.end <= own.start or one.start >= own.end]
    for said in stated_relations(text, sorted([own, *others])):
        one = None if not isinstance(said.owner, Mention) else certain_person(said.owner, ())
        other = certain_person(said.other, ())
        whole = said.start == 0  # else it is of somebody's: `knows Eitan's sister`
        if whole and other is not None and (one is not None or said.owner is None):
            yield one, other, said.relationship_type
