"""Who may be a relative whom nothing states: who is named in passages near a word for such a relative.

`and the girls?`, `Isla broke a tooth, Skye a window`, `love to my nieces`: each name near such a word has a score, by
whose relative the words are of, how far away the name is, and whether it is of a man or a woman. The best are offered.
"""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from relrag_pipelines.identity import implied_kin
from relrag_pipelines.identity.kin_phrases import KinPhrase, kin_phrases
from relrag_pipelines.identity.kinship import is_quoted, sentence_begin
from relrag_pipelines.identity.mentions import Mention, certain_person
from relrag_pipelines.identity.strangers import name_at
from relrag_pipelines.people.implied_statements import IMPLIED_CONFIDENCE
from relrag_pipelines.records import PersonFact
from relrag_pipelines.text import kinship
from relrag_pipelines.text.names import tables
from relrag_pipelines.text.names.forms import gender_of
from relrag_query.people import family_names
from relrag_query.people.conversations import Said, conversations
from relrag_query.people.kin_words import KinWord, type_forms
from relrag_query.people.people import People
from relrag_query.people.relations import KIN_PATHS
from relrag_query.people.relatives import ways
from relrag_query.retrieval.context import QueryContext

_MESSAGES = 3
"""messages before and behind one with such a word in which names are looked for"""
_FAR = 200
"""characters of a text within which a name is near a word"""
_SOON = 6 * 3600
"""seconds within which these follow one another"""
_FEWEST = 3
"""letters of a name that no list has"""
_MOST_STEPS = 6
"""people by way of whom a relative is looked for"""
_MOST = 3
"""people who are offered"""
_WEIGHTS = {
    "bias": -0.18,
    "of_whom": 1.17,
    "same_sentence": 0.89,
    "same_text": -0.77,
    "messages_away": -0.56,
    "behind": 0.38,
    "begins": 0.63,
    "beside": 0.11,
    "fits": -0.18,
    "stranger": -0.25,
    "speaks": -0.26,
    "is_word": 0.18,
    "unlisted": -0.43,
    "others": -0.79,
    "times": -0.27,
    "not_own": -0.51,
    "by_way_of": -0.15,
}
"""what each figure of a name counts: `python -m tuning.people.fit`, from the questions that may be looked at"""
_WHOSE = ("of_whom", "not_own")
"""figures of whose relative a word speaks"""
_LEAST = 0.2
"""score below which no name is offered: of those above it a third are right"""


class NameNear(NamedTuple):
    """A name near a word for a relative."""

    name: str
    person_id: int | None
    ref: str
    quote: str
    figures: dict[str, float]


class Step(NamedTuple):
    """Somebody by way of whom another may be a relative."""

    via: int
    word: KinWord
    """what that other is to him"""
    surely: bool
    """whether it is stated that he is on the way"""


def possible_relatives(of: int, word: KinWord, people: People, context: QueryContext) -> list[PersonFact]:
    """Who may be that to a person, the likeliest first, as facts with a score as confidence; mostly nobody."""
    best: dict[str, PersonFact] = {}
    steps = _steps(of, word, people)
    for one in every_name(of, word, steps, people, context):
        chance = score(one.figures)
        name = people.by_id([one.person_id])[one.person_id].name if one.person_id is not None else one.name
        if chance >= _LEAST and (name not in best or best[name].confidence < chance):
            best[name] = PersonFact(of, word.type, name, chance, one.ref, one.quote)
    found = sorted(best.values(), key=lambda one: -one.confidence)[:_MOST]
    found = [replace(one, confidence=min(one.confidence, IMPLIED_CONFIDENCE)) for one in found]  # never certain
    alike = {one.name: "" for one in family_names.bearers(of, word, people)}
    own = {of} | {one.other_id for one in people.relationships([of])}
    for via, second, surely in steps if not alike else ():
        family = family_names.bearers(via, second, people) if surely else ()
        alike |= {one.name: family_names.reference(via) for one in family if one.person_id not in own}
    return [*found, *(PersonFact(of, word.type, name, _LEAST, ref) for name, ref in alike.items() if name not in best)]


def score(figures: dict[str, float]) -> float:
    """How often a name with such figures is right."""
    return 1 / (1 + math.exp(-sum(_WEIGHTS[name] * value for name, value in figures.items())))


def every_name(
    of: int, word: KinWord, steps: Sequence[Step], people: People, context: QueryContext
) -> Iterator[NameNear]:
    """The names near words for such a relative, and near those for who is one by way of somebody else."""
    yield from names_near(of, word, people, context)
    for via, second, _ in steps:
        for near in names_near(via, second, people, context):
            if near.person_id != of:
                yield near._replace(figures=near.figures | {"by_way_of": 1.0})


def _steps(of: int, word: KinWord, people: People) -> list[Step]:
    """By way of whom somebody may be such a relative; each is searched for, so of many only a few."""
    found = []
    for first, second in KIN_PATHS.get(word.type, ()):
        known = [(person_id, bool(stated)) for person_id, stated in ways(of, first, people)]
        likely = [(one.person_id, False) for one in family_names.bearers(of, KinWord(0, 0, first, ""), people)]
        found += [Step(via, word._replace(type=second), surely) for via, surely in known or likely]
    return sorted(found, key=lambda one: not one.surely)[:_MOST_STEPS]


