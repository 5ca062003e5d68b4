"""What is known of each language, as data: a folder a language, named by its ISO 639-1 code.

A folder holds any of these files; what a file may hold is described where it is read:

- `language.toml`: name, stop words, script, stemmer: the fields of `Language`
- `questions.toml`: how questions are put (relrag_query/understanding/phrases)
- `names.toml`, `kinship.toml`, `facts.toml`, `dates.toml`: names, relatives, statements about people, dates (text/)
- `numbers.toml`: words that say what a number is (pii/number_words)
- `nouns.toml`: words that tell nouns from other words (graphrag/words)
- `morphology.py`: forms of words that only rules can give (morphology.py)

`international` holds what is written alike in many languages. `lexicon.tsv` translates everyday words.
The environment variable RELRAG_LANGUAGES names further folders of languages, separated as in PATH.
"""

from __future__ import annotations

import functools
import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from relrag_pipelines.errors import SafeError
from relrag_pipelines.languages.morphology import Morphology, load_morphology

FOLDER = Path(__file__).parent
LEXICON = FOLDER / "lexicon.tsv"
VARIABLE = "RELRAG_LANGUAGES"
DEFAULT = "en"
"""the language of a text in which nothing speaks for another"""


class LanguageError(SafeError):
    """A file of a language cannot be used; the message names the file and what to write."""


@dataclass(frozen=True)
class Language:
    """What `language.toml` says. Every field but the name may be missing."""

    code: str
    name: str = ""
    """in English, in small letters"""
    stop_words: frozenset[str] = frozenset()
    """say nothing of what a text is about; with the accents of the language"""
    lookalikes: frozenset[str] = frozenset()
    """content words that are stop words of other languages: `die`, `pour`"""
    locales: tuple[str, ...] = ()
    """of the Unicode CLDR, that name months otherwise than the language's own"""
    months: Mapping[str, int] = field(default_factory=dict)
    """names of months that the CLDR lacks, in small letters -> number"""
    unclear: frozenset[str] = frozenset()
    """stop words that other languages have as often: alone they tell nothing"""
    capitalised: frozenset[str] = frozenset()
    """stop words that with a capital are something else: Will, May"""
    stemmer: str = ""
    """the Snowball algorithm that stems its words; without it words are found by their first letters"""
    letters: str = ""
    """letters that tell the language, since few others have them"""
    asking: tuple[str, ...] = ()
    """patterns of what asks for an amount or a kind; their group is the word that is left of it"""
    spaced: bool = True
    """whether blanks separate words"""
    script: str = ""
    """first and last letter of its script, where that is not Latin"""
    prefixes: str = ""
    """letters that are written before a word, as part of it"""
    noun_prefixes: str = ""
    """those of them that are an article or a preposition"""
    article: str = ""
    """that of them that is the article"""
    name_prefix: str = ""
    """a pattern of what of these letters stands before a name"""
    reference_words: tuple[str, ...] = ()
    """patterns of words that announce a number by which something is looked up: `invoice`"""
    reference_labels: tuple[str, ...] = ()
    """patterns of what may stand between such a word and its number: `no`"""
    final_letters: Mapping[str, str] = field(default_factory=dict)
    """forms that letters have at the end of a word -> their usual form"""
    endings: tuple[str, ...] = ()
    """in which forms of a word differ at their end, final letters in their usual form; the longest first"""
    head_first: bool = False
    """whether the first noun of a phrase is the one that the others describe"""
    has_cases: bool = False
    """whether names are inflected"""


_LISTS = frozenset({"stop_words", "lookalikes", "unclear", "capitalised"})


_TUPLES = ("endings", "asking", "locales", "reference_words", "reference_labels")


def folders() -> tuple[Path, ...]:
    """Where folders of languages are: here, and where RELRAG_LANGUAGES says."""
    return (FOLDER, *(Path(folder) for folder in os.environ.get(VARIABLE, "").split(os.pathsep) if folder))


