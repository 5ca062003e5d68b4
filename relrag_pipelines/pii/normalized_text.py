"""Normalises a text to what a reader sees: no invisible marks, plain digits, wrapped lines joined, (at) as @.

Finders search the text and its normalised form; findings in both count, at their offsets in the text.
"""

from __future__ import annotations

import bisect
import functools
import html
import itertools
import re
import unicodedata
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from relrag_pipelines.pii import spelled_addresses
from relrag_pipelines.pii.spans import Span, resolve_overlaps

WRAP = "\u205f"
"""a rare space that replaces a line end within a number"""

_WIDE = {code: unicodedata.normalize("NFKC", chr(code)) for code in (*range(0xFF01, 0xFF5F), 0xFE6B)} | dict.fromkeys(
    (0x2024, 0x3002, 0xFF61), "."
)
_FOREIGN = "".join(map(chr, (*range(128, 0xFFFF), *range(0x1D7CE, 0x1D800), *range(0x1FBF0, 0x1FBFA))))
DIGITS = {ord(digit): str(unicodedata.decimal(digit)) for digit in re.findall(r"\d", _FOREIGN)}
RAISED = "\u2070\u00b9\u00b2\u00b3\u2074-\u2079\u2080-\u2089\u2460-\u2468\u24ea\u2776-\u277e\u2780-\u2788\u278a-\u2792"
"""raised, lowered and circled digits, as in a character class"""
_RAISED = {ord(digit): str(unicodedata.digit(digit)) for digit in re.findall(f"[{RAISED}]", _FOREIGN)}
_BLANKS = dict.fromkeys((*range(0x2000, 0x200B), 0x202F, 0x3000), " ")
_SIGNS = {0x207A: "+", 0x208A: "+", 0x207B: "-", 0x208B: "-", 0x207D: "(", 0x208D: "(", 0x207E: ")", 0x208E: ")"}
"""raised and lowered signs of numbers"""
_PLAIN = DIGITS | _WIDE | _RAISED | _BLANKS | _SIGNS
_MARKS = "\u00ad\u034f\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\u20e3\ufe00-\ufe0f\ufeff"
_HIDDEN = re.compile(f"[{_MARKS}]+")
# a separate pattern: a character class is fast only within one Unicode plane
_STRANGE = re.compile(f"[{_MARKS}{''.join(chr(code) for code in _PLAIN if code < 0x10000)}]")
_STYLED = re.compile("[\U0001d7ce-\U0001d7ff\U0001fbf0-\U0001fbf9]")
_QUOTE = r"[ \t\xa0]*\r?\n[> \t\xa0]*"
_WRAPPED = re.compile(rf"(?:(?<=\d)|(?<=\d[\-/.()])|(?<=\+)){_QUOTE}(?=[\-/.(]?\d)")
_WRAPPED_ADDRESS = re.compile(
    r"@(?<=\w@)(?:(?:[\w-]+\.)?(?P<end>\r?\n[> \t]*)(?=[\w-]+\.\w)|[\w-]+\.(?P<last>\r?\n[> \t]*)(?=\w)"
    r"|[\w-]+(?P<word>\r?\n[> \t]*)(?=[\w-]*\.\w))"
)
_PERCENT_SIGN = re.compile(r"%40(?=\w)")
_REFERENCE = re.compile(r"&#?\w{2,8};")
_REFERRED = re.compile(rf"[@.\-+()/_\d]|[{_MARKS}]+")
"""characters of addresses and numbers that HTML references may encode"""


@dataclass(frozen=True)
class NormalizedText:
    """A normalised text, and the offsets of its characters in the original."""

    text: str
    _starts: list[int]
    _shifts: list[int]

    def place(self, offset: int) -> int:
        """The offset in the original of the character at this offset."""
        return offset + self._shifts[bisect.bisect_right(self._starts, offset) - 1]


def normalize(find: Callable[[str], list[Span]]) -> Callable[[str], list[Span]]:
    """Decorates a finder to search the normalised text as well."""

    @functools.wraps(find)
    def finder(text: str) -> list[Span]:
        return find_in_both(text, find)

    return finder


def find_in_both(text: str, find: Callable[[str], list[Span]]) -> list[Span]:
    """The finder's spans in the text and in its normalised form, at their offsets in the text."""
    spans = find(text)
    if (view := normalize_text(text)) is None:
        return spans
    more = [Span(view.place(start), view.place(end - 1) + 1, score) for start, end, score in find(view.text)]
    return resolve_overlaps([*more, *(span for span in spans if not _is_part(span, more))], text)


def _is_part(span: Span, spans: list[Span]) -> bool:
    """Whether a span lies within one found in the normalised text: `777 123 456` after a `+420` on the line before."""
    index = bisect.bisect_right(spans, span.start, key=lambda other: other.start) - 1
    return index >= 0 and span.end <= spans[index].end


def plain_digits(value: str) -> str:
    """The normalised text."""
    view = normalize_text(value)
    return view.text if view else value


def _joined_lines(plain: str) -> list[tuple[int, int, str]]:
    """The changes that join numbers and addresses that are wrapped over a line's end."""
    changes = [(*match.span(), WRAP) for match in _isolated_breaks(list(_WRAPPED.finditer(plain)), plain)]
    if "@" in plain:
        changes += [(*match.span(match.lastgroup or 0), "") for match in _WRAPPED_ADDRESS.finditer(plain)]
    return changes


@functools.lru_cache(maxsize=8)
def normalize_text(text: str) -> NormalizedText | None:
    """The normalised text with its offsets; None if it equals the text."""
    plain = text
    changes: list[tuple[int, int, str]] = []
    if not text.isascii() and (_STRANGE.search(text) or _STYLED.search(text)):
        plain = text.translate(_PLAIN)
        changes += [(*match.span(), "") for match in _HIDDEN.finditer(text)]
    if "\n" in text:
        changes += _joined_lines(plain)
    changes += [(*match.span(), "@") for match in _PERCENT_SIGN.finditer(plain)]
    if "&" in plain:
        changes += _references(plain)
    if spelled_addresses.may_hold(plain):
        changes += spelled_addresses.signs(plain)
    if "@" in plain:
        changes += spelled_addresses.apart_endings(plain)
    if not changes and plain == text:
        return None
    return _build(plain, sorted(changes, key=lambda change: (change[0], -change[1])))


def _references(text: str) -> Iterator[tuple[int, int, str]]:
    """Changes that resolve HTML references such as `&nbsp;` and `&#64;`."""
    for match in _REFERENCE.finditer(text):
        char = html.unescape(match[0])
        if char.isspace() and char not in "\r\n":
            yield (*match.span(), "\u00a0")
        elif _REFERRED.fullmatch(char):
            yield (*match.span(), _HIDDEN.sub("", char))


def _isolated_breaks(breaks: list[re.Match[str]], text: str) -> Iterator[re.Match[str]]:
    """The line breaks without another in the line before or after: several lines with numbers are a table."""
    ends = [-1, *("\n" in text[a.end() : b.start()] for a, b in itertools.pairwise(breaks)), -1]
    return (line_break for line_break, before, behind in zip(breaks, ends, ends[1:], strict=False) if before and behind)


def _build(text: str, changes: list[tuple[int, int, str]]) -> NormalizedText:
    parts, starts, shifts, done, length = [], [0], [0], 0, 0
    for start, end, new in changes:
        if start < done:
            continue
        parts += [text[done:start], new]
        length += start - done + len(new)
        done = end
        starts.append(length)
        shifts.append(done - length)
    return NormalizedText("".join([*parts, text[done:]]), starts, shifts)
