"""The patterns by which texts state facts about people: `facts.toml` of each language, compiled."""

from __future__ import annotations

import functools
import re
from typing import Any, NamedTuple

from ahocorasick_rs import AhoCorasick, Implementation

from relrag_pipelines import languages
from relrag_pipelines.text import kinship
from relrag_pipelines.text.letter_case import lower
from relrag_pipelines.text.month_names import month_names, months_of
from relrag_pipelines.text.names.tables import before_family_names

LANGUAGES = languages.codes("facts")
INTRODUCER = "introducer"
"""predicate whose value is the person who introduced two others"""
MANAGER = "manager"
"""predicate whose value is the person that somebody reports to"""
STATED_ROLES = (INTRODUCER, MANAGER)
_AROUND = 100
"""characters before and behind a cue that contain the whole match, except for long runs of blanks"""
_NAMES = re.compile(r"\{(name|other)\}")
_NUMBER = r"(?P<number><PHONE_NUMBER[^<>]*>|(?!\d{1,2}[/-]\d{1,2}[/-]\d{4})\+?\d[\d ()/-]{5,}\d)"
_NAMED_NUMBER = re.compile(r"[^\W\d_][^\d<\n]{1,40} (?:<PHONE_NUMBER|\+?\d[\d ()/-]{5,}\d)")
"""a text that begins with a name and a number"""
_AGE = r"(?P<age>\d{1,3}|%s)(?=\s*(?:[.,;!)\n]|$)| (?:%s)\b)"
_ENDED = r"(?=\s*(?:[.;!)\n]|$)| (?:%s) )"


class Template(NamedTuple):
    """A pattern, in parts between the names."""

    predicate: str
    names: tuple[str, ...]
    """`name`: the person of the fact; `other`: the person who introduced them"""
    parts: tuple[re.Pattern[str], ...]
    """the text before, between and behind the names; a pattern without names has one part"""
    doubt: re.Pattern[str]
    of_reader: bool = False
    """whether a pattern without `name` is about the reader instead of the writer"""


@functools.cache
def templates() -> tuple[Template, ...]:
    """All patterns of all languages."""
    return tuple(template for language in LANGUAGES for template in _templates_of(language))


@functools.cache
def fact_templates() -> tuple[Template, ...]:
    """The patterns that state a fact of one person."""
    return tuple(template for template in templates() if template.predicate not in STATED_ROLES)


@functools.cache
def role_templates() -> tuple[Template, ...]:
    """The patterns for introductions and reporting lines."""
    return tuple(template for template in templates() if template.predicate in STATED_ROLES)


def may_state(text: str) -> bool:
    """Whether a text contains a cue of some pattern; most texts do not, and are skipped."""
    return bool(stretches(text)) or _NAMED_NUMBER.match(text) is not None


@functools.lru_cache(1)  # called with the same text for facts, for roles, and by each pattern
def stretches(text: str) -> tuple[tuple[int, int], ...]:
    """Spans around the cues of a text, in which a pattern may match; most texts have none."""
    spans: list[tuple[int, int]] = []
    for _, start, end in _cues().find_matches_as_indexes(lower(text)):
        begin = max(0, start - _AROUND)
        if spans and begin <= spans[-1][1]:
            begin = spans.pop()[0]
        spans.append((begin, min(len(text), end + _AROUND)))
    return tuple(spans)


@functools.cache
def _cues() -> AhoCorasick:
    numbers = [*map(str, range(1, 10)), *_ages()]
    pieces: set[str] = set()
    for language in LANGUAGES:
        table = _table(language)
        pieces.update(table["cues"])
        pieces.update(f"{cue}{number}" for cue in table["cues_of_ages"] for number in numbers)
        if table.get("no_copula"):
            pieces.update(_role_words(language))
    return AhoCorasick(sorted(pieces), implementation=Implementation.DFA)


def months() -> dict[str, int]:
    """The names of months, in small letters -> number."""
    return months_of(LANGUAGES)


def years(age: str) -> int:
    """An age in figures or in words."""
    return _ages().get(age.lower()) or int(age)


