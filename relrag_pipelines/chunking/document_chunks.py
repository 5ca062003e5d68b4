"""Records cut into passages: sentences and pages whole where they fit, headings with what follows them."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from itertools import pairwise
from typing import Any, NamedTuple

from relrag_pipelines.text.packing import NEVER, pack, split_long
from relrag_pipelines.text.sentences import sentences, spans
from relrag_pipelines.text.token_count import count_tokens, fits

_ANY_NUMBER = 2**62


class Passage(NamedTuple):
    """Part of a record's text."""

    start: int
    end: int
    page_number: int | None
    last_page_number: int | None


def passages(text: str, pages: list[dict[str, Any]], limit: int, overlap: int) -> list[Passage]:
    """The passages of a text, in order; together they hold every character of it. Pages are rows of records.Page."""
    if len(pages) < 2 and fits(text, limit):
        number = pages[0]["number"] if pages else None
        return [Passage(0, len(text), number, number)]
    units, sizes = _units(text, limit)
    starts = [page["start"] for page in pages]
    ranges = pack(sizes, _breaks(text, units, sizes, starts, limit), limit, _ANY_NUMBER, overlap)
    numbers = [page["number"] for page in pages]
    return [_passage(text, units[first][0], units[behind - 1][1], starts, numbers) for first, behind in ranges]


def times_of(document_passages: list[Passage], spoken: list[dict[str, Any]]) -> list[tuple[float | None, float | None]]:
    """Start and end of each passage in seconds from the beginning; `spoken` are rows of records.Spoken in order.

    A passage that begins or ends within a segment has the times of the whole segment: no finer ones exist.
    """
    starts, ends = [segment["start"] for segment in spoken], [segment["end"] for segment in spoken]
    times: list[tuple[float | None, float | None]] = []
    for passage in document_passages:
        segments = spoken[bisect_right(ends, passage.start) : bisect_left(starts, passage.end)]
        begin = min((segment["start_second"] for segment in segments), default=None)
        times.append((begin, max((segment["end_second"] for segment in segments), default=None)))
    return times


def _passage(text: str, start: int, end: int, starts: list[int], numbers: list[int]) -> Passage:
    if not starts:
        return Passage(start, end, None, None)
    inside = text[start:end]
    first = start + len(inside) - len(inside.lstrip())
    last = start + max(len(inside.rstrip()) - 1, 0)
    return Passage(start, end, numbers[_page(starts, first)], numbers[_page(starts, max(first, last))])


def _page(starts: list[int], offset: int) -> int:
    return max(bisect_right(starts, offset) - 1, 0)


def _units(text: str, limit: int) -> tuple[list[tuple[int, int]], list[int]]:
    """Sentences, cut where they are too long, and headings joined to what follows."""
    units: list[tuple[int, int]] = []
    sizes: list[int] = []
    heading = False
    for start, end in _fit_sentences(text, limit):
        size = count_tokens(text[start:end])
        if heading and sizes[-1] + size <= limit:
            units[-1] = (units[-1][0], end)
            sizes[-1] += size
        else:
            units.append((start, end))
            sizes.append(size)
        heading = text.startswith("#", start)
    return units, sizes


def _fit_sentences(text: str, limit: int) -> list[tuple[int, int]]:
    ends: list[int] = []
    for start, end in spans(sentences(text)):
        ends += [end] if fits(text[start:end], limit) else split_long(text, start, end, limit)
    return spans(ends)


def _breaks(text: str, units: list[tuple[int, int]], sizes: list[int], pages: list[int], limit: int) -> list[int]:
    """For each unit what a passage must hold to be ended before it.

    A page or a heading begins a new passage if the last one has come to a quarter of its length, or if the page (or
    what stands below the heading) fits into one passage as a whole but not into what is left of this one.
    """
    on = [bisect_right(pages, start) for start, _ in units]
    new = [False, *(before != here for before, here in pairwise(on))]
    least = [NEVER] * len(units)
    section = 0
    for unit in range(len(units) - 1, -1, -1):
        section += sizes[unit]
        if new[unit] or text.startswith("#", units[unit][0]):
            least[unit] = min(limit // 4, limit - section + 1) if section <= limit else limit // 4
            section = 0
    return least
