"""What people say in each language, read from the files beside this one: `en.toml` is English; a file is a language.

A phrase is a regular expression for whole words, whatever their case. It may be written with accents or without: it is
searched in text that `bare` has been applied to. A space stands for any white space, `{name}` for what the file calls
so in its table `parts`. What all languages say for one thing is searched at once, since people mix them.
"""

from __future__ import annotations

import functools
import re
import tomllib
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, TypeVar, get_type_hints

from relrag_pipelines.errors import RelragError
from relrag_query.understanding.phrases.tables import (
    Alternatives,
    AnsweredPhrases,
    AskedPhrases,
    BareWords,
    ChannelPhrases,
    DatePhrases,
    IntentPhrases,
    ListedPhrases,
    ListingPhrases,
    Pattern,
    PeoplePhrases,
    Phrases,
    TermPhrases,
    TextPhrases,
    TimeNames,
    TimePhrase,
    Words,
    Written,
)

FOLDER = Path(__file__).parent
"""where the languages are"""

_Table = TypeVar("_Table")


class PhraseError(RelragError):
    """A file of phrases that cannot be used; the message names file and entry."""


_TABLES: Mapping[str, type[Any]] = {
    "intent": IntentPhrases,
    "people": PeoplePhrases,
    "channel": ChannelPhrases,
    "said_in": ChannelPhrases,
    "listed": ListedPhrases,
    "listing": ListingPhrases,
    "term": TermPhrases,
    "text": TextPhrases,
    "asked": AskedPhrases,
    "answered": AnsweredPhrases,
    "date": DatePhrases,
}
_OTHER_TABLES = frozenset({"parts", "names", "time", "first_weekday"})
_UNITS = ("day", "week", "month", "year")


def load_phrases() -> Phrases:
    """The phrases of the languages in FOLDER, read when first asked for."""
    return _load(FOLDER)


@functools.lru_cache(maxsize=4096)
def bare(text: str) -> str:
    """The text without accents, letter for letter; many leave them out when they ask."""
    return "".join(unicodedata.normalize("NFD", mark)[0] for mark in text)


def either(names: Iterable[str]) -> str:
    """One of these names, the longest that fits."""
    return "|".join(re.escape(name).replace(r"\ ", r"\x20") for name in sorted(names, key=len, reverse=True)) or "(?!)"


@functools.cache
def _load(folder: Path) -> Phrases:
    languages = {file.name: _read(file) for file in sorted(folder.glob("*.toml"))}
    names = _names(languages)
    groups = {name: f"(?P<{name}>{said})" for name, said in _name_patterns(names).items()}
    for file, language in languages.items():
        parts = language.get("parts", {}) | {"months": either(names.months)}
        languages[file] = language | {name: _fill(language.get(name, {}), parts, file) for name in _TABLES}
        languages[file]["time"] = _fill(language.get("time", {}), parts | groups, file)
    tables = {name: _table(kind, name, languages) for name, kind in _TABLES.items()}
    return Phrases(**tables, names=names, times=tuple(_times(languages)))


def _read(file: Path) -> dict[str, Any]:
    try:
        language = tomllib.loads(file.read_text(encoding="utf-8"))
    except tomllib.TOMLDecodeError as error:
        raise PhraseError(f"{file.name}: {error}") from None
    known = _TABLES.keys() | _OTHER_TABLES
    if unknown := sorted(language.keys() - known):
        raise PhraseError(f"{file.name}: {unknown[0]} is unknown; known are {', '.join(sorted(known))}")
    return language


def _fill(table: Mapping[str, Any], parts: Mapping[str, str], file: str) -> dict[str, list[str]]:
    """The phrases of a table with the parts that they name."""

    def part(found: re.Match[str]) -> str:
        if found[1] not in parts:
            raise PhraseError(f"{file}: {{{found[1]}}} is not among its parts; these are {', '.join(sorted(parts))}")
        return parts[found[1]]

    if wrong := [name for name, said in table.items() if not isinstance(said, list)]:
        raise PhraseError(f"{file}: {wrong[0]} is not a list; write [ and ] around its phrases")
    return {name: [re.sub(r"\{([a-z_]+)\}", part, phrase) for phrase in said] for name, said in table.items()}


