"""Resolves a word for a relative: `my brother`, `the wife of Dana`, `her architect`; one step of a question."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace

from relrag_pipelines.identity.inverse_types import INVERSE
from relrag_pipelines.records import PersonFact
from relrag_pipelines.text import kinship
from relrag_pipelines.text.names.forms import gender_of
from relrag_pipelines.text.names.personal_name import parse
from relrag_query.people.indexed_person import IndexedPerson
from relrag_query.people.kin_words import KinWord
from relrag_query.people.people import People
from relrag_query.people.relations import KIN_PATHS, Relation
from relrag_query.understanding.phrases import bare, load_phrases

_ONLY_ONE = "spouse"
"""type of whom one has one alone, so that a word for a woman or a man says no more than the type"""
_NOT_CERTAIN = ("child", "parent")
"""relatives who may be meant, where they are known by way of others alone"""
_ONE_OF_TWO = "parent"


@dataclass
class Reference:
    """Whom some words of a question mean."""

    start: int
    end: int
    people: list[int]
    relations: list[Relation] = field(default_factory=list)
    """through what they were found, in the order of the question"""
    ambiguous: bool = False
    """`people` are those who may be meant, not those who are"""
    unknown: str = ""
    """a relationship that nobody is known to have; then there are no people"""
    relative_facts: list[PersonFact] = field(default_factory=list)
    """who a text says it is, by a name that nobody who is known bears"""


def find_relative(question: str, word: KinWord, found: list[Reference], people: People) -> Reference | None:
    """Whom a word for a relative means, with whose it is said to be."""
    said, plain = load_phrases().people, bare(question)
    if before := re.search(rf"(?<!\w)(?:{said.my})$", plain[: word.start], re.IGNORECASE):
        return relative_of(people.owner, before.start(), word.end, word, people)
    if word.says_my:
        return relative_of(people.owner, word.start, word.end, word, people)
    if behind := re.match(rf"(?:{said.my_behind})(?!\w)", plain[word.end :]):
        return relative_of(people.owner, word.start, word.end + behind.end(), word, people)
    for one in found:
        between = plain[one.end : word.start]
        if one.end <= word.start and re.fullmatch(rf"['’]s? (?:\w+ )?|{said.have}| ", between):
            return _relative_of_reference(one, one.start, word.end, word, people)
        between = plain[word.end : one.start]
        if word.end <= one.start and re.fullmatch(rf"{said.of}| ", between):
            start = word.start
            article = re.search(r"\bthe $", plain[:start])
            return _relative_of_reference(one, article.start() if article else start, one.end, word, people)
    return None


def _relative_of_reference(whose: Reference, start: int, end: int, word: KinWord, people: People) -> Reference:
    if whose.relative_facts and not whose.people:
        return _relative_of_stranger(whose.relative_facts, start, end, word, people)
    one_name = len(whose.people) > 1 and people.share_name(whose.people)
    if whose.unknown:
        return Reference(start, end, whose.people, whose.relations, ambiguous=bool(whose.people), unknown=whose.unknown)
    every = [relative_of(one, start, end, word, people) for one in whose.people] or [
        relative_of(None, start, end, word, people)
    ]
    if len(whose.people) > 1 and not one_name:
        return _relatives_of_several(whose, start, end, every)
    # of several who bear one name, whoever somebody is known to be that to
    made = next((one for one in every if one.people or one.relative_facts), every[0])
    return replace(
        made,
        relations=[*whose.relations, *made.relations],
        ambiguous=made.ambiguous or (whose.ambiguous and not one_name),
    )


def _relatives_of_several(whose: Reference, start: int, end: int, every: list[Reference]) -> Reference:
    """Who may be meant where it is not certain whose relative: of each the one who is known, else those who may be."""
    ids = list(dict.fromkeys(other for one in every for other in one.people))
    named = [fact for one in every for fact in one.relative_facts]
    if not (ids or named):
        return Reference(start, end, whose.people, whose.relations, ambiguous=True)
    relations = [*whose.relations, *(relation for one in every for relation in one.relations)]
    return Reference(start, end, ids, relations, ambiguous=True, relative_facts=named)


def _relative_of_stranger(facts: list[PersonFact], start: int, end: int, word: KinWord, people: People) -> Reference:
    """Who is that to somebody whom a text names as another's relative: her husband's wife is she."""
    back = {fact.person_id: INVERSE.get(fact.predicate, fact.predicate) for fact in facts}
    known = people.by_id(back)
    ids = [
        one
        for one, type_ in back.items()
        if type_ == word.type and _sex(known[one]) in ("", kinship.gender(word.word) or _sex(known[one]))
    ]
    if ids:
        return Reference(start, end, ids, ambiguous=len(ids) > 1)
    bearers = {found[0].person_id for fact in facts if len(found := people.find(fact.value)) == 1}
    if len(bearers) == 1:  # who alone bears that name is likely she
        return replace(relative_of(bearers.pop(), start, end, word, people), ambiguous=True)
    return _relative_by_role(start, end, word, people, surely=False)


def relative_of(person_id: int | None, start: int, end: int, word: KinWord, people: People) -> Reference:
    """Who is that to a person, as it is said or by way of others; nobody where it is not known.

    Nor where what is known speaks against it.
    """
    if person_id is None:
        return _relative_by_role(start, end, word, people, surely=False)
    said = _stated_relative(person_id, start, end, word, people)
    if said.people or said.relative_facts:
        return said
    return _indirect_relative(person_id, start, end, word, people) or said


def _indirect_relative(person_id: int, start: int, end: int, word: KinWord, people: People) -> Reference | None:
    """Who it is by way of others: the father of his wife, who is known, is his father-in-law."""
    found_by = [
        (via, _stated_relative(other_id, start, end, word._replace(type=second), people))
        for first, second in KIN_PATHS.get(word.type, ())
        for other_id, via in ways(person_id, first, people)
    ]
    found = [
        replace(
            one,
            people=[other for other in one.people if other != person_id],
            relations=[*via, *one.relations],
            ambiguous=one.ambiguous or not via,
        )
        for via, one in found_by
        if one.people or one.relative_facts
    ]
    found = [one for one in found if one.people or one.relative_facts]
    found = [one for one in found if not one.ambiguous] or found
    if not found:
        return None
    ids = list(dict.fromkeys(other for one in found for other in one.people))
    relations = [relation for one in found for relation in one.relations]
    named = [fact for one in found for fact in one.relative_facts]
    # a child of a spouse, or a parent of a sibling, may be nobody's of the one who is asked about
    maybe = word.type in _NOT_CERTAIN or any(one.ambiguous for one in found)
    return Reference(
        start, end, ids, relations, ambiguous=maybe, relative_facts=named, unknown="" if ids else word.type
    )


def ways(person_id: int, type_: str, people: People) -> list[tuple[int, list[Relation]]]:
    """Who is that to a person, each with the relationship that says so.

    Where there is none, who alone bears the name of such a relative, without one: he may be it.
    """
    stated = [(one.other_id, [one]) for one in people.relationships([person_id], {type_}) if one.type == type_]
    named = [] if stated else [one for one in people.facts([person_id]) if one.predicate == type_]
    bearers = [people.find(one.value) for one in named]
    return stated or [(found[0].person_id, []) for found in bearers if len(found) == 1]


def _stated_relative(person_id: int, start: int, end: int, word: KinWord, people: People) -> Reference:
    """Who is said to be that to a person."""
    relations = [one for one in people.relationships([person_id], {word.type}) if one.type == word.type]
    known = people.by_id(one.other_id for one in relations)
    fitting = [(one, _fits(word, one, known[one.other_id])) for one in relations if one.other_id in known]
    # where somebody is said to be it, those of whom nothing is said are not
    surely = [one for one, fits in fitting if fits]
    relations = surely or [one for one, fits in fitting if fits is None]
    named = [] if surely and word.type == _ONLY_ONE else _relative_facts(word, person_id, people, known)
    if named and not surely and (not relations or kinship.gender(word.word)):
        return Reference(start, end, [], unknown=word.type, relative_facts=named)
    if not relations:
        return _relative_by_role(start, end, word, people, surely=person_id == people.owner)
    ids = list(dict.fromkeys(one.other_id for one in relations))
    # of two parents one is the father, so the other is the mother
    left = word.type == _ONE_OF_TWO and len(ids) == 1 and any(fits is False for _, fits in fitting)
    maybe = bool(ids) and not (surely or left) and word.word not in kinship.words_for({_ONLY_ONE})
    return Reference(start, end, ids, relations, ambiguous=maybe, relative_facts=named)


def _relative_by_role(start: int, end: int, word: KinWord, people: People, *, surely: bool) -> Reference:
    """Who has that occupation: the owner's architect; of anybody else he may be."""
    ids = people.holders_of_role(word.type)
    maybe = bool(ids) and (len(ids) > 1 or not surely)
    return Reference(start, end, ids, ambiguous=maybe, unknown="" if ids else word.type)


