"""Reads relationships and occupations from the notes on contact cards: `sister`, `Pavlova žena`, `אחות של איתן`.

Such a note is a phrase without the name. With the card's name added, it is a sentence that the kinship patterns match.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from relrag_pipelines import languages
from relrag_pipelines.identity.kinship import stated_relations
from relrag_pipelines.identity.mentions import Mention, MentionFinder, certain_person
from relrag_pipelines.text import kinship
from relrag_pipelines.text.names.tables import given_names, plain

_MAX_WORDS = 5
"""words of a note that states a relationship or an occupation; a longer note is about something else"""
_SEPARATOR = re.compile(r"[,;.\n()]")
_LABELLED_NAME = re.compile(r"(?P<word>[^\W\d_]+)(?P<colon>:?) (?P<name>[^\W\d_]+(?: [^\W\d_]+)?)")
"""`boss: Dana`, `husband Doron`: Dana is the boss of the card's person"""


def read(extra: Mapping[str, Any]) -> list[str]:
    """The notes on a card; values that are no texts, which a jsonl file may contain, are left out."""
    notes = extra.get("notes")
    if not isinstance(notes, list):
        return []
    return [note for note in notes if isinstance(note, str)]


def relations(
    notes: Iterable[str], name: str, person_id: int, owner: int | None, finder: MentionFinder
) -> Iterator[tuple[int, int, str, str]]:
    """Yields (person, other, relationship type, quote) of the notes on a card; `other` is the type of `person`.

    `owner` is the person whose address book it is, who writes `sister` for a sister of his; None if not known.
    """
    notes = list(notes)
    yield from _labelled_relations(notes, person_id, finder)
    for note in _short_notes(notes):
        yield from _note_relations(note, name, person_id, owner, finder)


def _labelled_relations(notes: list[str], person_id: int, finder: MentionFinder) -> Iterator[tuple[int, int, str, str]]:
    """Relatives and others whom a note names with a label: `boss: Dana`."""
    parts = (part.strip() for note in notes for part in _SEPARATOR.split(note))
    for part in dict.fromkeys(parts):
        label = _LABELLED_NAME.fullmatch(part)
        relation = _labelled_relation(label, person_id, finder) if label else None
        if relation:
            yield person_id, *relation, part


def _note_relations(
    note: str, name: str, person_id: int, owner: int | None, finder: MentionFinder
) -> Iterator[tuple[int, int, str, str]]:
    """Relations of the card's person that a whole note states: `sister`, `Pavlova žena`."""
    label = _LABELLED_NAME.fullmatch(note)
    if label and label["colon"]:
        return
    if owner is not None and owner != person_id and (kind := _type_to_owner(note)):
        yield owner, person_id, kind, note
        return
    sentences = ((f"{note} ", ""), ("", f", {note}"))
    stated = (row for sides in sentences for row in _sentence_relations(*sides, name, person_id, finder))
    for subject, other, kind in dict.fromkeys(stated):
        person = owner if subject is None else subject
        if person is not None and person != other and person_id in (person, other):
            yield person, other, kind, note


def occupation(notes: Iterable[str]) -> str | None:
    """The occupation that a note names: `vet`, `zubař Brno`; None for notes about another: `the dentist's wife`."""
    for note in _short_notes(notes):
        words = re.findall(r"[^\W\d_]+", note)
        types = {kind for word in words for kind in kinship.types_of_word(word)}
        if kinship.roles_in(note) and types <= kinship.ROLES and not _names_another(note):
            return note
    return None


def _names_another(note: str) -> bool:
    """Whether a note says whose the occupation is: `the dentist's wife`."""
    return bool(re.search(r"['’]s\b|:", note)) or any(of in note for of in languages.words_for_of(prefixed=True))


def _short_notes(notes: Iterable[str]) -> Iterator[str]:
    """Notes of few words, and the first parts of longer ones."""
    for note in notes:
        for part in dict.fromkeys((note, _SEPARATOR.split(note.strip())[0])):
            if 0 < len(part.split()) <= _MAX_WORDS:
                yield part.strip(" .")


def _labelled_relation(label: re.Match[str], person_id: int, finder: MentionFinder) -> tuple[int, str] | None:
    """The person whom a label names, and the relationship type to the card's person.

    Without a colon only English words for relatives count: `teacher Adam` means Adam's teacher, and so do
    `matka Pavla` and `אחות דנה`.
    """
    word, name = label["word"], label["name"]
    if not label["colon"] and not (word.lower() in kinship.types_of(languages.DEFAULT) and kinship.gender(word)):
        return None
    kinds = kinship.types_of_word(word)
    mentions = [mention for mention in finder.find(name) if mention.end - mention.start == len(name)]
    people = {certain_person(mention) for mention in mentions}
    if len(kinds) != 1 or len(people) != 1:
        return None
    (kind,), (other,) = kinds, people
    return None if other is None or other == person_id else (other, kind)


def _type_to_owner(note: str) -> str | None:
    """The relationship type that a note of one kin term states; None for roles and given names."""
    if plain(note) in given_names():
        return None
    kinds = kinship.types_of_word(note)
    return next(iter(kinds)) if len(kinds) == 1 and not kinds & kinship.ROLES else None


def _sentence_relations(
    before: str, after: str, name: str, person_id: int, finder: MentionFinder
) -> Iterator[tuple[int | None, int, str]]:
    """Yields (person, other, type) of the sentence that the card's name makes with a note; None is the owner."""
    own = Mention(len(before), len(before) + len(name), (person_id,), False)
    text = f"{before}{name}{after}"
    others = [mention for mention in finder.find(text) if mention.end <= own.start or mention.start >= own.end]
    for relation in stated_relations(text, sorted([own, *others])):
        # a relation behind other words is somebody else's: `knows Eitan's sister`
        if not isinstance(relation.other, Mention) or relation.owner == "reader" or relation.start != 0:
            continue
        person = certain_person(relation.owner, ()) if isinstance(relation.owner, Mention) else None
        other = certain_person(relation.other, ())
        if other is not None and (person is not None or relation.owner == "writer"):
            yield person, other, relation.relationship_type
