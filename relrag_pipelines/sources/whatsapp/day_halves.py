"""The half of the day of a time on a clock of twelve hours: what the word beside the time means.

day_periods.tsv has the words of all locales of Unicode CLDR, abbreviated and wide, with the hours that each may stand
for: those of AM and PM, and those of the parts of the day. phrases.py has the words of real exports, which count more.
A word in neither means what puts the times of the chat in order.
"""

from __future__ import annotations

import functools
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from importlib import resources
from itertools import product
from types import MappingProxyType

from relrag_pipelines.sources.whatsapp.phrases import AFTERNOON, MORNING

Hours = frozenset[int]
"""the hours of the day, 0 to 23, that a word may stand for; none for a word that says nothing of the half"""

AM, PM = Hours(range(12)), Hours(range(12, 24))

_BEFORE_HOUR = re.compile(r"\D*")
_NUMBER = re.compile(r"\d+")
_MAX_UNKNOWN = 4
"""words of one chat whose meaning is inferred"""
_RARE = 0.05
"""share of the times up to which an unknown word is text of a message"""
_MARGIN = 4
"""how many times fewer times out of order the right meaning gives"""
_TIMES_KEPT = 200_000
"""times of a chat that are compared"""


def letters(word: str) -> str:
    """The letters of a word and their marks, folded: phones leave out points, quotes and blanks within."""
    return "".join(sign for sign in word.casefold() if unicodedata.category(sign)[0] in "LM")


@functools.cache
def known_hours() -> Mapping[str, Hours]:
    """The hours of every known word, by its letters."""
    table = resources.files("relrag_pipelines.sources.whatsapp").joinpath("day_periods.tsv").read_text(encoding="utf-8")
    rows = (line.split("\t") for line in table.splitlines()[1:])
    words = {word: Hours(map(int, hours.split())) for word, hours in rows}
    curated = {letters(word): AM for word in MORNING} | {letters(word): PM for word in AFTERNOON}
    return MappingProxyType(words | curated)


def hour_of_day(hour: int, hours: Hours) -> int | None:
    """The hour, 0 to 23, of an hour on a clock of twelve with a word; None if the word may mean both halves."""
    if hour > 12 or not hours:  # some phones write 13:05 as 13:05 PM
        return hour
    early, late = (min(_distance(hour % 12 + shift, other) for other in hours) for shift in (0, 12))
    return None if early == late else hour % 12 + 12 * (late < early)


def _distance(hour: int, other: int) -> int:
    return min((hour - other) % 24, (other - hour) % 24)


def word_of(time: str, half: str | None) -> str:
    """The word beside a time as it is written: behind it, else before the hour; empty if there is none."""
    return (half or _BEFORE_HOUR.match(time)[0]).strip()  # type: ignore[index]


@dataclass
class DayHalves:
    """The words beside the times of a chat, collected in one pass."""

    counts: Counter[str] = field(default_factory=Counter)
    """by the word as it is written"""
    full_clock: set[str] = field(default_factory=set)
    """unknown words of a clock of 24 hours, such as `Uhr`: hours above 12 stand beside them"""
    ambiguous: set[str] = field(default_factory=set)
    """words that are unknown, or may mean both halves of the day at an hour of the chat"""
    _times: list[tuple[str, str, str]] = field(default_factory=list)
    """date, hour and minute, and word, from the time before the first unknown word on"""
    _meanings: dict[tuple[str, str | None], str] = field(default_factory=dict)

    def add(self, stamps: Iterable[tuple[str, str, str, str | None]]) -> None:
        """Adds times as the form of the chat splits them, in their order."""
        for date, time, _, half in stamps:
            word = self._meanings.get((time, half))
            if word is None:
                word = self._meanings[time, half] = self._examine(time, half)
            self.counts[word] += 1
            if not self.ambiguous:
                self._times.clear()
            if len(self._times) < _TIMES_KEPT:
                self._times.append((date, time, word))

    def _examine(self, time: str, half: str | None) -> str:
        word = word_of(time, half)
        hour = int(_NUMBER.findall(time)[0])
        hours = known_hours().get(letters(word))
        if word and hours is None and hour > 12:
            self.full_clock.add(word)
        if word and (hours is None or hour_of_day(hour, hours) is None):
            self.ambiguous.add(word)
        return word

    @property
    def rare(self) -> set[str]:
        """Unknown words that are text of messages, because nearly all times have others."""
        return {word for word in self.ambiguous if self.counts[word] < _RARE * self.counts.total()}

    def decide(self) -> Mapping[str, Hours] | None:
        """The meaning of each unknown word, by its letters; None where the times do not show it."""
        unsure = set(map(letters, self.ambiguous - self.rare - self.full_clock))
        meanings = {letters(word): Hours() for word in self.full_clock & self.ambiguous}
        if not unsure:
            return meanings
        if len(unsure) > _MAX_UNKNOWN:
            return None
        ways = [dict(zip(sorted(unsure), way, strict=True)) for way in product((AM, PM), repeat=len(unsure))]
        (fewest, _, best), (next_fewest, _, _) = sorted(
            (self._times_out_of_order({**known_hours(), **meanings, **way}), index, way)
            for index, way in enumerate(ways)
        )[:2]
        return meanings | best if fewest * _MARGIN < next_fewest else None

    def _times_out_of_order(self, meanings: Mapping[str, Hours]) -> int:
        last_date, last, backward = "", (0, 0), 0
        for date, moment in self._moments(meanings):
            backward += date == last_date and moment < last
            last_date, last = date, moment
        return backward

    def _moments(self, meanings: Mapping[str, Hours]) -> Iterator[tuple[str, tuple[int, int]]]:
        for date, time, word in self._times:
            hour, minute = map(int, _NUMBER.findall(time))
            yield date, (hour_of_day(hour, meanings.get(letters(word), Hours())) or 0, minute)
