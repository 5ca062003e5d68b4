"""Questions about people: whom a question means, by name or by what they are to somebody, and what it asks of them.

Nothing is guessed: where it is not certain who is meant there are several, and where nobody is known to be it, nobody.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal

from relrag_pipelines.identity.mentions import Mention
from relrag_pipelines.records import PersonFact
from relrag_pipelines.text import kinship
from relrag_pipelines.text.fact_phrases import INTRODUCER
from relrag_pipelines.text.names import tables
from relrag_pipelines.text.names.forms import as_given, inflected, words
from relrag_pipelines.text.names.personal_name import parse
from relrag_query.people.kin_words import KinWord, kin_words
from relrag_query.people.people import Known, People, Relation
from relrag_query.understanding.phrases import bare, load_phrases

Asked = Literal["who", "fact", "family"]
_ONLY_ONE = "spouse"
"""type of whom one has one alone, so that a word for a woman or a man says no more than the type"""
_ONE_OF_TWO = "parent"
_PREDICATES = ("age", "birthday", "lives_in", "works_at", "occupation", "phone", "email")


@dataclass
class PeopleQuestion:
    """What a question asks of people."""

    asks: Asked
    people: list[int]
    """whom it is about; of `who` the answer. Several where it is not certain, or where several are meant"""
    relations: list[Relation] = field(default_factory=list)
    """through what they were found, in the order of the question"""
    predicate: str = ""
    """of `fact`: age, birthday, lives_in, works_at, occupation, phone or email"""
    choices: bool = False
    """`people` are those who may be meant, not those who are"""
    unknown: str = ""
    """a relationship that nobody is known to have; then there are no people"""
    named: list[PersonFact] = field(default_factory=list)
    """of `fact`: who has that relationship to `people`, where nobody who is known bears the name"""


@dataclass
class _Reference:
    start: int
    end: int
    people: list[int]
    relations: list[Relation] = field(default_factory=list)
    choices: bool = False
    unknown: str = ""
    named: list[PersonFact] = field(default_factory=list)


def read(question: str, people: People) -> PeopleQuestion | None:
    """What a question asks of people; None where it asks something else."""
    introduction = load_phrases().people.introduction.search(bare(question))
    reference = _reference(question, people, implied=introduction is not None)
    if reference is None:
        return None
    if introduction:
        rest = f"{bare(question)[: reference.start]} {bare(question)[reference.end :]}"
        left = load_phrases().people.introduction.sub(" ", rest)
        return _introducers(reference, people) if says_no_more(left) else None
    if reference.named:
        said = _asked(f"{question[: reference.start]} {question[reference.end :]}", reference)
        whose = [reference.named[0].person_id]
        return PeopleQuestion("fact", whose, [], reference.unknown, named=reference.named) if said else None
    asked = _asked(f"{question[: reference.start]} {question[reference.end :]}", reference)
    if asked is None:
        return None
    asks, predicate = asked
    if asks == "who" and not reference.choices and not (reference.relations or reference.unknown):
        reference.people = _alike(question[reference.start : reference.end], reference, people)
    if (
        reference.choices and len(reference.people) > 1 and people.bear_one_name(reference.people)
    ):  # nobody could choose
        reference.choices = False
    return PeopleQuestion(asks, reference.people, reference.relations, predicate, reference.choices, reference.unknown)


def _asked(rest: str, reference: _Reference) -> tuple[Asked, str] | None:
    """What is asked of whom a question means by its other words; None where one of these asks something else."""
    said, plain = load_phrases(), bare(rest)
    if said.intent.family.search(plain):
        left = said.people.who.sub(" ", said.intent.family.sub(" ", plain))
        return ("family", "") if says_no_more(left) else None
    for predicate in _PREDICATES:
        pattern = getattr(said.people, predicate)
        if pattern.search(plain):
            left = said.people.who.sub(" ", pattern.sub(" ", plain))
            return ("fact", predicate) if says_no_more(left) else None
    asks = said.people.who.search(plain) is not None
    by_kin = bool(reference.relations or reference.unknown)
    return ("who", "") if (asks or by_kin) and says_no_more(said.people.who.sub(" ", plain)) else None


def _introducers(reference: _Reference, people: People) -> PeopleQuestion | None:
    """Who brought the one who is meant and the owner together; None where nobody is known to have."""
    if not reference.people:
        return None
    relations = people.relationships(reference.people, {INTRODUCER})
    found = [one for one in relations if one.type == INTRODUCER and one.other_id != people.owner]
    ids = list(dict.fromkeys(one.other_id for one in found))
    if len({one.person_id for one in found}) > 1:  # one of several who bear the name
        return PeopleQuestion("who", ids, found, choices=True)
    return PeopleQuestion("who", ids, found, unknown="" if ids else INTRODUCER)


def says_no_more(left: str) -> bool:
    """Whether what is left of a question, bare, asks nothing else."""
    return set(re.findall(r"[^\W_]+", left.casefold())) <= load_phrases().people.fillers


def _reference(question: str, people: People, *, implied: bool = False) -> _Reference | None:
    """The people whom a question means: by name, or by what they are to others, step by step.

    `the architect` is the owner's; with `implied`, `the mother` too.
    """
    mentions = _mentions(question, people)
    found = [_Reference(one.start, one.end, list(one.person_ids), choices=len(one.person_ids) > 1) for one in mentions]
    pending = [one for one in kin_words(question) if all(one.end <= m.start or one.start >= m.end for m in mentions)]
    while pending:
        resolved = next(
            ((word, one) for word in pending if (one := _related(question, word, found, people)) is not None), None
        )
        if resolved is None:
            break
        word, one = resolved
        pending.remove(word)
        found = [other for other in found if other.end <= one.start or other.start >= one.end]
        found.append(one)
    for word in pending:
        for one in found:
            if bare(question)[word.end : one.start] == " ":  # `doktora Beneše`: what comes before a name
                one.start = word.start
    if not found and len(pending) == 1 and (implied or pending[0].type in kinship.ROLES):
        (word,) = pending
        found = [_of(people.owner, word.start, word.end, word, people)]
    if not found and not pending:
        found = [*_own_family(question, people)]
    return found[0] if len(found) == 1 else None


def _own_family(question: str, people: People) -> Iterator[_Reference]:
    """The owner, where a question speaks of `my family`."""
    said, plain = load_phrases(), bare(question)
    if (owner := people.owner) is None:
        return
    for match in said.intent.family.finditer(plain):
        before = re.search(rf"(?<!\w)(?:{said.people.my})$", plain[: match.start()], re.IGNORECASE)
        behind = re.match(rf"(?:{said.people.my_behind})(?!\w)", plain[match.end() :])
        if before:
            yield _Reference(before.start(), match.start(), [owner])
        elif behind:
            yield _Reference(match.end(), match.end() + behind.end(), [owner])


def named(question: str, people: People) -> list[int]:
    """The people whom a question may name, in its order."""
    return list(dict.fromkeys(one for mention in _mentions(question, people) for one in mention.person_ids))


def _mentions(question: str, people: People) -> list[Mention]:
    """The names in a question, common words among them only where they stand as somebody's; small letters too."""
    found = people.finder(question).find(question)
    if not found and question == question.lower():
        found = people.finder(question.title()).find(question.title())
    kept = [one for one in found if not one.is_word or _is_possessed(question, one)]
    return [_with_title(question, one, people) for one in kept or (found if len(found) == 1 else [])]


