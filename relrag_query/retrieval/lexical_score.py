"""Scores a passage by the question's words in any inflected form, similar to BM25."""

from __future__ import annotations

from collections.abc import Sequence

from relrag_query.retrieval.term_coverage import LIGHT, Frequencies, Term, idf, passages_with

_K1, _B, _MEAN_LENGTH = 1.2, 0.4, 140
"""BM25's parameters; lengths matter less than in sparse search, since a word counts once however often it occurs"""


def bm25_like_score(
    words: Sequence[Term], passage_tokens: frozenset[str], frequencies: Frequencies, length: int
) -> float:
    """Score of a passage of `length` words for a question's words, in any inflected form; unbounded.

    Each word counts once, by its rarest beginning that the passage contains. Whole-word matches don't count extra, or a
    passage with the exact form of one word would rank above one with all the words in other forms. The sum is
    divided as BM25 does, so that long passages do not gain by holding more.
    """
    score = sum(
        (LIGHT if word.light else 1.0) * _rarest(word, passage_tokens, frequencies) for word in words if word.weight
    )
    return score / (1 + _K1 * (1 - _B + _B * length / _MEAN_LENGTH))


def _rarest(word: Term, passage_tokens: frozenset[str], frequencies: Frequencies) -> float:
    has_prefix = any(token[0] == "~" for token in word.tokens)
    matches = [token for token in word.tokens if token in passage_tokens and not (has_prefix and token.isalpha())]
    if matches:
        return max(idf(frequencies.get(token, 1), frequencies) for token in matches)
    best_translation = max(
        (confidence for token, confidence in word.translations.items() if token in passage_tokens), default=0.0
    )
    # a word is as rare as all its translations are together (Pirkola 1998)
    return best_translation and best_translation * idf(passages_with(word.translations, frequencies), frequencies)
