"""What an answer needs to know of people, read from a generation."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from zoneinfo import ZoneInfo

import duckdb

from relrag_pipelines.settings import now
from relrag_query.people import answers, writers
from relrag_query.people.knowledge import PeopleAnswer
from relrag_query.people.people import People
from relrag_query.retrieval.context import QueryContext
from relrag_query.retrieval.hit import Hit
from relrag_query.understanding.people_question import PeopleQuestion


@dataclass(frozen=True)
class ArchivePeople:
    """The `PeopleKnowledge` of a generation."""

    people: People
    connection: duckdb.DuckDBPyConnection

    def answer(self, question: PeopleQuestion, context: QueryContext) -> PeopleAnswer | None:
        """The answer to a question about people, as of today; None if nothing is known."""
        today = now().astimezone(ZoneInfo(context.settings.timezone)).date()
        return answers.answer(question, self.people, context, today)

    def fact_hits(self, person_ids: Iterable[int]) -> tuple[Hit, ...]:
        """The names and facts of these people."""
        return answers.fact_hits(person_ids, self.people)

    def notice_of_nobody(self, type_: str, texts: Iterable[str]) -> str:
        """The notice that nobody is stated to be a `type_`."""
        return answers.stated_by_nobody(type_, texts)

    def writer_names(self, refs: Mapping[str, str]) -> Mapping[str, Sequence[str]]:
        """Quote -> names of its writers."""
        return writers.names(refs, self.people, self.connection)

    def with_writers(self, hits: Sequence[Hit]) -> list[Hit]:
        """The hits, each with its writers."""
        return writers.with_writers(hits, self.people, self.connection)

    def people_of(self, named: Collection[int], answer: str, quoted: Iterable[str]) -> set[int]:
        """The people whom a question or its answer certainly names, and the writers of the records that it quotes."""
        return writers.people_of(named, answer, quoted, self.people, self.connection)
