"""Finds values that were replaced elsewhere, independently of the redactor's recognisers.

The search uses no checksums and no context: it compares the digits of each value in any grouping, and addresses and
other values letter by letter. So it also finds values that a faulty recogniser misses.
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

from relrag_pipelines.pii.spans import Span, resolve_overlaps
from relrag_pipelines.pii.value_spellings import HeldValue, Spellings
from relrag_pipelines.privacy import pseudonyms

APART = "\0"
"""separator between texts that are searched together; no value contains it"""
MIN_DIGITS, MIN_PHONE_DIGITS, MIN_LETTERS = 9, 8, 7
"""shorter values are ignored: they occur anywhere by chance"""
_CONTEXT_BYTES = 8
"""largest number of bytes of two characters"""
_GROUPS = regex.compile(r"\p{Nd}+(?:(?:[^\w\x00]|_){1,3}\p{Nd}+)*")
_GROUP = regex.compile(r"\p{Nd}+")
_HASH = regex.compile(
    r"(?<![0-9A-Za-z])(?:"
    r"h?(?=\d*[a-f])[0-9a-f]{12,}"
    r"|(?i:(?=[\d-]*[a-f])[0-9a-f]{8}-[0-9a-f]{4}-[1-8][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12})"
    r")(?![0-9A-Za-z])"
)
"""keyed hashes, commit hashes and UUIDs (RFC 9562); digits in them are not a person's number"""
_ALTERNATIVE_END = regex.compile(r"(?<=(?:\d\D{0,3}){7})\s?/\s?\d{1,7}$")
"""`/ 122` after a phone, an alternative for its last group"""
_EXTENSION_END = regex.compile(r"(?<=(?:\d\D{0,3}){7})[\s,;]*(?:\p{L}|[#＃]).*$")
"""` ext. 003` after a phone: what remains is the number itself"""
_PHONE = "PHONE_NUMBER"
_BARE_PHONE = regex.compile(r"[1-9]\d{8,9}")
"""a phone written as bare digits: elsewhere the same digits may be the number of an invoice or order"""
_COUNTRY_CODES = ("972", "420", "1")
_PREFIXES = frozenset({"", "0", *(zeros + code for zeros in ("", "00") for code in _COUNTRY_CODES), "9720"})
"""digits that may precede a national phone number"""


def is_guess(entity: str, value: str) -> bool:
    """Whether the value was recognised by its context only, so that elsewhere it may be any number."""
    return entity == _PHONE and _BARE_PHONE.fullmatch(value) is not None


Finder = tuple[str, Callable[[str], list[Span]]]
"""an entity, and a function that finds it in a text"""


class Values(Protocol):
    """Values found elsewhere that the redactor searches for."""

    def finders(self, entities: Set[str], /) -> list[Finder]:
        """A finder for the values of each of these entities."""


_Match = tuple[frozenset[HeldValue], int, int]
"""values, with their start and end in a text; both 0 if case folding changed the text's length"""


def _forms_of(value: str) -> set[str]:
    """The forms in which a value that is allowed is compared."""
    return {fold_case(value).strip(), *_numbers_of(_PHONE, value)}


