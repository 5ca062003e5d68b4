"""Whether a text holds a value that was replaced elsewhere, found by other means than the redactor's own.

It knows no checksums and no context: it looks for the digits of each value however they are grouped, and for addresses
and other values letter by letter. So one mistake in a recogniser does not hide itself.
"""

from __future__ import annotations

import bisect
import functools
import itertools
from collections.abc import Callable, Iterable, Iterator, Set
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
import numpy.typing as npt
import regex

from relrag_pipelines.pii import pseudonyms
from relrag_pipelines.pii.spans import Span, resolve_overlaps
from relrag_pipelines.pii.value_spellings import HeldValue, Spellings

APART = "\0"
"""between texts that are looked at together; no value goes across it"""
LEAST_DIGITS, LEAST_PHONE, LEAST_LETTERS = 9, 8, 7
"""shorter values stand anywhere by chance"""
_AROUND = 8
"""bytes that two characters take at most"""
_GROUPS = regex.compile(r"\p{Nd}+(?:(?:[^\w\x00]|_){1,3}\p{Nd}+)*")
_GROUP = regex.compile(r"\p{Nd}+")
_HASH = regex.compile(
    r"(?<![0-9A-Za-z])(?:"
    r"h?(?=\d*[a-f])[0-9a-f]{12,}"
    r"|(?i:(?=[\d-]*[a-f])[0-9a-f]{8}-[0-9a-f]{4}-[1-8][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12})"
    r")(?![0-9A-Za-z])"
)
"""keyed hashes, those of commits, and UUIDs (RFC 9562), as passages have; digits in them are nobody's number"""
_OTHER_END = regex.compile(r"(?<=(?:\d\D{0,3}){7})\s?/\s?\d{1,7}$")
"""`/ 122` behind a phone, for its last group"""
_PHONE = "PHONE_NUMBER"
_GUESS = regex.compile(r"[1-9]\d{8,9}")
"""a phone without any sign of one: alone it may be replaced, and elsewhere it is the number of an invoice or order"""
_CODES = ("972", "420", "1")
_PREFIXES = frozenset({"", "0", *(zeros + code for zeros in ("", "00") for code in _CODES), "9720"})
"""digits that may stand before a national phone number"""


def is_guess(entity: str, value: str) -> bool:
    """Whether only where it stood says that this is what it was taken for; elsewhere it may be any number."""
    return entity == _PHONE and _GUESS.fullmatch(value) is not None


Finder = tuple[str, Callable[[str], list[Span]]]
"""an entity, and what finds it in a text"""


class Values(Protocol):
    """Values that were found elsewhere, for the redactor to look for."""

    def finders(self, entities: Set[str], /) -> list[Finder]:
        """What finds the values of each of these entities."""


_Place = tuple[frozenset[HeldValue], int, int]
"""values, and where they begin and end in a text; both 0 where folding its case moved its letters"""


