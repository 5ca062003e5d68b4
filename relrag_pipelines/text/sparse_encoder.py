"""BM25 weights of texts and questions, from the tokens of analyzer.py."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping

from qdrant_edge import Bm25, Bm25Config, DisabledStemmer, SparseVector, StopwordsSet, TokenizerType

from relrag_pipelines.text.analyzer import PREFIXED_SCRIPT, foreign_signs, query_tokens

_USUAL_LENGTH = 140
"""Tokens of a passage that is neither long nor short: 256 words, of which about 140 are no function words."""

_FORM = 0.1
"""weight of a whole word in a question, compared with its beginnings, in languages with many forms"""
_FORM_WITH_PREFIX = re.compile(f"[{PREFIXED_SCRIPT}]+")
_FORM_OF_ANY = re.compile(f"[{PREFIXED_SCRIPT}]+|[^\\W\\d_]{{2,}}")


class SparseEncoder:
    """BM25 weights of texts and questions; what the index adds to them is the inverse document frequency."""

    def __init__(self) -> None:
        self._bm25 = Bm25(
            Bm25Config(
                tokenizer=TokenizerType.Whitespace,
                stemmer=DisabledStemmer(),
                stopwords=StopwordsSet(),
                lowercase=False,
                avg_len=_USUAL_LENGTH,
            )
        )

    def document(self, tokens: str) -> SparseVector:
        """The vector under which a text of these tokens is found."""
        return self._bm25.embed_document(tokens)

    def query(self, question: str | Collection[str], also: Mapping[str, float] | None = None) -> SparseVector:
        """The vector of a question, or of tokens that count alike; without entries where there is no word.

        `also` are further tokens, with what each counts.
        """
        given = (also or {}).items()
        further = {index: weight for token, weight in given for index in self._bm25.embed_query(token).indices}
        if not isinstance(question, str):
            weights = further | dict.fromkeys(self._bm25.embed_query(" ".join(question)).indices, 1.0)
            return SparseVector(list(weights), list(weights.values()))
        tokens = query_tokens(question)
        weak = set(self._bm25.embed_query(" ".join(_forms(question, tokens))).indices)
        weights = {index: _FORM if index in weak else 1.0 for index in self._bm25.embed_query(tokens).indices}
        weights = further | weights
        return SparseVector(list(weights), list(weights.values()))


def _forms(text: str, tokens: str) -> list[str]:
    """The tokens of a question that are whole words for which it has beginnings too."""
    if "~" not in tokens:
        return []
    form = _FORM_OF_ANY if foreign_signs(text) > 0 else _FORM_WITH_PREFIX
    return [word for word in tokens.split() if form.fullmatch(word)]
