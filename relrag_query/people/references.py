"""Whom a question means: by name, in any script, or by what they are to somebody, step by step.

Nothing is guessed: where it is not certain who is meant there are several, and where nobody is known to be it, nobody.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from relrag_pipelines.identity import lookup
from relrag_pipelines.identity.mentions import Mention
from relrag_pipelines.records import PersonFact
from relrag_pipelines.text import kinship
from relrag_pipelines.text.analyzer import PREFIXED
from relrag_pipelines.text.names import tables
from relrag_pipelines.text.names.forms import as_given, gender_of, inflections, words
from relrag_pipelines.text.names.personal_name import parse
from relrag_pipelines.text.names.spelling import script
from relrag_query.people.indexed_person import IndexedPerson
from relrag_query.people.kin_words import KinWord, kin_words
from relrag_query.people.people import People
from relrag_query.people.relations import INVERSE, Relation
from relrag_query.understanding.phrases import bare, load_phrases

_ONLY_ONE = "spouse"
"""type of whom one has one alone, so that a word for a woman or a man says no more than the type"""
_ONE_OF_TWO = "parent"
_MOST_WORDS = 12
"""words of a question in which names of other scripts are looked for"""
_LONGEST_NAME = 3
"""words of a name that is looked for so"""
_SHORTEST_PREFIXED = 4
"""letters, of which the first may be a prefix"""


@dataclass
class Reference:
    """Whom some words of a question mean."""

    start: int
    end: int
    people: list[int]
    relations: list[Relation] = field(default_factory=list)
    """through what they were found, in the order of the question"""
    choices: bool = False
    """`people` are those who may be meant, not those who are"""
    unknown: str = ""
    """a relationship that nobody is known to have; then there are no people"""
    named: list[PersonFact] = field(default_factory=list)
    """who a text says it is, by a name that nobody who is known bears"""


def references(question: str, people: People, *, implied: bool = False) -> Iterator[Reference]:
    """Whom a question may mean, the likeliest first: by names as they are written, by how they sound, of strangers.

    `the architect` is the owner's; with `implied`, `the mother` too.
    """
    mentions = _mentions(question, people)
    found = [Reference(one.start, one.end, list(one.person_ids), choices=len(one.person_ids) > 1) for one in mentions]
    if (one := _reference(question, people, found, implied=implied)) is not None:
        yield one
    if mentions:
        return
    for name in (*_by_sound(question, people), *_strangers(question, people)):
        one = _reference(question, people, [name], implied=implied)
        if one is not None and (one.people or one.named or one.unknown or _is_name(question, one)):
            yield one


def _reference(question: str, people: People, found: list[Reference], *, implied: bool) -> Reference | None:
    """What is said of those who are named, step by step: `the wife of my brother`."""
    names = [(one.start, one.end) for one in found]
    pending = [one for one in kin_words(question) if all(one.end <= start or one.start >= end for start, end in names)]
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


def _names(question: str) -> Iterator[tuple[int, int]]:
    """Where words stand that may be somebody's name, the longest first: they say nothing else of a question."""
    written = list(re.finditer(r"[^\W\d_]+", question))
    if len(written) > _MOST_WORDS:
        return
    kin, fillers = kin_words(question), load_phrases().people.fillers
    free = [
        bare(one[0]).casefold() not in fillers and all(one.end() <= kin.start or one.start() >= kin.end for kin in kin)
        for one in written
    ]
    for count in range(_LONGEST_NAME, 0, -1):
        for place in range(len(written) - count + 1):
            start, end = written[place].start(), written[place + count - 1].end()
            if all(free[place : place + count]) and not re.search(r"[^\w\s-]", question[start:end]):
                yield start, end


def _by_sound(question: str, people: People) -> Iterator[Reference]:
    """Those who are named in another script, or in another spelling: these only may be meant."""
    places = list(_names(question))
    typed = [[question[start:end], *_without_prefix(question[start:end])] for start, end in places]
    known = people.bearing(" ".join(dict.fromkeys(one for some in typed for one in some))) if typed else {}
    resolved = {one: person.resolved for one, person in known.items()}
    for (start, end), some in zip(places, typed, strict=True):
        for one in some:
            if ids := lookup.candidates(resolved, one):
                said = {script(name.full) for found in ids for name in resolved[found].names}
                yield Reference(start, end, ids, choices=len(ids) > 1 or script(one) in said)


def _is_name(question: str, reference: Reference) -> bool:
    """Whether what nobody is known by is a name all the same: by a capital, or as a given name."""
    said = question[reference.start : reference.end]
    capital = reference.start > 0 and said[0].isupper()
    return capital or (tables.plain(said) in tables.given_names() and said not in tables.common())


def _without_prefix(word: str) -> list[str]:
    """A Hebrew word without a letter that is written before names."""
    return [word[1:]] if word[0] in PREFIXED and len(word) >= _SHORTEST_PREFIXED else []


def _strangers(question: str, people: People) -> Iterator[Reference]:
    """Those whom a text names as somebody's relative, and who have no record of their own; and those nobody knows."""
    for start, end in _names(question):
        yield Reference(start, end, [], named=people.relatives_named(question[start:end]))


