"""Finds phone numbers with the phonenumbers library, for several regions at once.

The library scans a text once per region and parses every candidate, which takes nearly all of the time. Its candidates
do not depend on the region as long as nothing is found. So this module collects the candidates once, and runs the
library only for regions in which one of them can be valid.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator, Mapping
from typing import Any

import phonenumbers
from phonenumbers.phonemetadata import PhoneMetadata

from relrag_pipelines.pii.normalized_text import DIGITS
from relrag_pipelines.pii.phones import numbering_plans

# Presidio's default regions, Israel first. Its CA is left out: with US it shares numbers and findings.
REGIONS: dict[str, tuple[str, ...]] = {
    "IL": ("0", "1", "972"),
    "US": ("",),
    "GB": ("0", "44"),
    "DE": ("0", "16", "22", "3", "49"),
    "FR": ("0", "33"),
    "IN": ("",),
    "BR": ("",),
}
"""how the digits of each region's numbers begin: the national prefix where it is never left out, a code, a service"""
MIN_DIGITS_WITH_PLUS = 6
"""the fewest digits behind a + that are a valid number anywhere"""
MIN_DIGITS = 7
"""Shorter numbers are left out all the same: to the library 1648 is a German pager, but in texts it is a year."""
MAX_DIGITS = 28
"""No number has more digits without an extension: a code of the carrier, one of a country, seventeen of the number."""

_NANP = 1
"""the code that North America shares"""
_PLUS = re.compile("[+\uff0b]")
_GROUPED = re.compile(r"\d\D+\d|^[^\d]*[+\uff0b]|^00")
_NOT_DIGIT = re.compile(r"\D+")
_PLAIN = re.compile(r"[0-9][0-9 \u00a0\u2007\u2009\u202f./\-\u2010-\u2015]*")
"""a candidate whose digits alone decide whether it is valid"""
_HYPHENATED = re.compile(r"[0-9]{1,20}(?:-[0-9]{1,20}){0,8}")
"""a number of which the library tries no parts"""
_UNREAD = phonenumbers.PhoneNumber()
"""stands for the number of a match, of which only the span is needed"""
_EXTENDED = re.compile("[^\\W\\d_]|[#\uff03;,~\uff5e]")
"""signs before an extension, whose digits are not part of the number"""


class _Attempt(phonenumbers.PhoneNumberMatcher):
    """The library's matcher, which only records its candidates and their offsets."""

    def __init__(self, text: str) -> None:
        super().__init__(text, None)
        self.tried: dict[tuple[str, int], None] = {}

    def _parse_and_verify(self, candidate: str, offset: int) -> None:
        self.tried[candidate, offset] = None


class _Matcher(phonenumbers.PhoneNumberMatcher):
    """The library's matcher, which skips candidates that cannot be valid in the region.

    Candidates and results are cached, since a table has hundreds of them.
    """

    def __init__(self, text: str, region: str, regions: tuple[str, ...]) -> None:
        away = is_away(region, regions)
        super().__init__(text, region, phonenumbers.Leniency.EXACT_GROUPING if away else phonenumbers.Leniency.VALID)
        self._region, self._regions = region, regions

    def _parse_and_verify(self, candidate: str, offset: int) -> phonenumbers.PhoneNumberMatch | None:
        if self._region not in regions_of(candidate, self._regions):
            return None
        valid = _is_valid(candidate, self._region) if _PLAIN.fullmatch(candidate) else None
        if valid is False:
            return None
        end = offset + len(candidate)
        before, after = self.text[max(0, offset - 1) : offset], self.text[end : end + 1]
        if valid and self.leniency == phonenumbers.Leniency.VALID:
            forbidden = any(map(_forbids_number, before + after))
            return None if forbidden else phonenumbers.PhoneNumberMatch(offset, candidate, _UNREAD)
        number = _parsed(candidate, before, after, self._region, self.leniency)
        return phonenumbers.PhoneNumberMatch(offset, candidate, number) if number else None

    def _extract_inner_match(self, candidate: str, offset: int) -> phonenumbers.PhoneNumberMatch | None:
        parts = _possible_parts(candidate, self._region, self._regions)
        matches = (self._parse_and_verify(part, offset + start) for part, start in parts)
        return next(filter(None, matches), None)


