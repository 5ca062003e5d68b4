"""Names of months and weekdays in many languages, from the Unicode CLDR by Babel."""

from __future__ import annotations

import functools
import unicodedata
from collections.abc import Iterable

from babel import Locale, UnknownLocaleError

from relrag_pipelines import languages
from relrag_pipelines.languages import Language

_CONTEXTS = ("format", "stand-alone")
_WIDTHS = ("wide", "abbreviated")


@functools.cache
def month_names(language: str) -> dict[str, int]:
    """Names and abbreviations in small letters, without the dot of an abbreviation -> number of the month."""
    return _names_of_months(language, _WIDTHS)


@functools.cache
def full_month_names(language: str) -> list[list[str]]:
    """The names of each month in full, in small letters, by its number; none of a language that the CLDR lacks."""
    names = _names_of_months(language, _WIDTHS[:1])
    return [[name for name, number in names.items() if number == month] for month in range(1, 13)]


@functools.cache
def full_weekday_names(language: str) -> list[list[str]]:
    """Likewise the names of weekdays, Monday first."""
    return [
        sorted({_plain(locale.days[context]["wide"][day]) for locale in _locales(language) for context in _CONTEXTS})
        for day in range(7)
    ]


@functools.cache
def weekday_names(language: str) -> frozenset[str]:
    """Names and abbreviations in small letters, likewise."""
    return frozenset(
        _plain(name)
        for locale in _locales(language)
        for context in _CONTEXTS
        for width in _WIDTHS
        for name in locale.days[context][width].values()
    )


def months_of(languages: Iterable[str]) -> dict[str, int]:
    """The names in any of these languages; where two languages differ, the first one counts."""
    months: dict[str, int] = {}
    for language in languages:
        months = month_names(language) | months
    return months


def without_accents(text: str) -> str:
    """The text in small letters without accents."""
    decomposed = unicodedata.normalize("NFD", text.lower())
    return "".join(mark for mark in decomposed if not unicodedata.combining(mark))


def _names_of_months(language: str, widths: Iterable[str]) -> dict[str, int]:
    return {**_described(language).months} | {
        _plain(name): number
        for locale in _locales(language)
        for width in widths
        for context in _CONTEXTS
        for number, name in locale.months[context][width].items()
    }


def _locales(language: str) -> list[Locale]:
    """The locales of a language; none of one that the CLDR lacks."""
    try:
        return [Locale.parse(name) for name in (language, *_described(language).locales)]
    except (UnknownLocaleError, ValueError):
        return []


def _described(language: str) -> Language:
    """The language as its folder describes it; an empty description if it has no folder."""
    return languages.language(language) if language in languages.codes() else Language(language)


def _plain(name: str) -> str:
    return name.lower().strip(".׳'’ ")
