"""Who may have brought somebody and the owner together, where nothing states it: by passages that speak of that one.

`Call Vadim, I got him from Shira`, `write to Jakub, 777 420 118, say I sent you`: whoever writes such a passage
or is named in it has a score, by what else the passage says. The best are offered.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

from relrag_pipelines.identity.implied_kin import base_name
from relrag_pipelines.identity.kin_phrases import kin_phrases
from relrag_pipelines.identity.mentions import Mention, MentionFinder, certain_person
from relrag_pipelines.people.implied_statements import IMPLIED_CONFIDENCE
from relrag_pipelines.records import PersonFact
from relrag_pipelines.text import fact_phrases, kinship
from relrag_pipelines.text.analyzer import fold
from relrag_pipelines.text.fact_phrases import INTRODUCER
from relrag_query.people.conversations import Said, conversations
from relrag_query.people.kin_words import type_forms
from relrag_query.people.passage_candidates import names_in, shorten
from relrag_query.people.people import People
from relrag_query.retrieval.context import QueryContext
from relrag_query.understanding.phrases import bare, load_phrases

_MOST = 3
"""people who are offered"""
_LEAST = 0.2
"""score below which nobody is offered"""
_WEIGHTS = {
    "bias": -0.29,
    "writes": 1.95,
    "by_owner": -0.11,
    "first": 0.32,
    "from": 0.90,
    "others": -0.79,
    "unlisted": -1.86,
}
"""what each figure of somebody counts: `python -m tuning.people.fit introductions`"""


class Introduced(NamedTuple):
    """Who was introduced to the owner."""

    people: tuple[int, ...]
    words: str
    """as the question has it, where no person is known to be meant: `the spice guy`"""


class Introducer(NamedTuple):
    """Who may have done it."""

    name: str
    ref: str
    quote: str
    figures: dict[str, float]


def possible_introducers(whom: Introduced, people: People, context: QueryContext) -> list[PersonFact]:
    """Who may have introduced somebody, the likeliest first: whoever writes of him may, before whom a text names.

    Of the owner where no person is meant.
    """
    of = whom.people[0] if whom.people else people.owner
    best: dict[str, PersonFact] = {}
    for one in introducers(whom, people, context) if of is not None else ():
        chance = score(one.figures)
        if (
            of is not None
            and one.name
            and chance >= _LEAST
            and (one.name not in best or best[one.name].confidence < chance)
        ):
            best[one.name] = PersonFact(of, INTRODUCER, one.name, chance, one.ref, one.quote)
    found = sorted(best.values(), key=lambda one: -one.confidence)[:_MOST]
    return [replace(one, confidence=min(one.confidence, IMPLIED_CONFIDENCE)) for one in found]


def score(figures: dict[str, float]) -> float:
    """How often somebody with such figures is right."""
    return 1 / (1 + math.exp(-sum(_WEIGHTS[name] * value for name, value in figures.items())))


def introducers(whom: Introduced, people: People, context: QueryContext) -> Iterator[Introducer]:
    """Everybody who writes a passage that speaks of somebody, or is named in it."""
    aliases = [
        row["alias"] for one in people.by_id(whom.people).values() for row in one.aliases if row["kind"] == "name"
    ]
    roles = kinship.roles_in(whom.words)
    asked = " ".join([*aliases, whom.words, *(type_forms(one) for one in roles)])
    every = [one for some in conversations(asked, context.limits, people, context) for one in some]
    finder = people.finder("\n".join(one.text for one in every))
    telling = [one for one in every if _is_about(whom, roles, one, finder)]
    first = min((one.ts for one in telling if one.ts), default=0)
    for said in telling:
        yield from _of_passage(whom, said, finder, people, 0 < said.ts == first)


def _is_about(whom: Introduced, roles: frozenset[str], said: Said, finder: MentionFinder) -> bool:
    """Whether a passage speaks of somebody, or he writes or reads it."""
    mentions = finder.find(said.text)
    if whom.people:
        meant = [one for mention in mentions for one in mention.person_ids]
        return not {said.writer, said.reader, *meant}.isdisjoint(whom.people)
    if roles:
        return any(one.type in roles for one in kin_phrases(said.text, mentions))
    fillers = load_phrases().people.fillers
    wanted = {fold(word) for word in re.findall(r"\w{3,}", whom.words) if bare(word).casefold() not in fillers}
    return any(fold(word) in wanted for word in re.findall(r"\w{3,}", said.text))


def _of_passage(
    whom: Introduced, said: Said, finder: MentionFinder, people: People, first: bool
) -> Iterator[Introducer]:
    known = people.by_id([said.writer] if said.writer is not None else [])
    named = [*_others(whom, said, finder, people)]
    figures = {
        "bias": 1.0,
        "by_owner": float(said.writer is not None and said.writer == people.owner),
        "first": float(first),
        "others": math.log(1 + len(named)),
    }
    if said.writer is not None and said.writer != people.owner and said.writer not in whom.people:
        yield Introducer(known[said.writer].name, said.ref, shorten(said.text), figures | {"writes": 1.0})
    for one, name, doubt in named:
        own = {
            "from": float(fact_phrases.is_from(said.text[: one.start])),
            "unlisted": float(doubt == "unlisted"),
        }
        yield Introducer(name, said.ref, shorten(said.text), figures | own)


def _others(whom: Introduced, said: Said, finder: MentionFinder, people: People) -> Iterator[tuple[Mention, str, str]]:
    """Who else is named in a passage, by what name, and what speaks against its being one."""
    called = {
        word for one in people.by_id(whom.people).values() for name in one.resolved_person.names for word in name.words
    }
    for one, doubt in names_in(said.text, finder.find(said.text)):
        person = certain_person(one._replace(is_word=False), said.present)
        base = base_name(said.text, one)
        if person in (*whom.people, people.owner, said.writer) or {*one.person_ids} & {*whom.people}:
            continue
        if person is None and {fold(word) for word in base.split()} & {fold(word) for word in called}:
            continue
        yield one, people.by_id([person])[person].name if person is not None else base, doubt
