"""Texts that state facts of people, and what the patterns find in them."""

from __future__ import annotations

from datetime import date
from pathlib import Path

from relrag_pipelines.identity.kinship import stated_relations
from relrag_pipelines.identity.text_facts import stated_facts, stated_roles
from relrag_pipelines.text import kinship
from tests.identity.kinship_set import FINDER, SPEAKERS, Judged, end_of, judged

FOLDER = Path(__file__).with_name("facts")
DAY = date(2024, 5, 10)
"""of the texts"""
Fact = tuple[tuple[int, ...] | str, str, tuple[int, ...] | str]


def judge(name: str) -> Judged:
    """Precision and recall of the facts in a file."""
    return judged(FOLDER / f"{name}.txt", _stated, _fact)


def _stated(text: str) -> set[Fact]:
    mentions = FINDER.find(text)
    made: set[Fact] = {(end_of(one.owner), one.predicate, one.value) for one in stated_facts(text, mentions, DAY)}
    related = [*stated_relations(text, mentions), *stated_roles(text, mentions)]
    return made | {(end_of(one.owner), one.relationship_type, end_of(one.other)) for one in related}


def _fact(said: str) -> Fact:
    owner, predicate, value = (part.strip() for part in said.split(">", 2))
    if predicate == "phone" and value == "PHONE":
        return _who(owner), predicate, "<PHONE_NUMBER:k1:0a1b2c3d4e5f>"
    of_people = predicate == "introducer" or predicate in kinship.relationship_types()
    known = [one for one in FINDER.find(value) if (one.start, one.end) == (0, len(value))] if of_people else []
    return _who(owner), predicate, _who(value) if known or value in SPEAKERS else value


def _who(name: str) -> tuple[int, ...] | str:
    return SPEAKERS[name] if name in SPEAKERS else FINDER.find(name)[0].person_ids
