"""Questions about people: whom a question means, by name or by what they are to somebody, and what it asks of them.

Nothing is guessed: where it is not certain who is meant there are several, and where nobody is known to be it, nobody.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import Literal

from relrag_pipelines.identity.inverse_types import INVERSE
from relrag_pipelines.records import PersonFact
from relrag_pipelines.text import kinship
from relrag_pipelines.text.fact_phrases import INTRODUCER
from relrag_pipelines.text.names.personal_name import parse
from relrag_query.people.kin_words import kin_words
from relrag_query.people.people import People
from relrag_query.people.references import names, references
from relrag_query.people.relations import Relation
from relrag_query.people.relatives import Reference
from relrag_query.understanding.phrases import bare, load_phrases

QuestionType = Literal["who", "fact", "family"]
_PREDICATES = ("age", "birthday", "lives_in", "works_at", "occupation", "phone", "email")


@dataclass
class PeopleQuestion:
    """What a question asks of people."""

    asks: QuestionType
    people: list[int]
    """whom it is about; of `who` the answer. Several where it is not certain, or where several are meant"""
    relations: list[Relation] = field(default_factory=list)
    """through what they were found, in the order of the question"""
    predicate: str = ""
    """of `fact`: age, birthday, lives_in, works_at, occupation, phone or email"""
    ambiguous: bool = False
    """`people` are those who may be meant, not those who are"""
    unknown: str = ""
    """a relationship that nobody is known to have; then there are no people"""
    relative_facts: list[PersonFact] = field(default_factory=list)
    """who has that relationship to whom these facts are of, where nobody who is known bears the name"""


def read(question: str, people: People) -> PeopleQuestion | None:
    """What a question asks of people; None where it asks something else."""
    if found := _of_whom(question, people):
        return found
    introduction = load_phrases().people.introduction
    if introduction.search(bare(question)):
        return _of_introduction(question, introduction, people)
    every = [*references(question, people)]
    if _asks_of_owners(question):
        every += references(question, people, implied=True)
    return next((found for one in every if (found := _read(question, one, people))), None)


def _asks_of_owners(question: str) -> bool:
    """Whether a question asks of a relative without saying whose: `how old is grandma?`, `who is the landlord?`."""
    said, plain = load_phrases().people, bare(question)
    if said.age.search(plain):
        return True
    words = kin_words(question)
    left = said.who.sub(" ", f"{plain[: words[0].start]} {plain[words[0].end :]}") if len(words) == 1 else plain
    return set(re.findall(r"\w+", left.casefold())) <= {"the"}  # not the new one, or another's


def _of_introduction(question: str, introduction: re.Pattern[str], people: People) -> PeopleQuestion | None:
    """Who brought somebody and the owner together."""
    plain = bare(question)
    for reference in references(question, people, implied=True):
        left = introduction.sub(" ", f"{plain[: reference.start]} {plain[reference.end :]}")
        if has_only_fillers(left):
            return _introducers(reference, people)
    left = introduction.sub(" ", plain)
    words = " ".join(one for one in re.findall(r"[^\W_]+", left) if not has_only_fillers(one))
    if not any(
        match.start() == 0 or match.end() == len(words) for match in load_phrases().people.somebody.finditer(words)
    ):
        return None  # `the discount at the firm next door` is nobody
    return PeopleQuestion("who", [], unknown=INTRODUCER)


def asks_for_somebody(question: str, people: People) -> bool:
    """Whether a question asks for a person or a fact of one by names and words for relatives alone.

    Where nothing that is known of people answers it, what a passage says may be of another who is called so.
    """
    said, plain = load_phrases().people, bare(question)
    facts = (getattr(said, one) for one in _PREDICATES)
    phrases = (said.introduction, said.others_introduction, *facts, said.who)
    asking = next((one for one in phrases if one.search(plain)), None)
    relatives = kin_words(question)
    if asking is None or (asking is said.who and not relatives):
        return False
    told = [one[:2] for one in (*relatives, *names(question, people))] + [one.span() for one in asking.finditer(plain)]
    return has_only_fillers(
        "".join(" " if any(start <= at < end for start, end in told) else one for at, one in enumerate(plain))
    )


def _of_whom(question: str, people: People) -> PeopleQuestion | None:
    """Whose relative somebody is: who is the other one of the two to him. None where something else is asked."""
    asks = load_phrases().people.owner.search(bare(question))
    if asks is None:
        return None
    types = {word: kinship.types_of_word(word) for word in re.findall(r"[\w'’-]+", question[asks.end() :])}
    relatives = [word for word, found in types.items() if len(found) == 1]
    named = " ".join(word for word, found in types.items() if not (found or has_only_fillers(bare(word))))
    known = list(references(named, people)) if named else []
    whom = next((one for one in known if one.people), None) or next((one for one in known if one.relative_facts), None)
    if len(relatives) != 1 or whom is None or not has_only_fillers(f"{named[: whom.start]} {named[whom.end :]}"):
        return None
    (type_,) = types[relatives[0]]
    if not whom.people:
        return _of_stranger([one for one in whom.relative_facts if one.predicate == type_], type_)
    wanted = INVERSE.get(type_, type_)
    found = [one for one in people.relationships(whom.people, {wanted}) if one.type == wanted]
    ids = list(dict.fromkeys(one.other_id for one in found))
    if not ids:  # `whose mother is Dana?`: what is said of a child of hers whom no record knows
        facts = [one for one in people.facts(whom.people) if one.predicate == wanted]
        return PeopleQuestion(
            "who", [], ambiguous=len(whom.people) > 1, unknown="" if facts else wanted, relative_facts=facts
        )
    return PeopleQuestion("who", ids, found, ambiguous=len({one.person_id for one in found}) > 1)


def _of_stranger(facts: list[PersonFact], type_: str) -> PeopleQuestion | None:
    """Whose relative somebody is whom no record knows: `whose husband is Sanjay?`; None where no text says it."""
    ids = list(dict.fromkeys(one.person_id for one in facts))
    return PeopleQuestion("who", ids, ambiguous=len(ids) > 1, relative_facts=facts) if ids else None


def _read(question: str, reference: Reference, people: People) -> PeopleQuestion | None:
    asked = _question_type(f"{question[: reference.start]} {question[reference.end :]}", reference)
    if asked is None:
        return None
    asks, predicate = asked
    if not (reference.people or reference.relative_facts or reference.unknown):  # a name that nobody is known by
        return PeopleQuestion("fact", [], predicate=predicate) if asks == "fact" else None
    if reference.relative_facts and not reference.people:
        if asks == "fact":
            return PeopleQuestion("fact", [], predicate=predicate)
        if asks != "who":
            return None
        return PeopleQuestion("who", [], ambiguous=reference.ambiguous, relative_facts=reference.relative_facts)
    if asks == "who" and not reference.ambiguous and not (reference.relations or reference.unknown):
        reference.people = _alike(question[reference.start : reference.end], reference, people)
    if reference.ambiguous and len(reference.people) > 1 and people.share_name(reference.people):  # nobody could choose
        reference.ambiguous = False
    said = PeopleQuestion(
        asks, reference.people, reference.relations, predicate, reference.ambiguous, reference.unknown
    )
    return replace(said, relative_facts=reference.relative_facts) if asks == "who" else said


def _question_type(rest: str, reference: Reference) -> tuple[QuestionType, str] | None:
    """What is asked of whom a question means by its other words; None where one of these asks something else."""
    said, plain = load_phrases(), bare(rest)
    if said.intent.family.search(plain):
        left = said.people.who.sub(" ", said.intent.family.sub(" ", plain))
        return ("family", "") if has_only_fillers(left) else None
    for predicate in _PREDICATES:
        pattern = getattr(said.people, predicate)
        if pattern.search(plain):
            left = said.people.who.sub(" ", pattern.sub(" ", plain))
            return ("fact", predicate) if has_only_fillers(left) else None
    asks = said.people.who.search(plain)
    if asks and kin_words(asks[0]):  # `what's her son called?`: somebody else than who is named
        return None
    by_kin = bool(reference.relations or reference.unknown or reference.relative_facts)
    return ("who", "") if (asks or by_kin) and has_only_fillers(said.people.who.sub(" ", plain)) else None


def _introducers(reference: Reference, people: People) -> PeopleQuestion:
    """Who introduced the person of the reference to the owner."""
    if not reference.people:
        return PeopleQuestion("who", [], unknown=INTRODUCER)
    relations = people.relationships(reference.people, {INTRODUCER})
    found = [one for one in relations if one.type == INTRODUCER and one.other_id != people.owner]
    ids = list(dict.fromkeys(one.other_id for one in found))
    if len({one.person_id for one in found}) > 1:  # one of several who bear the name
        return PeopleQuestion("who", ids, found, ambiguous=True)
    return PeopleQuestion("who", ids, found, unknown="" if ids else INTRODUCER)


def has_only_fillers(left: str) -> bool:
    """Whether what is left of a question, bare, asks nothing else."""
    said = load_phrases()
    return set(re.findall(r"[^\W_]+", said.intent.latest.sub(" ", left).casefold())) <= said.people.fillers


def _alike(typed: str, reference: Reference, people: People) -> list[int]:
    """Those who bear a name, and those all of whose words are in it: four cards may be of one person."""
    asked = set(parse(typed).words)
    if len(asked) < 2:
        return reference.people
    bearers = people.name_bearers(typed, sounds=False)
    near = [
        one
        for one, person in bearers.items()
        if any(
            name.words and set(name.words) <= asked and name.words[0] == parse(typed).words[0]
            for name in person.resolved_person.names
        )
    ]
    return list(dict.fromkeys([*reference.people, *near]))
