"""Checks numbers against the numbering plans of countries."""

from __future__ import annotations

import functools
import re

import phonenumbers

from relrag_pipelines.pii.phones import canonical, text_region

_DEFAULT_REGIONS = ("IL", "US")
"""countries used if the archive's are unknown"""


# Mobile numbers and those of a place; the library knows only some ranges as assigned.
_ISRAELI = re.compile(r"(?:0|(?:\+|00)?972)(?:5\d|7[2-9]|[23489])\d{7}")


def home_regions(text: str, regions: tuple[str, ...]) -> tuple[str, ...]:
    """The countries whose numbers are found in a text without a word for phone: the archive's and its language's."""
    spoken = text_region.region_of(text)
    return tuple(dict.fromkeys([*regions, *([spoken] if spoken else []), *(() if regions else _DEFAULT_REGIONS)]))


@functools.lru_cache(maxsize=1 << 12)
def is_valid(number: str, regions: tuple[str, ...]) -> bool:
    """Whether a number, as dialled in one of the countries or with a +, is valid there."""
    if "IL" in regions and _ISRAELI.fullmatch(number):
        return True
    for region in regions or (None,):
        try:
            parsed = phonenumbers.parse(number, region)
        except phonenumbers.NumberParseException:
            continue
        if phonenumbers.is_valid_number(parsed) or _was_valid(parsed):
            return True
    return False


def _was_valid(parsed: phonenumbers.PhoneNumber) -> bool:
    """Whether the number was valid under an earlier numbering plan."""
    written = phonenumbers.format_number(parsed, phonenumbers.PhoneNumberFormat.E164)
    today = canonical.subscriber(written)
    return today != written and phonenumbers.is_valid_number(phonenumbers.parse(today))
