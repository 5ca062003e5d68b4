"""The phrases of questions in each language, read from `questions.toml` of its folder.

A phrase is a regular expression for whole words, whatever their case. It may be written with accents or without: it is
searched in text that `bare` has been applied to. A space stands for any white space, `{name}` for what the file calls
so in its table `parts`. Months and weekdays that a file does not name are those of the CLDR. What all languages say for
one thing is searched at once, since people mix them.
"""

from __future__ import annotations

import functools
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any, TypeVar, get_type_hints

from relrag_pipelines import languages
from relrag_pipelines.errors import RelragError
from relrag_pipelines.languages import LanguageError
from relrag_pipelines.text.month_names import full_month_names, full_weekday_names
from relrag_query.understanding.phrases.tables import (
    Alternatives,
    AskedPhrases,
    BareWords,
    ChannelPhrases,
    DatePhrases,
    FormPhrases,
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

_Table = TypeVar("_Table")
_Meaning = TypeVar("_Meaning")


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
    "form": FormPhrases,
    "date": DatePhrases,
}
_OTHER_TABLES = frozenset({"parts", "names", "time", "first_weekday"})
_UNITS = ("day", "week", "month", "year")


@functools.lru_cache(maxsize=64)
def asking_pattern(code: str) -> Pattern:
    """What asks in one language: its question words and what it asks for. Without phrases it matches nothing."""
    table = _read(code)
    parts = table.get("parts", {}) | {"months": "(?!)"}
    tables = [_fill(table.get(name, {}), parts, code) for name in ("asked", "form")]
    interrogative = _fill(table.get("text", {}), parts, code).get("interrogative", [])
    return whole_words(
        [*interrogative, *(phrase for each in tables for phrases in each.values() for phrase in phrases)]
    )


@functools.lru_cache(maxsize=64)
def form_phrases(code: str) -> FormPhrases:
    """How one language asks for a list or for a summary; words of another may mean something else in it."""
    table = _read(code)
    filled = _fill(table.get("form", {}), table.get("parts", {}) | {"months": "(?!)"}, code)
    return FormPhrases(**{field.name: whole_words(filled.get(field.name, [])) for field in fields(FormPhrases)})


def load_phrases() -> Phrases:
    """The phrases of all languages, read when first asked for."""
    return _load(languages.folders())


@functools.lru_cache(maxsize=4096)
def bare(text: str) -> str:
    """The text without accents, letter for letter; many leave them out when they ask."""
    return text if text.isascii() else "".join(map(_bare_letter, text))


@functools.lru_cache(maxsize=4096)
def _bare_letter(letter: str) -> str:
    parts = unicodedata.normalize("NFD", letter)
    return parts[0] if all(map(unicodedata.combining, parts[1:])) else letter


def either(names: Iterable[str]) -> str:
    """A regular expression for one of these names, the longest that fits; names share their beginnings in it."""
    root: dict[str, Any] = {}
    for name in names:
        node = root
        for letter in name:
            node = node.setdefault(letter, {})
        node[""] = {}
    return _trie_pattern(root) or "(?!)"


def _trie_pattern(node: dict[str, Any]) -> str:
    branches = [re.escape(letter).replace(r"\ ", r"\x20") + _trie_pattern(node[letter]) for letter in node if letter]
    if not branches or (len(branches) == 1 and "" not in node):
        return "".join(branches)
    return f"(?:{'|'.join(branches)})" + ("?" if "" in node else "")


@functools.cache
def _load(folders: tuple[Path, ...]) -> Phrases:
    del folders  # `languages` reads them; a test may have others
    tables = {code: _read(code) for code in languages.codes("questions")}
    names = _names(tables)
    filled = {}
    for code, table in tables.items():
        own = _names({code: table})  # names of all languages would take long to compile
        parts = table.get("parts", {}) | {"months": either(own.months)}
        filled[code] = table | {name: _fill(table.get(name, {}), parts, code) for name in _TABLES}
        groups = {name: f"(?P<{name}>{pattern})" for name, pattern in _name_patterns(own).items()}
        filled[code]["time"] = _fill(table.get("time", {}), parts | groups, code)
    return Phrases(
        **{name: _table(kind, name, filled) for name, kind in _TABLES.items()},
        names=names,
        times=tuple(_times(filled)),
    )


def _read(code: str) -> dict[str, Any]:
    try:
        table = languages.table(code, "questions")
    except LanguageError as error:
        raise PhraseError(str(error)) from None
    names = _TABLES.keys() | _OTHER_TABLES
    if unknown := sorted(table.keys() - names):
        raise PhraseError(f"{_file(code)}: {unknown[0]} is unknown; known are {', '.join(sorted(names))}")
    return table


def _file(code: str) -> str:
    return f"{code}/questions.toml"


