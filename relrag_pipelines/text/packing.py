"""How sentences, lines and messages, the units of a text, are packed into passages.

Lengths are in tokens (token_count.py).
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence

from relrag_pipelines.text.token_count import TOKEN

NEVER = 2**62
"""as `least`: no break before this unit unless the passage is full"""


def split_long(text: str, start: int, end: int, limit: int) -> list[int]:
    """Ends of the parts, each at most `limit` long, of a unit that is longer: at lines, else clauses, words, marks."""
    ends: list[int] = []
    starts = [token.start() for token in TOKEN.finditer(text, start, end)]
    first = 0
    while first + limit < len(starts):
        begin, latest = starts[first], starts[first + limit]
        ends.append(_last_break(text, begin, latest))
        first = bisect_right(starts, ends[-1] - 1)
    return [*ends, end]


def _last_break(text: str, begin: int, latest: int) -> int:
    """The best offset for a cut in the latter half of the range; `latest` if it has no mark or space."""
    middle = (begin + latest) // 2
    for mark in ("\n", ". ", "; ", ", ", " "):
        if (index := text.rfind(mark, middle, latest)) >= 0:
            return index + len(mark)
    return latest


def pack(sizes: Sequence[int], least: Sequence[int], limit: int, most: int, overlap: int) -> list[tuple[int, int]]:
    """Ranges of units (first, after last), each with at most `limit` tokens and `most` units, or a single unit.

    `least[i]` is the number of tokens from which a passage ends before unit i. After such an end nothing is repeated;
    otherwise the next passage begins with up to `overlap` units of this one, if they leave room for a new one.
    """
    ranges: list[tuple[int, int]] = []
    first, count = 0, len(sizes)
    while first < count:
        end, tokens = first + 1, sizes[first]
        while end < count and end - first < most and tokens < least[end] and tokens + sizes[end] <= limit:
            tokens += sizes[end]
            end += 1
        ranges.append((first, end))
        repeated = 0
        if end < count and tokens < least[end]:
            room = limit - sizes[end]
            while repeated < min(overlap, end - first - 1) and room >= sizes[end - repeated - 1]:
                room -= sizes[end - repeated - 1]
                repeated += 1
        first = end - repeated
    return ranges
