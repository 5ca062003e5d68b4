"""Resolves a kin term or role in a question to people: `my brother`, `the wife of Dana`, `her architect`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from itertools import chain
from operator import attrgetter

from relrag_pipelines.identity.inverse_types import INVERSE
from relrag_pipelines.records import PersonFact
from relrag_pipelines.text import kinship
from relrag_pipelines.text.names.forms import gender_of
from relrag_pipelines.text.names.personal_name import parse
from relrag_query.people.indexed_person import IndexedPerson
from relrag_query.people.kin_words import KinWord
from relrag_query.people.people import People
from relrag_query.people.question_words import QuestionWords
from relrag_query.people.relations import FORMER, KIN_PATHS, means
from relrag_query.understanding.people_question import Relation
from relrag_query.understanding.phrases import load_phrases

_SINGLE_TYPE = "spouse"
"""type of which a person has only one, so that the gender of the word adds nothing"""
_UNCERTAIN_BY_PATH = ("child", "parent")
"""types that a path over others makes possible, but not certain"""


@dataclass
class Reference:
    """The people whom some words of a question mean."""

    start: int
    end: int
    people: list[int]
    relations: list[Relation] = field(default_factory=list)
    """the relations that lead to them, in the order of the question"""
    ambiguous: bool = False
    """`people` may be meant, but it is not certain"""
    unknown: str = ""
    """a relationship that nobody is known to have; then there are no people"""
    relative_facts: list[PersonFact] = field(default_factory=list)
    """facts that name the relative, if no known person bears that name"""


def find_relative(words: QuestionWords, word: KinWord, references: list[Reference]) -> Reference | None:
    """The relative whom a kin term means, of the owner or of one of the references; None if it is nobody's there."""
    phrases, plain, people = load_phrases().people, words.plain, words.people
    if before := re.search(rf"(?<!\w)(?:{phrases.my})$", plain[: word.start], re.IGNORECASE):
        return relative_of(people.owner, before.start(), word.end, word, people)
    if word.says_my:
        return relative_of(people.owner, word.start, word.end, word, people)
    if after := re.match(_my_behind(word), plain[word.end :]):
        return relative_of(people.owner, word.start, word.end + after.end(), word, people)
    for reference in references:
        between = plain[reference.end : word.start]
        if reference.end <= word.start and re.fullmatch(rf"['’]s? (?:\w+ )?|{phrases.have}| ", between):
            return _relative_of_reference(reference, reference.start, word.end, word, people)
        between = plain[word.end : reference.start]
        if word.end <= reference.start and re.fullmatch(rf"{phrases.of}| ", between):
            article = re.search(r"\bthe $", plain[: word.start])
            start = article.start() if article else word.start
            return _relative_of_reference(reference, start, reference.end, word, people)
    return None


def _my_behind(word: KinWord) -> str:
    """A pattern of `my` behind a kin term, with the word for a former one that may follow."""
    phrases = load_phrases().people
    former = rf"(?: (?:{phrases.former_behind}))?" if word.type.startswith(FORMER) else ""
    return rf"(?:{phrases.my_behind}){former}(?!\w)"


def _relative_of_reference(base: Reference, start: int, end: int, word: KinWord, people: People) -> Reference:
    """The relative of the people of a reference."""
    if base.relative_facts and not base.people:
        return _relative_of_stranger(base.relative_facts, start, end, word, people)
    if base.unknown:
        return Reference(start, end, base.people, base.relations, ambiguous=bool(base.people), unknown=base.unknown)
    person_ids: list[int | None] = [*base.people] or [None]
    relatives = [relative_of(person_id, start, end, word, people) for person_id in person_ids]
    same_name = len(base.people) > 1 and people.share_name(base.people)
    if len(base.people) > 1 and not same_name:
        return _relatives_of_several(base, start, end, relatives)
    # of people with the same name, the first with a known relative counts
    relative = next((relative for relative in relatives if _is_known(relative)), relatives[0])
    return replace(
        relative,
        relations=[*base.relations, *relative.relations],
        ambiguous=relative.ambiguous or (base.ambiguous and not same_name),
    )