def _fill(table: Mapping[str, Any], parts: Mapping[str, str], code: str) -> dict[str, list[str]]:
    """The phrases of a table with the parts that they name."""

    def part(match: re.Match[str]) -> str:
        if match[1] not in parts:
            raise PhraseError(
                f"{_file(code)}: {{{match[1]}}} is not among its parts; these are {', '.join(sorted(parts))}"
            )
        return parts[match[1]]

    if wrong := [name for name, phrases in table.items() if not isinstance(phrases, list)]:
        raise PhraseError(f"{_file(code)}: {wrong[0]} is not a list; write [ and ] around its phrases")
    return {name: [re.sub(r"\{([a-z_]+)\}", part, phrase) for phrase in phrases] for name, phrases in table.items()}


def _table(kind: Callable[..., _Table], name: str, tables: Mapping[str, dict[str, Any]]) -> _Table:
    """A table of phrases with those of all languages; an entry may be missing in any of them."""
    fields = get_type_hints(kind)
    for code, table in tables.items():
        if unknown := sorted(table[name].keys() - {field.rstrip("_") for field in fields}):
            raise PhraseError(f"{_file(code)}: {name}.{unknown[0]} is unknown; known are {', '.join(fields)}")
    phrases_by_field = {
        field: [phrase for table in tables.values() for phrase in table[name].get(field.rstrip("_"), ())]
        for field in fields
    }
    try:
        return kind(**{field: _READERS[fields[field]](phrases) for field, phrases in phrases_by_field.items()})
    except re.error as error:
        raise PhraseError(f"a phrase of {name} in {', '.join(tables)}: {error}: {error.pattern!s}") from None


def _expression(phrases: Iterable[str]) -> str:
    return bare("|".join(phrases)).replace(" ", r"\s+")


def whole_words(phrases: Iterable[str]) -> Pattern:
    """A pattern for any of these phrases in bare text; without phrases it matches nothing."""
    return re.compile(rf"(?<!\w)(?:{_expression(phrases) or '(?!)'})(?!\w)", re.IGNORECASE)


_READERS: Mapping[Any, Callable[[list[str]], Any]] = {
    Pattern: whole_words,
    Alternatives: lambda phrases: _expression(phrases) or "(?!)",
    Written: lambda phrases: "|".join(phrases) or "(?!)",
    Words: lambda phrases: frozenset(" ".join(phrases).split()),
    BareWords: lambda phrases: frozenset(bare(" ".join(phrases)).split()),
}


def _names(tables: Mapping[str, dict[str, Any]]) -> TimeNames:
    merged = TimeNames({}, {}, {}, {}, {})
    for code, table in reversed(list(tables.items())):  # of two languages that differ, the first counts
        names = _checked_names(code, table.get("names", {}))
        months = names.get("months") or full_month_names(code)
        weekdays = names.get("weekdays") or full_weekday_names(code)
        merged = TimeNames(
            {**merged.months, **_by_name(enumerate(months, 1))},
            {**merged.weekdays, **_by_name(enumerate(weekdays))},
            {**merged.units, **_by_name(names.get("units", {}).items())},
            {**merged.pairs, **_bare_keys(names.get("pairs", {}))},
            {**merged.counts, **_bare_keys(names.get("counts", {}))},
        )
    return merged


def _checked_names(code: str, names: dict[str, Any]) -> dict[str, Any]:
    for entry, count in (("months", 12), ("weekdays", 7)):
        if len(names.get(entry, [()] * count)) != count:
            raise PhraseError(f"{_file(code)}: names.{entry} has {len(names[entry])} entries; write {count}")
    if wrong := [unit for unit in names.get("units", {}) if unit not in _UNITS]:
        raise PhraseError(f"{_file(code)}: names.units.{wrong[0]} is unknown; known are {', '.join(_UNITS)}")
    return names


def _by_name(names: Iterable[tuple[_Meaning, Iterable[str]]]) -> dict[str, _Meaning]:
    return {bare(name).lower(): meaning for meaning, synonyms in names for name in synonyms}


def _bare_keys(meanings: Mapping[str, _Meaning]) -> dict[str, _Meaning]:
    return {bare(name).lower(): meaning for name, meaning in meanings.items()}


def _name_patterns(names: TimeNames) -> dict[str, str]:
    return {
        "count": rf"\d{{1,3}}|{either(names.counts)}",
        "unit": either(names.units),
        "pair": either(names.pairs),
        "weekday": either(names.weekdays),
    }


def _times(tables: Mapping[str, dict[str, Any]]) -> Iterator[TimePhrase]:
    """A pattern for each phrase with groups, since a pattern has each group once; the others of a rule share one."""
    plain: dict[tuple[str, int], list[str]] = {}
    for table in tables.values():
        first_weekday = table.get("first_weekday", 0)
        for rule, phrase in ((rule, phrase) for rule, phrases in table["time"].items() for phrase in phrases):
            if "(?P<" in phrase:
                yield TimePhrase(rule, _expression([phrase]), first_weekday)
            else:
                plain.setdefault((rule, first_weekday), []).append(phrase)
    yield from (
        TimePhrase(rule, _expression(phrases), first_weekday) for (rule, first_weekday), phrases in plain.items()
    )
