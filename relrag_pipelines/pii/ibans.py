"""IBANs of any country in the register, in blocks, letter by letter or over several lines."""

from __future__ import annotations

import functools
import re
import string
from collections.abc import Iterator

from stdnum import numdb

from relrag_pipelines.pii import domestic_accounts, headless_ibans
from relrag_pipelines.pii.national_ids import SEPARATOR
from relrag_pipelines.pii.normalized_text import find_in_both, plain_digits
from relrag_pipelines.pii.spans import Span, resolve_overlaps

_CELL_END = r"[ \t]{0,4}\r?\n[> \t]{0,8}|\t| ?[,;|] ?"
_GAP = rf"(?:{SEPARATOR}{{0,3}}|{_CELL_END})"
"""separators allowed between two characters"""
_OPENING = re.compile(
    rf"([A-Za-z])(?:(?<![A-Za-z0-9][A-Za-z])|(?<=IBAN[A-Za-z])){SEPARATOR}{{0,2}}([A-Za-z]){SEPARATOR}{{0,2}}[0-9]"
)
"""country code and first digit"""
_MAX_CHARS = 192
"""longest IBAN in characters, with separators and line ends"""
_PRECEDING_LETTER = re.compile(rf"(?:^|[^\w'’])[A-Za-z0-9]{SEPARATOR}$")
_FOLLOWING_LETTER = re.compile(rf"(?:{SEPARATOR}[A-Za-z0-9](?![A-Za-z0-9])){{2}}|[A-Za-z0-9]")
"""letters next to an IBAN written letter by letter that make it a part of something longer"""
_PAIR = re.compile("[A-Za-z0-9]{2}")
MIN_DIGITS = 8
"""smallest number of digits in any IBAN; words may pass the checksum too"""
_FIELD = re.compile(r"(\d+)!([nac])")
_CLASSES = {"n": "[0-9]", "a": "[A-Za-z]", "c": "[A-Za-z0-9]"}
_NOT_ALNUM = re.compile(r"[^A-Za-z0-9]+")
_VALUES = {ord(char): str(int(char, 36)) for char in string.ascii_uppercase}
_NOT_DIGIT = re.compile(r"[^0-9]+")
_IBANS = numdb.get("iban")


def find(text: str, regions: tuple[str, ...] = ()) -> list[Span]:
    """IBANs of any country in the register, with or without separators, that pass the ISO 7064 checksum.

    If there are any, their accounts in domestic form are found too. In archives of the `regions`, also IBANs without
    the code of the country.
    """
    return find_in_both(text, functools.partial(_find, regions=regions))


def _find(text: str, regions: tuple[str, ...]) -> list[Span]:
    spans = [Span(*match.span(), 1.0) for match in shapes(text) if _is_iban(match[0])]
    if spans:
        spans += domestic_accounts.domestic_spans(text, {_compact(text[start:end]) for start, end, _ in spans})
    spans += headless_ibans.find(text, regions)
    return resolve_overlaps(spans, text)


def shapes(text: str) -> Iterator[re.Match[str]]:
    """Matches of the form of a country's IBANs, whatever the checksum."""
    for opening in _OPENING.finditer(text):
        pattern = _country_pattern((opening[1] + opening[2]).upper())
        match = pattern.match(text, opening.start(), opening.start() + _MAX_CHARS) if pattern else None
        if match and not _is_part(text, match):
            yield match


def is_shaped(text: str, start: int, end: int) -> bool:
    """Whether the span is a proper part of a text in the form of an IBAN."""
    first = max(0, start - _MAX_CHARS // 2)
    near = shapes(text[first : end + _MAX_CHARS // 2])
    return any(first + match.start() < start and end <= first + match.end() for match in near)


@functools.cache
def _country_pattern(country: str) -> re.Pattern[str] | None:
    """The pattern of a country's IBANs; None if it has none."""
    structure = _IBANS.info(country)[0][1].get("bban")
    if not structure:
        return None
    fields = "".join(f"(?:{_GAP}{_CLASSES[kind]}){{{count}}}" for count, kind in _FIELD.findall(f"2!n{structure}"))
    return re.compile(rf"[A-Za-z]{_GAP}[A-Za-z]{fields}(?![A-Z0-9])")


def _is_part(text: str, match: re.Match[str]) -> bool:
    """Whether the match is written letter by letter, with more letters next to it."""
    if _PAIR.search(match[0]):
        return False
    preceding = text[max(0, match.start() - 3) : match.start()]
    return bool(_PRECEDING_LETTER.search(preceding) or _FOLLOWING_LETTER.match(text, match.end()))


def _is_iban(text: str) -> bool:
    number = _NOT_ALNUM.sub("", text).upper()
    return len(_NOT_DIGIT.sub("", number)) >= MIN_DIGITS and _passes_mod_97(number)


def normalise(number: str, regions: tuple[str, ...] = ()) -> str:
    """Letters and digits in upper case; for a domestic account number, its IBAN."""
    plain = plain_digits(number)
    return domestic_accounts.iban_of(plain) or headless_ibans.iban_of(plain, regions) or _compact(number)


def _passes_mod_97(iban: str) -> bool:
    """The ISO 7064 checksum of IBANs; four times as fast as stdnum's."""
    return int((iban[4:] + iban[:4]).translate(_VALUES)) % 97 == 1


def _compact(number: str) -> str:
    return _NOT_ALNUM.sub("", number if number.isascii() and "&" not in number else plain_digits(number)).upper()