def _is_known(reference: Reference) -> bool:
    """Whether a person or a text answers the reference."""
    return bool(reference.people or reference.relative_facts)


def _relatives_of_several(base: Reference, start: int, end: int, relatives: list[Reference]) -> Reference:
    """The relatives of all people who may be meant; if none has one, these people."""
    joined = _joined(start, end, relatives)
    if not _is_known(joined):
        return Reference(start, end, base.people, base.relations, ambiguous=True)
    return replace(joined, relations=[*base.relations, *joined.relations], ambiguous=True)


def _joined(start: int, end: int, relatives: list[Reference]) -> Reference:
    """One reference to the people and facts of all these; ambiguous if one of them is."""
    people, relations, facts = (
        [*chain.from_iterable(map(attrgetter(name), relatives))] for name in ("people", "relations", "relative_facts")
    )
    ambiguous = any(relative.ambiguous for relative in relatives)
    return Reference(start, end, list(dict.fromkeys(people)), relations, ambiguous, relative_facts=facts)


def _relative_of_stranger(facts: list[PersonFact], start: int, end: int, word: KinWord, people: People) -> Reference:
    """The relative of a person whom a text names as another's relative: her husband's wife is she."""
    inverse_types = {fact.person_id: INVERSE.get(fact.predicate, fact.predicate) for fact in facts}
    persons = people.by_id(inverse_types)
    gender = kinship.gender(word.word)
    ids = []
    for person_id, type_ in inverse_types.items():
        if type_ == word.type and (not gender or _gender(persons[person_id]) in ("", gender)):
            ids.append(person_id)
    return Reference(start, end, ids, ambiguous=len(ids) > 1, unknown="" if ids else word.type)


def relative_of(person_id: int | None, start: int, end: int, word: KinWord, people: People) -> Reference:
    """The relative of a person, as stated or over a path of relations; nobody if none is known or fits the word."""
    if person_id is None:
        return Reference(start, end, [], unknown=word.type)
    stated = _stated_relative(person_id, start, end, word, people)
    if _is_known(stated):
        return stated
    return _indirect_relative(person_id, start, end, word, people) or stated


def _indirect_relative(person_id: int, start: int, end: int, word: KinWord, people: People) -> Reference | None:
    """The relative over a path of two relations: the father of his wife is his father-in-law."""
    relatives = [*_relatives_by_path(person_id, start, end, word, people)]
    relatives = [relative for relative in relatives if not relative.ambiguous] or relatives
    if not relatives:
        return None
    joined = _joined(start, end, relatives)
    # a child of a spouse, or a parent of a sibling, need not be a child or parent of this person
    uncertain = joined.ambiguous or word.type in _UNCERTAIN_BY_PATH
    return replace(joined, ambiguous=uncertain, unknown="" if joined.people else word.type)


def _relatives_by_path(person_id: int, start: int, end: int, word: KinWord, people: People) -> Iterator[Reference]:
    """The relatives of each path of the word's type, without the person."""
    for first, second in KIN_PATHS.get(word.type, ()):
        for step in _relations_of(person_id, first, people):
            stated = _stated_relative(step.other_id, start, end, word._replace(type=second), people)
            others = [relative_id for relative_id in stated.people if relative_id != person_id]
            if others or stated.relative_facts:
                yield replace(stated, people=others, relations=[step, *stated.relations])


def _relations_of(person_id: int, type_: str, people: People) -> list[Relation]:
    """The relations to people who are stated to be the `type_` of a person; former ones only count if it is one."""
    types = {type_, f"ex_{type_.removeprefix(FORMER)}"}
    return [relation for relation in people.relationships([person_id], types) if means(type_, relation.type)]