def codes(table: str = "language") -> tuple[str, ...]:
    """The languages that have this file, in the order of their codes."""
    return _codes(table, folders())


def table(code: str, name: str) -> dict[str, Any]:
    """What a file of a language holds. Raises LanguageError where it cannot be read."""
    return _read(path(code, name))


def path(code: str, name: str) -> Path:
    """Where a file of a language is; a further folder counts before the package's own."""
    files = [file for folder in reversed(folders()) if (file := folder / code / f"{name}.toml").is_file()]
    return files[0] if files else FOLDER / code / f"{name}.toml"


def language(code: str) -> Language:
    """What `language.toml` says of a language; Raises LanguageError."""
    return _language(path(code, "language"))


@functools.cache
def languages() -> tuple[Language, ...]:
    """All languages that have a `language.toml`."""
    return tuple(map(language, codes()))


def morphology(code: str) -> Morphology:
    """The rules of a language for forms of words; of one without a `morphology.py` those that change nothing."""
    return load_morphology(path(code, "language").with_name("morphology.py"))


def is_in_script(letter: str, language: Language) -> bool:
    """Whether a letter is of a language's script; of a language in Latin letters none is."""
    return bool(language.script) and language.script[0] <= letter <= language.script[-1]


@functools.lru_cache(1 << 14)
def cases(word: str, gender: str = "") -> tuple[tuple[str, ...], ...]:
    """The forms of a name in each case, in all languages that inflect names; none where none does."""
    tables = [
        forms for spoken in languages() if spoken.has_cases and (forms := morphology(spoken.code).cases(word, gender))
    ]
    return tuple(
        tuple(form for of_case in forms_of_case for form in of_case) for forms_of_case in zip(*tables, strict=True)
    )


@functools.lru_cache(1 << 14)
def possessives(word: str, gender: str = "") -> tuple[str, ...]:
    """The possessive forms of a name, in all languages that have such."""
    return tuple(
        form for spoken in languages() if spoken.has_cases for form in morphology(spoken.code).possessives(word, gender)
    )


@functools.cache
def prefix_pattern(most: int, *, article: bool = False) -> str:
    """A regular expression for up to so many letters that are written before a word; the article only where asked."""
    letters = "".join(
        letter for spoken in languages() for letter in spoken.prefixes if article or letter != spoken.article
    )
    return f"[{letters}]{{0,{most}}}" if letters else ""


def article_pattern() -> str:
    """A regular expression for the articles that are written together with a word."""
    return f"(?:{'|'.join(spoken.article for spoken in languages() if spoken.article) or '(?!)'})"


@functools.cache
def final_letters() -> Mapping[int, str]:
    """For `str.translate`: final forms of letters -> their usual form."""
    return {ord(form): letter for spoken in languages() for form, letter in spoken.final_letters.items()}


@functools.cache
def _codes(table: str, places: tuple[Path, ...]) -> tuple[str, ...]:
    return tuple(sorted({file.parent.name for folder in places for file in folder.glob(f"*/{table}.toml")}))


@functools.cache
def _read(file: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(file.read_text(encoding="utf-8"))
    except (OSError, tomllib.TOMLDecodeError) as error:
        raise LanguageError(f"{file.parent.name}/{file.name}: {error}") from None


@functools.cache
def _language(file: Path) -> Language:
    given = _read(file)
    field_names = {attribute.name for attribute in fields(Language)[1:]}
    if unknown := sorted(given.keys() - field_names):
        raise LanguageError(
            f"{file.parent.name}/{file.name}: {unknown[0]} is unknown; known: {', '.join(sorted(field_names))}"
        )
    lists = {name: frozenset(given[name].split()) for name in _LISTS & given.keys()}
    tuples = {name: tuple(given[name]) for name in _TUPLES if name in given}
    return Language(file.parent.name, **{**given, **lists, **tuples})
