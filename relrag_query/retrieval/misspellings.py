"""Words of a question that the archive does not know, and the words it knows that they may be, mistyped."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from rapidfuzz.distance import OSA
from rapidfuzz.process import extract

from relrag_query.retrieval.term_coverage import Frequencies, Term

_HEBREW = re.compile("[א-ת]")
MISTYPED = 0.8
"""how surely a passage that holds a word but for a letter holds the word that was asked for"""
_SURE = 0.5
"""a word is known where something is held that says more than this of it: beginnings of four letters are common"""
_LETTERS, _LONG = 6, 8
"""letters of a word that one letter may be wrong in, of a token where two may be; in five, black would be back"""
_STEM = 5
"""letters of its token: an ending is no part of it"""
_MOST = 3
"""words that are looked for in the place of one"""


def respell(terms: Sequence[Term], held: Frequencies) -> tuple[list[Term], list[str]]:
    """The terms, where one is unknown with the nearest tokens that the archive holds; and these tokens.

    A letter may be wrong, missing, too many, or changed with the next; the first one is right. Hebrew words are left
    as they are: so short a word is near to many others. What one passage alone holds is not among the tokens counted.
    """
    found, added = [], []
    for term in terms:
        near = [token for asked in _unknown(term, held) for token in _nearest(asked, held)]
        added += near
        found.append(replace(term, tokens=dict.fromkeys(near, MISTYPED) | dict(term.tokens)) if near else term)
    return found, added


def _unknown(term: Term, held: Frequencies) -> list[str]:
    """The whole words among the tokens of a term, where the archive holds none of it."""
    if (
        term.light
        or term.is_time
        or len(term.word) < _LETTERS
        or any(held.get(token) for token, sure in term.tokens.items() if sure > _SURE)
    ):
        return []
    return [token for token in term.tokens if token.isalpha() and len(token) >= _STEM and not _HEBREW.search(token)]


def _nearest(asked: str, held: Frequencies) -> list[str]:
    wrong = 2 if len(asked) >= _LONG else 1
    sizes = range(len(asked) - wrong, len(asked) + wrong + 1)
    known = [token for token in held if token[:1] == asked[0] and len(token) in sizes and token.isalpha()]
    return [token for token, _, _ in extract(asked, known, scorer=OSA.distance, score_cutoff=wrong, limit=_MOST)]
