"""Prints the documents and pages behind a GraphRAG answer."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from relrag_pipelines.text import citation_marks
from relrag_query.display.amounts import number
from relrag_query.display.inert_text import safe
from relrag_query.graphrag.citations import Dataset
from relrag_query.graphrag.index import Index
from relrag_query.graphrag.trace import Source, State, Trace, roll_up

_LABELS = {
    Dataset.REPORTS: "Community Reports",
    Dataset.ENTITIES: "Entities",
    Dataset.RELATIONSHIPS: "Relationships",
    Dataset.CLAIMS: "Claims",
    Dataset.SOURCES: "Sources",
}


def as_text(trace: Trace, index: Index, *, documents: bool = False, limit: int = 10) -> str:
    """The citations and their sources with quotes; `documents` merges those of one document."""
    if not trace.references:
        lines = ["No citations found"]
    else:
        lines = ["GraphRAG Source References:"]
        lines += [
            f"  • {_LABELS[dataset]}: {trace.count(dataset)} referenced" for dataset in Dataset if trace.count(dataset)
        ]
        lines += ["", *(_by_document if documents else _by_page)(trace.sources, limit)]
        if missing := [str(citation.reference) for citation in trace.references if citation.state == State.UNRESOLVED]:
            lines += ["", f"Cited, but not in this index: {', '.join(missing)}"]
    if index.problems:
        lines += ["", f"Problems of {index.folder}:", *(f"  {problem}" for problem in index.problems)]
    return "\n".join(map(safe, lines))


def _by_page(sources: Sequence[Source], limit: int) -> Iterator[str]:
    if not sources:
        yield "No source documents found"
        return
    yield f"Source Documents ({len(sources)}):"
    for position, source in enumerate(sources[:limit], 1):
        yield from _lines(position, source, _page(source))
    yield from _rest(len(sources) - limit)


def _by_document(sources: Sequence[Source], limit: int) -> Iterator[str]:
    rows = roll_up(sources)
    if not rows:
        yield "No source documents found"
        return
    yield f"Source Documents ({len(rows)}):"
    for position, (source, pages) in enumerate(rows[:limit], 1):
        yield from _lines(position, source, f", p. {', '.join(map(str, pages))}" if pages else "")
    yield from _rest(len(rows) - limit)


def _lines(position: int, source: Source, page: str) -> Iterator[str]:
    if position > 1:
        yield ""
    yield f"  [{position}] {citation_marks.disarm(source.document)}{page}"
    if source.quote:
        yield f'      "{citation_marks.disarm(source.quote)}"'
    if source.chunk_count > 1:
        yield f"      ({number(source.chunk_count, 'chunk')} referenced)"


def _rest(count: int) -> Iterator[str]:
    if count > 0:
        yield ""
        yield f"  ... and {number(count, 'more document')}"


def _page(source: Source) -> str:
    if source.page_number is None:
        return ""
    last = source.last_page_number
    return f", p. {source.page_number}-{last}" if last and last > source.page_number else f", p. {source.page_number}"