def _relative_facts(word: KinWord, person_id: int, people: People, known: dict[int, IndexedPerson]) -> list[PersonFact]:
    """Who a text says it is, by a name that nobody who is known bears, or several; none of those who are `known`."""
    asked = kinship.gender(word.word)
    facts = [one for one in people.facts([person_id]) if one.predicate == word.type]
    said = [{kinship.gender(one) for one in re.findall(r"[\w-]+", fact.source_quote or "")} - {""} for fact in facts]
    borne = {
        name
        for one in known.values()
        for written in one.resolved_person.names
        for name in (written.full, written.words[0])
    }
    return [
        fact
        for fact, told in zip(facts, said, strict=True)
        if (not asked or _sex_of_fact(fact, told) in ("", asked)) and parse(fact.value).full not in borne
    ]


def _sex_of_fact(fact: PersonFact, told: set[str]) -> str:
    """m or f by the name of a relative, else by what is said of him; empty where neither tells."""
    return gender_of(fact.value.split(" ")[0]) or (next(iter(told)) if len(told) == 1 else "")


def _fits(word: KinWord, relation: Relation, person: IndexedPerson) -> bool | None:
    """Whether a relative may be called by that word, a sister is no brother; None where nothing tells.

    What is said of a relationship tells of whom it leads to: "my sister Dana" says nothing of who wrote it.
    """
    asked = kinship.gender(word.word)
    if not asked:
        return True
    row = relation.row
    of_other = relation.other_id == row.to_person_id
    told = (row.description, row.source_quote, *row.notes) if of_other else ()
    said = {kinship.gender(one) for one in re.findall(r"[\w-]+", " ".join(filter(None, (*told, person.name))))} - {""}
    said = said or {_sex(person)} - {""}
    return None if not said or len(said) == 2 else said == {asked}


def _sex(person: IndexedPerson) -> str:
    """m or f by a given name; empty where it does not tell."""
    return gender_of(person.name.split(" ")[0])
