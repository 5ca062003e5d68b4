"""Phone numbers with spelt digits: `six one two, three four five, six seven eight`.

The words come from number_words/. All words of a number are of one language; it may also contain figures.
"""

from __future__ import annotations

import functools
import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import ahocorasick_rs
import numpy as np

from relrag_pipelines.pii import context_words, number_words, word_counts
from relrag_pipelines.pii.number_words import spelt_numbers
from relrag_pipelines.pii.number_words.matching import UNSPACED, VOWEL_SIGNS, fold
from relrag_pipelines.pii.phones import validity
from relrag_pipelines.pii.spans import Span

SCORE = 0.6
_MIN_DIGITS, _MAX_DIGITS = 7, 15
"""digits"""
_MIN_SPELT_DIGITS = 5
"""smallest number of digits in words"""
_MIN_LETTERS = 3
"""letters of the shortest word in the prefilter; shorter ones count only beside others"""
_SYLLABLES = re.compile(r"[\u0900-\u097f]")
"""letters of a script of syllables, in which words of two letters are no accident"""
_LETTER = rf"[^\W\d_{VOWEL_SIGNS}][{VOWEL_SIGNS}]*"
_TOKEN = re.compile(rf"\d+|(?:{_LETTER})+(?:['’](?:{_LETTER})+)*")
_GAP = re.compile(r"[\s,.;\-\u2010-\u2015\u30fc\u306e/()+]{0,4}")
_INNER_GAP = re.compile(r"[ \u00a0\-\u2010\u2011]{1,2}")
"""what stands between the words of one number"""
_MAX_WORDS = 6
"""words of the longest number below 1,000"""
_PARTICLE = re.compile(r"[\u3040-\u309f]+")
"""Hiragana, in which words between digits are written"""
_COUNTING = "01234567890123456789"


class _Digit(NamedTuple):
    """A word or figure in a text that means digits."""

    start: int
    end: int
    digits: str
    spelt: bool


class _Language(NamedTuple):
    """The folded words of one language for digits, and for repeating the next one two or three times."""

    digits: Mapping[str, str]
    repeat: Mapping[str, int]
    numbers: Mapping[str, str]
    """digits by the words of a number from 10 to 999"""
    number_words: frozenset[str]
    """the first words of these numbers"""


@functools.cache
def _languages() -> tuple[_Language, ...]:
    languages = []
    for words in number_words.load():
        if words.digits:
            forms = {
                fold(form): str(digit) for digit, spellings in enumerate(words.digits) for form in spellings.split("/")
            }
            forms = {form.replace("'", ""): digit for form, digit in forms.items()}
            repeat = {fold(word): times for times, word in enumerate(words.repeat, 2)}
            numbers = spelt_numbers.spellings(words)
            languages.append(_Language(forms, repeat, numbers, frozenset(word.split()[0] for word in numbers)))
    return tuple(languages)


@functools.cache
def _forms() -> Mapping[str, frozenset[int]]:
    """Every word for a digit, as written and folded, with the indices of its languages in `_languages`."""
    spelling = [_spellings(words) for words in number_words.load() if words.digits]
    languages_by_form: dict[str, set[int]] = {}
    for number, digits in enumerate(spelling):
        for word in itertools.chain.from_iterable(spellings.split("/") for spellings in digits):
            for form in {word.lower(), fold(word)}:
                languages_by_form.setdefault(form, set()).add(number)
    return {form: frozenset(languages_by_form[form]) for form in sorted(languages_by_form) if _is_word(form)}


def _is_word(form: str) -> bool:
    """Whether a form is long enough to be no part of other words, or of a script where few letters are."""
    return len(form) >= _MIN_LETTERS or bool(UNSPACED.search(form) or _SYLLABLES.search(form))


def _spellings(words: number_words.NumberWords) -> list[str]:
    """The words of numbers below 1,000, with `/` between those of one number."""
    tens = [part for form in (*words.teens, *words.tens, *words.hundreds) for part in form.replace("-", " ").split()]
    return [*words.digits, *tens]


@functools.cache
def _automaton() -> tuple[ahocorasick_rs.BytesAhoCorasick, list[frozenset[int]]]:
    """An automaton of the words in UTF-8, and the languages of each word."""
    words = [form.encode() for form in _forms()]
    fast = ahocorasick_rs.Implementation.DFA
    longest = ahocorasick_rs.MatchKind.LeftmostLongest
    return ahocorasick_rs.BytesAhoCorasick(words, matchkind=longest, implementation=fast), list(_forms().values())


def which_may_hold(texts: Sequence[str]) -> list[int]:
    """The indices of the texts for which `may_hold` is true, by one search of all of them."""
    automaton, _ = _automaton()
    counts = word_counts.count(automaton, texts)
    return [number for number in np.flatnonzero(counts >= _MIN_NEAR_WORDS).tolist() if may_hold(texts[number])]


