"""The page of GraphRAG indexes: what is talked about, in themes and reports, and the passages behind every sentence."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from starlette.requests import Request

from relrag_query.graphrag.answer import METHODS, Method
from relrag_query.graphrag.answer_reply import GraphAnswerReply
from relrag_query.graphrag.citations import Dataset, parse
from relrag_query.graphrag.trace_reply import TraceReply
from relrag_query.service import Service
from relrag_query.service.graph_index_cache import ARCHIVE, ReportsReply
from relrag_query.web.rendering import place

_LONGEST = 4000
_PAGE = 20
"""reports of a page"""
_CITED = 3
"""sources that a sentence shows at most"""


def template_context(service: Service, request: Request) -> dict[str, Any]:
    """What the template shows: an answer where something was asked, else the reports of an index."""
    asked = request.query_params
    known = service.graphs.collections().collections
    named = asked.get("collection", "") or next((one.name for one in known), ARCHIVE)
    method = _method(asked.get("method", ""))
    question = asked.get("q", "").strip()[:_LONGEST]
    answer: GraphAnswerReply | None = None
    found: ReportsReply | None = None
    ready = any(one.name == named and not one.problems for one in known)
    if question and ready:
        answer = service.graphrag(question, named, method)
    elif ready:
        found = service.reports(named, _PAGE, asked.get("cursor"))
    return {
        "question": question,
        "known": known,
        "named": named,
        "method": method,
        "answer": answer,
        "lines": list(_lines(answer.answer, answer)) if answer and not (answer.themes and not answer.model) else [],
        "numbers": _numbers(answer) if answer else {},
        "found": found,
        "reports": [(one, list(_findings(service, one.content, named))) for one in found.reports] if found else [],
        "after": asked.get("cursor"),
        "problems": [one for known_one in known if known_one.name == named for one in known_one.problems],
        "to_source": to_source,
    }


def to_source(answer: TraceReply, number: int) -> str:
    """Where the passage of a source is shown; empty for an index that is not of this archive."""
    source = answer.sources[number - 1]
    chunk = next(iter(source.chunk_ids), "")
    return place(f"chunk:{chunk}", source.quote.strip("… "), source.page_number) if chunk else ""


def _method(asked: str) -> Method:
    return next((one for one in METHODS if one == asked), "global")


def _numbers(answer: TraceReply) -> dict[str, list[int]]:
    """Of each cited record the numbers of the sources behind it, from 1, the best first."""
    found: dict[str, list[int]] = {}
    for number, source in enumerate(answer.sources, 1):
        for cited in source.cited_by:
            found.setdefault(cited, []).append(number)
    return {cited: numbers[:_CITED] for cited, numbers in found.items()}


def _lines(text: str, answer: TraceReply) -> Iterator[list[tuple[str, list[int]]]]:
    """The lines of a text, each as its parts with the numbers of the sources that are cited behind them."""
    numbers = _numbers(answer)
    for line in text.splitlines():
        if line.strip():
            yield list(_parts(line, numbers))


def _parts(line: str, numbers: dict[str, list[int]]) -> Iterator[tuple[str, list[int]]]:
    behind = 0
    for one in parse(line):
        # a passage says it itself; a community or an entity leads to much else
        passages = [reference for reference in one.references if reference.dataset == Dataset.SOURCES]
        cited = passages or one.references
        found = list(dict.fromkeys(number for reference in cited for number in numbers.get(str(reference), ())))
        yield line[behind : one.start].rstrip(), found[:_CITED]
        behind = one.end
    if rest := line[behind:].strip():
        yield rest, []


def _findings(
    service: Service, content: str, collection: str
) -> Iterator[tuple[str, list[list[tuple[str, list[int]]]], TraceReply]]:
    """The findings of a report: heading, sentences, and the trace that their numbers count in."""
    traced = service.graphs.trace(content, "", collection)
    for part in content.split("## ")[1:]:
        heading, _, said = part.partition("\n")
        yield heading.strip(), list(_lines(said, traced)), traced