@functools.lru_cache(maxsize=1 << 14)
def _is_valid(candidate: str, region: str) -> bool | None:
    """Whether a candidate without + and extension is valid in a region; None if only the library can tell."""
    return numbering_plans.plan(region).is_valid(_NOT_DIGIT.sub("", candidate))


@functools.lru_cache(maxsize=1 << 10)
def _forbids_number(neighbour: str) -> bool:
    """Whether no number stands beside this character: a Latin letter, a currency, a percent sign."""
    matcher = phonenumbers.PhoneNumberMatcher
    return matcher._is_invalid_punctuation_symbol(neighbour) or matcher._is_latin_letter(neighbour)


@functools.lru_cache(maxsize=1 << 14)
def _parsed(candidate: str, before: str, after: str, region: str, leniency: int) -> phonenumbers.PhoneNumber | None:
    """The library's result for a candidate between these characters."""
    matcher = phonenumbers.PhoneNumberMatcher(before + candidate + after, region, leniency)
    match = matcher._parse_and_verify(candidate, len(before))
    return match.number if match else None


@functools.lru_cache(maxsize=1 << 10)
def _possible_parts(candidate: str, region: str, regions: tuple[str, ...]) -> tuple[tuple[str, int], ...]:
    """The parts of a candidate that can be valid in the region, with offsets, in the library's order."""
    return tuple((part, start) for part, start in _parts(candidate) if region in regions_of(part, regions))


@functools.lru_cache(maxsize=1 << 10)
def _parts(candidate: str) -> tuple[tuple[str, int], ...]:
    """The parts that the library tries of a candidate that is no number as a whole, each once."""
    attempt = _Attempt(candidate)
    attempt._extract_inner_match(candidate, 0)
    return tuple(attempt.tried)


def _candidates(window: str) -> set[str]:
    """The library's candidates in the window if none is valid."""
    attempt = _Attempt(window)
    attempt.has_next()
    return {candidate for candidate, _ in attempt.tried}


def _single_number(window: str, end: int, digits: int, regions: tuple[str, ...]) -> tuple[int, int] | None:
    """The span of a number with all digits of the window; most chains are one number of their first region."""
    for region in regions_of(window[:end], regions)[:1]:
        for match in _Matcher(window, region, regions):
            if count(match.raw_string) == digits and (is_grouped(match.raw_string) or not is_away(region, regions)):
                return match.start, match.end
    return None


def find(window: str, end: int, regions: tuple[str, ...] = ()) -> Iterator[tuple[int, int]]:
    """Spans of the numbers in the window; the text after `end` is only context.

    `regions` and then the usual ones are tried in their order, until one of them leaves no digit to the others. Where
    regions are given, a number of another one counts only in the groups in which that country writes it, and alone.
    """
    digits = count(window[:end])
    if digits < MIN_DIGITS:
        return
    number = _HYPHENATED.fullmatch(window, 0 if window[:1].isdigit() else 1, end)
    if number and any(map(_forbids_number, window[: number.start()] + window[end : end + 1])):
        return  # part of a word, such as an id
    valid = _is_valid_anywhere(number[0], regions) if number else None
    if number is None or valid is None:
        yield from _by_library(window, end, digits, regions)
    elif valid:
        yield number.span()


def _by_library(window: str, end: int, digits: int, regions: tuple[str, ...]) -> Iterator[tuple[int, int]]:
    """The same by the library's matcher, which knows of parts, extensions and codes of countries."""
    if whole := _single_number(window, end, digits, regions):
        yield whole
        return
    possible = {region for candidate in _candidates(window) for region in regions_of(candidate, regions)}
    for region in filter(possible.__contains__, in_order(regions)):
        for match in _matches(window, end, region, regions):
            yield match.start, match.end
            if count(match.raw_string) == digits:
                return


def _matches(window: str, end: int, region: str, regions: tuple[str, ...]) -> Iterator[phonenumbers.PhoneNumberMatch]:
    """The library's numbers of a region; of a region that is away only those that stand alone and in groups."""
    for match in _Matcher(window, region, regions):
        alone = is_alone(window, match.start, match.start + len(match.raw_string), end)
        is_sure = not is_away(region, regions) or (alone and is_grouped(match.raw_string))
        if is_sure and count(match.raw_string) >= MIN_DIGITS:
            yield match


