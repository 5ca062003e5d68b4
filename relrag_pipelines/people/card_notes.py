"""What the note on a contact card says its person is to somebody: `sister`, `Pavlova žena`, `אחות של איתן`.

Such a note is a phrase without the name. With the card's name beside it, it is a sentence whose patterns are known.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from relrag_pipelines.identity.kinship import stated_relations
from relrag_pipelines.identity.mentions import Mention, MentionFinder, certain_person
from relrag_pipelines.text import kinship
from relrag_pipelines.text.names.tables import given_names, plain

_MOST_WORDS = 5
"""words of a note that names what somebody is; a longer one tells of something else"""
_PART = re.compile(r"[,;.\n()]")
_OF_CARD = re.compile(r"(?P<word>[^\W\d_]+)(?P<colon>:?) (?P<name>[^\W\d_]+(?: [^\W\d_]+)?)")
"""`boss: Dana`, `husband Doron`: who is that to whom the card is of"""


def read(extra: Mapping[str, Any]) -> list[str]:
    """The notes on a card; a jsonl file may say anything in their place."""
    notes = extra.get("notes")
    return [one for one in notes if isinstance(one, str)] if isinstance(notes, list) else []


def relations(
    notes: Iterable[str], name: str, person_id: int, owner: int | None, finder: MentionFinder
) -> Iterator[tuple[int, int, str, str]]:
    """Of the notes on a card: who, to whom, the relationship type (the second is the first's), quote.

    `owner` is whose address book it is, of whom `sister` speaks; None where that is not known.
    """
    notes = list(notes)
    for said in dict.fromkeys(part.strip() for note in notes for part in _PART.split(note)):
        if (of_card := _OF_CARD.fullmatch(said)) and (found := _of_card(of_card, person_id, finder)):
            yield person_id, *found, said
    for note in _short(notes):
        if (of_card := _OF_CARD.fullmatch(note)) and of_card["colon"]:
            continue
        if owner not in (None, person_id) and (kind := _of_owner(note)):
            yield owner, person_id, kind, note
            continue
        sides = ((f"{note} ", ""), ("", f", {note}"))
        for one, other, kind in dict.fromkeys(
            one for side in sides for one in _sentence_relations(*side, name, person_id, finder)
        ):
            one = owner if one is None else one
            if one is not None and one != other and person_id in (one, other):
                yield one, other, kind, note


def occupation(notes: Iterable[str]) -> str | None:
    """The occupation that a note names: `vet`, `zubař Brno`; not of `the dentist's wife`, nor of Dana's."""
    for note in _short(notes):
        words = re.findall(r"[^\W\d_]+", note)
        types = {kind for word in words for kind in kinship.types_of_word(word)}
        if kinship.roles_in(note) and types <= kinship.ROLES and not re.search(r"['’]s\b|:| של ", note):
            return note
    return None


def _short(notes: Iterable[str]) -> Iterator[str]:
    for note in notes:
        for part in dict.fromkeys((note, _PART.split(note.strip())[0])):
            if 0 < len(part.split()) <= _MOST_WORDS:
                yield part.strip(" .")


def _of_card(said: re.Match[str], person_id: int, finder: MentionFinder) -> tuple[int, str] | None:
    """Who a note says is something to the person whom the card is of, and the relationship type.

    Without a colon only of relatives in English: `teacher Adam` is Adam's, and so are `matka Pavla` and `אחות דנה`.
    """
    if not said["colon"] and not (said["word"].lower() in kinship.types_of("en") and kinship.gender(said["word"])):
        return None
    kinds = kinship.types_of_word(said["word"])
    named = [one for one in finder.find(said["name"]) if one.end - one.start == len(said["name"])]
    people = {certain_person(one) for one in named}
    if len(kinds) != 1 or len(people) != 1:
        return None
    (kind,), (other,) = kinds, people
    return None if other is None or other == person_id else (other, kind)


def _of_owner(note: str) -> str | None:
    kinds = kinship.types_of_word(note) if plain(note) not in given_names() else frozenset()
    return next(iter(kinds)) if len(kinds) == 1 and not kinds & kinship.ROLES else None


def _sentence_relations(
    before: str, behind: str, name: str, person_id: int, finder: MentionFinder
) -> Iterator[tuple[int | None, int, str]]:
    """What the card's name says with what stands before or behind it; None: of the owner."""
    own = Mention(len(before), len(before) + len(name), (person_id,), False)
    text = f"{before}{name}{behind}"
    others = [one for one in finder.find(text) if one.end <= own.start or one.start >= own.end]
    for said in stated_relations(text, sorted([own, *others])):
        if not isinstance(said.other, Mention) or said.owner == "reader":
            continue
        one = certain_person(said.owner, ()) if isinstance(said.owner, Mention) else None
        other = certain_person(said.other, ())
        whole = said.start == 0  # else it is of somebody's: `knows Eitan's sister`
        if whole and other is not None and (one is not None or said.owner == "writer"):
            yield one, other, said.relationship_type