def _with_title(question: str, name: Mention, people: People) -> Mention:
    """A family name with the title before it: `doktora Beneše` is no doctor of somebody named Beneš."""
    before = re.search(r"(\w+)\.? $", question[: name.start])
    if before is None or tables.plain(before[1]) not in tables.before_family_names():
        return name
    said = question[name.start : name.end]
    aliases = (row["alias"] for one in people.known(name.person_ids).values() for row in one.aliases)
    families = {written[-1] for alias in aliases if len(written := words(alias)) > 1}
    return (
        name._replace(start=before.start()) if any(said in as_given(one) | inflected(one) for one in families) else name
    )


def _is_possessed(question: str, name: Mention) -> bool:
    """Whether a name that is also a word stands where only a name can."""
    before, behind = question[: name.start], question[name.end :]
    of = load_phrases().people.of
    if re.search(rf"(?:{of})$", before) and re.fullmatch(r"\W*", behind):
        return True
    return behind.startswith(("'s ", "’s ")) or (" " in question[name.start : name.end])


def _related(question: str, word: KinWord, found: list[_Reference], people: People) -> _Reference | None:
    """Whom a word for a relative means, with whose it is said to be."""
    said, plain = load_phrases().people, bare(question)
    if before := re.search(rf"(?<!\w)(?:{said.my})$", plain[: word.start], re.IGNORECASE):
        return _of(people.owner, before.start(), word.end, word, people)
    if word.mine:
        return _of(people.owner, word.start, word.end, word, people)
    if behind := re.match(rf"(?:{said.my_behind})(?!\w)", plain[word.end :]):
        return _of(people.owner, word.start, word.end + behind.end(), word, people)
    for one in found:
        between = plain[one.end : word.start]
        if one.end <= word.start and re.fullmatch(r"['’]s (?:\w+ )?| ", between):
            return _of_reference(one, one.start, word.end, word, people)
        between = plain[word.end : one.start]
        if word.end <= one.start and re.fullmatch(rf"{said.of}| ", between):
            start = word.start
            article = re.search(r"\bthe $", plain[:start])
            return _of_reference(one, article.start() if article else start, one.end, word, people)
    return None