@dataclass(frozen=True)
class KnownValues:
    """Replaced values, searched for in one pass."""

    numbers: Spellings
    """by digits"""
    words: Spellings
    """by letters, as `fold_case` writes them"""
    entities: frozenset[str]
    """entities of the values that are searched for"""

    @classmethod
    def from_pairs(cls, values: Iterable[tuple[str, str]], allowed: Iterable[str] = ()) -> KnownValues:
        """From pairs of entity and value, as found; `allowed` values are left out in any spelling."""
        allowed_forms = frozenset().union(*map(_forms_of, allowed))
        numbers: dict[str, set[HeldValue]] = {}
        words: dict[str, set[HeldValue]] = {}
        for entity, value in values:
            if is_guess(entity, value):
                continue
            digits, word = _numbers_of(entity, value), fold_case(value).strip()
            for number in digits - allowed_forms:
                numbers.setdefault(number, set()).add(HeldValue(entity, min(digits, key=len)))
            if not digits and len(word) >= MIN_LETTERS and not word.isdecimal() and word not in allowed_forms:
                words.setdefault(word, set()).add(HeldValue(entity, word))
        by_digits, by_letters = (
            Spellings({spelling: frozenset(entity_values) for spelling, entity_values in table.items()})
            for table in (numbers, words)
        )
        return cls(by_digits, by_letters, by_digits.entities | by_letters.entities)

    def restrict(self, entities: Set[str]) -> KnownValues:
        """The values of these entities; nothing is copied."""
        return replace(self, entities=self.entities & entities)

    def __bool__(self) -> bool:
        return bool(self.entities)

    def entities_in(self, text: str) -> set[str]:
        """The entities of the values in the text."""
        return {value.entity for value in self.values_in(text)}

    def values_in(self, text: str) -> set[HeldValue]:
        """The values in the text, outside of pseudonyms and hashes."""
        return {value for values, _, _ in self._places(text) for value in values}

    def spans(self, text: str, entity: str) -> list[Span]:
        """The spans of this entity's values in the text, outside of pseudonyms and hashes."""
        bounds = (
            (start, end) for values, start, end in self._places(text) if any(value.entity == entity for value in values)
        )
        return resolve_overlaps((Span(start, end, 1.0) for start, end in bounds if end), text)

    def finders(self, entities: Set[str]) -> list[Finder]:
        """A finder for the values of each of these entities."""
        return [(name, functools.partial(self.spans, entity=name)) for name in sorted(self.entities & entities)]

    def _places(self, text: str) -> list[_Match]:
        if not any(True for _ in self._matches(text)):
            return []
        return list(self._matches(_HASH.sub(lambda match: APART * len(match[0]), pseudonyms.mask_pseudonyms(text))))

    def _matches(self, text: str) -> Iterator[_Match]:
        return itertools.chain(self._held_numbers(text), self._held_words(text))

    def _held_numbers(self, text: str) -> Iterator[_Match]:
        if not self.numbers.entities & self.entities:
            return
        for run in _GROUPS.finditer(text):
            if run.end() - run.start() >= MIN_PHONE_DIGITS:
                yield from self._numbers_in_run(run)

    def _numbers_in_run(self, run: regex.Match[str]) -> Iterator[_Match]:
        """The values among groups of digits; each begins at a group, or after a phone prefix, and ends at one."""
        groups = _GROUP.findall(run[0])
        starts = [0, *itertools.accumulate(map(len, groups))]
        digits = _ascii("".join(groups))
        for match in self.numbers.matches(digits.encode(), self.entities):
            if match.end not in starts:
                continue
            first = starts[bisect.bisect_right(starts, match.start) - 1]
            before, values = digits[first : match.start], match.values
            if before:
                values = frozenset(value for value in values if value.entity == _PHONE and before in _PREFIXES)
            if values:
                places = [run.start() + position for position, char in enumerate(run[0]) if char.isdecimal()]
                yield values, places[first], places[match.end - 1] + 1

    def _held_words(self, text: str) -> Iterator[_Match]:
        folded = fold_case(text)
        data = folded.encode("utf-8", "surrogatepass")
        letters: npt.NDArray[np.int64] | None = None
        for value, values, start, end in self.words.matches(data, self.entities):
            around = (data[max(0, start - _CONTEXT_BYTES) : start], data[end : end + _CONTEXT_BYTES])
            if _is_whole_word(value, *(part.decode("utf-8", "ignore") for part in around)):
                letters = _letters_before(data) if letters is None else letters
                same = len(folded) == len(text)
                yield (values, int(letters[start]), int(letters[end])) if same else (values, 0, 0)


NO_VALUES = KnownValues.from_pairs(())


def _letters_before(data: bytes) -> npt.NDArray[np.int64]:
    """The number of code points that begin before each byte of UTF-8 data, and before its end."""
    begins = (np.frombuffer(data, np.uint8) & 0xC0) != 0x80
    return np.concatenate(([0], np.cumsum(begins)))


def _numbers_of(entity: str, value: str) -> set[str]:
    """The digit strings that identify a value; empty if its letters do."""
    if "@" in value or "://" in value:
        return set()
    if entity != _PHONE:
        longest = max(
            (_ascii("".join(filter(str.isdecimal, run[0]))) for run in _GROUPS.finditer(value)), key=len, default=""
        )
        return {longest} if len(longest) >= MIN_DIGITS else set()
    first = _EXTENSION_END.sub("", _ALTERNATIVE_END.sub("", value))
    digits = _ascii("".join(filter(str.isdecimal, first))).lstrip("0")
    national = {digits.removeprefix(code).lstrip("0") for code in _COUNTRY_CODES if len(digits) > MIN_DIGITS}
    return {number for number in {digits, *national} if len(number) >= MIN_PHONE_DIGITS}


def _ascii(digits: str) -> str:
    return digits if digits.isascii() else "".join(str(int(digit)) for digit in digits)


def fold_case(text: str) -> str:
    """The text in the form in which values are compared letter by letter."""
    return text.casefold().replace("%40", "@").replace("＠", "@")


def _is_whole_word(value: str, before: str, behind: str) -> bool:
    """Whether a value between the two is a whole word, or a whole address."""
    if before[-1:].isalnum() or behind[:1].isalnum():
        return False
    if "@" not in value and "://" not in value:
        return True  # `Dana Levi.txt`
    longer = behind[:1] in {".", "-"} and behind[1:2].isalnum()
    return not (longer or behind[:1] == "_" or before[-1:] in {"_", ".", "+", "-"})
