"""How much a passage speaks of a question's words, in whatever form they stand, after BM25."""

from __future__ import annotations

from collections.abc import Sequence

from relrag_query.retrieval.term_coverage import LIGHT, Frequencies, Term, idf, passages_with

_K1, _B, _USUAL_WORDS = 1.2, 0.4, 140
"""BM25's parameters; lengths matter less than in sparse search, since a word counts once however often it stands"""


def bm25_like_score(words: Sequence[Term], held: frozenset[str], frequencies: Frequencies, length: int) -> float:
    """How much a passage of so many words speaks of a question's words, in whatever form they stand; without bounds.

    Each word counts once: by the rarest of its beginnings that the passage holds. Which whole word it is doesn't count,
    else a passage with the very form of one word would stand before one with all the words in other forms. The sum is
    divided as BM25 does, so that long passages do not gain by holding more.
    """
    said = sum((LIGHT if word.light else 1.0) * _rarest(word, held, frequencies) for word in words if word.weight)
    return said / (1 + _K1 * (1 - _B + _B * length / _USUAL_WORDS))


def _rarest(word: Term, held: frozenset[str], frequencies: Frequencies) -> float:
    begun = any(token[0] == "~" for token in word.tokens)
    counted = [token for token in word.tokens if token in held and not (begun and token.isalpha())]
    if counted:
        return max(idf(frequencies.get(token, 1), frequencies) for token in counted)
    surest = max((sure for token, sure in word.translations.items() if token in held), default=0.0)
    # a word is as rare as all its translations are together (Pirkola 1998)
    return surest and surest * idf(passages_with(word.translations, frequencies), frequencies)
