"""IBANs of any country in the register, in blocks, letter by letter or over several lines."""

from __future__ import annotations

import functools
import re
import string
from collections.abc import Iterator

from stdnum import numdb

from relrag_pipelines.pii import domestic_accounts
from relrag_pipelines.pii.national_ids import SEPARATOR
from relrag_pipelines.pii.normalized_text import normalize, plain_digits
from relrag_pipelines.pii.spans import Span, resolve_overlaps

_IBAN_START = re.compile(rf"[0-9][0-9](?:(?<=[A-Za-z]{{2}}[0-9]{{2}})|(?<=[A-Za-z]{{2}}{SEPARATOR}[0-9]{{2}}))")
_CELL_END = r"[ \t]{0,4}\r?\n[> \t]{0,8}|\t| ?[,;|] ?"
_LONGEST_IBAN = 192
"""characters, its separators and the ends of lines in it included"""
_SPELT_DIGITS = re.compile(rf"\d{SEPARATOR}\d{SEPARATOR}{{1,3}}[A-Za-z0-9]")
_SPELT_COUNTRY = re.compile(rf"([A-Za-z])(?P<gap>{SEPARATOR})([A-Za-z])(?P=gap)\d(?P=gap)\d")
_SPELT_BEFORE = re.compile(rf"(?:^|[^A-Za-z0-9])[A-Za-z0-9]{SEPARATOR}$")
_IBAN_DIGITS = 8
"""the fewest that any has; words may pass the checksum too"""
_INSIDE = re.compile(r"[A-Z0-9]")
_BLOCKS = r"([A-Z]{2}[0-9]{2}(?:[ -]?[A-Z0-9]{4}){2,6})((?:[ -]?[A-Z0-9]{4})?)((?:[ -]?[A-Z0-9]{1,3})?)(?![A-Z0-9])"
_IBAN_BLOCKS = (re.compile(_BLOCKS), re.compile(_BLOCKS, re.IGNORECASE))
_NOT_ALNUM = re.compile(r"[^A-Za-z0-9]+")
_VALUES = {ord(char): str(int(char, 36)) for char in string.ascii_uppercase}
_NOT_DIGIT = re.compile(r"[^0-9]+")
_IBANS = numdb.get("iban")


@normalize
def find(text: str) -> list[Span]:
    """IBANs of any country in the register, with or without separators, that pass the ISO 7064 checksum.

    Beside one, its account in the form of its country is found as well.
    """
    spans: list[Span] = []
    for match in _IBAN_START.finditer(text):
        start = match.start() - (2 if text[match.start() - 1].isalpha() else 3)
        if start and _INSIDE.match(text, start - 1) and not text.endswith("IBAN", 0, start):
            continue
        spans += (Span(start, start + end, score) for end, score in _ibans_at(text[start : start + _LONGEST_IBAN]))
    spans += [Span(*match.span(), 1.0) for match in _spelt_ibans(text)]
    if spans:
        found = {_compact(text[start:end]) for start, end, _ in spans}
        spans += domestic_accounts.domestic_spans(text, found)
    return resolve_overlaps(spans, text)


def _spelt_ibans(text: str) -> Iterator[re.Match[str]]:
    """IBANs written letter by letter."""
    for digits in _SPELT_DIGITS.finditer(text):
        start = digits.start() - 4
        country = _SPELT_COUNTRY.match(text, start) if start >= 0 else None
        if (
            not country
            or (start and _INSIDE.match(text, start - 1))
            or _SPELT_BEFORE.search(text[max(0, start - 3) : start])
        ):
            continue
        length = _iban_length((country[1] + country[3]).upper())
        match = _spelt_iban(length).match(text, start) if length else None
        if match and _passes_mod_97(_NOT_ALNUM.sub("", match[0]).upper()):
            yield match


@functools.cache
def _spelt_iban(length: int) -> re.Pattern[str]:
    return re.compile(
        rf"[A-Za-z](?:{SEPARATOR}{{1,3}}[A-Za-z0-9]){{{length - 1}}}(?!{SEPARATOR}?[A-Za-z0-9](?![A-Za-z]))"
    )


@functools.lru_cache(maxsize=1 << 10)
def _ibans_at(text: str) -> tuple[tuple[int, float], ...]:
    """Where IBANs that the text begins with end, and how sure they are; tables repeat what could be one."""
    length = _iban_length(text[:2].upper())
    return tuple(one for one in sorted(set(_iban_ends(text, length))) if _is_iban(text[: one[0]])) if length else ()


def _is_iban(written: str) -> bool:
    number = _NOT_ALNUM.sub("", written).upper()
    return len(_NOT_DIGIT.sub("", number)) >= _IBAN_DIGITS and _passes_mod_97(number)


def _iban_ends(text: str, length: int) -> Iterator[tuple[int, float]]:
    """Where an IBAN that begins here may end: at its country's length, or as Presidio reads it, in blocks of four."""
    if whole := _whole_iban(length).match(text):
        yield whole.end(), 1.0
    for pattern in _IBAN_BLOCKS:
        if blocks := pattern.match(text):
            yield from ((blocks.end(group), 0.9) for group in (3, 2, 1))


@functools.cache
def _whole_iban(length: int) -> re.Pattern[str]:
    return re.compile(rf"[A-Za-z]{{2}}(?:(?:{SEPARATOR}{{0,2}}|{_CELL_END})[A-Za-z0-9]){{{length - 2}}}(?![A-Z0-9])")


@functools.cache
def _iban_length(country: str) -> int | None:
    structure = _IBANS.info(country)[0][1].get("bban")
    return 4 + sum(map(int, re.findall(r"\d+", structure))) if structure else None


def normalise(number: str) -> str:
    """Its letters and digits, in upper case; of a domestic account number the IBAN."""
    return domestic_accounts.iban_of(plain_digits(number)) or _compact(number)


def _passes_mod_97(iban: str) -> bool:
    """The checksum of ISO 7064 as IBANs have it; stdnum's takes four times as long."""
    return int((iban[4:] + iban[:4]).translate(_VALUES)) % 97 == 1


def _compact(number: str) -> str:
    return _NOT_ALNUM.sub("", number if number.isascii() and "&" not in number else plain_digits(number)).upper()
