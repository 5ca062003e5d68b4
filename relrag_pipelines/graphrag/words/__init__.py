"""Words that show whether a word is a noun, a name or neither: one file per language in this folder.

They supplement the function words of `text/stopwords.py`, which search leaves out. Words of everyday talk and of mail
programs can be searched for, but name nothing.
"""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

import Stemmer

from relrag_pipelines import languages as folders
from relrag_pipelines.text.analyzer import PREFIXED, fold

_SHORT = 3
"""letters that a word has at least without its ending or prefix"""


@dataclass(frozen=True)
class Language:
    """The contents of a language's file, in normal form."""

    name: str
    empty: frozenset[str]
    """words of everyday talk and of mail programs, and words that only lead to others"""
    titles: frozenset[str]
    before_noun: frozenset[str]
    before_verb: frozenset[str]
    endings: tuple[str, ...]
    """longest first"""
    not_noun: tuple[str, ...]
    """endings of words that are rarely nouns"""

    def stem(self, word: str) -> str:
        """A word in normal form without the endings by which its forms differ."""
        if not self.endings:
            return str(_stemmer(self.name).stemWord(word))
        fitting = (ending for ending in self.endings if word.endswith(ending) and len(word) - len(ending) >= _SHORT)
        ending = next(fitting, "")
        return word[: len(word) - len(ending)]


@functools.lru_cache(maxsize=2**16)
def normal_form(word: str) -> str:
    """The form in which words of all languages are compared: lower case, without accents and final forms."""
    return fold(word.replace("’", "'")).translate(folders.final_letters())


@functools.cache
def languages() -> dict[str, Language]:
    """Every language that has a file."""
    return {code: _load(code) for code in folders.codes("nouns")}


@functools.cache
def _stemmer(code: str) -> Stemmer.Stemmer:
    return Stemmer.Stemmer(folders.language(code).stemmer)


def is_everyday(word: str) -> bool:
    """Whether a word in normal form, or after a prefixed letter, is of everyday talk or of mail programs."""
    return word in _empty() or (len(word) > _SHORT and word[0] in PREFIXED and word[1:] in _empty())


def is_title(word: str) -> bool:
    """Whether a word in normal form is a title, which is written before or after names."""
    return word.rstrip(".") in _titles()


def language_of(words: Iterable[str], default: str = folders.DEFAULT) -> str:
    """The language of most of the words in normal form; the default without evidence."""
    languages_by_word = _languages_by_word()
    counts = Counter(language for word in words for language in languages_by_word.get(word) or _by_letter(word[:1]))
    if not counts:
        return default
    # the default breaks a tie
    return max(counts, key=lambda language: (counts[language], language == default, language))


@functools.cache
def _languages_by_word() -> dict[str, tuple[str, ...]]:
    names: dict[str, list[str]] = {}
    for language in languages().values():
        for word in language.empty | language.before_noun | language.before_verb:
            names.setdefault(word, []).append(language.name)
    return {word: tuple(codes) for word, codes in names.items()}


@functools.lru_cache(1 << 12)
def _by_letter(letter: str) -> tuple[str, ...]:
    return tuple(code for code in languages() if letter and folders.is_in_script(letter, folders.language(code)))


@functools.cache
def _empty() -> frozenset[str]:
    return frozenset().union(*(language.empty for language in languages().values()))


@functools.cache
def _titles() -> frozenset[str]:
    return frozenset().union(*(language.titles for language in languages().values()))


def _load(code: str) -> Language:
    table = {name: frozenset(map(normal_form, words.split())) for name, words in folders.table(code, "nouns").items()}
    endings = sorted(table.get("endings", ()), key=lambda ending: (-len(ending), ending))
    return Language(
        code,
        table["everyday"] | table["mail"] | table["before_noun"] | table["before_verb"],
        table["titles"],
        table["before_noun"],
        table["before_verb"],
        tuple(endings),
        tuple(sorted(table["not_noun"])),
    )