@functools.cache
def _ages() -> dict[str, int]:
    return {word: number for language in LANGUAGES for word, number in _table(language)["ages"].items()}


def _templates_of(language: str) -> list[Template]:
    table = _table(language)
    patterns = [(predicate, pattern) for predicate, listed in table["facts"].items() for pattern in listed]
    patterns += [(role, pattern) for role in STATED_ROLES for pattern in table[role]["patterns"]]
    doubt = re.compile(rf"(?<!\w)(?:{table['doubt']})(?!\w)", re.IGNORECASE)
    of_reader = [_compile(MANAGER, pattern, table, language, doubt) for pattern in table[MANAGER]["of_reader"]]
    compiled = [_compile(predicate, pattern, table, language, doubt) for predicate, pattern in patterns]
    return [*compiled, *(template._replace(of_reader=True) for template in of_reader)]


def _compile(predicate: str, pattern: str, table: dict[str, Any], language: str, doubt: re.Pattern[str]) -> Template:
    values = {
        "{date}": f"(?P<date>{_date(language)})",
        "{age}": _AGE % ("|".join(table["ages"]), _listed("behind_age")),
        "{number}": _NUMBER,
        "{gap}": rf"(?:(?!{table['others']})[^\d<\n]){{0,40}}",
        "{place}": rf"(?P<place>{table['place']})(?!\w)",
        "{town}": rf"(?P<place>{table.get('town', '(?!)')})(?!\w)",
        "{until}": table[MANAGER]["until"],
        "{company}": rf"(?P<company>{table['company']})(?!\w)",
        "{role}": rf"(?P<role>{_roles(language)})" + _ENDED % _listed("behind_role"),
    }
    pieces = _NAMES.split(pattern)
    parts = []
    for position, piece in enumerate(pieces[::2]):
        for name, value in values.items():
            piece = piece.replace(name, value)
        before = position == 0 and len(pieces) > 1
        bound = r"(?<!\w)" if position == 0 and piece[:1].isalpha() else ""
        end = "$" if before and piece else ""
        flags = re.NOFLAG if "P<place>" in piece or "P<company>" in piece else re.IGNORECASE  # by their capitals
        title = _title() if piece and position < len(pieces) // 2 else ""
        parts.append(re.compile(f"{bound}(?:{piece}){title}{end}", flags))
    return Template(predicate, tuple(pieces[1::2]), tuple(parts), doubt)


@functools.cache
def _title() -> str:
    """A pattern for a title before a name: `Dr. `, `paní `."""
    return rf"(?:(?:{'|'.join(map(re.escape, sorted(before_family_names())))})\.? )?"


def _listed(key: str) -> str:
    """The alternatives of all languages."""
    return "|".join(_table(language)[key] for language in LANGUAGES if key in _table(language)) or "(?!)"


def _date(language: str) -> str:
    table = languages.table(language, "dates") if language in languages.codes("dates") else {}
    of, prefix = ("|".join(table.get(key, ())) or "(?!)" for key in ("of", "month_prefix"))
    nth = "|".join(table.get("ordinals", ())) or "(?!)"
    months = "|".join(sorted(map(re.escape, month_names(language)), key=len, reverse=True))
    day = r"\d{1,2}"
    before = rf"{day}(?:{nth}|\.)? (?:(?:{of}) )?(?:{prefix})?(?:{months})\b(?:,? \d{{4}})?"
    named = rf"{before}|(?:{months})\b {day}(?:{nth})?\b(?:,? \d{{4}})?"
    return rf"{named}|{day}\. ?{day}\.(?: ?\d{{4}})?|{day}[./]{day}(?:[./]\d{{4}})?|\d{{4}}\b(?!-)"


def _roles(language: str) -> str:
    return "|".join(re.escape(word) for word in sorted(_role_words(language), key=len, reverse=True))


def _role_words(language: str) -> list[str]:
    return [word for word, kind in kinship.types_of(language).items() if kind in kinship.ROLES]


def _table(language: str) -> dict[str, Any]:
    return languages.table(language, "facts")
