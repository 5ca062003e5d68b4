"""What a question says of people, as slots: who is meant, the relations that lead to them, and the fact in question."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from relrag_pipelines.records import PersonFact, PersonRelationship

QuestionType = Literal["who", "fact", "family"]

UNKNOWN_OWNER = "number or address"
"""`unknown` of a question about a number or address whose owner no record states"""


@dataclass(frozen=True)
class Relation:
    """A relationship from the side of one person."""

    person_id: int
    other_id: int
    type: str
    """the relationship type of the other to the person"""
    row: PersonRelationship


@dataclass
class PeopleQuestion:
    """What a question asks of people."""

    asks: QuestionType
    people: list[int]
    """the people that it is about; of `who` the answer. Several if it is not certain, or if several are meant"""
    relations: list[Relation] = field(default_factory=list)
    """the relations that lead to them, in the order of the question"""
    predicate: str = ""
    """of `fact`: age, birthday, lives_in, works_at, occupation, phone or email"""
    ambiguous: bool = False
    """`people` may be meant, but it is not certain"""
    unknown: str = ""
    """a relationship that nobody is known to have; then there are no people"""
    relative_facts: list[PersonFact] = field(default_factory=list)
    """facts that name the relative in question, if no known person bears that name"""
    described: bool = False
    """it describes one of `relations` by words that none of them has; meaning decides"""


@dataclass(frozen=True)
class PeopleInQuestion:
    """The people in a question."""

    named: tuple[int, ...] = ()
    """the people whom it may name, in the order of the names"""
    in_index: tuple[int, ...] = ()
    """the ids by which the passages of the generation know them"""
    relatives_in_index: tuple[int, ...] = ()
    """the same of their family, where the question is about it"""
    request: PeopleQuestion | None = None
    """what it asks of people; None if it asks something else"""
    about_somebody: bool = False
    """it asks for a person or for a fact about one: a passage that seems to answer may be about another person"""
    asks_who_said: bool = False
    """it asks for the person who said or wrote something"""
