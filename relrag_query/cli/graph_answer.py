"""Prints answers of GraphRAG indexes, and the state of an index."""

from __future__ import annotations

from typing import Any

from relrag_query.display.inert_text import safe
from relrag_query.graphrag.answer import GraphAnswer
from relrag_query.graphrag.service import TracedAnswer


def as_text(found: TracedAnswer) -> str:
    """The answer as text; to a question about everything also how it was understood."""
    lines = found.answer.text.splitlines()
    if scope := _scope(found.answer):
        lines = [scope, "", *lines]
    if found.answer.model:
        invented = (
            f"; {found.answer.invented_citations} citations of nothing taken out"
            if found.answer.invented_citations
            else ""
        )
        lines += ["", f"Written by {found.answer.model} at {found.answer.host}{invented}."]
    if found.answer.note:
        lines += ["", f"note: {found.answer.note}"]
    return "\n".join(map(safe, lines))


def status_text(told: dict[str, Any]) -> str:
    """The output of `relrag graphrag status`."""
    lines = [
        f"{told['name']}: GraphRAG {told['schema_version']}",
        f"  index path: {told['index_path']}",
        *(f"  {table}: {count}" for table, count in told["counts"].items()),
    ]
    lines += [f"  {name.replace('_', ' ')}: {value}" for name, value in told["made"].items() if name != "passages"]
    lines += [f"problem: {problem}" for problem in told["problems"]]
    return "\n".join(map(safe, lines))


def _scope(answer: GraphAnswer) -> str:
    """`17 passages, 2024, about: family`."""
    scope = answer.scope
    if scope is None:
        return ""
    about = f"about: {', '.join(dict.fromkeys([*scope.words, *scope.people]))}" if scope.words else ""
    parts = [f"{len(scope.units)} passages", scope.time.phrase if scope.time else "", about]
    return " · ".join(filter(None, parts))
