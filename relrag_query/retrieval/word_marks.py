"""Where a text holds words of a query, in any of their forms, so that a reader sees why it is a hit."""

from __future__ import annotations

from collections.abc import Sequence

from relrag_pipelines.text.analyzer import word_tokens
from relrag_query.retrieval.term_coverage import Term

Span = tuple[int, int]
"""start and end, code points"""
_MIN_CONFIDENCE = 0.6
"""that of a translation; words that only share their first four letters have less"""


def word_marks(text: str, terms: Sequence[Term]) -> list[Span]:
    """The words of a text that are words of the query, in order. What only asks counts if it is all there is."""
    if not terms:
        return []
    content = [term for term in terms if not term.light] or terms
    return [
        (start, end)
        for start, end, tokens in word_tokens(text)
        if any(term.match(frozenset(tokens)) >= _MIN_CONFIDENCE for term in content)
    ]
