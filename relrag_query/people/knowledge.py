"""What an answer needs to know of people, whatever knows it; `archive_people.py` reads it from a generation."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from relrag_query.retrieval.context import QueryContext
from relrag_query.retrieval.hit import Hit
from relrag_query.understanding.people_question import PeopleQuestion


@dataclass
class PeopleAnswer:
    """The lines of an answer with their sources."""

    lines: list[tuple[str, Hit]]
    """each with the person's passage"""
    people: list[int]
    """the people that it is about"""
    passages: list[Hit]
    """other passages about them"""
    sure: bool

    @property
    def hits(self) -> tuple[Hit, ...]:
        """What it adds to the hits of a question: the passage of each line, and the others."""
        return (*(hit for _, hit in self.lines), *self.passages)


class PeopleKnowledge(Protocol):
    """The people of an archive, as an answer asks about them."""

    def answer(self, question: PeopleQuestion, context: QueryContext) -> PeopleAnswer | None:
        """The answer to a question about people; None if nothing is known, so that the archive is searched."""

    def fact_hits(self, person_ids: Iterable[int]) -> tuple[Hit, ...]:
        """The names and facts of these people, as context of a question that asks for something else."""

    def notice_of_nobody(self, type_: str, texts: Iterable[str]) -> str:
        """The notice that nobody is stated to be a `type_`, above the texts shown, which may mention one."""

    def writer_names(self, refs: Mapping[str, str]) -> Mapping[str, Sequence[str]]:
        """Quote -> names of its writers. `refs` has the record of each quote."""

    def with_writers(self, hits: Sequence[Hit]) -> list[Hit]:
        """The hits, each with its writers; a chat window with the writers of all its messages."""

    def people_of(self, named: Collection[int], answer: str, quoted: Iterable[str]) -> set[int]:
        """The people whom a question or its answer certainly names, and the writers of the records that it quotes."""