@functools.lru_cache(maxsize=1 << 14)
def _is_valid_anywhere(number: str, regions: tuple[str, ...]) -> bool | None:
    """Whether a number that has no parts is valid in one of the regions; None if only the library can tell."""
    for region in regions_of(number, regions):
        valid = _is_valid(number, region)
        if valid is None or (valid and is_away(region, regions)):
            return None  # a code of a country, or a country in whose groups it has to be written
        if valid:
            return True
    return False


def is_away(region: str, regions: tuple[str, ...]) -> bool:
    """Whether a region is outside the archive's home regions; false if these are unknown."""
    return bool(regions) and region not in regions


def is_grouped(number: str) -> bool:
    """Whether a number is written in groups, or with the code of its country."""
    return _GROUPED.search(number) is not None


def is_alone(window: str, start: int, stop: int, end: int) -> bool:
    """Whether no other digits belong to a number, but for those behind a slash, as in `054-1234567/18 of May.md`."""
    before, after = window[:start], window[stop:end]
    return not ((count(before) and before[-1:] != "/") or (count(after) and after[:1] != "/"))


def count(text: str) -> int:
    """The number of digits in the text."""
    return len(_NOT_DIGIT.sub("", text))


@functools.cache
def in_order(regions: tuple[str, ...]) -> Mapping[str, tuple[str, ...]]:
    """These regions, then the default ones, with the first digits of their numbers."""
    return {name: REGIONS.get(name, ("",)) for name in dict.fromkeys((*regions, *REGIONS))}


@functools.lru_cache(maxsize=1 << 14)
def regions_of(candidate: str, regions: tuple[str, ...] = ()) -> tuple[str, ...]:
    """The regions in which a candidate can be a valid number, judged by its digits; the library judges what can.

    The usual regions are looked at behind those that are given.
    """
    digits = _NOT_DIGIT.sub("", candidate)
    if not digits.isascii():
        digits = digits.translate(DIGITS)
    extended = _EXTENDED.search(candidate) is not None
    if len(digits) > MAX_DIGITS and not extended:
        return ()
    if _PLUS.search(candidate):  # means the same everywhere, so one region does
        return tuple(in_order(regions))[:1] if len(digits) >= MIN_DIGITS_WITH_PLUS else ()
    if not digits.isascii():
        return tuple(in_order(regions))
    fitting = re.Pattern.match if extended else re.Pattern.fullmatch
    return tuple(
        name
        for name, openings in in_order(regions).items()
        if digits.startswith(openings) and fitting(numbers(name), digits)
    )


def is_whole_number(number: str, region: str) -> bool:
    """Whether the library finds a number of the region in a text that is nothing but a number."""
    valid = _is_valid(number, region) if _HYPHENATED.fullmatch(number) else None
    return phonenumbers.PhoneNumberMatcher(number, region).has_next() if valid is None else valid


def e164(number: str, region: str) -> str | None:
    """E.164 of a number valid in the present plan of a region; empty if it isn't, None if only parsing can tell."""
    return numbering_plans.plan(region).e164(_NOT_DIGIT.sub("", number)) if _PLAIN.fullmatch(number) else None


@functools.cache
def numbers(region: str) -> re.Pattern[str]:
    """The digits of every valid number as it is dialled in the region without a +, and of some that are not valid."""
    home: Any = PhoneMetadata.metadata_for_region(region)
    sharing: list[Any] = [
        PhoneMetadata.metadata_for_region(code)
        for code in phonenumbers.region_codes_for_country_code(home.country_code)
    ]
    own = "|".join(metadata.general_desc.national_number_pattern for metadata in sharing)
    prefix = home.national_prefix_for_parsing or ""
    abroad = home.international_prefix or "00"
    if home.national_prefix_transform_rule and home.country_code != _NANP:
        own += r"|\d{5,}"  # what is dialled is rewritten before it is compared with the plan
    return re.compile(
        rf"(?:{abroad})\d{{{MIN_DIGITS_WITH_PLUS},}}|(?:{home.country_code})?(?:{prefix}){{0,2}}(?:{own})?"
    )


def clear_cache() -> None:
    """Forgets every number seen so far."""
    for remembered in (regions_of, _is_valid, _is_valid_anywhere, _parsed, _possible_parts, _parts):
        remembered.cache_clear()
