"""Where a text holds words of a query, in any of their forms, so that a reader sees why it is a hit."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from relrag_pipelines.text.analyzer import AROUND, token_lines
from relrag_pipelines.text.number_tokens import SPACED_NUMBER, join_numbers
from relrag_query.retrieval.term_coverage import Term

Span = tuple[int, int]
"""start and end, code points"""
_PIECE = re.compile(rf"[^\w\s]*{SPACED_NUMBER.pattern}\S*|\S+")
"""a word, or a number whose thousands stand apart"""
_MIN_CONFIDENCE = 0.6
"""that of a translation; words that only share their first four letters have less"""


def word_marks(text: str, terms: Sequence[Term]) -> list[Span]:
    """The words of a text that are words of the query, in order. What only asks counts if it is all there is."""
    if not terms:
        return []
    content = [term for term in terms if not term.light] or terms
    return [
        (start, end)
        for start, end, tokens in _word_tokens(text)
        if any(term.match(frozenset(tokens)) >= _MIN_CONFIDENCE for term in content)
    ]


def _word_tokens(text: str) -> Iterator[tuple[int, int, list[str]]]:
    """Each word of a text without the marks around it: its start and end, code points, and the tokens it is found by.

    A function word has none.
    """
    lines = iter(token_lines(text))
    start = 0
    for written in text.split("\n"):
        tokens = next(lines).tokens if written.split() else str
        for match in _PIECE.finditer(written):
            core = match[0].strip(AROUND)
            first = start + match.start() + match[0].find(core)
            yield first, first + len(core), tokens(join_numbers(match[0])).split()
        start += len(written) + 1
