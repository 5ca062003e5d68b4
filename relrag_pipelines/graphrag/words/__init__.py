"""Words that tell whether a word is a noun, a name or neither: `nouns.toml` of each language.

They stand beside the function words of `text/stopwords.py`, which search leaves out. Words of everyday talk and of mail
programs are found by it, but name nothing.
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
    """What a file says, as words are compared."""

    name: str
    empty: frozenset[str]
    """words of everyday talk, of mail programs, and those that only lead to others"""
    titles: frozenset[str]
    before_noun: frozenset[str]
    before_verb: frozenset[str]
    endings: tuple[str, ...]
    """longest first"""
    not_noun: tuple[str, ...]
    """endings of words that are rather no nouns"""

    def stem(self, word: str) -> str:
        """A word, compared, without what its forms differ by."""
        if not self.endings:
            return str(_stemmer(self.name).stemWord(word))
        ending = next((one for one in self.endings if word.endswith(one) and len(word) - len(one) >= _SHORT), "")
        return word[: len(word) - len(ending)]


@functools.lru_cache(maxsize=2**16)
def normal_form(word: str) -> str:
    """How words of all languages are compared: in small letters, without accents and final forms."""
    return fold(word.replace("’", "'")).translate(folders.final_letters())


@functools.cache
def languages() -> dict[str, Language]:
    """Every language that has a file."""
    return {code: _load(code) for code in folders.codes("nouns")}


@functools.cache
def _stemmer(code: str) -> Stemmer.Stemmer:
    return Stemmer.Stemmer(folders.language(code).stemmer)


def is_everyday(word: str) -> bool:
    """Whether a word, compared, is of everyday talk or of mail programs; a letter may be written before it."""
    return word in _empty() or (len(word) > _SHORT and word[0] in PREFIXED and word[1:] in _empty())


def is_title(word: str) -> bool:
    """Whether a word, compared, is written before or behind names."""
    return word.rstrip(".") in _titles()


def language_of(words: Iterable[str], default: str = folders.DEFAULT) -> str:
    """The language that most of the words, compared, are of; the default where they tell nothing."""
    known = _known()
    counted = Counter(language for word in words for language in known.get(word, _letters(word)))
    if not counted:
        return default
    # a tie is broken by the default
    return max(counted, key=lambda language: (counted[language], language == default, language))


@functools.cache
def _known() -> dict[str, tuple[str, ...]]:
    found: dict[str, list[str]] = {}
    for language in languages().values():
        for word in language.empty | language.before_noun | language.before_verb:
            found.setdefault(word, []).append(language.name)
    return {word: tuple(some) for word, some in found.items()}


def _letters(word: str) -> tuple[str, ...]:
    return tuple(code for code in languages() if word and folders.is_in_script(word[0], folders.language(code)))


@functools.cache
def _empty() -> frozenset[str]:
    return frozenset().union(*(one.empty for one in languages().values()))


@functools.cache
def _titles() -> frozenset[str]:
    return frozenset().union(*(one.titles for one in languages().values()))


def _load(code: str) -> Language:
    table = {name: frozenset(map(normal_form, words.split())) for name, words in folders.table(code, "nouns").items()}
    endings = sorted(table.get("endings", ()), key=lambda one: (-len(one), one))
    return Language(
        code,
        table["everyday"] | table["mail"] | table["before_noun"] | table["before_verb"],
        table["titles"],
        table["before_noun"],
        table["before_verb"],
        tuple(endings),
        tuple(sorted(table["not_noun"])),
    )
