"""Prints answers of GraphRAG indexes, and the state of an index."""

from __future__ import annotations

from typing import Any

from relrag_query.display.inert_text import safe
from relrag_query.graphrag.answer import GraphAnswer
from relrag_query.graphrag.service import TracedAnswer


def as_text(traced_answer: TracedAnswer) -> str:
    """The answer as text. An answer about the whole index begins with the scope of the question."""
    lines = traced_answer.answer.text.splitlines()
    if scope := _scope(traced_answer.answer):
        lines = [scope, "", *lines]
    if traced_answer.answer.model:
        citation_note = (
            f"; {traced_answer.answer.invented_citations} citations of nothing taken out"
            if traced_answer.answer.invented_citations
            else ""
        )
        lines += ["", f"Written by {traced_answer.answer.model} at {traced_answer.answer.host}{citation_note}."]
    if traced_answer.answer.note:
        lines += ["", f"note: {traced_answer.answer.note}"]
    return "\n".join(map(safe, lines))


def status_text(report: dict[str, Any]) -> str:
    """The output of `relrag graphrag status`."""
    lines = [
        f"{report['name']}: GraphRAG {report['schema_version']}",
        f"  index path: {report['index_path']}",
        *(f"  {table}: {count}" for table, count in report["counts"].items()),
    ]
    lines += [f"  {name.replace('_', ' ')}: {value}" for name, value in report["made"].items() if name != "passages"]
    lines += [f"problem: {problem}" for problem in report["problems"]]
    return "\n".join(map(safe, lines))


def _scope(answer: GraphAnswer) -> str:
    """`17 passages, 2024, about: family`."""
    scope = answer.scope
    if scope is None:
        return ""
    topics = f"about: {', '.join(dict.fromkeys([*scope.words, *scope.people]))}" if scope.words else ""
    parts = [f"{len(scope.units)} passages", scope.time.phrase if scope.time else "", topics]
    return " · ".join(filter(None, parts))
