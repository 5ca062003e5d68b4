"""Decides by the numbering plan of a country whether digits, as dialled there, are a valid number.

The verdict is the library's, for numbers without + and without extension, and thirty times as fast: phonenumbers parses
a number into an object, compares it with ten kinds of numbers one by one, and formats it. Here the plan of a country is
compiled once from the library's own metadata. What a plan alone does not decide (prefixes of other countries, prefixes
that are rewritten) is left to the library.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import phonenumbers
from phonenumbers.phonemetadata import PhoneMetadata

_KINDS = (
    "fixed_line", "mobile", "premium_rate", "toll_free", "shared_cost", "voip", "personal_number", "pager", "uan",
    "voicemail",
)  # fmt: skip
"""the kinds of numbers of which a valid one is, as the library calls them"""
_MIN_DIGITS, _MAX_DIGITS = 2, 17
"""digits of a national number"""
_FIRST_GROUP_ONLY = re.compile(r"\(?(?:\\1|\$1)\)?")
_NEVER = re.compile("(?!)")


@dataclass(frozen=True)
class _Sharing:
    """A region among those that share a calling code."""

    opening: re.Pattern[str] | None
    """the first digits that tell this region from the others"""
    valid: re.Pattern[str]
    """national numbers of any kind"""


@dataclass(frozen=True)
class _Form:
    """How national numbers with these first digits are written."""

    opening: re.Pattern[str]
    number: re.Pattern[str]
    needs_prefix: bool


class _Reading(NamedTuple):
    """Digits as dialled, by the plan of a region."""

    number: str
    """without the prefix"""
    has_prefix: bool
    is_valid: bool


@dataclass(frozen=True)
class Plan:
    """The numbering plan of a region, and of those that share its calling code."""

    code: int
    """the calling code of the country"""
    undecided: re.Pattern[str]
    """first digits that may be a code of a country"""
    prefix: re.Pattern[str]
    """what is dialled before a national number"""
    rewrites: bool
    """whether a prefix is replaced by other digits instead of removed"""
    general: re.Pattern[str]
    lengths: tuple[int, ...]
    local_lengths: tuple[int, ...]
    sharing: tuple[_Sharing, ...]
    forms: tuple[_Form, ...]

    def is_valid(self, digits: str) -> bool | None:
        """Whether the digits are a valid number; None if only the library can tell."""
        reading = self._read(digits)
        if reading is None:
            return None
        return reading.is_valid and (reading.has_prefix or not self._needs_prefix(reading.number))

    def e164(self, digits: str) -> str | None:
        """E.164 of a number with or without its prefix; empty if it isn't valid, None if only the library can tell."""
        reading = self._read(digits)
        return reading and (f"+{self.code}{reading.number}" if reading.is_valid else "")

    def _read(self, digits: str) -> _Reading | None:
        prefix = self.prefix.match(digits)
        if self.undecided.match(digits) or (prefix and self.rewrites):
            return None
        rest = digits[prefix.end() :] if prefix else digits
        has_prefix = prefix is not None and not (self.general.fullmatch(digits) and not self.general.fullmatch(rest))
        number = rest if has_prefix and self._is_long_enough(rest) else digits
        is_valid = _MIN_DIGITS <= len(number) <= _MAX_DIGITS and self._is_of_any_kind(number)
        return _Reading(number, has_prefix, is_valid)

    def _is_long_enough(self, number: str) -> bool:
        """Whether a number without its prefix still has as many digits as numbers have."""
        size = len(number)
        return size not in self.local_lengths and (size in self.lengths or size > self.lengths[-1])

    def _is_of_any_kind(self, number: str) -> bool:
        for region in self.sharing:
            if region.opening is None:
                if region.valid.fullmatch(number):
                    return True
            elif region.opening.match(number):
                return region.valid.fullmatch(number) is not None
        return False

    def _needs_prefix(self, number: str) -> bool:
        fitting = (form for form in self.forms if form.opening.match(number) and form.number.fullmatch(number))
        form = next(fitting, None)
        return form is not None and form.needs_prefix


@functools.cache
def plan(region: str) -> Plan:
    """The plan of a region by its ISO 3166-1 code."""
    home = _metadata(region)
    return Plan(
        code=home.country_code,
        undecided=re.compile(rf"(?:{home.international_prefix or '(?!)'})|{home.country_code}"),
        prefix=re.compile(home.national_prefix_for_parsing) if home.national_prefix_for_parsing else _NEVER,
        rewrites=bool(home.national_prefix_transform_rule),
        general=re.compile(home.general_desc.national_number_pattern),
        lengths=home.general_desc.possible_length,
        local_lengths=home.general_desc.possible_length_local_only,
        sharing=tuple(map(_sharing, _regions_with_code(home.country_code))),
        forms=_forms(_metadata(_regions_with_code(home.country_code)[0])),
    )


def _metadata(region: str) -> Any:
    return PhoneMetadata.metadata_for_region(region)


def _regions_with_code(code: int) -> tuple[str, ...]:
    return tuple(phonenumbers.region_codes_for_country_code(code))


def _sharing(region: str) -> _Sharing:
    metadata = _metadata(region)
    general = metadata.general_desc
    valid = rf"{_of_lengths(general.possible_length)}(?=(?:{general.national_number_pattern})(?!\d))"
    opening = re.compile(metadata.leading_digits) if metadata.leading_digits else None
    return _Sharing(opening, re.compile(rf"{valid}(?:{'|'.join(_kinds(metadata))})"))


def _kinds(metadata: Any) -> Iterator[str]:
    """Patterns of each kind of number of a region, landline or mobile."""
    for kind in filter(None, (getattr(metadata, name) for name in _KINDS)):
        if kind.national_number_pattern:
            yield rf"{_of_lengths(kind.possible_length)}(?:{kind.national_number_pattern})"


def _of_lengths(lengths: Iterable[int]) -> str:
    """A pattern that looks ahead for as many digits; any number of them if no length is given."""
    listed = "|".join(f"\\d{{{length}}}" for length in lengths)
    return rf"(?=(?:{listed})(?!\d))" if listed else ""


def _forms(metadata: Any) -> tuple[_Form, ...]:
    """The forms up to the last one that needs a prefix: what comes after it is never asked for."""
    needed = [number for number, form in enumerate(metadata.number_format) if _needs_prefix(form)]
    return tuple(map(_form, metadata.number_format[: needed[-1] + 1])) if needed else ()


def _form(form: Any) -> _Form:
    opening = form.leading_digits_pattern[-1] if form.leading_digits_pattern else ""
    return _Form(re.compile(opening), re.compile(form.pattern), _needs_prefix(form))


def _needs_prefix(form: Any) -> bool:
    rule = form.national_prefix_formatting_rule
    return bool(rule) and not form.national_prefix_optional_when_formatting and not _FIRST_GROUP_ONLY.fullmatch(rule)