def _own_family(question: str, people: People) -> Iterator[Reference]:
    """The owner, where a question speaks of `my family`."""
    said, plain = load_phrases(), bare(question)
    if (owner := people.owner) is None:
        return
    for match in said.intent.family.finditer(plain):
        before = re.search(rf"(?<!\w)(?:{said.people.my})$", plain[: match.start()], re.IGNORECASE)
        behind = re.match(rf"(?:{said.people.my_behind})(?!\w)", plain[match.end() :])
        if before:
            yield Reference(before.start(), match.start(), [owner])
        elif behind:
            yield Reference(match.end(), match.end() + behind.end(), [owner])


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
    is_one = any(said in as_given(one) | inflections(one) for one in families)
    return name._replace(start=before.start()) if is_one else name


def _is_possessed(question: str, name: Mention) -> bool:
    """Whether a name that is also a word stands where only a name can."""
    before, behind = question[: name.start], question[name.end :]
    of = load_phrases().people.of
    if re.search(rf"(?:{of})$", before) and re.fullmatch(r"\W*", behind):
        return True
    return behind.startswith(("'s ", "’s ")) or (" " in question[name.start : name.end])


def _related(question: str, word: KinWord, found: list[Reference], people: People) -> Reference | None:
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
        if one.end <= word.start and re.fullmatch(rf"['’]s (?:\w+ )?|{said.have}| ", between):
            return _of_reference(one, one.start, word.end, word, people)
        between = plain[word.end : one.start]
        if word.end <= one.start and re.fullmatch(rf"{said.of}| ", between):
            start = word.start
            article = re.search(r"\bthe $", plain[:start])
            return _of_reference(one, article.start() if article else start, one.end, word, people)
    return None


def _of_reference(whose: Reference, start: int, end: int, word: KinWord, people: People) -> Reference:
    if whose.named and not whose.people:
        return _of_stranger(whose.named, start, end, word, people)
    one_name = len(whose.people) > 1 and people.bear_one_name(whose.people)
    if whose.unknown or (len(whose.people) > 1 and not one_name):
        return Reference(start, end, whose.people, whose.relations, choices=bool(whose.people), unknown=whose.unknown)
    every = [_of(one, start, end, word, people) for one in whose.people] or [_of(None, start, end, word, people)]
    # of several who bear one name, whoever somebody is known to be that to
    made = next((one for one in every if one.people or one.named), every[0])
    return replace(
        made, relations=[*whose.relations, *made.relations], choices=made.choices or (whose.choices and not one_name)
    )


def _of_stranger(facts: list[PersonFact], start: int, end: int, word: KinWord, people: People) -> Reference:
    """Who is that to somebody whom a text names as another's relative: her husband's wife is she."""
    back = {fact.person_id: INVERSE.get(fact.predicate, fact.predicate) for fact in facts}
    known = people.known(back)
    ids = [
        one
        for one, type_ in back.items()
        if type_ == word.type and _sex(known[one]) in ("", kinship.gender(word.word) or _sex(known[one]))
    ]
    return Reference(start, end, ids, choices=len(ids) > 1) if ids else _by_role(start, end, word, people, surely=False)


def _of(person_id: int | None, start: int, end: int, word: KinWord, people: People) -> Reference:
    """Who is that to a person; nobody where it is not known, or where what is known speaks against it."""
    if person_id is None:
        return _by_role(start, end, word, people, surely=False)
    relations = [one for one in people.relationships([person_id], {word.type}) if one.type == word.type]
    known = people.known(one.other_id for one in relations)
    fitting = [(one, _fits(word, one, known[one.other_id])) for one in relations if one.other_id in known]
    # where somebody is said to be it, those of whom nothing is said are not
    surely = [one for one, fits in fitting if fits]
    relations = surely or [one for one, fits in fitting if fits is None]
    named = [] if surely and word.type == _ONLY_ONE else _named(word, person_id, people, known)
    if named and not surely and (not relations or kinship.gender(word.word)):
        return Reference(start, end, [], unknown=word.type, named=named)
    if not relations:
        return _by_role(start, end, word, people, surely=person_id == people.owner)
    ids = list(dict.fromkeys(one.other_id for one in relations))
    # of two parents one is the father, so the other is the mother
    left = word.type == _ONE_OF_TWO and len(ids) == 1 and any(fits is False for _, fits in fitting)
    maybe = bool(ids) and not (surely or left) and word.type != _ONLY_ONE
    return Reference(start, end, ids, relations, choices=maybe, named=named)


def _by_role(start: int, end: int, word: KinWord, people: People, *, surely: bool) -> Reference:
    """Who has that occupation: the owner's architect; of anybody else he may be."""
    ids = people.working_as(word.type)
    maybe = bool(ids) and (len(ids) > 1 or not surely)
    return Reference(start, end, ids, choices=maybe, unknown="" if ids else word.type)


def _named(word: KinWord, person_id: int, people: People, known: dict[int, IndexedPerson]) -> list[PersonFact]:
    """Who a text says it is, by a name that nobody who is known bears, or several; none of those who are `known`."""
    asked = kinship.gender(word.word)
    facts = [one for one in people.facts([person_id]) if one.predicate == word.type]
    said = [{kinship.gender(one) for one in re.findall(r"[\w-]+", fact.source_quote or "")} - {""} for fact in facts]
    borne = {
        name for one in known.values() for written in one.resolved.names for name in (written.full, written.words[0])
    }
    return [
        fact
        for fact, told in zip(facts, said, strict=True)
        if (not asked or (told or {gender_of(fact.value)}) == {asked}) and parse(fact.value).full not in borne
    ]


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
