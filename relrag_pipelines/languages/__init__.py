"""Language data: one folder per language, named by its ISO 639-1 code.

A folder contains any of these files; the module that reads a file describes its format:

- `language.toml`: name, stop words, script, stemmer: the fields of `Language`
- `questions.toml`: patterns of questions (relrag_query/understanding/phrases)
- `page.toml`: the words around answers and hits (relrag_query/display/page_texts.py), and those of the pages
  (relrag_query/web/wording.py)
- `names.toml`, `kinship.toml`, `facts.toml`, `dates.toml`: names, relatives, statements about people, dates (text/)
- `kinds.toml`: words by which a question names a type of records (sources/kind.py)
- `numbers.toml`: words that label a number (pii/number_words)
- `nouns.toml`: words that distinguish nouns from other words (graphrag/words)
- `exports.toml`: what programs and people write in exports (sources/)
- `morphology.py`: rules for forms of words (morphology.py)

`international` has what many languages write alike. `lexicon.tsv` translates everyday words.
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
"""the language of a text without signs of another"""


class LanguageError(SafeError):
    """A file of a language cannot be used; the message names the file and what to write."""


@dataclass(frozen=True)
class Language:
    """The content of `language.toml`. Every field but the name is optional."""

    code: str
    name: str = ""
    """in English, in small letters"""
    stop_words: frozenset[str] = frozenset()
    """carry no topic; written with the accents of the language"""
    lookalikes: frozenset[str] = frozenset()
    """content words that are stop words of other languages: `die`, `pour`"""
    locales: tuple[str, ...] = ()
    """further locales of the Unicode CLDR, with other names of months"""
    months: Mapping[str, int] = field(default_factory=dict)
    """names of months that the CLDR lacks, in small letters -> number"""
    unclear: frozenset[str] = frozenset()
    """stop words that are as frequent in other languages: no evidence of the language alone"""
    capitalised: frozenset[str] = frozenset()
    """stop words with another meaning when capitalised: Will, May"""
    stemmer: str = ""
    """Snowball algorithm for its words; without one, words match by their first letters"""
    letters: str = ""
    """letters that few other languages have, evidence of the language"""
    asking: tuple[str, ...] = ()
    """patterns of words that ask for an amount or a kind; their group is the remaining word"""
    spaced: bool = True
    """whether blanks separate words"""
    script: str = ""
    """first and last letter of its script, unless Latin"""
    prefixes: str = ""
    """letters that are written as prefixes of a word"""
    noun_prefixes: str = ""
    """the prefixes that are an article or a preposition"""
    article: str = ""
    """the prefix that is the article"""
    of: str = ""
    """the word between a relative and whose relative it is: `wife of Dana`"""
    name_prefix: str = ""
    """pattern of the prefixes that a name can have"""
    reference_words: tuple[str, ...] = ()
    """patterns of words that precede a reference number: `invoice`"""
    reference_labels: tuple[str, ...] = ()
    """patterns of labels between such a word and its number: `no`"""
    currencies: tuple[str, ...] = ()
    """patterns of words for money behind a number"""
    percents: tuple[str, ...] = ()
    """patterns of words for a hundredth behind a number"""
    hours: tuple[str, ...] = ()
    """patterns of words behind an hour of the day"""
    reply_marks: tuple[str, ...] = ()
    """abbreviations that mail programs write before the subject of a reply or of a forwarded mail"""
    family: tuple[str, ...] = ()
    """words for a family, without accents"""
    final_letters: Mapping[str, str] = field(default_factory=dict)
    """forms that letters have at the end of a word -> their usual form"""
    endings: tuple[str, ...] = ()
    """endings of inflected words, longest first; final letters in their usual form"""
    head_first: bool = False
    """whether the first noun of a phrase is its head"""
    has_cases: bool = False
    """whether names are inflected"""
    capitalises_nouns: bool = False
    """whether every noun begins with a capital letter, not only a name"""


_MAX_ALPHABET = 100
"""letters of the largest alphabet; a script with more has signs for words or syllables"""
_LISTS = frozenset({"stop_words", "lookalikes", "unclear", "capitalised"})
_TUPLES = (
    *("endings", "asking", "locales", "reference_words", "reference_labels", "currencies", "percents", "hours"),
    *("reply_marks", "family"),
)


def folders() -> tuple[Path, ...]:
    """The folders that contain languages: this package and those of RELRAG_LANGUAGES."""
    return _folders(FOLDER, os.environ.get(VARIABLE, ""))


def codes(table: str = "language") -> tuple[str, ...]:
    """Codes of the languages that have this file, sorted."""
    return _codes(table, folders())


def table(code: str, name: str) -> dict[str, Any]:
    """The content of a file of a language. Raises LanguageError if it cannot be read."""
    return _read(path(code, name))


def patterns(name: str, key: str) -> str:
    """A regular expression for the patterns under a key of a file, in all languages; matches nothing without any."""
    listed = [pattern for code in codes(name) for pattern in table(code, name).get(key, ())]
    return "|".join(listed) or "(?!)"


def path(code: str, name: str) -> Path:
    """Path of a file of a language; further folders take precedence over the package."""
    return _path(code, name, folders())


@functools.cache
def _folders(package: Path, variable: str) -> tuple[Path, ...]:
    return (package, *(Path(folder) for folder in variable.split(os.pathsep) if folder))


@functools.cache
def _path(code: str, name: str, parents: tuple[Path, ...]) -> Path:
    files = [file for folder in reversed(parents) if (file := folder / code / f"{name}.toml").is_file()]
    return files[0] if files else parents[0] / code / f"{name}.toml"


def language(code: str) -> Language:
    """The `language.toml` of a language. Raises LanguageError."""
    return _language(path(code, "language"))


@functools.cache
def languages() -> tuple[Language, ...]:
    """All languages that have a `language.toml`."""
    return tuple(map(language, codes()))


def morphology(code: str) -> Morphology:
    """The word form rules of a language; empty rules if it has no `morphology.py`."""
    return load_morphology(path(code, "language").with_name("morphology.py"))


def is_in_script(letter: str, language: Language) -> bool:
    """Whether a letter belongs to the language's script; always False for Latin script."""
    return bool(language.script) and language.script[0] <= letter <= language.script[-1]