def _table(kind: Callable[..., _Table], name: str, languages: Mapping[str, dict[str, Any]]) -> _Table:
    """What all languages say for each entry of a table; an entry may be missing in any of them."""
    fields = get_type_hints(kind)
    for file, language in languages.items():
        if unknown := sorted(language[name].keys() - {field.rstrip("_") for field in fields}):
            raise PhraseError(f"{file}: {name}.{unknown[0]} is unknown; known are {', '.join(fields)}")
    said = {
        field: [phrase for language in languages.values() for phrase in language[name].get(field.rstrip("_"), ())]
        for field in fields
    }
    try:
        return kind(**{field: _READERS[fields[field]](phrases) for field, phrases in said.items()})
    except re.error as error:
        raise PhraseError(f"a phrase of {name} in {', '.join(languages)}: {error}: {error.pattern!s}") from None


def _expression(phrases: Iterable[str]) -> str:
    return bare("|".join(phrases)).replace(" ", r"\s+")


def whole_words(phrases: Iterable[str]) -> Pattern:
    """A pattern for any of these phrases in bare text; nothing matches where there is none."""
    return re.compile(rf"(?<!\w)(?:{_expression(phrases) or '(?!)'})(?!\w)", re.IGNORECASE)


_READERS: Mapping[Any, Callable[[list[str]], Any]] = {
    Pattern: whole_words,
    Alternatives: lambda phrases: _expression(phrases) or "(?!)",
    Written: lambda phrases: "|".join(phrases) or "(?!)",
    Words: lambda phrases: frozenset(" ".join(phrases).split()),
    BareWords: lambda phrases: frozenset(bare(" ".join(phrases)).split()),
}


def _names(languages: Mapping[str, dict[str, Any]]) -> TimeNames:
    months: dict[str, int] = {}
    weekdays: dict[str, int] = {}
    units: dict[str, str] = {}
    pairs: dict[str, str] = {}
    counts: dict[str, int] = {}
    for file, language in languages.items():
        names = language.get("names", {})
        for table, most in (("months", 12), ("weekdays", 7)):
            if len(names.get(table, [()] * most)) != most:
                raise PhraseError(f"{file}: names.{table} has {len(names[table])} entries; write {most}")
        if wrong := [unit for unit in names.get("units", {}) if unit not in _UNITS]:
            raise PhraseError(f"{file}: names.units.{wrong[0]} is unknown; known are {', '.join(_UNITS)}")
        months = {
            bare(one).lower(): place for place, said in enumerate(names.get("months", ()), 1) for one in said
        } | months
        weekdays = {
            bare(one).lower(): place for place, said in enumerate(names.get("weekdays", ())) for one in said
        } | weekdays
        units = {bare(one).lower(): unit for unit, said in names.get("units", {}).items() for one in said} | units
        pairs = {bare(one).lower(): unit for one, unit in names.get("pairs", {}).items()} | pairs
        counts = {bare(one).lower(): count for one, count in names.get("counts", {}).items()} | counts
    return TimeNames(months, weekdays, units, pairs, counts)


def _name_patterns(names: TimeNames) -> dict[str, str]:
    return {
        "count": rf"\d{{1,3}}|{either(names.counts)}",
        "unit": either(names.units),
        "pair": either(names.pairs),
        "weekday": either(names.weekdays),
    }


def _times(languages: Mapping[str, dict[str, Any]]) -> Iterator[TimePhrase]:
    """A pattern for each phrase with groups, since a pattern has each group once; the others of a rule share one."""
    plain: dict[tuple[str, int], list[str]] = {}
    for language in languages.values():
        first_weekday = language.get("first_weekday", 0)
        for rule, phrase in ((rule, phrase) for rule, said in language["time"].items() for phrase in said):
            if "(?P<" in phrase:
                yield TimePhrase(rule, _expression([phrase]), first_weekday)
            else:
                plain.setdefault((rule, first_weekday), []).append(phrase)
    yield from (TimePhrase(rule, _expression(said), first_weekday) for (rule, first_weekday), said in plain.items())
