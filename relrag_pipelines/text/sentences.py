"""Splits texts of any language into sentences and lines."""

from __future__ import annotations

import re
from itertools import pairwise

_END = re.compile(r"[.!?…]+[\"'”’»)\]]*[^\S\n\f]+|[^\S\n\f]*[\n\f]\s*")
_ABBREVIATION = re.compile(
    r"(?:^|[\s(\"'])(?:[^\W\d_]|mr|mrs|ms|dr|prof|st|no|nr|vs|inc|ltd|approx|fig|ing|mgr|bc|judr|mudr|tel|str|ul|tzn|tzv"
    r"|např|resp|hod|kč|cca)\.$",
    re.IGNORECASE,
)


def sentences(text: str) -> list[int]:
    """The ends of the sentences and lines of a text, in order; the last is the end of the text.

    A line that goes on in a small letter on the next one is taken as wrapped, not as ended.
    """
    ends = [match.end() for match in _END.finditer(text) if _is_sentence_end(text, match)]
    return ends if ends and ends[-1] == len(text) else [*ends, len(text)]


def _is_sentence_end(text: str, match: re.Match[str]) -> bool:
    if match.start() == 0:
        return False
    following = text[match.end() : match.end() + 1]
    if "\f" in match[0] or match[0].count("\n") > 1:
        return True
    if following.islower():
        return False
    if "\n" in match[0]:
        return True
    before = text[max(0, match.start() - 12) : match.start() + 1]
    return not (_ABBREVIATION.search(before) or (following.isdigit() and before[-2:-1].isdigit()))


def spans(ends: list[int]) -> list[tuple[int, int]]:
    """Ends as pairs of start and end."""
    return list(pairwise([0, *ends]))
