"""Phone numbers with unusual separators: `052*123*4567`, `634,81,90,57`, cells of a table.

The separator must be the same throughout, and the number valid in one of the archive's countries, or announced as a
phone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from relrag_pipelines.pii import context_words
from relrag_pipelines.pii.phones import validity
from relrag_pipelines.pii.spans import Span

SCORE = 0.6

_SIGNS = "*,;\t|/~=\u00b7\u2022\u2026\u2796\uff0a\u3001"
_SEPARATED_DIGITS = re.compile(rf"\d[{_SIGNS}] ?\d")
_RUN = re.compile(
    rf"(?:\d{{0,2}}\(\d{{1,4}}\) ?|\d{{1,3}} (?=\d))?[+\uff0b]?\d{{1,6}}"
    rf"(?P<gap>[{_SIGNS}] ?)\d{{1,8}}(?:(?P=gap)\d{{1,8}})*"
)
_SEPARATOR = re.compile(rf"(?<=\d)[{_SIGNS}] ?(?=\d)")
_FURTHER_DIGITS = re.compile(rf"[{_SIGNS}.:\-]? ?\d")
_MIN_DIGITS, _MAX_DIGITS = 7, 15
"""smallest and largest number of digits"""
_MIN_GAPS_BY_SIGN = {"/": 3}
_THOUSANDS = re.compile(r"\d{1,3}(?:, ?\d{3})+")
_MIN_GAPS = 2


def join(number: str) -> str:
    """The number with these separators between digits replaced by hyphens."""
    return _SEPARATOR.sub("-", number)


def find(text: str, regions: tuple[str, ...]) -> Iterator[Span]:
    """The numbers in the text."""
    if not _SEPARATED_DIGITS.search(text):
        return
    for run in _RUN.finditer(text):
        if _is_whole(text, run) and _is_phone(text, run, regions):
            yield Span(*run.span(), SCORE)


def _is_whole(text: str, run: re.Match[str]) -> bool:
    """Whether the run has as many digits and gaps as a phone, and no adjacent digits."""
    digits, gaps = sum(map(str.isdecimal, run[0])), run[0].count(run["gap"])
    if not _MIN_DIGITS <= digits <= _MAX_DIGITS or gaps < _MIN_GAPS_BY_SIGN.get(run["gap"], _MIN_GAPS):
        return False
    before = text[max(0, run.start() - 2) : run.start()]
    joined = before[-1:].isalnum() or (len(before) == 2 and before[0].isdecimal() and before[1] in f"{_SIGNS}.:-")
    return not joined and not _FURTHER_DIGITS.match(text, run.end()) and not text[run.end() : run.end() + 1].isalpha()


def _is_phone(text: str, run: re.Match[str], regions: tuple[str, ...]) -> bool:
    if context_words.has_phone_context(text, run.start()):
        return True
    if _THOUSANDS.fullmatch(run[0]) or context_words.has_other_context(text, run.start()):
        return False
    number = "".join(char for char in run[0] if char.isdecimal() or char in "+\uff0b")
    return validity.is_valid(number, validity.home_regions(text, regions)) and not context_words.is_amount(
        text, run.end()
    )
