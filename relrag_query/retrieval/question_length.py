"""Limits how much of a question is read, so that its cost is bounded.

The cost of a question grows with its words times the passages and sentences that are compared with each. About half a
page of it is read, and its heaviest words are searched for.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from relrag_query.retrieval.connection_sharing import WrongQuestion
from relrag_query.retrieval.term_coverage import Term

LONGEST = 20_000
"""longest question that is accepted, in characters"""
READ = 1_000
"""characters read of a question and the earlier ones together: half a page, five times a usual question"""
NOTICE = f"Only the first {READ:,} characters of the question were read."
_MAX_TERMS = 64
"""words that passages are searched for and compared by"""


def valid_text(text: str) -> str:
    """The text with question marks for halves of surrogate pairs, which no database takes."""
    return text.encode(errors="replace").decode()


def shorten(question: str) -> str:
    """The beginning of a question, cut at the end of a word if possible.

    Raises WrongQuestion where it is longer than LONGEST.
    """
    if len(question) > LONGEST:
        message = f"the question has {len(question):,} characters; ask with at most {LONGEST:,}"
        raise WrongQuestion(message, code="question_long", most=LONGEST)
    return _beginning(question, READ)


def shorten_all(question: str, follows: Sequence[str]) -> tuple[str, list[str]]:
    """The beginnings of a question and of the earlier questions, the last one first, within the same limit.

    Raises WrongQuestion as `shorten` does.
    """
    first, room, earlier = shorten(question), READ, []
    room -= len(first)
    for text in follows:
        if part := _beginning(text, room):
            earlier.append(part)
            room -= len(part)
    return first, earlier


def heaviest(terms: Sequence[Term]) -> list[Term]:
    """At most `_MAX_TERMS` words of a question, those with the largest weights, in their order."""
    if len(terms) <= _MAX_TERMS:
        return list(terms)
    order = sorted(range(len(terms)), key=lambda position: (-terms[position].weight, position))
    positions = sorted(order[:_MAX_TERMS])
    successors = {position + 1 for position in positions}
    return [
        terms[position] if position in successors else replace(terms[position], adjacent=False)
        for position in positions
    ]


def _beginning(text: str, limit: int) -> str:
    text = valid_text(text)
    if len(text) <= limit:
        return text
    beginning = text[:limit]
    words, _, last_word = beginning.rpartition(" ")
    return words if len(last_word) < limit / 2 else beginning
