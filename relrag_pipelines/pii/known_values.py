"""Whether a text holds a value that was replaced elsewhere, found by other means than the redactor's own.

It knows no checksums and no context: it looks for the digits of each value however they are grouped, and for addresses
and other values letter by letter. So one mistake in a recogniser does not hide itself.
"""

from __future__ import annotations

import bisect
import itertools
from collections.abc import Iterable, Iterator, Set
from typing import NamedTuple

import ahocorasick_rs
import regex

from relrag_pipelines.pii import pseudonyms

APART = "\0"
"""between texts that are looked at together; no value goes across it"""
_LEAST_DIGITS, _LEAST_PHONE, _LEAST_LETTERS = 9, 8, 7
"""shorter values stand anywhere by chance"""
_GROUPS = regex.compile(r"\p{Nd}+(?:(?:[^\w\x00]|_){1,3}\p{Nd}+)*")
_GROUP = regex.compile(r"\p{Nd}+")
_HASH = regex.compile(r"(?<![0-9A-Za-z])h?(?=\d*[a-f])[0-9a-f]{12,}(?![0-9A-Za-z])")
"""keyed hashes and those of commits; digits in them are nobody's number"""
_PHONE = "PHONE_NUMBER"
_CODES = ("972", "420", "1")
_PREFIXES = frozenset({"", "0", *(zeros + code for zeros in ("", "00") for code in _CODES), "9720"})
"""digits that may stand before a national phone number"""


class Held(NamedTuple):
    """A value that a text holds."""

    entity: str
    told: str
    """the one way to write it: never to be shown"""


class KnownValues:
    """Values that were replaced, each with its entity, to be looked for all in one pass."""

    def __init__(self, values: Iterable[tuple[str, str]], allowed: Iterable[str] = ()) -> None:
        """`values` are pairs of entity and value, as it was found; `allowed` are nobody's secret, however written."""
        shown = {told for one in allowed for told in (_folded(one).strip(), *_numbers_of(_PHONE, one))}
        numbers: dict[str, set[Held]] = {}
        words: dict[str, set[Held]] = {}
        for entity, value in values:
            digits, word = _numbers_of(entity, value), _folded(value).strip()
            for one in digits:
                numbers.setdefault(one, set()).add(Held(entity, min(digits, key=len)))
            if not digits and len(word) >= _LEAST_LETTERS and not word.isdecimal():
                words.setdefault(word, set()).add(Held(entity, word))
        self._numbers = [(number, held) for number, held in numbers.items() if number not in shown]
        self._words = [(word, held) for word, held in words.items() if word not in shown]
        self._in_digits = ahocorasick_rs.AhoCorasick([number for number, _ in self._numbers])
        self._in_text = ahocorasick_rs.AhoCorasick([word for word, _ in self._words])

    def __bool__(self) -> bool:
        return bool(self._numbers or self._words)

    def entities(self, text: str) -> set[str]:
        """The entities of the values that the text holds."""
        return {one.entity for one in self.held(text)}

    def held(self, text: str) -> set[Held]:
        """The values that the text holds, outside of pseudonyms and hashes."""
        if not self._found(text):
            return set()
        return self._found(_HASH.sub(APART, pseudonyms.mask_pseudonyms(text)))

    def _found(self, text: str) -> set[Held]:
        return {one for held in itertools.chain(self._held_numbers(text), self._held_words(text)) for one in held}

    def _held_numbers(self, text: str) -> Iterator[Set[Held]]:
        if not self._numbers:
            return
        for run in _GROUPS.finditer(text):
            if run.end() - run.start() < _LEAST_PHONE:
                continue
            groups = _GROUP.findall(run[0])
            starts = [0, *itertools.accumulate(map(len, groups))]
            digits = _ascii("".join(groups))
            for number, start, end in self._in_digits.find_matches_as_indexes(digits, overlapping=True):
                if end not in starts:
                    continue
                before = digits[starts[bisect.bisect_right(starts, start) - 1] : start]
                held = self._numbers[number][1]
                yield held if not before else {one for one in held if one.entity == _PHONE and before in _PREFIXES}

    def _held_words(self, text: str) -> Iterator[Set[Held]]:
        if not self._words:
            return
        folded = _folded(text)
        for word, start, end in self._in_text.find_matches_as_indexes(folded, overlapping=True):
            if _stands_alone(folded, start, end):
                yield self._words[word][1]


def _numbers_of(entity: str, value: str) -> set[str]:
    """The digits by which a value is known; none where it is known by its letters."""
    if "@" in value or "://" in value:
        return set()
    if entity != _PHONE:
        longest = max(
            (_ascii("".join(filter(str.isdecimal, run[0]))) for run in _GROUPS.finditer(value)), key=len, default=""
        )
        return {longest} if len(longest) >= _LEAST_DIGITS else set()
    digits = _ascii("".join(filter(str.isdecimal, value))).lstrip("0")
    national = {digits.removeprefix(code).lstrip("0") for code in _CODES if len(digits) > _LEAST_DIGITS}
    return {one for one in {digits, *national} if len(one) >= _LEAST_PHONE}


def _ascii(digits: str) -> str:
    return digits if digits.isascii() else "".join(str(int(one)) for one in digits)


def _folded(text: str) -> str:
    return text.casefold().replace("%40", "@").replace("＠", "@")


def _stands_alone(text: str, start: int, end: int) -> bool:
    """Whether what stands there is no part of a longer word or address."""
    before, behind = text[start - 1 : start], text[end : end + 2]
    if before.isalnum() or before in {"_", ".", "+", "-"}:
        return False
    return not (behind[:1].isalnum() or behind[:1] == "_" or (behind[:1] in {".", "-"} and behind[1:].isalnum()))
