"""Cuts a text into the pieces of XLM-RoBERTa's vocabulary, of which the model has learnt a vector each.

It is the unigram model of SentencePiece: of all ways to cut a word, the one whose pieces are most probable together.
`tokenizers` gives the same ids (a test compares them), but takes 1 s and 270 MB to build its tree of 250,000 pieces;
a dict takes 0.1 s and 40 MB, and cutting costs a fiftieth of what embedding does, since words recur.
"""

from __future__ import annotations

import math
import unicodedata

from relrag_pipelines.embedders.e5.weights import Weights

BEGIN, END, UNKNOWN = 0, 2, 3
_MARKS = 4
"""pieces at the start of the vocabulary that stand for no text; the last one is a mark too"""
_SPACE = "\u2581"
"""what SentencePiece writes for the space before a word"""
_UNKNOWN_PENALTY = 10.0
"""by which an unknown character is less probable than the least probable piece, as in SentencePiece"""
_KEPT_WORDS = 65_536


class Pieces:
    """The vocabulary, and the words that were cut lately."""

    def __init__(self, weights: Weights, most: int) -> None:
        """`most`: pieces of a text with its marks, beyond which it is cut off."""
        numbers = range(_MARKS, len(weights.pieces) - 1)  # a text that holds "</s>" holds no mark
        self._ids = {weights.pieces[number]: number for number in numbers}
        self._scores = weights.scores.tolist()
        self._unknown = min(self._scores) - _UNKNOWN_PENALTY
        self._longest = max(map(len, self._ids))
        self._characters = weights.characters
        self._most = most
        self._words: dict[str, list[int]] = {}

    def encode(self, text: str, most: int | None = None) -> list[int]:
        """Token ids of a text with its begin and end tokens, cut to a maximum length.

        Runs of spaces count as one. Characters are composed first (NFC), as SentencePiece's table for this vocabulary
        does; that of the file knows single characters only.
        """
        most = self._most if most is None else most
        head = unicodedata.normalize("NFC", text[: 2 * most * self._longest])
        ids = [BEGIN]
        for word in head.translate(self._characters).split(" "):
            if word:
                ids += self._word(word)
            if len(ids) >= most:
                break
        return [*ids[: most - 1], END]

    def _word(self, word: str) -> list[int]:
        ids = self._words.get(word)
        if ids is None:
            if len(self._words) >= _KEPT_WORDS:
                self._words.clear()
            ids = self._words[word] = self._segment(_SPACE + word)
        return ids

    def _segment(self, word: str) -> list[int]:
        """The most probable pieces (Viterbi); unknown characters that follow each other are one piece."""
        best = [0.0] + [-math.inf] * len(word)
        last = [(0, UNKNOWN)] * (len(word) + 1)
        """where the last piece of each beginning starts, and which it is"""
        for start in range(len(word)):
            reached = best[start]
            for end in range(start + 1, min(start + self._longest, len(word)) + 1):
                number = self._ids.get(word[start:end])
                if number is not None and reached + self._scores[number] > best[end]:
                    best[end], last[end] = reached + self._scores[number], (start, number)
            if reached + self._unknown > best[start + 1]:
                best[start + 1], last[start + 1] = reached + self._unknown, (start, UNKNOWN)
        ids: list[int] = []
        end = len(word)
        while end:
            end, number = last[end]
            if not (number == UNKNOWN and ids and ids[-1] == UNKNOWN):
                ids.append(number)
        return ids[::-1]
