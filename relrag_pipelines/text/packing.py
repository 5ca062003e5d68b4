"""How sentences, lines and messages, the units of a text, are packed into passages.

Lengths are in tokens: words (of up to sixteen letters; longer ones count more) and marks.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence

NEVER = 2**62
"""as `least`: no break before this unit unless the passage is full"""

_LETTER = r"\w\u0300-\u036f\u0591-\u05bd\u05bf-\u05c7"  # a combining mark belongs to its letter
_TOKEN = re.compile(rf"[{_LETTER}]{{1,16}}|[^\s{_LETTER}]")
_NO_MARKS = bytes(code for code in range(128) if chr(code).isspace() or chr(code).isalnum() or chr(code) == "_")
_SPACES = bytes(code for code in range(128) if chr(code).isspace())


def count_tokens(text: str) -> int:
    """How long a text is."""
    return len(_TOKEN.findall(text))


def fits(text: str, limit: int) -> bool:
    """Whether a text is at most that long; counted only where it is not plain to see."""
    if len(text) <= limit:
        return True
    if text.isascii():
        # between two tokens is a space, or one of them is a mark, or they are parts of a word of more than 16 letters
        letters = text.encode()
        spaces, marks = len(letters) - len(letters.translate(None, _SPACES)), len(letters.translate(None, _NO_MARKS))
        if spaces + 1 + 2 * marks + len(text) // 16 <= limit:
            return True
    return count_tokens(text) <= limit


def split_long(text: str, start: int, end: int, limit: int) -> list[int]:
    """Ends of the parts, each at most `limit` long, of a unit that is longer: at lines, else clauses, words, marks."""
    ends: list[int] = []
    starts = [token.start() for token in _TOKEN.finditer(text, start, end)]
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