def may_hold(text: str) -> bool:
    """Whether the text has enough words for digits of one language close together."""
    return bool(_languages_in(text))


def _languages_in(text: str) -> list[_Language]:
    automaton, languages = _automaton()
    places = automaton.find_matches_as_indexes(text.lower().encode("utf-8", "surrogatepass"))
    if len(places) < _MIN_NEAR_WORDS:
        return []
    near: dict[int, tuple[int, int]] = {}
    enough: set[int] = set()
    for word, start, end in places:
        for language in languages[word]:
            behind, count = near.get(language, (-_MAX_DISTANCE, 0))
            count = count + 1 if start - behind <= _MAX_DISTANCE else 1
            near[language] = end, count
            if count >= _MIN_NEAR_WORDS:
                enough.add(language)
    return [_languages()[number] for number in sorted(enough)]


_MIN_NEAR_WORDS = 4
"""smallest number of close words for a text to be read word by word"""
_MAX_DISTANCE = 20
"""largest number of bytes between them, which may contain words too short for the prefilter"""


def find(text: str, regions: tuple[str, ...]) -> Iterator[Span]:
    """The numbers in the text."""
    for language in _languages_in(text):
        for run in _runs(text, language):
            if _is_phone(text, run, regions):
                yield Span(run[0].start, run[-1].end, SCORE)


def to_digits(number: str) -> str:
    """The digits of a spelt number; empty if the text is none."""
    runs = (run for language in _languages() for run in _runs(number, language))
    return max((_digits(run) for run in runs), key=len, default="")


def _digits(run: list[_Digit]) -> str:
    return "".join(digit.digits for digit in run)


def _runs(text: str, language: _Language) -> Iterator[list[_Digit]]:
    """Runs of words for digits, long enough to be a number."""
    run: list[_Digit] = []
    for digit in itertools.chain(_words(text, language), [None]):
        if run and (digit is None or not _GAP.fullmatch(text, run[-1].end, digit.start)):
            if (
                _MIN_DIGITS <= len(_digits(run)) <= _MAX_DIGITS
                and sum(len(part.digits) for part in run if part.spelt) >= _MIN_SPELT_DIGITS
            ):
                yield run
            run = []
        if digit is not None:
            run.append(digit)


def _words(text: str, language: _Language) -> Iterator[_Digit]:
    """The figures in the text, and its words for digits and numbers in this language."""
    times, first, done = 1, 0, 0
    tokens = list(_TOKEN.finditer(text))
    for index, token in enumerate(tokens):
        if token.start() < done:
            continue
        word = _plain(token[0])
        if word in language.repeat:
            times, first = language.repeat[word], token.start()
            continue
        if number := _number(text, tokens, index, language):
            done = number.end
            yield number
        elif digits := _value(word, language.digits):
            yield _Digit(first if times > 1 else token.start(), token.end(), digits * times, not word.isdecimal())
        elif UNSPACED.search(word):
            yield from _digits_within(token, language.digits)
        times = 1


def _plain(word: str) -> str:
    return fold(word).replace("'", "").replace("’", "")


def _number(text: str, tokens: Sequence[re.Match[str]], index: int, language: _Language) -> _Digit | None:
    """The longest number from 10 to 999 whose words begin with this token."""
    words = _plain(tokens[index][0])
    if words not in language.number_words:
        return None
    longest, start = None, tokens[index].start()
    for position in range(index, min(index + _MAX_WORDS, len(tokens))):
        token = tokens[position]
        if position > index:
            if not _INNER_GAP.fullmatch(text, tokens[position - 1].end(), token.start()):
                break
            words = f"{words} {_plain(token[0])}"
        if digits := language.numbers.get(words):
            longest = _Digit(start, token.end(), digits, True)
    return longest


def _digits_within(token: re.Match[str], digits: Mapping[str, str]) -> Iterator[_Digit]:
    """Digits within a token of a language without spaces."""
    word, position = token[0], 0
    while position < len(word):
        size = next((size for size in (3, 2, 1) if fold(word[position : position + size]) in digits), 0)
        part = word[position : position + size]
        if size and not _PARTICLE.fullmatch(part):
            start = token.start() + position
            yield _Digit(start, start + len(part), digits[fold(part)], True)
        position += max(1, size)


def _value(word: str, digits: Mapping[str, str]) -> str:
    """The digits that a word means; several in languages without spaces."""
    if word.isdecimal():
        return word
    if word in digits:
        return digits[word]
    each = [digits.get(char, "") for char in word] if UNSPACED.search(word) else [""]
    return "".join(each) if all(each) else ""


def _is_phone(text: str, run: list[_Digit], regions: tuple[str, ...]) -> bool:
    digits = _digits(run)
    if context_words.has_phone_context(text, run[0].start):
        return True
    if digits in _COUNTING or digits[::-1] in _COUNTING or context_words.has_other_context(text, run[0].start):
        return False
    return validity.is_valid(digits, validity.home_regions(text, regions))
