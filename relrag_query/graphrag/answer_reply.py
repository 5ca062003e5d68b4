"""Answers of GraphRAG indexes as models that serialise to JSON: the same for `--json`, the API and MCP."""

from __future__ import annotations

from pydantic import BaseModel, Field

from relrag_query.graphrag.service import TracedAnswer
from relrag_query.graphrag.themes import Statement, Theme
from relrag_query.graphrag.trace_reply import TraceReply, trace_reply


class CitedStatementReply(BaseModel):
    """A sentence of the index, and what it rests on."""

    text: str
    day: str | None
    references: list[str]


class ThemeReply(BaseModel):
    """A subject that text units speak of."""

    title: str
    community: int | None = Field(description="number of the community that it is part of")
    passages: int
    people: list[str]
    first: str | None
    last: str | None
    figures: list[str]
    sentences: list[CitedStatementReply]


class GraphAnswerReply(TraceReply):
    """An answer from an index, with the documents and pages behind its citations."""

    collection: str
    method: str = Field(description="local, global or basic")
    question: str
    answer: str = Field(description="with citations in Microsoft's form, [Data: Sources (3)]")
    model: str | None = Field(description="who wrote it; null: it is quoted")
    invented_citations: int = Field(description="citations of nothing that the model was given, taken out")
    note: str | None
    about: list[str] = Field(description="of a global question what it was understood to be about")
    looked_at: dict[str, int]
    themes: list[ThemeReply]


def answer_reply(traced: TracedAnswer, collection: str) -> GraphAnswerReply:
    """An answer, as it is sent."""
    answer = traced.answer
    scope = answer.scope
    topics = [scope.time.phrase] if scope and scope.time else []
    return GraphAnswerReply(
        **dict(trace_reply(traced.trace, traced.index)),
        collection=collection,
        method=answer.method,
        question=answer.question,
        answer=answer.text,
        model=answer.model or None,
        invented_citations=answer.invented_citations,
        note=answer.note or None,
        about=list(dict.fromkeys([*topics, *scope.words, *scope.people])) if scope else [],
        looked_at={name: len(rows) for name, rows in vars(answer.records).items()},
        themes=list(map(_theme, answer.themes)),
    )


def _theme(theme: Theme) -> ThemeReply:
    return ThemeReply(
        title=theme.title,
        community=theme.community if theme.community >= 0 else None,
        passages=len(theme.units),
        people=list(theme.people),
        first=theme.first or None,
        last=theme.last or None,
        figures=list(theme.figures),
        sentences=list(map(_statement, theme.statements)),
    )


def _statement(statement: Statement) -> CitedStatementReply:
    return CitedStatementReply(
        text=statement.text, day=statement.day or None, references=list(map(str, statement.references))
    )
