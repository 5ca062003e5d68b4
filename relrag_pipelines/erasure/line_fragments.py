"""Recognises a quoted line that a mail program wrapped, shortened or cut, by its beginning, middle or end.

A piece is removed if it fills a line, lies between ellipses, or borders on removed words; a word that was cut in the
middle is removed with its piece. Fewer than three words never match.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator, Sequence
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
    """index of its first word"""
    last: int
    """index of the word after its last"""
    depth: int
    """number of > marks before it"""


def lines_of(text: str, spans: Sequence[tuple[int, int]]) -> Iterator[TextLine]:
    """Yields the lines of a text whose words have these spans."""
    start = word = 0
    for line in text.split("\n"):
        end, first_word = start + len(line), word
        while word < len(spans) and spans[word][0] < end:
            word += 1
        mark = _QUOTED.match(line)
        yield TextLine(start, end, first_word, word, mark[0].count(">") if mark else 0)
        start = end + 1


def mark_interleaved_runs(lines: Sequence[TextLine], hashes: Hashes, stored: Hashes, removed: Mask) -> None:
    """Marks runs that are interrupted by inserted replies: lines of equal depth are read as one text."""
    depths = np.repeat([line.depth for line in lines], [line.last - line.first for line in lines])
    for depth in np.unique(depths):
        positions = np.flatnonzero(depths == depth)
        for position in np.flatnonzero(contains(runs_of(hashes[positions]), stored)):
            removed[positions[position : position + RUN]] = True


def _is_within(position: int, spans: Iterable[tuple[int, int]]) -> bool:
    """Whether one of the spans covers a position."""
    return any(begin <= position < end for begin, end in spans)


def lines_of_answered_mail(text: str, lines: Sequence[TextLine]) -> set[int]:
    """The lines that quote the answered mail itself, by depth and introductions; not what that mail quotes."""
    introductions = segmentation.attribution_lines(text)
    numbers = [
        number
        for number, line in enumerate(lines)
        if line.first < line.last and not _is_within(line.start, introductions)
    ]
    if not numbers:
        return set()
    first_line = lines[numbers[0]]
    limit = min((begin for begin, _ in introductions if begin > first_line.start), default=len(text))
    return {number for number in numbers if lines[number].depth == first_line.depth and lines[number].start < limit}


class Finder:
    """Finds the pieces of forgotten lines in one text."""

    def __init__(self, text: str, spans: Sequence[tuple[int, int]], stored: Hashes, words: WordHasher) -> None:
        self._text, self._spans, self._forgotten = text, spans, stored
        self._words = words.hash_words(text)
        heads, tails = words.edges(text)
        length = len(spans)
        self._has_cut_end, self._has_cut_start = np.zeros(length, dtype=bool), np.zeros(length, dtype=bool)
        self._has_cut_end[2:] = contains(heads_of(self._words, heads), stored)
        self._has_cut_start[:-2] = contains(tails_of(self._words, tails), stored)
        single = np.array([end - start == 1 for start, end in spans], dtype=bool)
        self._has_cut_end |= single  # a letter alone says nothing by itself
        self._has_cut_start |= single

    def mark(self, line: TextLine, removed: Mask, *, in_answered_mail: bool) -> None:
        """Marks the pieces on a line; `in_answered_mail`: the line quotes the forgotten mail in an answer to it."""
        for start, end in stretches(~removed[line.first : line.last]):
            begin = line.first + start
            for position in range(begin + 1, line.first + end + 1):
                if position == line.first + end or self._is_omission(position):
                    self._mark(line, begin, position, removed, in_answered_mail)
                    begin = position

    def _mark(self, line: TextLine, begin: int, end: int, removed: Mask, in_answered_mail: bool) -> None:
        """Marks the words from `begin` to `end` where they are a piece, but for a word cut at either side."""
        removed_before = begin > line.first and bool(removed[begin - 1])
        removed_after = end < line.last and bool(removed[end])
        # the rest of a line that is cut belongs to the same mail, even if other mails contain it too
        in_answered_mail = in_answered_mail or removed_before or removed_after
        for skip_first, skip_last in self._possible_cuts(line, begin, end):
            inner_begin, inner_end = begin + skip_first, end - skip_last
            cut_behind_removed = skip_last and begin > line.first
            is_neighbour = removed_before if cut_behind_removed else bool(skip_first) and removed_after
            is_rest = inner_begin == inner_end and is_neighbour
            if is_rest or self._is_piece(inner_begin, inner_end, in_answered_mail):
                removed[begin:end] = True
                return

    def _possible_cuts(self, line: TextLine, begin: int, end: int) -> list[tuple[int, int]]:
        """The numbers of words, 0 or 1, that may be cut at the beginning and at the end of a piece."""
        ends, begins = [0], [0]
        if end - begin > 0 and self._may_be_cut(line, end) and end - line.first > 2 and self._has_cut_end[end - 1]:
            ends.append(1)
        if self._may_be_cut(line, begin) and line.last - begin > 2 and self._has_cut_start[begin]:
            begins.append(1)
        return list(itertools.product(begins, ends))

    def _is_piece(self, begin: int, end: int, in_answered_mail: bool) -> bool:
        size = min(end - begin, PIECES[-1])
        if size < PIECES[0]:
            return False
        pieces = pieces_of(self._words[begin:end], [size])
        matches = contains(pieces, self._forgotten)
        return bool((matches | contains(mark_shared(pieces), self._forgotten) if in_answered_mail else matches).all())

    def _may_be_cut(self, line: TextLine, position: int) -> bool:
        """Whether a word may have been cut there: where a line begins or ends, or something was left out."""
        return position in (line.first, line.last) or self._is_omission(position)

    def _is_omission(self, position: int) -> bool:
        return bool(_OMITTED.search(self._text, self._spans[position - 1][1], self._spans[position][0]))
