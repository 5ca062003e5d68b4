"""Sentences, lines and messages as units, and how they are packed into passages.

Lengths are in tokens: words (of up to sixteen letters; longer ones count more) and marks.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from itertools import pairwise

NEVER = 2**62
"""as `least`: no break before this unit unless the passage is full"""

_LETTER = r"\w\u0300-\u036f\u0591-\u05bd\u05bf-\u05c7"  # a combining mark belongs to its letter
_TOKEN = re.compile(rf"[{_LETTER}]{{1,16}}|[^\s{_LETTER}]")
_NO_MARKS = bytes(code for code in range(128) if chr(code).isspace() or chr(code).isalnum() or chr(code) == "_")
_SPACES = bytes(code for code in range(128) if chr(code).isspace())
_END = re.compile(r"[.!?…]+[\"'”’»)\]]*[^\S\n\f]+|[^\S\n\f]*[\n\f]\s*")
_ABBREVIATION = re.compile(
    r"(?:^|[\s(\"'])(?:[^\W\d_]|mr|mrs|ms|dr|prof|st|no|nr|vs|inc|ltd|approx|fig|ing|mgr|bc|judr|mudr|tel|str|ul|tzn|tzv"
    r"|např|resp|hod|kč|cca)\.$",
    re.IGNORECASE,
)


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


def sentences(text: str) -> list[int]:
    """Where the sentences and lines of a text end, in order; the last end is the text's. Together they are the text.

    A line that goes on in a small letter on the next one is taken as wrapped, not as ended.
    """
    ends = [found.end() for found in _END.finditer(text) if _is_sentence_end(text, found)]
    return ends if ends and ends[-1] == len(text) else [*ends, len(text)]


def _is_sentence_end(text: str, found: re.Match[str]) -> bool:
    if found.start() == 0:
        return False
    following = text[found.end() : found.end() + 1]
    if "\f" in found[0] or found[0].count("\n") > 1:
        return True
    if following.islower():
        return False
    if "\n" in found[0]:
        return True
    before = text[max(0, found.start() - 12) : found.start() + 1]
    return not (_ABBREVIATION.search(before) or (following.isdigit() and before[-2:-1].isdigit()))


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
    """The best place to cut in the latter half of what lies between; `latest` where no mark or space offers itself."""
    middle = (begin + latest) // 2
    for mark in ("\n", ". ", "; ", ", ", " "):
        if (place := text.rfind(mark, middle, latest)) >= 0:
            return place + len(mark)
    return latest


def pack(sizes: Sequence[int], least: Sequence[int], limit: int, most: int, overlap: int) -> list[tuple[int, int]]:
    """Ranges of units (first, behind last), each at most `limit` tokens and `most` units, or a single unit.

    `least[i]` says how many tokens a passage must hold for it to be ended before unit i. Where a passage is ended so,
    nothing is repeated; else the next one begins with up to `overlap` units of it, if they leave room for a new one.
    """
    ranges: list[tuple[int, int]] = []
    first, count = 0, len(sizes)
    while first < count:
        behind, held = first + 1, sizes[first]
        while behind < count and behind - first < most and held < least[behind] and held + sizes[behind] <= limit:
            held += sizes[behind]
            behind += 1
        ranges.append((first, behind))
        repeated = 0
        if behind < count and held < least[behind]:
            room = limit - sizes[behind]
            while repeated < min(overlap, behind - first - 1) and room >= sizes[behind - repeated - 1]:
                room -= sizes[behind - repeated - 1]
                repeated += 1
        first = behind - repeated
    return ranges


def spans(ends: list[int]) -> list[tuple[int, int]]:
    """Ends as pairs of start and end."""
    return list(pairwise([0, *ends]))
