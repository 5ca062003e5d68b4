"""Reads questions about people: the people whom a question means, by name or relationship, and what it asks of them.

Nothing is guessed: if it is not certain who is meant there are several people, and if nobody is known, none.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from relrag_pipelines.identity.inverse_types import INVERSE
from relrag_pipelines.records import PersonFact
from relrag_pipelines.text import kinship
from relrag_pipelines.text.fact_phrases import INTRODUCER
from relrag_pipelines.text.names.personal_name import parse
from relrag_query.people import described_relatives, identifier_owner
from relrag_query.people.identifier_owner import IdentifierKey
from relrag_query.people.kin_words import kin_words
from relrag_query.people.people import People
from relrag_query.people.question_words import QuestionWords, Span, has_only_fillers
from relrag_query.people.references import references
from relrag_query.people.relatives import Reference
from relrag_query.understanding.people_question import PeopleInQuestion, PeopleQuestion, QuestionType
from relrag_query.understanding.phrases import bare, load_phrases

_PREDICATES = ("age", "birthday", "lives_in", "works_at", "occupation", "phone", "email")


def people_in(question: str, people: People, key_of: IdentifierKey, regions: Sequence[str]) -> PeopleInQuestion:
    """The people in a question, and what it asks of them.

    `key_of` gives the keyed value of a number or address; `regions` are the countries of numbers without a code.
    """
    words = QuestionWords(question, people)
    return PeopleInQuestion(
        named=words.named,
        in_index=tuple(people.ids_in_index(words.named)),
        request=identifier_owner.read(words, key_of, regions) or read(words),
        about_somebody=_is_about_somebody(words),
        asks_who_said=load_phrases().people.said.search(words.plain) is not None,
    )


def read(words: QuestionWords) -> PeopleQuestion | None:
    """What a question asks of people; None if it asks something else."""
    reading = _read_plain(words)
    if reading is None or (reading.unknown and not reading.people):
        return described_relatives.read(words) or reading
    return reading


def _read_plain(words: QuestionWords) -> PeopleQuestion | None:
    """The same where no further words describe a relative."""
    if inverse := _inverse_question(words):
        return inverse
    introduction = load_phrases().people.introduction
    if introduction.search(words.plain):
        return _introduction_question(words, introduction)
    every = [*references(words)]
    if _implies_owner(words):
        every += references(words, implied=True)
    readings = (_read(words, reference) for reference in every)
    return next((reading for reading in readings if reading), None)


def _implies_owner(words: QuestionWords) -> bool:
    """Whether a question means a relative of the owner without a pronoun: `how old is grandma?`."""
    phrases, plain, terms = load_phrases().people, words.plain, words.kin_words
    if phrases.age.search(plain):
        return True
    rest = phrases.who.sub(" ", f"{plain[: terms[0].start]} {plain[terms[0].end :]}") if len(terms) == 1 else plain
    return set(re.findall(r"\w+", rest.casefold())) <= {"the"} | phrases.relationship  # not another's


def _introduction_question(words: QuestionWords, introduction: re.Pattern[str]) -> PeopleQuestion | None:
    """A question for the person who introduced somebody to the owner."""
    plain = words.plain
    for reference in references(words, implied=True):
        rest = introduction.sub(" ", f"{plain[: reference.start]} {plain[reference.end :]}")
        if has_only_fillers(rest):
            return _introducers(reference, words.people)
    rest = introduction.sub(" ", plain)
    rest = " ".join(word for word in re.findall(r"[^\W_]+", rest) if not has_only_fillers(word))
    pronouns = load_phrases().people.somebody.finditer(rest)
    if not any(pronoun.start() == 0 or pronoun.end() == len(rest) for pronoun in pronouns):
        return None  # `the discount at the firm next door` is nobody
    return PeopleQuestion("who", [], unknown=INTRODUCER)


def _is_about_somebody(words: QuestionWords) -> bool:
    """Whether a question asks for a person, or a fact about one, by names and kin terms alone.

    If no statement about people answers it, a passage that seems to may be about another person of that name.
    """
    phrases, plain = load_phrases().people, words.plain
    facts = (getattr(phrases, predicate) for predicate in _PREDICATES)
    patterns = (phrases.introduction, phrases.others_introduction, *facts, phrases.who)
    pattern = next((pattern for pattern in patterns if pattern.search(plain)), None)
    if pattern is None or (pattern is phrases.who and not words.kin_words):
        return False
    spans = [mention[:2] for mention in (*words.kin_words, *words.mentions)]
    spans += [*words.stranger_names(), *(match.span() for match in pattern.finditer(plain))]
    return has_only_fillers(_blanked(plain, spans))


def _blanked(text: str, spans: Iterable[Span]) -> str:
    """The text with spaces in place of these spans."""
    characters = [*text]
    for start, end in spans:
        characters[start:end] = " " * len(characters[start:end])
    return "".join(characters)


def _inverse_question(words: QuestionWords) -> PeopleQuestion | None:
    """A question for the person whose relative somebody is: `whose mother is Dana?`; None for other questions."""
    whose = load_phrases().people.owner.search(words.plain)
    if whose is None:
        return None
    types = {word: kinship.types_of_word(word) for word in re.findall(r"[\w'’-]+", words.text[whose.end() :])}
    kin_terms = [word for word, kinds in types.items() if len(kinds) == 1]
    name = " ".join(word for word, kinds in types.items() if not (kinds or has_only_fillers(bare(word))))
    relative = _named_relative(name, words.people)
    if len(kin_terms) != 1 or relative is None:
        return None
    if not has_only_fillers(f"{name[: relative.start]} {name[relative.end :]}"):
        return None
    (type_,) = types[kin_terms[0]]
    if not relative.people:
        return _inverse_of_stranger(relative.relative_facts, type_)
    return _inverse_of_people(relative.people, INVERSE.get(type_, type_), words.people)


def _named_relative(name: str, people: People) -> Reference | None:
    """The first reference of a name to known people; if there is none, the first to a relative whom texts name."""
    every = list(references(QuestionWords(name, people))) if name else []
    candidates = [reference for reference in every if reference.people]
    candidates = candidates or [reference for reference in every if reference.relative_facts]
    return candidates[0] if candidates else None


def _inverse_of_people(relatives: list[int], type_: str, people: People) -> PeopleQuestion:
    """The question for the people who are the `type_` of these relatives."""
    relations = [relation for relation in people.relationships(relatives, {type_}) if relation.type == type_]
    ids = list(dict.fromkeys(relation.other_id for relation in relations))
    if ids:
        several = len({relation.person_id for relation in relations}) > 1
        return PeopleQuestion("who", ids, relations, ambiguous=several)
    # `whose mother is Dana?`: a text may name a child of hers who has no record
    facts = [fact for fact in people.facts(relatives) if fact.predicate == type_]
    unknown = "" if facts else type_
    return PeopleQuestion("who", [], ambiguous=len(relatives) > 1, unknown=unknown, relative_facts=facts)


def _inverse_of_stranger(facts: list[PersonFact], type_: str) -> PeopleQuestion | None:
    """The question for the people of facts that name the relative: `whose husband is Sanjay?`; None without facts."""
    facts = [fact for fact in facts if fact.predicate == type_]
    ids = list(dict.fromkeys(fact.person_id for fact in facts))
    return PeopleQuestion("who", ids, ambiguous=len(ids) > 1, relative_facts=facts) if ids else None


def _read(words: QuestionWords, reference: Reference) -> PeopleQuestion | None:
    plain, people = words.plain, words.people
    reading = _question_type(f"{plain[: reference.start]} {plain[reference.end :]}", reference)
    if reading is None:
        return None
    asks, predicate = reading
    if not reference.people and (reference.relative_facts or not reference.unknown):
        return _stranger_question(asks, predicate, reference)
    if asks == "who" and not (reference.ambiguous or reference.relations or reference.unknown):
        reference.people = _with_shorter_names(words.text[reference.start : reference.end], reference, people)
    if reference.ambiguous and len(reference.people) > 1 and people.share_name(reference.people):
        reference.ambiguous = False  # a reader could not choose between people of the same name
    facts = reference.relative_facts if asks == "who" else []
    return PeopleQuestion(
        asks, reference.people, reference.relations, predicate, reference.ambiguous, reference.unknown, facts
    )


def _stranger_question(asks: QuestionType, predicate: str, reference: Reference) -> PeopleQuestion | None:
    """The question about a person without a record; None if nothing that is known could answer it."""
    if asks == "fact":
        return PeopleQuestion("fact", [], predicate=predicate)
    if asks == "who" and reference.relative_facts:
        return PeopleQuestion("who", [], ambiguous=reference.ambiguous, relative_facts=reference.relative_facts)
    return None


def _question_type(plain: str, reference: Reference) -> tuple[QuestionType, str] | None:
    """The type and predicate of a question by its words apart from the reference; None if they ask something else."""
    phrases = load_phrases()
    who = phrases.people.who
    topics: list[tuple[QuestionType, str, re.Pattern[str]]] = [("family", "", phrases.intent.family)]
    topics += [("fact", predicate, getattr(phrases.people, predicate)) for predicate in _PREDICATES]
    for type_, predicate, pattern in topics:
        if pattern.search(plain):
            return (type_, predicate) if has_only_fillers(who.sub(" ", pattern.sub(" ", plain))) else None
    match = who.search(plain)
    if match and kin_words(match[0]):  # `what's her son called?` asks for another person than the reference
        return None
    by_kin = bool(reference.relations or reference.unknown or reference.relative_facts)
    return ("who", "") if (match or by_kin) and has_only_fillers(who.sub(" ", plain)) else None


def _introducers(reference: Reference, people: People) -> PeopleQuestion:
    """The question for those who introduced the people of the reference to the owner."""
    if not reference.people:
        return PeopleQuestion("who", [], unknown=INTRODUCER)
    relations = people.relationships(reference.people, {INTRODUCER})
    relations = [
        relation for relation in relations if relation.type == INTRODUCER and relation.other_id != people.owner
    ]
    ids = list(dict.fromkeys(relation.other_id for relation in relations))
    if len({relation.person_id for relation in relations}) > 1:  # people of the same name, each with an introducer
        return PeopleQuestion("who", ids, relations, ambiguous=True)
    return PeopleQuestion("who", ids, relations, unknown="" if ids else INTRODUCER)


def _with_shorter_names(typed: str, reference: Reference, people: People) -> list[int]:
    """The bearers of a name, and people with a shorter form of it: several cards may be of one person."""
    typed_words = parse(typed).words
    if len(set(typed_words)) < 2:
        return reference.people
    shorter = []
    for person_id, person in people.name_bearers(typed, sounds=False).items():
        if any(_is_shorter_form(name.words, typed_words) for name in person.resolved_person.names):
            shorter.append(person_id)
    return list(dict.fromkeys([*reference.people, *shorter]))


def _is_shorter_form(words: Sequence[str], typed: Sequence[str]) -> bool:
    """Whether a name begins with the typed given name and has no word that was not typed."""
    return bool(words) and set(words) <= set(typed) and words[0] == typed[0]
