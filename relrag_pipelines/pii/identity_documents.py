"""Numbers of passports, identity cards and driving licences, after a word for one in any language.

They have no checksum that holds for all countries, and many forms: `C4VX7PL21`, `4611 382705`, `HARRI 855167 KM9TS`. So
the word decides, and what stands between it and the number. The words are data: number_words/.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterable, Iterator

import ahocorasick_rs
import regex

from relrag_pipelines.pii import number_words
from relrag_pipelines.pii.normalized_text import normalize, plain_digits
from relrag_pipelines.pii.number_words import labels
from relrag_pipelines.pii.number_words.matching import STEM, UNSPACED, fold_in_place
from relrag_pipelines.pii.spans import Span, resolve_overlaps

SCORE = 0.75
PASSPORT, ID_CARD, LICENCE = "passport", "id_card", "licence"
"""keys of number_words/"""
_MAX_GAP = 36
"""largest number of characters between the word and the number"""
_MAX_WORDS = 4
"""largest number of words between them"""
_MAX_CHARS = 48
"""longest number in characters, with its separators"""
_MAX_ENDING = 10
"""largest number of letters after a stem"""
_MIN_SIGNS, _MAX_SIGNS = 6, 20
"""letters and digits of a number"""
_MIN_DIGITS, _MIN_DIGITS_OF_WORD = 5, 2
"""smallest number of digits of a number in groups, and of one word of capitals and digits"""
_MIN_WORD = 8
"""characters of the shortest such word that needs only two digits"""
_WHOLE_WORD = 8
"""characters of a first group that is a number by itself"""

_DIGIT = re.compile(r"\d")
_LETTERS = r"\p{Lu}"
_GROUP = rf"(?:[{_LETTERS}]{{0,5}}\d[{_LETTERS}\d]{{0,19}})"
_DATE = re.compile(
    r"\d{1,2}[-/ ]\d{1,2}[-/ ](?:\d{4}|\d\d)|\d{4}[-/ ]\d{1,2}[-/ ]\d{1,2}|(?:19|20)\d\d(?:[-/ ](?:19|20)?\d\d)?"
)
_BREAK = re.compile(r"[\n!?;]|\.\s+[^\W\d_]{4}")
"""end of a line or a sentence; `nr. ` is none"""
_NOT_ALNUM = re.compile(r"[\W_]+")
_WORD = re.compile(r"[^\W\d_]+")


class _Words:
    """The words for a kind of document, in all languages."""

    def __init__(self, kind: str) -> None:
        self._words: dict[str, bool] = {}
        self._glued = tuple(fold_in_place(letters) for words in number_words.load() for letters in words.glued)
        for words in number_words.load():
            for word in getattr(words, kind):
                self._words[fold_in_place(word.removesuffix(STEM))] = word.endswith(STEM)
        longest = ahocorasick_rs.MatchKind.LeftmostLongest
        self._list = list(self._words)
        self._search = ahocorasick_rs.AhoCorasick(self._list, matchkind=longest)

    def ends(self, folded: str) -> Iterator[int]:
        """The offsets after the words in a folded text."""
        for number, start, end in self._search.find_matches_as_indexes(folded):
            word = self._list[number]
            if UNSPACED.match(word):
                yield end
            elif self._begins_word(folded, start) and (close := self._end(folded, word, end)):
                yield close

    def _begins_word(self, folded: str, start: int) -> bool:
        """Whether a word begins at the offset, perhaps after glued letters."""
        letters = _last_word(folded[max(0, start - 3) : start])
        return not letters or (len(letters) < 3 and all(letter in self._glued for letter in letters))

    def _end(self, folded: str, word: str, end: int) -> int:
        """The offset after the word; 0 if a longer word begins so."""
        match = _WORD.match(folded, end)
        if match is None:
            return end
        return match.end() if self._words[word] and match.end() - end <= _MAX_ENDING else 0


def _last_word(before: str) -> str:
    """The letters and digits at the end of a text."""
    return re.split(r"[\W_]", before)[-1]


def finder(*kinds: str) -> Callable[[str], list[Span]]:
    """A finder of the numbers of these kinds of documents."""

    @normalize
    def find(text: str) -> list[Span]:
        if not _DIGIT.search(text):
            return []
        folded = _folded(text)
        ends = (end for kind in kinds for end in _words(kind).ends(folded))
        return resolve_overlaps(_numbers(text, ends), text)

    return find


@functools.cache
def _inner_word() -> regex.Pattern[str]:
    """The word for a number within one."""
    words = "|".join(map(regex.escape, _plain_words("word_number")))
    return regex.compile(rf"[ ,]{{1,2}}(?:{words})(?!\w)[ .:]{{0,2}}")


@functools.cache
def _document() -> regex.Pattern[str]:
    joint = rf"(?:[ \u00a0/-]|{_inner_word().pattern})"
    return regex.compile(
        rf"(?<![^\W_])(?:(?:[{_LETTERS}]{{1,5}}{joint})?{_GROUP}(?:{joint}{_GROUP}){{0,3}}"
        rf"|(?=[{_LETTERS}]{{0,18}}\d)[{_LETTERS}\d]{{8,20}}|[a-z]{{1,2}}\d{{6,9}})(?![^\W_]|[.,/-]\d)"
    )


@functools.cache
def _plain_words(key: str) -> tuple[str, ...]:
    """The words of a key in all languages, folded."""
    words = (fold_in_place(word) for language in number_words.load() for word in getattr(language, key))
    return tuple(sorted(set(words), key=lambda word: (-len(word), word)))


@functools.cache
def _words(kind: str) -> _Words:
    return _Words(kind)


@functools.lru_cache(maxsize=4)
def _folded(text: str) -> str:
    """The text in lower case without accents, with other signs than letters as blanks; offsets stay the same."""
    return re.sub(r"[-_'’.\u00a0]", " ", fold_in_place(text))


def _numbers(text: str, ends: Iterable[int]) -> Iterator[Span]:
    """The number after each of the words."""
    for end in ends:
        match = _document().search(text, end, end + _MAX_GAP + _MAX_CHARS)
        while match and not _is_number(match[0]):
            match = _document().search(text, match.end(), end + _MAX_GAP + _MAX_CHARS)
        if match and _belongs(text[end : match.start()]):
            yield Span(match.start(), match.end(), SCORE)


def _belongs(gap: str) -> bool:
    """Whether the text between a word and a number leaves the number to the word."""
    words = _WORD.findall(fold_in_place(gap))
    if len(gap) > _MAX_GAP or len(words) > _MAX_WORDS or _DIGIT.search(gap) or _ends_before(gap, words):
        return False
    if labels.phone_in_front(gap):
        return False
    return any(word in _plain_words("series") for word in words[-1:]) or not labels.other_in_front(gap)


def _ends_before(gap: str, words: list[str]) -> bool:
    """Whether the sentence or line ends before the number. A form may have its label in the line above."""
    says_more = any(word not in _plain_words("word_number") for word in words)
    return says_more and _BREAK.search(gap) is not None


def _is_number(written: str) -> bool:
    """Whether the groups have the size of a number, and are no date."""
    signs = _NOT_ALNUM.sub("", written)
    digits = sum(map(str.isdecimal, signs))
    if not _MIN_SIGNS <= len(signs) <= _MAX_SIGNS or _DATE.fullmatch(written):
        return False
    if len(written) >= _MIN_WORD and len(signs) == len(written) and digits >= _MIN_DIGITS_OF_WORD:
        return True
    return digits >= _MIN_DIGITS


def normalise(number: str) -> str:
    """Its letters and digits, in lower case."""
    return _NOT_ALNUM.sub("", _inner_word().sub("", plain_digits(number))).casefold()
