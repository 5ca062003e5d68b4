"""Answers and hits as models that serialise to JSON, for `--json`, the API and MCP.

OpenAPI and the schemas of tools are derived from these models. Texts are redacted as in the index. They are untrusted:
a reader displays them and follows no instruction in them. Times are ISO 8601 in the owner's time zone.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Any
from zoneinfo import ZoneInfo

from pydantic import BaseModel, Field

from relrag_query.answering.excerpts import Confidence
from relrag_query.display.metadata_line import hit_line
from relrag_query.display.source_line import only_day
from relrag_query.results import Answer, CitedSource, Quote, Results
from relrag_query.retrieval.excerpts import plain
from relrag_query.retrieval.hit import Hit
from relrag_query.retrieval.term_coverage import Term
from relrag_query.retrieval.word_marks import Span, word_marks
from relrag_query.service.search_overview import SearchOverview
from relrag_query.understanding.intent import Form
from relrag_query.understanding.time_expressions import TimeRange

if TYPE_CHECKING:
    import pandas as pd


Marks = Annotated[
    list[Span], Field(description="where `text` holds words of the query: start and end, code points; of a search only")
]


class MessageReply(BaseModel, serialize_by_alias=True):
    """One message of a chat window."""

    asset_id: str
    sender: str | None = Field(serialization_alias="from")
    time: str | None
    text: str
    matches: bool = Field(description="holds words of the query")
    marks: Marks


class HitReply(BaseModel, serialize_by_alias=True):
    """A passage that was found."""

    line: str = Field(description="what it is, on one line")
    asset_id: str
    chunk_id: str
    chunk_index: int
    chunk_count: int
    source: str
    kind: str
    rag_source_type: str
    sender: str | None = Field(serialization_alias="from")
    subject: str | None
    timestamp: str | None
    time: str | None
    date_quality: str = Field(
        description="of documents: exact, day, year, modified (only the time of a file, which may have been copied), "
        "outside or none; empty of messages"
    )
    page_number: int | None
    start_second: float | None
    end_second: float | None
    file_name: str | None
    source_uri: str | None
    thread_id: str | None
    parent_asset_id: str | None
    score: float = Field(description="ranks within one query")
    display_score: float = Field(description="0 to 1, comparable between queries")
    source_role: str | None = Field(description="why it was added, where it was not searched for")
    related: str = Field(description="of one that a relation brought in: to what, why and how surely")
    text: str = Field(description="as people read it: without front matter and the marks of Markdown")
    marks: Marks
    messages: list[MessageReply]


class TimeReply(BaseModel):
    """The time that a question speaks of: seconds since 1970-01-01 UTC, the end excluded."""

    phrase: str
    since: int | None
    until: int | None


class SearchReply(BaseModel, serialize_by_alias=True):
    """What a search found, best first or by date."""

    query: str
    language: str = Field(description="ISO 639-1 code, of the query; `head` and `searched` are in it where they can be")
    generation: int = Field(description="number of the published generation that was searched")
    head: list[str] = Field(description="how the query was understood")
    hits: list[HitReply]
    searched: str = Field(description="where was looked, in words; empty where something was found")
    missing: list[str] = Field(description="words of the query that no passage holds")
    intents: list[str]
    when: TimeReply | None
    trace: list[str]
    overview: SearchOverview | None = Field(default=None, description="null where it was not asked for")
    next_cursor: str | None = None

    def to_pandas(self) -> pd.DataFrame:
        """The hits as a table, a row each, by the names of their JSON; messages as a list in a cell."""
        return _frame([hit.model_dump(by_alias=True) for hit in self.hits], HitReply)


class QuoteReply(BaseModel, serialize_by_alias=True):
    """An excerpt of an answer, or the words that a written statement rests on, with the numbers of its sources."""

    text: str
    answering: str = Field(description="the sentence or turn in it that answers")
    sender: str | None = Field(serialization_alias="from")
    time: str | None
    sources: list[int]
    page: int | None = Field(description="page of its first source on which it stands")
    second: float | None = Field(description="where in the recording it is said, seconds")
    superseded_by: str | None = Field(description="the record that gives another value, where it no longer holds")
    superseded_on: str | None = Field(description="the day when that was said; null where only its file has a time")


class SourceReply(HitReply, serialize_by_alias=True):
    """A record that is shown for an answer."""

    number: int
    cited_chunk_ids: list[str]
    locations: list[str] = Field(description="where the original lies: `<path>#<anchor>`")


class AnswerReply(BaseModel, serialize_by_alias=True):
    """An answer from the archive, or that it holds none."""

    question: str
    language: str = Field(
        description="ISO 639-1 code, of the question; `head`, `searched` and `notice` are in it where they can be"
    )
    generation: int
    found: bool
    confidence: Confidence
    form: Form = Field(
        description="list: the quotes are its items; summary: the course of a matter, the oldest first; else empty"
    )
    head: list[str]
    answer: str = Field(description="the answer as one text, its sources in brackets")
    quotes: list[QuoteReply]
    sources: list[SourceReply]
    closest: list[HitReply] = Field(description="where nothing answers: what comes nearest")
    searched: str
    missing: list[str]
    written_by: str | None = Field(description="the language model that wrote it; null for an extract")
    removed_statements: int = Field(description="statements of the language model that no quote supports; not shown")
    tokens_read: int = Field(description="by the language model, as its service counts; 0 where none was asked")
    tokens_written: int
    usd: float | None = Field(description="what writing cost by the list price; null where that is not known")
    notice: str
    people: list[int] = Field(
        description="ids of the people whom it is about, where it is told by what is known of them"
    )
    intents: list[str]
    when: TimeReply | None
    trace: list[str]

    def to_pandas(self) -> pd.DataFrame:
        """The sources as a table, a row each, by the names of their JSON."""
        return _frame([source.model_dump(by_alias=True) for source in self.sources], SourceReply)


def search_reply(results: Results, zone: ZoneInfo, generation: int) -> SearchReply:
    """The reply for a search."""
    return SearchReply(
        query=results.query,
        language=results.language,
        generation=generation,
        head=results.head,
        hits=[hit_reply(hit, zone, results.terms) for hit in results.hits],
        searched=results.searched,
        missing=results.missing,
        intents=[intent.value for intent in results.intents],
        when=_when(results.when),
        trace=results.trace,
    )


def answer_reply(answer: Answer, zone: ZoneInfo, generation: int) -> AnswerReply:
    """The reply for an answer."""
    return AnswerReply(
        question=answer.question,
        language=answer.language,
        generation=generation,
        found=answer.found,
        confidence=answer.confidence,
        form=answer.form,
        head=answer.head,
        answer=answer.text,
        quotes=[_quote_reply(quote, zone) for quote in answer.quotes],
        sources=[_source_reply(source, zone) for source in answer.sources],
        closest=[hit_reply(hit, zone) for hit in answer.closest],
        searched=answer.searched,
        missing=answer.missing,
        written_by=answer.written.model if answer.written else None,
        removed_statements=answer.written.removed if answer.written else 0,
        tokens_read=answer.tokens.tokens_read,
        tokens_written=answer.tokens.tokens_written,
        usd=answer.tokens.usd,
        notice=answer.notice,
        people=answer.people,
        intents=[intent.value for intent in answer.intents],
        when=_when(answer.when),
        trace=answer.trace,
    )


def _quote_reply(quote: Quote, zone: ZoneInfo) -> QuoteReply:
    return QuoteReply(
        text=quote.text,
        answering=quote.answering,
        sender=quote.sender,
        time=local_time(quote.ts, zone, *_kind_of(quote.hit)),
        sources=quote.sources,
        page=quote.place.page,
        second=quote.place.second,
        superseded_by=quote.superseded_by.asset_id if quote.superseded_by else None,
        superseded_on=quote.superseded_on or None,
    )


def _kind_of(hit: Hit | None) -> tuple[str, str]:
    return (hit.chunk.rag_source_type, hit.date_quality) if hit else ("", "")


def _source_reply(source: CitedSource, zone: ZoneInfo) -> SourceReply:
    return SourceReply(
        **hit_reply(source.hit, zone).__dict__,
        number=source.number,
        cited_chunk_ids=[hit.chunk.chunk_id for hit in source.cited],
        locations=source.locations,
    )


def hit_reply(hit: Hit, zone: ZoneInfo, terms: Sequence[Term] = ()) -> HitReply:
    """The reply for a hit, with the words of the query marked that are among `terms`."""
    chunk, text = hit.chunk, plain(hit.text, hit.chunk.rag_source_type)
    same = ("asset_id", "chunk_id", "chunk_index", "chunk_count", "source", "kind", "rag_source_type", "subject")
    more = ("timestamp", "page_number", "start_second", "end_second", "file_name", "source_uri", "thread_id")
    return HitReply(
        **{name: getattr(chunk, name) for name in (*same, *more, "parent_asset_id")},
        text=text,
        marks=word_marks(text, terms),
        line=hit_line(hit),
        sender=chunk.from_,
        time=local_time(chunk.ts, zone, chunk.rag_source_type, hit.date_quality),
        date_quality=hit.date_quality,
        score=hit.score,
        display_score=hit.display_score,
        source_role=hit.role,
        related=hit.related,
        messages=[
            MessageReply(
                asset_id=message.asset_id,
                sender=message.sender,
                time=local_time(message.ts, zone),
                text=message.text,
                matches=index in hit.matching,
                marks=word_marks(message.text, terms),
            )
            for index, message in enumerate(hit.messages)
        ],
    )


def local_time(ts: int | None, zone: ZoneInfo, rag_source_type: str = "", date_quality: str = "") -> str | None:
    """A timestamp as ISO 8601 in the owner's time zone; only the day or year if the record has no more."""
    if ts is not None and date_quality == "year":
        return str(datetime.fromtimestamp(ts, UTC).year)
    if ts is not None and only_day(ts, rag_source_type, date_quality):
        return datetime.fromtimestamp(ts, UTC).date().isoformat()
    return datetime.fromtimestamp(ts, zone).isoformat() if ts is not None else None


def _frame(rows: list[dict[str, Any]], model: type[BaseModel]) -> pd.DataFrame:
    # imported only here: no other part of a query needs it
    import pandas as pd

    names = [field.serialization_alias or name for name, field in model.model_fields.items()]
    return pd.DataFrame(rows, columns=names)


def _when(when: TimeRange | None) -> TimeReply | None:
    return TimeReply(phrase=when.phrase, since=when.since, until=when.until) if when else None
