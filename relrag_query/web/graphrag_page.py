"""The page of GraphRAG indexes: themes, reports, and the passages that each sentence cites."""

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
from relrag_query.web.rendering import page_url

_MAX_QUESTION_CHARACTERS = 4000
_PAGE_SIZE = 20
"""reports on a page"""
_MAX_SOURCES = 3
"""maximum sources shown for a sentence"""


def template_context(service: Service, request: Request) -> dict[str, Any]:
    """The context of the template: an answer if there is a question, else the reports of an index."""
    parameters = request.query_params
    indexes = service.graphs.collections().collections
    collection = parameters.get("collection", "") or next((index.name for index in indexes), ARCHIVE)
    method = _method(parameters.get("method", ""))
    question = parameters.get("q", "").strip()[:_MAX_QUESTION_CHARACTERS]
    answer: GraphAnswerReply | None = None
    reply: ReportsReply | None = None
    is_ready = any(index.name == collection and not index.problems for index in indexes)
    if question and is_ready:
        answer = service.graphrag(question, collection, method)
    elif is_ready:
        reply = service.reports(collection, _PAGE_SIZE, parameters.get("cursor"))
    return {
        "question": question,
        "indexes": indexes,
        "collection": collection,
        "method": method,
        "answer": answer,
        "lines": _answer_lines(answer) if answer else [],
        "numbers": _numbers(answer) if answer else {},
        "reply": reply,
        "reports": _report_rows(service, reply, collection) if reply else [],
        "after": parameters.get("cursor"),
        "problems": [problem for index in indexes if index.name == collection for problem in index.problems],
        "to_source": to_source,
    }


def to_source(answer: TraceReply, number: int) -> str:
    """URL of the passage of a source; empty for an index that does not belong to this archive."""
    source = answer.sources[number - 1]
    chunk = next(iter(source.chunk_ids), "")
    return page_url(f"chunk:{chunk}", source.quote.strip("… "), source.page_number) if chunk else ""


def _method(name: str) -> Method:
    return next((method for method in METHODS if method == name), "global")


def _numbers(answer: TraceReply) -> dict[str, list[int]]:
    """Numbers of the sources (from 1, best first) by cited record."""
    numbers_of: dict[str, list[int]] = {}
    for number, source in enumerate(answer.sources, 1):
        for cited in source.cited_by:
            numbers_of.setdefault(cited, []).append(number)
    return {cited: numbers[:_MAX_SOURCES] for cited, numbers in numbers_of.items()}


def _lines(text: str, answer: TraceReply) -> Iterator[list[tuple[str, list[int]]]]:
    """The lines of a text, each as parts with the numbers of the sources cited after them."""
    numbers = _numbers(answer)
    for line in text.splitlines():
        if line.strip():
            yield list(_parts(line, numbers))


def _parts(line: str, numbers: dict[str, list[int]]) -> Iterator[tuple[str, list[int]]]:
    position = 0
    for sentence in parse(line):
        # prefer cited passages: a community or an entity leads to many unrelated sources
        passages = [reference for reference in sentence.references if reference.dataset == Dataset.SOURCES]
        cited = passages or sentence.references
        source_numbers = list(
            dict.fromkeys(number for reference in cited for number in numbers.get(str(reference), ()))
        )
        yield line[position : sentence.start].rstrip(), source_numbers[:_MAX_SOURCES]
        position = sentence.end
    if remainder := line[position:].strip():
        yield remainder, []


def _findings(
    service: Service, content: str, collection: str
) -> Iterator[tuple[str, list[list[tuple[str, list[int]]]], TraceReply]]:
    """The findings of a report: heading, sentences, and the trace that their source numbers refer to."""
    trace = service.graphs.trace(content, "", collection)
    for part in content.split("## ")[1:]:
        heading, _, body = part.partition("\n")
        yield heading.strip(), list(_lines(body, trace)), trace


def _answer_lines(answer: GraphAnswerReply) -> list[Any]:
    """The lines of an answer; none where its themes are shown instead."""
    return [] if answer.themes and not answer.model else list(_lines(answer.answer, answer))


def _report_rows(service: Service, reply: ReportsReply, collection: str) -> list[tuple[Any, list[Any]]]:
    """Each report with its findings."""
    return [(report, list(_findings(service, report.content, collection))) for report in reply.reports]
