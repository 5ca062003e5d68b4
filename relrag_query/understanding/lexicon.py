"""Words that mean the same in other languages: a question finds what is written in one of them.

The lexicon holds a concept a line and a language a column, each with words for it; its head names the languages. Of a
word that is inflected it holds one form for each beginning that forms have: four letters in a language with prefixed
letters, else five. Words of the default language are compared by their stems.
"""

from __future__ import annotations

import functools
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from rapidfuzz.distance import Prefix

from relrag_pipelines import languages
from relrag_pipelines.languages import DEFAULT, LEXICON
from relrag_pipelines.text.analyzer import fold, whole_tokens

_BEGINNING, _PREFIXED_BEGINNING = 5, 4
"""letters that forms of a word share"""
_MAX_ENDING_LETTERS = 4
"""letters after these in which forms differ"""
_MIN_LETTERS, _MAX_PREFIXES = 3, 2
"""letters of a word, and prefixed letters before it"""
_QUOTES = str.maketrans("״׳", "\"'")
"""marks of Hebrew abbreviations, as they are typed"""


def translations(word: str, *, default: bool) -> Mapping[str, Sequence[str]]:
    """The words of other languages for what a word means, by language; none where the lexicon does not hold it.

    `default`: whether a word in Latin letters is looked for among those of the default language first.
    """
    word = word.lower().translate(_QUOTES)
    if not word[:1].isalpha():
        return {}
    for language in _languages_of(word, default=default):
        if lines := _concepts_of(word, language):
            return {other: _words_of(lines, column) for column, other in enumerate(_languages()) if other != language}
    return {}


def _words_of(lines: Sequence[int], column: int) -> list[str]:
    """The words of some concepts in the language of a column, each once."""
    return list(dict.fromkeys(word for line in lines for word in _concepts()[line][column].split()))


def _languages_of(word: str, *, default: bool) -> list[str]:
    """The languages of the lexicon among whose words a word may be, in the order in which they are asked."""
    known_languages = [languages.language(code) for code in _languages()]
    if by_script := [language.code for language in known_languages if languages.is_in_script(word[0], language)]:
        return by_script
    others = [language.code for language in known_languages if not language.script and language.code != DEFAULT]
    return [DEFAULT, *others] if default else [*others, DEFAULT]


def _concepts_of(word: str, language: str) -> Sequence[int]:
    """The lines that hold the word: as it is written, else without accents, else with the longest beginning of it."""
    index = _index(language)
    forms = _forms(word, fold(word), language)
    for form in forms:
        if form in index.whole:
            return index.whole[form]
    if language == DEFAULT:
        return ()
    near = [
        (Prefix.similarity(form, other), line)
        for form in forms
        for other, line in index.alike.get(form[: _letters(language)], ())
        if max(len(form), len(other)) - Prefix.similarity(form, other) <= _MAX_ENDING_LETTERS
    ]
    longest = max((shared for shared, _ in near), default=0)
    return sorted({line for shared, line in near if shared == longest})


def _forms(word: str, folded: str, language: str) -> list[str]:
    """How a word may stand in the index: in the default language by its stem, else also without its prefixes."""
    if language == DEFAULT:
        return whole_tokens(folded)
    prefixes = languages.language(language).prefixes
    if not prefixes:
        return [word, folded]
    forms = [folded.translate(languages.final_letters())]
    while forms[-1][0] in prefixes and len(forms[-1]) > _MIN_LETTERS and len(forms) <= _MAX_PREFIXES:
        forms.append(forms[-1][1:])
    return forms


class _Index:
    """The lines of a language's words."""

    def __init__(self, language: str) -> None:
        self.whole: defaultdict[str, list[int]] = defaultdict(list)
        """word -> lines"""
        self.alike: defaultdict[str, list[tuple[str, int]]] = defaultdict(list)
        """beginning -> words that have it, with their lines"""
        letters = _letters(language)
        for word, folded, line in _words(language):
            forms = _forms(word, folded, language)
            for form in dict.fromkeys(forms[:1] if languages.language(language).prefixes else forms):
                self.whole[form].append(line)
                if len(form) >= letters:
                    self.alike[form[:letters]].append((form, line))


_index = functools.cache(_Index)


def _letters(language: str) -> int:
    return _PREFIXED_BEGINNING if languages.language(language).prefixes else _BEGINNING


def _words(language: str) -> Iterator[tuple[str, str, int]]:
    """The words of a language, also folded, each with its line."""
    column = _languages().index(language)
    cells = "\n".join(cells[column] for cells in _concepts())
    # in one go, since a call for each word would take ten times as long
    lines = zip(cells.split("\n"), fold(cells.translate(_QUOTES)).split("\n"), strict=True)
    for line, (written, folded) in enumerate(lines):
        for word, plain in zip(written.split(), folded.split(), strict=True):
            yield word, plain, line


@functools.cache
def _table() -> list[list[str]]:
    return [line.split("\t") for line in LEXICON.read_text(encoding="utf-8").splitlines()]


def _languages() -> list[str]:
    return _table()[0]


def _concepts() -> list[list[str]]:
    return _table()[1:]
