"""Phone numbers: whatever the phonenumbers library finds for eight regions, and the ways Israeli numbers are written.

The library finds the numbers that Presidio finds, but misses Israeli ones in ranges it does not know as assigned, and
it is slow: each region scans and parses the text again. So the text is scanned once for chains of digits; only a chain
with enough digits for a region is given to it, with just the neighbours that its verdict depends on, and remembered.
"""

from __future__ import annotations

import functools
import re
import unicodedata
from collections.abc import Iterator
from typing import NamedTuple

import phonenumbers

from relrag_pipelines.pii import around, lookalikes, national, seen
from relrag_pipelines.pii.spans import Span, disjoint

LIBRARY, INTERNATIONAL, SHORT, ISRAELI = 0.4, 0.5, 0.5, 0.75
"""scores, by how a number was recognised"""


class Region(NamedTuple):
    """What every valid number of a region has in common, written in any way but with a +."""

    fewest: int
    """fewest digits, `00 420 ...` included"""
    openings: tuple[str, ...] = ("",)
    """how its digits begin: the national prefix where the region never leaves it out, a country code, a service"""


# Presidio's default regions, Israel first. Its CA is left out: with US it shares numbers and findings.
REGIONS = {
    "IL": Region(7, ("0", "1", "972")),
    "US": Region(7),
    "GB": Region(7, ("0", "44")),
    "DE": Region(4, ("0", "16", "22", "3", "49")),
    "FR": Region(8, ("0", "33")),
    "IN": Region(8),
    "BR": Region(8),
}
FEWEST_WITH_PLUS = 6
"""the fewest digits behind a + that are a valid number anywhere"""
FEWEST = 7
"""Shorter numbers are left out all the same: to the library 1648 is a German pager, but in texts it is a year."""

_MARKS = "\u200b\u200e\u200f\u202a-\u202e\u2060\u2066-\u2069\u00ad\ufeff"
_SPACES = " \u00a0\u2007\u2009\u202f\u205f\u3000"
_HYPHENS = "\\-\u2010-\u2015\u2212\u05be"
_SEPARATOR = f"{_SPACES}{_HYPHENS}{_MARKS}./()"
# What the library lets stand between digits, too.
_GAP = f"{_SEPARATOR}x\u30fc\uff0d-\uff0f\uff08\uff09\uff3b\uff3d\\[\\]~\u2053\u223c\uff5e"
_LEAD = "(\\[\uff08\uff3b+\uff0b"

_CHAIN = re.compile(rf"(?:[{_LEAD}][{_GAP}]{{0,4}}){{0,2}}\d(?:[{_GAP}]{{0,4}}\d)*", re.IGNORECASE)
_EXTENSION = re.compile(
    r"[ \xa0\t,;]*(?:(?:e?xt(?:ensi(?:o\u0301?|ó))?n?|ｅ?ｘｔｎ?|доб|anexo)[:.．=]?[ \xa0\t,-]*\d{1,20}"
    r"|(?:[xｘ#＃~～]|int|ｉｎｔ)[:.．]?[ \xa0\t,-]*\d{1,9})#?",
    re.IGNORECASE,
)
_DIGIT, _NOT_DIGIT = re.compile(r"\d"), re.compile(r"\D+")
_PLUS = re.compile("[+\uff0b]")

_S = f"[{_SEPARATOR}]{{0,3}}"
_ISRAELI = re.compile(
    rf"(?:(?<![\d+])[+＋]|(?<!\d)00){_S}972{_S}\(?0?{_S}(?:[57]\d|[23489])(?:{_S}\d){{7}}(?!\d)"
    rf"|(?<!\d)972{_S}5\d(?:{_S}\d){{7}}(?!\d)"
    rf"|(?<!\d)(?:\(0(?:5\d|7[2-9])\)|0(?:5\d|7[2-9]))(?:{_S}\d){{7}}(?!\d)"
    rf"|(?<!\d)(?:\(0[23489]\)|0[23489]){_S}(?:\d{{7}}|\d{{3}}{_S}\d{{4}}|\d{{3}}{_S}\d\d{_S}\d\d)(?!\d)"
    rf"|(?<!\d)1{_S}(?:[789]00|80[19]|599)(?:{_S}\d){{6}}(?!\d)"
)
_INTERNATIONAL = re.compile(rf"(?<![\d+])[+＋]{_S}[1-9](?:{_S}\d){{6,14}}(?!\d)")
# *1234 as companies write it, but not the opening of *1234 in bold*.
_SHORT = re.compile(r"(?<![\w*])\*\d{4}(?![\d*])(?![^*\n]*[^\s*]\*(?!\w))")


@seen.as_seen
def find(text: str) -> list[Span]:
    """Phone numbers in the text."""
    text = lookalikes.covered(text)
    spans = [Span(*match.span(), SHORT) for match in _SHORT.finditer(text)] if "*" in text else []
    for start, end in _chains(text):
        spans += _in_chain(text, start, end)[0]
    return disjoint(spans, text)


def without_others(text: str) -> str:
    """The text with what only looks like a phone covered, every offset unchanged: dates, and what words announce."""
    text = lookalikes.covered(text)
    for start, end in _chains(text):
        for other in _in_chain(text, start, end)[1]:
            text = text[: other.start] + "\ufffc" * (other.end - other.start) + text[other.end :]
    return text


