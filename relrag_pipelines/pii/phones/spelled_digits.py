"""Numbers whose digits are spelt, one by one: `six one two, three four five, six seven eight`.

The words are those of number_words/. All of a number are of one language; figures may stand between them.
"""

from __future__ import annotations

import functools
import itertools
import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

import ahocorasick_rs

from relrag_pipelines.pii import context_words, number_words
from relrag_pipelines.pii.number_words.matching import UNSPACED, fold
from relrag_pipelines.pii.phones import validity
from relrag_pipelines.pii.spans import Span

SCORE = 0.6
_FEWEST, _MOST = 7, 15
"""digits"""
_FEWEST_SPELT = 5
"""of them in words"""
_SHORTEST = 2
"""letters of a word that is looked for; shorter ones count only beside others"""
_TOKEN = re.compile(r"\d+|[^\W\d_]+(?:['’][^\W\d_]+)*")
_GAP = re.compile(r"[\s,.;\-–—/()+]{0,4}")
_COUNTING = "01234567890123456789"


class _Digit(NamedTuple):
    """A word or figure of a text that stands for digits."""

    start: int
    end: int
    digits: str
    spelt: bool


class _Language(NamedTuple):
    """The words of one language for digits, folded, and for two or three times the next one."""

    digits: Mapping[str, str]
    repeat: Mapping[str, int]


@functools.cache
def _languages() -> tuple[_Language, ...]:
    found = []
    for words in number_words.load():
        if words.digits:
            forms = {fold(form): str(digit) for digit, some in enumerate(words.digits) for form in some.split("/")}
            forms = {form.replace("'", ""): digit for form, digit in forms.items()}
            found.append(_Language(forms, {fold(word): times for times, word in enumerate(words.repeat, 2)}))
    return tuple(found)


def _forms() -> list[str]:
    """Every word for a digit, as written and without accents."""
    written = itertools.chain.from_iterable(some.split("/") for one in number_words.load() for some in one.digits)
    every = {form for word in written for form in (word.lower(), fold(word))}
    return sorted(form for form in every if len(form) >= _SHORTEST or UNSPACED.search(form))


@functools.cache
def _automaton() -> ahocorasick_rs.AhoCorasick:
    return ahocorasick_rs.AhoCorasick(_forms(), matchkind=ahocorasick_rs.MatchKind.LeftmostLongest)


@functools.cache
def pattern() -> str:
    """For RE2: matches every text that may hold such a number, as it has three of these words in a row."""
    word = f"(?:{'|'.join(map(re.escape, _forms()))}|o|oh)"
    return rf"(?i:{word}(?:[\s,.;/()+-]{{0,4}}{word}){{2}})"


def may_hold(text: str) -> bool:
    """Whether the text may hold such a number: it has enough words for digits, close together."""
    places = _automaton().find_matches_as_indexes(text.lower())
    if len(places) < _FEWEST_SPELT:
        return False
    near = 0
    for (_, _, end), (_, start, _) in itertools.pairwise(places):
        near = near + 1 if start - end <= _NEAR else 0
        if near >= _FEWEST_SPELT - 1:
            return True
    return False


_NEAR = 12
"""characters between words for digits of one number: another one may be too short to be looked for"""


def find(text: str, regions: tuple[str, ...]) -> Iterator[Span]:
    """The numbers in the text."""
    if not may_hold(text):
        return
    for language in _languages():
        for run in _runs(text, language):
            if _is_phone(text, run, regions):
                yield Span(run[0].start, run[-1].end, SCORE)


def to_digits(number: str) -> str:
    """The digits of a number that is spelt; empty for others."""
    runs = (run for language in _languages() for run in _runs(number, language))
    return max((_digits(run) for run in runs), key=len, default="")


def _digits(run: list[_Digit]) -> str:
    return "".join(one.digits for one in run)


def _runs(text: str, language: _Language) -> Iterator[list[_Digit]]:
    """Words for digits in a row, long enough to be a number."""
    run: list[_Digit] = []
    for one in itertools.chain(_words(text, language), [None]):
        if run and (one is None or not _GAP.fullmatch(text, run[-1].end, one.start)):
            if (
                _FEWEST <= len(_digits(run)) <= _MOST
                and sum(len(each.digits) for each in run if each.spelt) >= _FEWEST_SPELT
            ):
                yield run
            run = []
        if one is not None:
            run.append(one)


def _words(text: str, language: _Language) -> Iterator[_Digit]:
    """The words of the text that stand for digits in that language, and figures."""
    times, first = 1, 0
    for token in _TOKEN.finditer(text):
        word = fold(token[0]).replace("'", "").replace("’", "")
        if word in language.repeat:
            times, first = language.repeat[word], token.start()
            continue
        if digits := _value(word, language.digits):
            yield _Digit(first if times > 1 else token.start(), token.end(), digits * times, not word.isdecimal())
        times = 1


def _value(word: str, digits: Mapping[str, str]) -> str:
    """The digits that a word stands for; several where a language leaves no blanks between them."""
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
