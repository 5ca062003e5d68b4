"""Matches the words before or after a number against lists of words and phrases.

A phrase is looked up by its last word, so a list of thousands costs no more than one of ten. Words are compared in
lower case without accents. Languages without spaces are compared by letters, at the end of the text before the number.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from typing import NamedTuple

STEM = "*"
ANY_WORD = "_"
_MAX_ENDING_LETTERS = 10
"""largest number of letters after a stem; a longer word is another word"""
_MIN_GLUED_LETTERS = 2
_MAX_GLUED_LETTERS = 2

# Han, kana, Hangul
_UNSPACED = "\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3\uff66-\uff9f"
UNSPACED = re.compile(f"[{_UNSPACED}]")
VOWEL_SIGNS = r"\u0900-\u0903\u093a-\u093c\u093e-\u094f"
"""signs of Devanagari within a word, in a character class; to Python they are no letters"""
_TOKEN = re.compile(rf"(?:[^\W_][{VOWEL_SIGNS}]*)+(?:['’׳\"״`´][^\W\d_]+)*")
_QUOTES = re.compile(r"['’׳\"״`´]")


_LETTERS = str.maketrans({"ł": "l", "ø": "o", "đ": "d", "ð": "d", "ı": "i", "æ": "ae", "œ": "oe", "þ": "th"})
"""letters that Unicode does not decompose into a base letter and an accent"""


class Token(NamedTuple):
    """One word of a text."""

    word: str
    """folded, without apostrophes"""
    start: int
    end: int


def fold(text: str) -> str:
    """The text in lower case, without accents and vowel marks."""
    if text.isascii():
        return text.lower()
    parts = unicodedata.normalize("NFKD", text).casefold().translate(_LETTERS)
    plain = "".join(char for char in parts if unicodedata.category(char) != "Mn")
    return unicodedata.normalize("NFC", plain)


class _InPlace(dict[int, str]):
    """Maps letters to lower case without accents, one to one."""

    def __missing__(self, code: int) -> str:
        char = chr(code)
        plain = unicodedata.normalize("NFD", char.lower())[0] if len(char.lower()) == 1 else char
        self[code] = _LETTERS.get(ord(plain), plain) if len(_LETTERS.get(ord(plain), plain)) == 1 else plain
        return self[code]


_IN_PLACE = _InPlace()


def fold_in_place(text: str) -> str:
    """The text in lower case, without accents, at the same offsets."""
    return text.lower() if text.isascii() else text.translate(_IN_PLACE)


def tokens(folded: str) -> list[Token]:
    """The words of a folded text, in order."""
    return [Token(_QUOTES.sub("", match[0]), *match.span()) for match in _TOKEN.finditer(folded)]


class Phrases:
    """Finds the phrases of a list by the token at which they end."""

    def __init__(self, phrases: Iterable[str], glued: Iterable[str] = ()) -> None:
        self._whole: dict[str, list[tuple[str, ...]]] = {}
        self._stems: dict[str, list[tuple[str, ...]]] = {}
        self._glued = tuple(fold(letters) for letters in glued)
        unspaced = []
        for phrase in phrases:
            if UNSPACED.search(phrase):
                unspaced.append(fold(phrase))
                continue
            *before, last = (_element(word) for word in phrase.split())
            table, key = (self._stems, last[:-1]) if last.endswith(STEM) else (self._whole, last)
            table.setdefault(key, []).append(tuple(before))
        self._shortest_stem = min(map(len, self._stems), default=0)
        self.unspaced = tuple(sorted(unspaced, key=lambda text: (-len(text), text)))
        """phrases of languages without spaces, longest first"""

    def ends_at(self, words: Sequence[Token], position: int) -> int:
        """The number of tokens of the longest phrase that ends with the token at `position`; 0 if none does."""
        longest = 0
        for word in self._forms(words[position].word):
            for before in self._candidates(word):
                size = len(before)
                if size >= longest and size <= position and _fits(before, words[position - size : position]):
                    longest = size + 1
        return longest

    def _forms(self, word: str) -> list[str]:
        """The word, and its forms without prefixed letters."""
        forms = [word]
        if not self._glued or word.isascii():
            return forms
        for form in forms:
            rest = [form[len(prefix) :] for prefix in self._glued if form.startswith(prefix)]
            if len(word) - len(form) < _MAX_GLUED_LETTERS:
                forms += [part for part in rest if len(part) >= _MIN_GLUED_LETTERS and part not in forms]
        return forms

    def _candidates(self, word: str) -> Iterable[tuple[str, ...]]:
        yield from self._whole.get(word, ())
        if self._stems:
            for size in range(max(self._shortest_stem, len(word) - _MAX_ENDING_LETTERS), len(word) + 1):
                yield from self._stems.get(word[:size], ())


def _element(word: str) -> str:
    return _QUOTES.sub("", fold(word)) if word != ANY_WORD else word


def _fits(before: tuple[str, ...], words: Sequence[Token]) -> bool:
    return all(_matches(element, token.word) for element, token in zip(before, words, strict=True))


def _matches(element: str, word: str) -> bool:
    if element == ANY_WORD:
        return not word.isdigit()
    return word.startswith(element[:-1]) if element.endswith(STEM) else word == element