def _of_reference(whose: _Reference, start: int, end: int, word: KinWord, people: People) -> _Reference:
    if whose.choices or len(whose.people) != 1:
        return _Reference(start, end, whose.people, whose.relations, choices=bool(whose.people), unknown=whose.unknown)
    made = _of(whose.people[0], start, end, word, people)
    relations = [*whose.relations, *made.relations]
    return _Reference(start, end, made.people, relations, made.choices, made.unknown, made.named)


def _of(person_id: int | None, start: int, end: int, word: KinWord, people: People) -> _Reference:
    """Who is that to a person; nobody where it is not known, or where what is known speaks against it."""
    if person_id is None:
        return _Reference(start, end, [], unknown=word.type)
    relations = [one for one in people.relationships([person_id], {word.type}) if one.type == word.type]
    known = people.known(one.other_id for one in relations)
    fitting = [(one, _fits(word, one, known[one.other_id])) for one in relations if one.other_id in known]
    # where somebody is said to be it, those of whom nothing is said are not
    surely = [one for one, fits in fitting if fits]
    relations = surely or [one for one, fits in fitting if fits is None]
    named = [] if surely else _named(word, person_id, people)
    if named and (not relations or _gender(word.word)):
        return _Reference(start, end, [], unknown=word.type, named=named)
    if not relations and person_id == people.owner:
        by_role = people.working_as(word.type)
        return _Reference(start, end, by_role, choices=len(by_role) > 1, unknown="" if by_role else word.type)
    ids = list(dict.fromkeys(one.other_id for one in relations))
    # of two parents one is the father, so the other is the mother
    left = word.type == _ONE_OF_TWO and len(ids) == 1 and any(fits is False for _, fits in fitting)
    maybe = bool(ids) and not (surely or left) and word.type != _ONLY_ONE
    return _Reference(start, end, ids, relations, choices=maybe, unknown="" if ids else word.type)


def _named(word: KinWord, person_id: int, people: People) -> list[PersonFact]:
    """Who a text says it is, by a name that nobody who is known bears, or several."""
    asked = _gender(word.word)
    facts = [one for one in people.facts([person_id]) if one.predicate == word.type]
    said = [{_gender(one) for one in re.findall(r"[\w-]+", fact.source_quote or "")} - {""} for fact in facts]
    return [fact for fact, told in zip(facts, said, strict=True) if not asked or told == {asked}]


def _fits(word: KinWord, relation: Relation, person: Known) -> bool | None:
    """Whether a relative may be called by that word, a sister is no brother; None where nothing tells.

    What is said of a relationship tells of whom it leads to: "my sister Dana" says nothing of who wrote it.
    """
    asked = _gender(word.word)
    if not asked:
        return True
    row = relation.row
    of_other = relation.other_id == row.to_person_id
    told = (row.description, row.source_quote, *row.notes) if of_other else ()
    said = {_gender(one) for one in re.findall(r"[\w-]+", " ".join(filter(None, (*told, person.name))))} - {""}
    return None if not said or len(said) == 2 else said == {asked}


def _gender(word: str) -> str:
    return kinship.genders().get(tables.plain(word), "")


def _alike(typed: str, reference: _Reference, people: People) -> list[int]:
    """Those who bear a name, and those all of whose words are in it: four cards may be of one person."""
    asked = set(parse(typed).words)
    if len(asked) < 2:
        return reference.people
    bearing = people.bearing(typed, sounds=False)
    near = [
        one
        for one, person in bearing.items()
        if any(
            name.words and set(name.words) <= asked and name.words[0] == parse(typed).words[0]
            for name in person.resolved.names
        )
    ]
    return list(dict.fromkeys([*reference.people, *near]))