@dataclass(frozen=True)
class KnownValues:
    """Values that were replaced, to be looked for all in one pass."""

    numbers: Spellings
    """by digits"""
    words: Spellings
    """by letters, as `fold_case` writes them"""
    entities: frozenset[str]
    """of the values that are looked for"""

    @classmethod
    def of(cls, values: Iterable[tuple[str, str]], allowed: Iterable[str] = ()) -> KnownValues:
        """These pairs of entity and value, as it was found; `allowed` are nobody's secret, however written."""
        shown = {told for one in allowed for told in (fold_case(one).strip(), *_numbers_of(_PHONE, one))}
        numbers: dict[str, set[HeldValue]] = {}
        words: dict[str, set[HeldValue]] = {}
        for entity, value in values:
            if is_guess(entity, value):
                continue
            digits, word = _numbers_of(entity, value), fold_case(value).strip()
            for one in digits - shown:
                numbers.setdefault(one, set()).add(HeldValue(entity, min(digits, key=len)))
            if not digits and len(word) >= LEAST_LETTERS and not word.isdecimal() and word not in shown:
                words.setdefault(word, set()).add(HeldValue(entity, word))
        by_digits, by_letters = (
            Spellings({one: frozenset(held) for one, held in found.items()}) for found in (numbers, words)
        )
        return cls(by_digits, by_letters, by_digits.entities | by_letters.entities)

    def restrict(self, entities: Set[str]) -> KnownValues:
        """Those of the values that are of one of these entities; it copies none."""
        return replace(self, entities=self.entities & entities)

    def __bool__(self) -> bool:
        return bool(self.entities)

    def entities_in(self, text: str) -> set[str]:
        """The entities of the values that the text holds."""
        return {one.entity for one in self.values_in(text)}

    def values_in(self, text: str) -> set[HeldValue]:
        """The values that the text holds, outside of pseudonyms and hashes."""
        return {one for some, _, _ in self._places(text) for one in some}

    def spans(self, text: str, entity: str) -> list[Span]:
        """Where the text holds values of that entity, outside of pseudonyms and hashes."""
        found = ((start, end) for some, start, end in self._places(text) if any(one.entity == entity for one in some))
        return resolve_overlaps((Span(start, end, 1.0) for start, end in found if end), text)

    def finders(self, entities: Set[str]) -> list[Finder]:
        """What finds the values of each of these entities."""
        return [(name, functools.partial(self.spans, entity=name)) for name in sorted(self.entities & entities)]

    def _places(self, text: str) -> list[_Place]:
        if not any(True for _ in self._matches(text)):
            return []
        return list(self._matches(_HASH.sub(lambda one: APART * len(one[0]), pseudonyms.mask_pseudonyms(text))))

    def _matches(self, text: str) -> Iterator[_Place]:
        return itertools.chain(self._held_numbers(text), self._held_words(text))

    def _held_numbers(self, text: str) -> Iterator[_Place]:
        if not self.numbers.entities & self.entities:
            return
        for run in _GROUPS.finditer(text):
            if run.end() - run.start() >= LEAST_PHONE:
                yield from self._numbers_in_run(run)

    def _numbers_in_run(self, run: regex.Match[str]) -> Iterator[_Place]:
        """The values among groups of digits; each begins and ends with a group, or behind a prefix of a phone."""
        groups = _GROUP.findall(run[0])
        starts = [0, *itertools.accumulate(map(len, groups))]
        digits = _ascii("".join(groups))
        for match in self.numbers.matches(digits.encode(), self.entities):
            if match.end not in starts:
                continue
            first = starts[bisect.bisect_right(starts, match.start) - 1]
            before, some = digits[first : match.start], match.values
            if before:
                some = frozenset(one for one in some if one.entity == _PHONE and before in _PREFIXES)
            if some:
                places = [run.start() + place for place, char in enumerate(run[0]) if char.isdecimal()]
                yield some, places[first], places[match.end - 1] + 1

    def _held_words(self, text: str) -> Iterator[_Place]:
        folded = fold_case(text)
        data = folded.encode("utf-8", "surrogatepass")
        letters: npt.NDArray[np.int64] | None = None
        for value, some, start, end in self.words.matches(data, self.entities):
            around = (data[max(0, start - _AROUND) : start], data[end : end + _AROUND])
            if _stands_alone(value, *(one.decode("utf-8", "ignore") for one in around)):
                letters = _letters_before(data) if letters is None else letters
                same = len(folded) == len(text)
                yield (some, int(letters[start]), int(letters[end])) if same else (some, 0, 0)


NO_VALUES = KnownValues.of(())


def _letters_before(data: bytes) -> npt.NDArray[np.int64]:
    """How many code points begin before each byte of UTF-8, and before its end."""
    begins = (np.frombuffer(data, np.uint8) & 0xC0) != 0x80
    return np.concatenate(([0], np.cumsum(begins)))


def _numbers_of(entity: str, value: str) -> set[str]:
    """The digits by which a value is known; none where it is known by its letters."""
    if "@" in value or "://" in value:
        return set()
    if entity != _PHONE:
        longest = max(
            (_ascii("".join(filter(str.isdecimal, run[0]))) for run in _GROUPS.finditer(value)), key=len, default=""
        )
        return {longest} if len(longest) >= LEAST_DIGITS else set()
    first = _OTHER_END.sub("", value)
    digits = _ascii("".join(filter(str.isdecimal, first))).lstrip("0")
    national = {digits.removeprefix(code).lstrip("0") for code in _CODES if len(digits) > LEAST_DIGITS}
    return {one for one in {digits, *national} if len(one) >= LEAST_PHONE}


def _ascii(digits: str) -> str:
    return digits if digits.isascii() else "".join(str(int(one)) for one in digits)


def fold_case(text: str) -> str:
    """The text as values are looked for in it letter by letter."""
    return text.casefold().replace("%40", "@").replace("＠", "@")


def _stands_alone(value: str, before: str, behind: str) -> bool:
    """Whether a value between the two is no part of a longer word, nor an address of a longer one."""
    if before[-1:].isalnum() or behind[:1].isalnum():
        return False
    if "@" not in value and "://" not in value:
        return True  # `Dana Levi.txt`
    longer = behind[:1] in {".", "-"} and behind[1:2].isalnum()
    return not (longer or behind[:1] == "_" or before[-1:] in {"_", ".", "+", "-"})
