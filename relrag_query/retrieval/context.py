"""One query and its steps: the data that all steps share, and the trace of what each did.

A step is a function from hits to hits. Hits are immutable: a step removes some, adds others, or replaces one by a copy
with more fields.
"""

from __future__ import annotations

import functools
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import duckdb

from relrag_pipelines.errors import RelragError
from relrag_pipelines.records import Chunk, ManualLink
from relrag_pipelines.stores.vectors.protocol import ChunkFilter, Vectors, VectorStore
from relrag_pipelines.workers import cancellation
from relrag_query.retrieval import catalog_reader
from relrag_query.retrieval.hit import Hit
from relrag_query.retrieval.query_settings import QuerySettings
from relrag_query.retrieval.question import Question
from relrag_query.retrieval.spelling import Spellings
from relrag_query.retrieval.term_coverage import Frequencies
from relrag_query.understanding.intent import Expansion, expansion_for
from relrag_query.understanding.people_question import PeopleQuestion
from relrag_query.understanding.time_expressions import TimeRange

MIN_CANDIDATES = 8
"""smallest number of hits that are ranked, so that a smaller limit returns the first of the same list"""


class RerankError(RelragError):
    """The service did not score the passages; the message says why and contains neither text nor key."""


Rank = Callable[[str, Sequence[str]], tuple[list[float], str]]
"""question and texts -> how relevant each text is, 0 to 1, and which model says so; raises RerankError"""


@dataclass
class QueryContext:
    """One query: the question and the open generation."""

    question: Question
    search_text: str
    """the question without its relative time phrase, with pseudonyms beside the personal data that they stand for, and
    words of the archive beside those that may be mistyped"""
    redacted_text: str
    """the same as it would stand in the index: what may be sent to a service"""
    limits: ChunkFilter
    limit: int
    """number of hits that are ranked: at least MIN_CANDIDATES, however many are shown"""
    settings: QuerySettings
    connection: duckdb.DuckDBPyConnection
    vectors: VectorStore
    frequencies: Frequencies = field(default_factory=dict)
    passage_count: int = 0
    """number of all passages of the generation"""
    meaning: Vectors | None = None
    """the question's dense vector; None: search by words only"""
    embedded_text: str = ""
    """the redacted text that this is the vector of"""
    similarities: Callable[[Sequence[str]], tuple[Vectors, Vectors]] | None = None
    """similarity of texts to the question, and their vectors (`QuestionVectors.similarities`); None by words alone"""
    lexical_reason: str = ""
    """why the search is by words only"""
    rank: Rank | None = None
    """scores texts with a reranking service; None if none is set"""
    spellings: Spellings = field(default_factory=dict)
    translated: Mapping[str, float] = field(default_factory=dict)
    """tokens of what the words of the question mean in other languages -> what each counts in a search"""
    usual_names: Callable[[Sequence[str]], Mapping[str, str]] | None = None
    """the usual name of who sent each of these records, as far as it is known; None where people are not"""
    sent_by_named: Callable[[Sequence[str]], frozenset[str]] | None = None
    """which of these records the named people sent; None where people are not known"""
    later_links: Sequence[ManualLink] = ()
    """the owner's links between records since the generation was published, and removals of edges"""
    settle: Callable[[PeopleQuestion], PeopleQuestion | None] = lambda request: request
    """decides by the meaning of relationships what a question about people leaves open; None if nobody is meant"""
    redact: Callable[[str], str] = str
    """replaces personal data of a text as in the index"""
    matter: tuple[Hit, ...] = ()
    """of a follow-up: the best hits of its earlier question"""
    people_hits: tuple[Hit, ...] = ()
    """facts about the people in the question, and passages about them"""
    excluded_labels: frozenset[str] = frozenset()
    """Gmail labels in lower case; mail with one of them is left out"""
    trace: list[str] = field(default_factory=list)

    @functools.cached_property
    def expansion(self) -> Expansion:
        """How far the query follows relations from the hits, given its intents."""
        return expansion_for(self.question.intents)

    @functools.cached_property
    def limits_in_time(self) -> ChunkFilter:
        """The limits, narrowed to the time that the question mentions."""
        return _narrow(self.limits, self.question.time) if self.question.time else self.limits

    def allows(self, chunk: Chunk) -> bool:
        """Whether a passage lies within the limits, of sources, time, attachments and people."""
        where = self.limits
        if where.within and chunk.chunk_id not in where.within:
            return False
        if not where.allows(chunk.source, chunk.kind, chunk.ts):
            return False
        return not where.person_ids or catalog_reader.concerns(self.connection, chunk.chunk_id, where.person_ids)

    def note(self, step: str, did: str) -> None:
        """Adds a line to the trace."""
        self.trace.append(f"{step}: {did}")


class Step(NamedTuple):
    """One step of a query."""

    number: int
    """which of the eight it belongs to: 1 hybrid search, 2 rerank, 3 time window, 4 document chunks, 5 asset
    neighbourhood, 6 recency in chats, 7 people, 8 token budget"""
    name: str
    apply: Callable[[list[Hit], QueryContext], list[Hit]]


def run(steps: Sequence[Step], context: QueryContext) -> list[Hit]:
    """Runs the steps on an empty list; traces which hits each step added and removed, with scores and reasons."""
    hits: list[Hit] = []
    for step in steps:
        cancellation.check()
        started, noted = time.perf_counter(), len(context.trace)
        new_hits = step.apply(hits, context)
        milliseconds = (time.perf_counter() - started) * 1000
        notes = [line.partition(": ")[2] for line in context.trace[noted:]]
        head = "; ".join([f"{len(hits)} in, {len(new_hits)} out", *notes])
        context.trace[noted:] = [
            f"{step.number} {step.name}: {head} ({milliseconds:.1f} ms)",
            *_changes(hits, new_hits),
        ]
        hits = new_hits
    return hits


def _changes(before: Sequence[Hit], after: Sequence[Hit]) -> Iterator[str]:
    """A line for each hit that was added (+), removed (-) or scored anew (~)."""
    earlier = {hit.chunk.chunk_id: hit for hit in before}
    later = {hit.chunk.chunk_id for hit in after}
    for hit in after:
        was, why = earlier.get(hit.chunk.chunk_id), hit.related or hit.why
        scores = f"score {hit.score:.3f}, display {hit.display_score:.2f}"
        if was is None:
            yield f"  + {_name(hit)}: {', '.join(filter(None, (scores, hit.role, why)))}"
        elif (was.score, was.display_score) != (hit.score, hit.display_score):
            yield f"  ~ {_name(hit)}: {scores}, before {was.score:.3f} and {was.display_score:.2f}"
    yield from (f"  - {_name(hit)}" for hit in before if hit.chunk.chunk_id not in later)


def _name(hit: Hit) -> str:
    chunk = hit.chunk
    return chunk.asset_id if chunk.chunk_count == 1 else f"{chunk.asset_id}, passage {chunk.chunk_index + 1}"


def _narrow(where: ChunkFilter, when: TimeRange) -> ChunkFilter:
    since = max((bound for bound in (where.ts_from, when.since) if bound is not None), default=None)
    until = min((bound for bound in (where.ts_to, when.until) if bound is not None), default=None)
    return replace(where, ts_from=since, ts_to=until)
