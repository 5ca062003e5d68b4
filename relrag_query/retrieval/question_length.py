"""How much of a question is read, so that what it costs is bounded however long it is.

What a question costs grows with its words, times the passages and sentences that are compared with each. The beginning
that is read is about a page of text; of its words the heaviest are looked for.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from relrag_query.retrieval.connection_sharing import WrongQuestion
from relrag_query.retrieval.term_coverage import Term

LONGEST = 20_000
"""characters above which a question is refused"""
READ = 1_000
"""characters that are read of a question and those it follows: half a page, five times what people ask"""
NOTICE = f"Only the first {READ:,} characters of the question were read."
_MOST_TERMS = 64
"""words that passages are searched for and compared by"""


def shorten(question: str) -> str:
    """The beginning of a question that is read, to the end of a word where it has words.

    Raises WrongQuestion where it is longer than LONGEST.
    """
    if len(question) > LONGEST:
        raise WrongQuestion(f"the question has {len(question):,} characters; ask with at most {LONGEST:,}")
    return _beginning(question, READ)


def shorten_all(question: str, follows: Sequence[str]) -> tuple[str, list[str]]:
    """The beginning of a question, and as much of those it follows, the last one first, as is read beside it.

    Raises WrongQuestion as `shorten` does.
    """
    first, room, earlier = shorten(question), READ, []
    room -= len(first)
    for one in follows:
        if part := _beginning(one, room):
            earlier.append(part)
            room -= len(part)
    return first, earlier


def heaviest(terms: Sequence[Term]) -> list[Term]:
    """The words of a question that weigh most, in their order; all, where they are few."""
    if len(terms) <= _MOST_TERMS:
        return list(terms)
    order = sorted(range(len(terms)), key=lambda place: (-terms[place].weight, place))
    kept = sorted(order[:_MOST_TERMS])
    behind = {place + 1 for place in kept}
    return [terms[place] if place in behind else replace(terms[place], adjacent=False) for place in kept]


def _beginning(text: str, most: int) -> str:
    if len(text) <= most:
        return text
    begun = text[:most]
    whole, _, cut = begun.rpartition(" ")
    return whole if len(cut) < most / 2 else begun