def names_near(of: int, word: KinWord, people: People, context: QueryContext) -> list[NameNear]:
    """Every name near such a word, that may be of the relative."""
    asked = type_forms(word.type)
    where = replace(context.limits, person_ids=tuple(people.ids_in_index([of])))
    chats = conversations(asked, where, people, context)
    every = [one for some in chats for one in some]
    if not every:
        return []
    finder = people.finder("\n".join(one.text for one in every))
    named = {one.text: [*names_in(one.text, finder.find(one.text))] for one in every}
    found = []
    for some in chats:
        for place, one in enumerate(some):
            for phrase in kin_phrases(one.text, finder.find(one.text)):
                if whose := _whose(phrase, word, one, of):
                    near = [*_near(some, place, phrase, named, word, of)]
                    found += [_with_figures(name, whose, len(near)) for name in near]
    times: defaultdict[str, set[str]] = defaultdict(set)
    for other in found:
        times[other.name].add(other.ref)
    return [other._replace(figures=other.figures | {"times": math.log(len(times[other.name]))}) for other in found]


def _whose(phrase: KinPhrase, word: KinWord, said: Said, of: int) -> str:
    """`of_whom` where a phrase is of that person's relative; else empty, or, where it does not say whose:

    `not_own` where somebody else writes it and would mean his own, else `open`.
    """
    written = said.text[phrase.start : phrase.end]
    sexes = {kinship.gender(one) for one in re.findall(r"[\w-]+", written)} - {""}
    asked = kinship.gender(word.word)
    if phrase.type != word.type or (asked and sexes and asked not in sexes):
        return ""
    if is_quoted(said.text, sentence_begin(said.text, phrase.start), phrase.end):
        return ""
    owner = phrase.owner
    if isinstance(owner, Mention):
        return "of_whom" if certain_person(owner, said.present) == of else ""
    if owner in ("writer", "reader"):
        both = any(one in kinship.shared_words() for one in re.findall(r"[^\W\d_]+", written.lower()))
        whom = {said.writer, said.reader} if both else {said.writer if owner == "writer" else said.reader}
        return "of_whom" if of in whom else "open" if whom == {None} else ""
    others = not owner and said.writer not in (None, of) and implied_kin.means_own(phrase, said.text)
    return "not_own" if others else "open"


def names_in(text: str, mentions: Sequence[Mention]) -> Iterator[tuple[Mention, str]]:
    """The names in a text, each with what speaks against its being one: `is_word`, `unlisted`, or nothing."""
    taken = []
    for one in implied_kin.people_named(text, mentions):
        taken.append((one.start, one.end))
        yield one, ""
    for match in re.finditer(r"[^\W\d_]+", text):
        if any(match.end() > start and match.start() < end for start, end in taken):
            continue
        plain = tables.plain(match[0])
        if plain in tables.given_names() and not match[0].islower() and plain not in kinship.types_of_names():
            yield Mention(*match.span(), (), True), "is_word"
        elif len(match[0]) >= _FEWEST and (name := name_at(text, match.start(), capital=True)):
            taken.append((name.start, name.end))
            yield name, "unlisted"


def _near(
    some: Sequence[Said],
    place: int,
    phrase: KinPhrase,
    named: dict[str, list[tuple[Mention, str]]],
    word: KinWord,
    of: int,
) -> Iterator[NameNear]:
    """The names near a phrase that may be of whom it speaks of, each with how far away it is."""
    here = some[place]
    for number in range(max(0, place - _MESSAGES), min(len(some), place + _MESSAGES + 1)):
        said = some[number]
        if abs(said.ts - here.ts) > _SOON:
            continue
        for name, doubt in named[said.text]:
            person = certain_person(name._replace(is_word=False), said.present)
            away = max(phrase.start - name.end, name.start - phrase.end) if number == place else 0
            if not 0 <= away <= _FAR or person == of:
                continue
            base = implied_kin.base_name(said.text, name)
            sex, asked = gender_of(base.split(" ")[0]), _sex(word, phrase, here.text)
            if sex and asked and sex != asked:
                continue
            begin = sentence_begin(said.text, name.start)
            figures = {
                "bias": 1.0,
                "same_text": float(number == place),
                "same_sentence": float(number == place and begin == sentence_begin(said.text, phrase.start)),
                "messages_away": float(abs(number - place)),
                "behind": float((number, name.start) > (place, phrase.start)),
                "begins": float(not said.text[begin : name.start].strip()),
                "beside": float(number == place and 0 <= name.start - phrase.end <= 2),
                "fits": float(bool(sex) and sex == asked),
                "stranger": float(person is None),
                "speaks": float(person is not None and person in (here.writer, here.reader)),
                "is_word": float(doubt == "is_word"),
                "unlisted": float(doubt == "unlisted"),
            }
            yield NameNear(base, person, said.ref, _quote(here, phrase, said), figures)


def _sex(word: KinWord, phrase: KinPhrase, text: str) -> str:
    """m or f by the word of the question, else by that of the passage."""
    said = re.findall(r"[\w-]+", text[phrase.start : phrase.end])
    return kinship.gender(word.word) or next((sex for one in said if (sex := kinship.gender(one))), "")


def _quote(here: Said, phrase: KinPhrase, said: Said) -> str:
    """The words for the relative and those that name somebody."""
    if here.ref == said.ref and here.text == said.text:
        return shorten(here.text)
    both = [here, said] if here.ts <= said.ts else [said, here]
    return " ... ".join(shorten(one.text) for one in both)


def shorten(text: str) -> str:
    """The beginning of a text, in one line."""
    line = " ".join(text.split())
    return line if len(line) <= 160 else f"{line[:160]}…"


def _with_figures(one: NameNear, whose: str, others: int) -> NameNear:
    said = {verdict: float(whose == verdict) for verdict in _WHOSE}
    return one._replace(figures=one.figures | said | {"others": math.log(others)})