@functools.lru_cache(1 << 14)
def cases(word: str, gender: str = "") -> tuple[tuple[str, ...], ...]:
    """The forms of a name in each case, in all languages that inflect names."""
    tables = filter(None, (rules.cases(word, gender) for rules in _inflecting()))
    return tuple(
        tuple(form for of_case in forms_of_case for form in of_case) for forms_of_case in zip(*tables, strict=True)
    )


@functools.lru_cache(1 << 14)
def possessives(word: str, gender: str = "") -> tuple[str, ...]:
    """The possessive forms of a name, in all languages that inflect names."""
    return tuple(form for rules in _inflecting() for form in rules.possessives(word, gender))


@functools.cache
def prefix_pattern(most: int, *, article: bool = False) -> str:
    """A regular expression for up to `most` prefix letters; includes the article only if `article`."""
    letters = "".join(
        letter for spoken in languages() for letter in spoken.prefixes if article or letter != spoken.article
    )
    return f"[{letters}]{{0,{most}}}" if letters else ""


@functools.cache
def words_for_of(*, prefixed: bool = False) -> tuple[str, ...]:
    """The words for `of` with blanks around them; with `prefixed`, only of languages with prefix letters."""
    return tuple(f" {spoken.of} " for spoken in languages() if spoken.of and (spoken.prefixes or not prefixed))


def article_pattern() -> str:
    """A regular expression for articles that are prefixes of a word."""
    return f"(?:{'|'.join(spoken.article for spoken in languages() if spoken.article) or '(?!)'})"


@functools.cache
def alphabets() -> tuple[str, ...]:
    """The small letters of each script that has at most a hundred, without accents and final forms."""
    letters = {"a-z": frozenset("abcdefghijklmnopqrstuvwxyz")}
    for spoken in languages():
        if script := spoken.script:
            span = filter(str.isalpha, map(chr, range(ord(script[0]), ord(script[-1]) + 1)))
            letters[script] = letters.get(script, frozenset()).union(span, spoken.letters)
    alphabets = ("".join(sorted(alphabet)) for alphabet in letters.values() if len(alphabet) <= _MAX_ALPHABET)
    return tuple(alphabet.translate(final_letters()) for alphabet in alphabets)


@functools.cache
def final_letters() -> Mapping[int, str]:
    """For `str.translate`: final forms of letters -> their usual form."""
    return {ord(form): letter for spoken in languages() for form, letter in spoken.final_letters.items()}


def _inflecting() -> list[Morphology]:
    """The rules of all languages that inflect names."""
    return [morphology(inflected.code) for inflected in languages() if inflected.has_cases]


@functools.cache
def _codes(table: str, parents: tuple[Path, ...]) -> tuple[str, ...]:
    return tuple(sorted({file.parent.name for folder in parents for file in folder.glob(f"*/{table}.toml")}))


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
