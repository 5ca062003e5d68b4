"""Recognises a quoted line that a mail program wrapped, shortened or cut, by its beginning, middle or end.

A piece is cut where it is all that stands on a line, between marks of omission, or beside what is cut anyway; a word
that was cut in the middle goes with the piece that it ends or begins. Fewer than three words tell nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from relrag_pipelines.erasure.word_hashes import (
    PIECES,
    RUN,
    Hashes,
    Mask,
    WordHasher,
    contains,
    heads_of,
    mark_shared,
    pieces_of,
    runs_of,
    stretches,
    tails_of,
)
from relrag_pipelines.sources.mail import segmentation

_OMITTED = re.compile(r"\.{2,}|…")
_QUOTED = re.compile(r"[\s>]*")


class TextLine(NamedTuple):
    """A line of a quotation."""

    start: int
    end: int
    first: int
    """its first word"""
    last: int
    """the word behind its last"""
    depth: int
    """how often it is quoted by >"""


def lines_of(text: str, spans: Sequence[tuple[int, int]]) -> Iterator[TextLine]:
    """The lines of a text, of which the words stand at these places."""
    start = word = 0
    for line in text.split("\n"):
        end, first = start + len(line), word
        while word < len(spans) and spans[word][0] < end:
            word += 1
        mark = _QUOTED.match(line)
        yield TextLine(start, end, first, word, mark[0].count(">") if mark else 0)
        start = end + 1


def interleave(lines: Sequence[TextLine], hashes: Hashes, forgotten: Hashes, gone: Mask) -> None:
    """Marks runs that somebody has written between the lines of: those of one depth are read as one text."""
    depths = np.repeat([line.depth for line in lines], [line.last - line.first for line in lines])
    for depth in np.unique(depths):
        places = np.flatnonzero(depths == depth)
        for place in np.flatnonzero(contains(runs_of(hashes[places]), forgotten)):
            gone[places[place : place + RUN]] = True


def lines_of_answered_mail(text: str, lines: Sequence[TextLine]) -> set[int]:
    """Which lines quote the answered mail itself, as far as depth and introductions tell: not what that one quotes."""
    introductions = segmentation.attribution_lines(text)
    told = [
        number
        for number, line in enumerate(lines)
        if line.first < line.last and not any(begin <= line.start < end for begin, end in introductions)
    ]
    if not told:
        return set()
    first = lines[told[0]]
    until = min((begin for begin, _ in introductions if begin > first.start), default=len(text))
    return {number for number in told if lines[number].depth == first.depth and lines[number].start < until}


class Finder:
    """Finds the pieces of forgotten lines in one text."""

    def __init__(self, text: str, spans: Sequence[tuple[int, int]], forgotten: Hashes, words: WordHasher) -> None:
        self._text, self._spans, self._forgotten = text, spans, forgotten
        self._words = words.of(text)
        heads, tails = words.edges(text)
        length = len(spans)
        self._begun, self._ended = np.zeros(length, dtype=bool), np.zeros(length, dtype=bool)
        self._begun[2:] = contains(heads_of(self._words, heads), forgotten)
        self._ended[:-2] = contains(tails_of(self._words, tails), forgotten)
        single = np.array([end - start == 1 for start, end in spans], dtype=bool)
        self._begun |= single  # a letter alone says nothing by itself
        self._ended |= single

    def mark(self, line: TextLine, gone: Mask, *, own: bool) -> None:
        """Marks the pieces on a line; `own` says that the forgotten mail itself is quoted there, by an answer to it."""
        for first, last in stretches(~gone[line.first : line.last]):
            begin = line.first + first
            for place in range(begin + 1, line.first + last + 1):
                if place == line.first + last or self._is_omission(place):
                    self._mark(line, begin, place, gone, own)
                    begin = place

    def _mark(self, line: TextLine, begin: int, end: int, gone: Mask, own: bool) -> None:
        """Marks the words from `begin` to `end` where they are a piece, but for a word cut at either side."""
        # the rest of a line that is cut is of the same mail, although others may say it too
        own = own or (begin > line.first and bool(gone[begin - 1])) or (end < line.last and bool(gone[end]))
        cut_after = end - begin > 0 and self._open(line, end) and end - line.first > 2 and self._begun[end - 1]
        cut_before = self._open(line, begin) and line.last - begin > 2 and self._ended[begin]
        for before, after in ((0, 0), (0, 1), (1, 0), (1, 1)):
            if (before and not cut_before) or (after and not cut_after):
                continue
            inner_begin, inner_end = begin + before, end - after
            beside = inner_begin == inner_end and (
                gone[begin - 1] if after and begin > line.first else before and end < line.last and gone[end]
            )
            if beside or self._is_piece(inner_begin, inner_end, own):
                gone[begin:end] = True
                return

    def _is_piece(self, begin: int, end: int, own: bool) -> bool:
        size = min(end - begin, PIECES[-1])
        if size < PIECES[0]:
            return False
        pieces = pieces_of(self._words[begin:end], [size])
        known = contains(pieces, self._forgotten)
        return bool((known | contains(mark_shared(pieces), self._forgotten) if own else known).all())

    def _open(self, line: TextLine, place: int) -> bool:
        """Whether a word may have been cut there: where a line begins or ends, or something was left out."""
        return place in (line.first, line.last) or self._is_omission(place)

    def _is_omission(self, place: int) -> bool:
        return bool(_OMITTED.search(self._text, self._spans[place - 1][1], self._spans[place][0]))
