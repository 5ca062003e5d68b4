"""A trace as a model that serialises to JSON: the same for `--json`, the API and MCP."""

from __future__ import annotations

from pydantic import BaseModel, Field

from relrag_query.graphrag.citations import Citation, Dataset
from relrag_query.graphrag.index import Index
from relrag_query.graphrag.trace import Resolution, Source, Trace


class IndexReply(BaseModel):
    """The index that citations were looked up in."""

    path: str
    layout: str = Field(description="3.x, 2.x, 1.x or 0.x")
    problems: list[str]


class CitationReply(BaseModel):
    """One citation of an answer, and the sentence before it."""

    start: int
    end: int
    sentence: str
    references: list[str]
    more: bool = Field(description="it says that there are more than it lists")
    unread: list[str]


class NestedReply(BaseModel):
    """The citations of a cited report."""

    reference: str
    state: str


class ReferenceReply(BaseModel):
    """A cited number and what it led to."""

    reference: str
    dataset: str
    number: int
    state: str = Field(description="resolved, outside or unresolved")
    title: str
    text_units: list[int]
    nested: list[NestedReply]


class TracedSourceReply(BaseModel):
    """One page of a document that an answer rests on."""

    document: str
    page_number: int | None
    last_page_number: int | None
    quote: str
    chunk_count: int
    score: float
    document_id: str
    chunk_ids: list[str]
    cited_by: list[str]


class TraceReply(BaseModel):
    """The documents and pages behind an answer's citations."""

    index: IndexReply
    referenced: dict[str, int]
    citations: list[CitationReply]
    references: list[ReferenceReply]
    sources: list[TracedSourceReply]
    next_cursor: str | None = None


def trace_reply(trace: Trace, index: Index) -> TraceReply:
    """A trace, as it is sent."""
    return TraceReply(
        index=IndexReply(path=str(index.folder), layout=index.layout, problems=list(index.problems)),
        referenced={dataset.lower(): trace.count(dataset) for dataset in Dataset},
        citations=[_citation(citation) for citation in trace.citations],
        references=[_reference(resolution) for resolution in trace.references],
        sources=[_source(source) for source in trace.sources],
    )


def _citation(citation: Citation) -> CitationReply:
    return CitationReply(
        start=citation.start,
        end=citation.end,
        sentence=citation.sentence,
        references=[str(reference) for reference in citation.references],
        more=citation.more,
        unread=list(citation.unread),
    )


def _reference(resolved: Resolution) -> ReferenceReply:
    return ReferenceReply(
        reference=str(resolved.reference),
        dataset=resolved.reference.dataset.lower(),
        number=resolved.reference.number,
        state=resolved.state.value,
        title=resolved.title,
        text_units=list(resolved.text_units),
        nested=[NestedReply(reference=str(nested.reference), state=nested.state.value) for nested in resolved.nested],
    )


def _source(source: Source) -> TracedSourceReply:
    fields = {name: getattr(source, name) for name in TracedSourceReply.model_fields}
    return TracedSourceReply(
        **fields | {"chunk_ids": list(source.chunk_ids), "cited_by": [str(reference) for reference in source.cited_by]}
    )