def _stated_relative(person_id: int, start: int, end: int, word: KinWord, people: People) -> Reference:
    """The relative that relationships or facts state."""
    stated = _relations_of(person_id, word.type, people)
    persons = people.by_id(relation.other_id for relation in stated)
    stated = [relation for relation in stated if relation.other_id in persons]
    certain, possible = _by_fit(word, stated, persons)
    relations = certain or possible
    facts = [] if certain and word.type == _SINGLE_TYPE else _relative_facts(word, person_id, people, persons)
    if facts and not certain and (not relations or kinship.gender(word.word)):
        return Reference(start, end, [], unknown=word.type, relative_facts=facts)
    if not relations:
        return _relative_by_role(person_id, start, end, word, people)
    ids = list(dict.fromkeys(relation.other_id for relation in relations))
    uncertain = not certain and word.word not in kinship.words_for({_SINGLE_TYPE})
    return Reference(start, end, ids, relations, ambiguous=uncertain, relative_facts=facts)


def _by_fit(
    word: KinWord, relations: list[Relation], persons: dict[int, IndexedPerson]
) -> tuple[list[Relation], list[Relation]]:
    """The relations whose relative has the word's gender, and those of unknown gender."""
    by_fit: dict[bool | None, list[Relation]] = {True: [], None: [], False: []}
    for relation in relations:
        by_fit[_fits(word, relation, persons[relation.other_id])].append(relation)
    return by_fit[True], by_fit[None]


def _relative_by_role(person_id: int, start: int, end: int, word: KinWord, people: People) -> Reference:
    """The people with that occupation, for the owner: `my architect`; nobody for others, of whom no text says it."""
    ids = people.holders_of_role(word.type) if person_id == people.owner else []
    return Reference(start, end, ids, ambiguous=len(ids) > 1, unknown="" if ids else word.type)


def _borne_names(persons: Iterable[IndexedPerson]) -> set[str]:
    """The whole names and the given names of these people."""
    names = [name for person in persons for name in person.resolved_person.names]
    return {name.full for name in names} | {name.words[0] for name in names}


def _relative_facts(
    word: KinWord, person_id: int, people: People, persons: dict[int, IndexedPerson]
) -> list[PersonFact]:
    """Facts that name a person's relative and fit the word's gender, except names of `persons`."""
    gender = kinship.gender(word.word)
    borne_names = _borne_names(persons.values())
    facts = [fact for fact in people.facts([person_id]) if fact.predicate == word.type]
    if gender:
        facts = [fact for fact in facts if _relative_gender(fact) in ("", gender)]
    return [fact for fact in facts if parse(fact.value).full not in borne_names]


def _relative_gender(fact: PersonFact) -> str:
    """m or f, by the relative's given name, else by the kin terms of the quote; empty if neither tells."""
    genders = _genders_of_words(fact.source_quote or "")
    return gender_of(fact.value.split(" ")[0]) or (next(iter(genders)) if len(genders) == 1 else "")


def _genders_of_words(text: str) -> set[str]:
    """The genders, m or f, of the kin terms in a text."""
    return {kinship.gender(word) for word in re.findall(r"[\w-]+", text)} - {""}


def _fits(word: KinWord, relation: Relation, person: IndexedPerson) -> bool | None:
    """Whether the word's gender is that of a relative (a sister is no brother); None if the gender is not known.

    The texts of a relationship are about the person at its end: "my sister Dana" says nothing about its writer.
    """
    gender = kinship.gender(word.word)
    if not gender:
        return True
    row = relation.row
    is_end = relation.other_id == row.to_person_id
    texts = (row.description, row.source_quote, *row.notes) if is_end else ()
    genders = _genders_of_words(" ".join(filter(None, (*texts, person.name))))
    genders = genders or {_gender(person)} - {""}
    return genders == {gender} if len(genders) == 1 else None


def _gender(person: IndexedPerson) -> str:
    """m or f by the given name; empty if it does not tell."""
    return gender_of(person.name.split(" ")[0])
