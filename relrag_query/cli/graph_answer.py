"""Answers of GraphRAG indexes and what is known of these, as text for a terminal and as JSON."""

from __future__ import annotations

from typing import Any

from relrag_query.display.inert_text import safe
from relrag_query.graphrag.answer import GraphAnswer
from relrag_query.graphrag.service import Answered
from relrag_query.graphrag.themes import Theme
from relrag_query.graphrag.trace_reply import trace_reply


def as_text(found: Answered) -> str:
    """The answer, and of a question about everything what it was understood to be about."""
    lines = found.answer.text.splitlines()
    if scope := _scope(found.answer):
        lines = [scope, "", *lines]
    if found.answer.model:
        invented = f"; {found.answer.invented} citations of nothing taken out" if found.answer.invented else ""
        lines += ["", f"Written by {found.answer.model} at {found.answer.host}{invented}."]
    if found.answer.note:
        lines += ["", f"note: {found.answer.note}"]
    return "\n".join(map(safe, lines))


def as_json(found: Answered) -> dict[str, Any]:
    """An answer with its trace, in values that JSON knows."""
    answer = found.answer
    records = {name: len(rows) for name, rows in vars(answer.found).items()}
    return {
        "method": answer.method,
        "question": answer.question,
        "answer": answer.text,
        "model": answer.model or None,
        "invented_citations": answer.invented,
        "note": answer.note or None,
        "looked_at": records,
        "themes": [_theme(one) for one in answer.themes],
        **trace_reply(found.trace, found.index).model_dump(mode="json"),
    }


def status_text(told: dict[str, Any]) -> str:
    """What `relrag graphrag status` says."""
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


def _theme(theme: Theme) -> dict[str, Any]:
    return {
        "title": theme.title,
        "community": theme.community if theme.community >= 0 else None,
        "passages": len(theme.units),
        "people": list(theme.people),
        "first": theme.first or None,
        "last": theme.last or None,
        "figures": list(theme.figures),
        "sentences": [
            {"text": one.text, "day": one.day or None, "references": list(map(str, one.references))}
            for one in theme.statements
        ],
    }
