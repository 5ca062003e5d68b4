"""Searches the spellings of many values in bytes, in one pass."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping, Set
from typing import NamedTuple

import ahocorasick_rs
import numpy as np
import numpy.typing as npt

Places = npt.NDArray[np.int64]
"""sorted byte offsets, or row numbers"""


class HeldValue(NamedTuple):
    """A value in a text."""

    entity: str
    canonical: str
    """normalised form; must never be shown"""


class Match(NamedTuple):
    """A spelling in bytes, and the values that it may mean."""

    spelling: str
    values: frozenset[HeldValue]
    start: int
    end: int


class Spellings:
    """The spellings of values, and the values of each.

    The automaton is built once; searches may be limited to some entities.
    """

    def __init__(self, values: Mapping[str, frozenset[HeldValue]]) -> None:
        self._texts, self._values = tuple(values), tuple(values.values())
        self._masks: dict[Set[str], npt.NDArray[np.bool_]] = {}

    @functools.cached_property
    def entities(self) -> frozenset[str]:
        """The entities of the values."""
        return frozenset(value.entity for values in self._values for value in values)

    @functools.cached_property
    def _automaton(self) -> ahocorasick_rs.BytesAhoCorasick:
        return ahocorasick_rs.BytesAhoCorasick([text.encode("utf-8", "surrogatepass") for text in self._texts])

    def matches(self, data: bytes, entities: Set[str]) -> Iterator[Match]:
        """Every spelling of a value of these entities, including those within others."""
        if not self.entities & entities:
            return
        for number, start, end in self._automaton.find_matches_as_indexes(data, overlapping=True):
            values = frozenset(value for value in self._values[number] if value.entity in entities)
            if values:
                yield Match(self._texts[number], values, start, end)

    def starts(self, data: bytes, entities: Set[str]) -> Places:
        """Start offsets of the spellings that `matches` yields, in order of their ends."""
        matches = self._automaton.find_matches_as_indexes(data, overlapping=True) if self.entities & entities else []
        if not matches:
            return np.empty(0, np.int64)
        numbers, starts, _ = np.array(matches, np.int64).T
        places: Places = starts[self._mask(entities)[numbers]]
        return places

    def _mask(self, entities: Set[str]) -> npt.NDArray[np.bool_]:
        """Mask of the spellings with a value of one of these entities."""
        names = self.entities & entities
        if names not in self._masks:
            marks = (any(value.entity in names for value in values) for values in self._values)
            self._masks[names] = np.fromiter(marks, bool, len(self._values))
        return self._masks[names]
