"""The lines of a mail's text, each with its depth of quotation and its text without quote marks."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

LONGEST_MARK = 400
"""A mark is not looked for in more characters of a line than this."""
_DIRECTION = dict.fromkeys(map(ord, "\u200e\u200f\u061c\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\ufeff"))
_HYPHENS = dict.fromkeys((0x05BE, *range(0x2010, 0x2016), 0x2212), "-")
_PLAIN = _DIRECTION | _HYPHENS | {0xA0: " ", 0x202F: " ", 0x2009: " ", 0xFF1A: ":", 0x2019: "'", ord("\t"): " "}
_LINE = re.compile(r"(?:[ \t\r]*+\n)++|[^\n]*+\n|[^\n]++")
_QUOTE = re.compile(r"[ \t\u200e\u200f\u202a-\u202e\u2066-\u2069]{0,3}(>(?![:;=]-?[()DP])(?:[ \t]?>)*+)")


class Line(NamedTuple):
    start: int
    end: int
    depth: int
    """how often it is quoted by >"""
    raw: str
    """its beginning, as written"""
    bare: str
    """the same in lower case, without quoting and marks of direction"""


def text_lines(text: str) -> Iterator[Line]:
    """The lines; empty ones in a row are one. `>>> ` is a prompt unless it follows a quotation in a quotation."""
    before = 0
    for match in _LINE.finditer(text):
        start, end = match.span()
        raw = text[start : min(end, start + LONGEST_MARK)]
        prompt = raw.startswith(">From ") or (raw.startswith(">>> ") and before < 2)
        mark = None if prompt else _QUOTE.match(raw)
        bare = raw[mark.end() :] if mark else raw
        bare = (bare if bare.isascii() and "\t" not in bare else bare.translate(_PLAIN)).strip().lower()
        depth = mark[1].count(">") if mark else 0
        before = depth if bare else before
        yield Line(start, end, depth, raw, bare)


def next_text(lines: Sequence[Line], at: int) -> int:
    while at < len(lines) and not lines[at].bare:
        at += 1
    return at


def previous_text(lines: Sequence[Line], begin: int, end: int) -> int:
    end -= 1
    while end >= begin and not lines[end].bare:
        end -= 1
    return end
