"""Names of months and weekdays in many languages, from the Unicode CLDR by Babel."""

from __future__ import annotations

import functools
import unicodedata
from collections.abc import Iterable

from babel import Locale

VARIANTS = {
    "ar": ("ar_LB", "ar_DZ", "ar_MA"),  # months of Assyrian and of French origin
    "de": ("de_AT",),
    "en": ("en_GB",),
    "pt": ("pt_PT",),
}
"""locales of a language that name months differently"""
_OTHER_SPELLINGS = {"he": {"מרס": 3}}
"""that the CLDR does not have"""
_FORMS = [(context, width) for context in ("format", "stand-alone") for width in ("wide", "abbreviated")]


@functools.cache
def month_names(language: str) -> dict[str, int]:
    """Names and abbreviations in small letters, without the dot of an abbreviation -> number of the month."""
    return _OTHER_SPELLINGS.get(language, {}) | {
        _plain(name): number
        for locale in _locales(language)
        for context, width in _FORMS
        for number, name in locale.months[context][width].items()
    }


@functools.cache
def weekday_names(language: str) -> frozenset[str]:
    """Names and abbreviations in small letters, likewise."""
    return frozenset(
        _plain(name)
        for locale in _locales(language)
        for context, width in _FORMS
        for name in locale.days[context][width].values()
    )


@functools.cache
def weekday_numbers(language: str) -> dict[str, int]:
    """Names and abbreviations in small letters, likewise -> day of the week, from 0 for Monday."""
    return {
        _plain(name): number
        for locale in _locales(language)
        for context, width in _FORMS
        for number, name in locale.days[context][width].items()
    }


def months_of(languages: Iterable[str]) -> dict[str, int]:
    """The names in any of these languages; where two languages differ, the first one counts."""
    found: dict[str, int] = {}
    for language in languages:
        found = month_names(language) | found
    return found


def without_accents(text: str) -> str:
    """The text in small letters without accents."""
    decomposed = unicodedata.normalize("NFD", text.lower())
    return "".join(mark for mark in decomposed if not unicodedata.combining(mark))


def _locales(language: str) -> list[Locale]:
    return [Locale.parse(name) for name in (language, *VARIANTS.get(language, ()))]


def _plain(name: str) -> str:
    return name.lower().strip(".׳'’ ")