def _chains(text: str) -> Iterator[tuple[int, int]]:
    """Where digits stand close enough to be one number, extension included; what follows may begin in an extension."""
    places, seen = [0], set()
    while places:
        chain = _CHAIN.search(text, places.pop())
        if chain is None or chain.start() in seen:
            continue
        seen.add(chain.start())
        extension = _EXTENSION.match(text, chain.end())
        end = extension.end() if extension else chain.end()
        if end - chain.start() >= FEWEST:
            yield chain.start(), end
        places += {chain.end(), end}


def _in_chain(text: str, start: int, end: int) -> tuple[list[Span], list[Span]]:
    """The phones in the chain, and what could be one but for the words in front of it."""
    before = _neighbour(text[start - 1]) if start else ""
    after = text[end : end + 3] if text.startswith(":", end) else _neighbour(text[end : end + 1])
    window = (before + text[start:end] + after).replace(seen.WRAP, " ")  # the library knows no such space
    moved = start - len(before)
    spans = [Span(moved + a, moved + b, score) for a, b, score in _in_window(window, len(window) - len(after))]
    first = _DIGIT.search(text, start, end)
    if first is None or _PLUS.search(text, start, end):
        return spans, []
    forms = national.forms(text, start, end)
    spans += [one for one in forms if not any(held.start <= one.start and one.end <= held.end for held in spans)]
    begun = [one for one in spans if one.start <= first.start()]
    if not begun:
        return [*spans, *national.announced(text, start, end)], []
    if all(one.score == LIBRARY for one in begun) and _is_other(text, start, begun[-1].end):
        return [one for one in spans if one not in begun], begun
    return spans, []


def _is_other(text: str, start: int, end: int) -> bool:
    """Whether the words around say that it is no phone."""
    if around.says_phone(text, start):
        return False
    return around.says_other(text, start) or around.is_amount(text, end)


def _neighbour(char: str) -> str:
    """The character as far as the library's verdict depends on it: letters and currencies forbid, a # may belong."""
    if char.isascii():
        return "a" if char.isalpha() else char if char in "$%#" else " "
    return char


@functools.lru_cache(maxsize=1 << 16)
def _in_window(window: str, end: int) -> tuple[Span, ...]:
    """The numbers of one chain, which ends in the window at `end`; what stands behind that is only looked at."""
    spans = [Span(*match.span(), ISRAELI) for match in _ISRAELI.finditer(window)]
    digits = _count(window)
    plus = bool(_PLUS.search(window))
    for name, region in REGIONS.items():
        if digits < FEWEST or (digits < region.fewest and not plus):
            continue
        if any(not _DIGIT.search(window[: one.start] + window[one.end : end]) for one in spans):
            break  # no digit is left that another region could find
        matches = _Matcher(window, name, region)
        spans += (Span(one.start, one.end, LIBRARY) for one in matches if _count(one.raw_string) >= FEWEST)
    if plus:
        spans += (
            Span(*match.span(), INTERNATIONAL)
            for match in _INTERNATIONAL.finditer(window)
            if not any(one.start < match.end() and match.start() < one.end for one in spans)
        )
    return tuple(disjoint(spans, window))


def _count(text: str) -> int:
    return len(_NOT_DIGIT.sub("", text))


class _Matcher(phonenumbers.PhoneNumberMatcher):
    """The library's matcher, which does not try to parse what cannot be a number of the region."""

    def __init__(self, text: str, name: str, region: Region) -> None:
        super().__init__(text, name)
        self._region = region

    def _parse_and_verify(self, candidate: str, offset: int) -> phonenumbers.PhoneNumberMatch | None:
        fewest, openings = (FEWEST_WITH_PLUS, ("",)) if _PLUS.search(candidate) else self._region
        digits = _NOT_DIGIT.sub("", candidate)
        if len(digits) < fewest or (digits.isascii() and not digits.startswith(openings)):
            return None
        return super()._parse_and_verify(candidate, offset)


@functools.lru_cache(maxsize=1 << 16)
def normalise(number: str) -> str:
    """E.164 of a number as written; one without a country is Israeli where it can be, else of the first region it fits.

    A short number keeps its star; what is no whole number is its digits.
    """
    plain = unicodedata.normalize("NFKC", seen.plain(number)).strip()
    digits = "".join(str(unicodedata.decimal(char)) for char in plain if char.isdecimal())
    if plain.startswith("*"):
        return f"*{digits}"
    if _ISRAELI.fullmatch(plain):
        return "+972" + digits.removeprefix("00").removeprefix("972").removeprefix("0")
    if known := national.normalise(plain, digits):
        return known
    for region in REGIONS:
        try:
            parsed = phonenumbers.parse(plain, region)
        except phonenumbers.NumberParseException:
            continue
        if phonenumbers.is_valid_number(parsed):
            return phonenumbers.format_number(parsed, phonenumbers.PhoneNumberFormat.E164)
    return f"+{digits}" if plain.startswith("+") else digits


def forget() -> None:
    """Forgets every number seen so far."""
    _in_window.cache_clear()
    normalise.cache_clear()
