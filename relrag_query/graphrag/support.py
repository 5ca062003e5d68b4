"""Rates how well a passage supports the sentence that cites it, and chooses the words to quote.

Words are compared by their beginnings, accents aside, so that inflected forms meet in any language without a model.
"""

from __future__ import annotations

import functools
import math
import re
from collections import Counter
from collections.abc import Sequence

from relrag_pipelines.text.analyzer import PREFIXED, PREFIXED_LETTER, fold
from relrag_pipelines.text.sentences import sentences, spans
from relrag_pipelines.text.stopwords import function_words

QUOTE = 200
"""characters of a quote"""
_SATURATION, _LENGTH = 1.2, 0.75
"""k1 and b of Okapi BM25"""
_ASKED = 3.0
"""weight of a word of the question; one of the cited sentence weighs 1"""
_WORD = re.compile(r"[^\W_]+")
_FUNCTION_WORDS = function_words()
_MAX_ENDING_LETTERS = 2
_NEVER = re.compile(r"(?!)")


class Support:
    """One cited sentence, and the question that it answers, ready to be compared with passages."""

    def __init__(self, sentence: str, question: str = "") -> None:
        question_weights = dict.fromkeys(beginnings(question), _ASKED)
        self._weights = dict.fromkeys(beginnings(sentence), 1.0) | question_weights
        # longer ones first: the first alternative that fits is taken
        alternatives = "|".join(map(re.escape, sorted(self._weights, key=len, reverse=True)))
        prefix = f"[{PREFIXED}]{{0,2}}" if PREFIXED_LETTER.search(alternatives) else ""
        self._pattern = re.compile(rf"(?<![^\W_]){prefix}({alternatives})") if alternatives else _NEVER

    def matches(self, folded: str) -> Counter[str]:
        """The number of occurrences of each of the sentence's words in a folded text."""
        return Counter(self._pattern.findall(folded))

    def scores(self, texts: Sequence[str]) -> list[float]:
        """Okapi BM25 of each text, with document frequencies among these texts; at least 0."""
        word_counts = [self.matches(_cached_fold(text)) for text in texts]
        frequency = Counter(word for counts in word_counts for word in counts)
        usual = sum(map(len, texts)) / len(texts) if texts else 1
        weight = {word: math.log1p((len(texts) - count + 0.5) / (count + 0.5)) for word, count in frequency.items()}
        return [
            sum(
                self._weights[word] * weight[word] * _saturate(count, len(text) / max(usual, 1))
                for word, count in counts.items()
            )
            for counts, text in zip(word_counts, texts, strict=True)
        ]

    def quote(self, text: str) -> str:
        """The sentences in a row that hold most of the cited sentence's words, those rare in the passage first."""
        pieces = [piece for start, end in spans(sentences(text)) if (piece := " ".join(text[start:end].split()))]
        if not pieces:
            return ""
        word_counts = [self.matches(fold(piece)) for piece in pieces]
        counts = sum(word_counts, Counter[str]())
        worth = {word: self._weights[word] / (1 + math.log(count)) for word, count in counts.items()}
        windows = [_window(pieces, first) for first in range(len(pieces))]
        values = [
            sum(worth[word] for word in set().union(*word_counts[first:end]))
            + 0.5 * sum(worth[word] for word in word_counts[first])
            for first, end in windows
        ]
        first, end = windows[values.index(max(values))]
        return self._cut(" ".join(pieces[first:end]))

    def _cut(self, text: str) -> str:
        """At most QUOTE characters, from the first word that matched where that word lies far behind."""
        if len(text) <= QUOTE:
            return text
        first = self._pattern.search(fold(text))
        if first and first.start() > QUOTE // 2:
            start = text.rfind(" ", 0, max(first.start() - QUOTE // 4, 0)) + 1
            text = f"… {text[start:]}" if start else text
        if len(text) <= QUOTE:
            return text
        end = text.rfind(" ", QUOTE // 2, QUOTE - 1)
        return f"{text[: end if end > 0 else QUOTE - 2].rstrip()} …"


def _window(pieces: list[str], first: int) -> tuple[int, int]:
    """As many pieces from the first as fit into a quote; one at least."""
    behind, length = first + 1, len(pieces[first])
    while behind < len(pieces) and length + 1 + len(pieces[behind]) <= QUOTE:
        length += 1 + len(pieces[behind])
        behind += 1
    return first, behind


def _saturate(count: int, length: float) -> float:
    return count * (_SATURATION + 1) / (count + _SATURATION * (1 - _LENGTH + _LENGTH * length))


def beginnings(text: str) -> list[str]:
    """The beginnings of the words, function words left out."""
    return [stem(word) for word in _WORD.findall(fold(text)) if word not in _FUNCTION_WORDS]


def stem(word: str) -> str:
    """A word without what may be its ending: of six letters two, of five one."""
    return word[: max(4, len(word) - _MAX_ENDING_LETTERS)] if word.isalpha() and len(word) > 4 else word


@functools.lru_cache(maxsize=4096)
def _cached_fold(text: str) -> str:
    return fold(text)
