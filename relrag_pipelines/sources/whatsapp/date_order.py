"""Parses dates of three numbers, and finds the order of day and month from all dates of a chat."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import date, timedelta

from relrag_pipelines.sources.whatsapp.calendars import ERAS, gregorian

_PARTS = re.compile("|".join((r"\d+", *(re.escape(era) for era in sorted(ERAS, key=len, reverse=True)))), re.IGNORECASE)


def numbers(text: str) -> tuple[int, int, int, str, bool]:
    """The three numbers of a date, the word for its era, and whether the first number is the year."""
    parts = _PARTS.findall(text)
    first, second, third = (int(part) for part in parts if part.isdecimal())
    era = next((part.lower() for part in parts if not part.isdecimal()), "")
    return first, second, third, era, first > 999 or not parts[0].isdecimal()


def calendar_date(order: str, text: str) -> date | None:
    """The day of a date in that order; None if there is no such day."""
    return _date_in_order(order, *numbers(text))


def _date_in_order(order: str, first: int, second: int, third: int, era: str, year_first: bool) -> date | None:
    """The day; a year of four digits or with an era comes first whatever the order is."""
    if year_first:
        return gregorian(first, second, third, era)
    if order == "ymd":
        return None if era else gregorian(first, second, third)
    day, month = (first, second) if order == "dmy" else (second, first)
    return gregorian(third, month, day, era)


@dataclass
class _OrderEvidence:
    impossible: int = 0
    backward: int = 0
    early: int = 0
    last: date | None = None
    earliest: date = date.max
    latest: date = date.min

    @property
    def contradictions(self) -> int:
        """Number of observations against this order."""
        return self.impossible + self.backward + self.early

    def add(self, day: date | None) -> None:
        """Counts the next date of the chat, read in this order; None if it is invalid."""
        if day is None:
            self.impossible += 1
            return
        self.backward += self.last is not None and day < self.last
        self.early += day.year < 2009  # before WhatsApp existed
        self.last = day
        self.earliest, self.latest = min(day, self.earliest), max(day, self.latest)


@dataclass
class DateOrderVotes:
    """Evidence for the order of day and month, collected in one pass over all dates of a chat."""

    fits: dict[str, _OrderEvidence] = field(
        default_factory=lambda: {order: _OrderEvidence() for order in ("dmy", "mdy", "ymd")}
    )
    days: int = 0
    differ: bool = False
    pointed: bool = False
    last: str = ""
    """the last date added; an immediate repetition adds no evidence"""

    def add(self, dates: Iterable[str]) -> None:
        """Adds dates as written, in the chat's order."""
        for text in dates:
            if text == self.last:
                continue
            self.last = text
            parts = first, second, *_, year_first = numbers(text)
            days = {order: _date_in_order(order, *parts) for order in self.fits}
            if not any(days.values()):
                continue
            self.days += 1
            self.differ |= first != second and not year_first
            self.pointed |= "." in text
            for order, fit in self.fits.items():
                fit.add(days[order])

    def decide(self) -> str | None:
        """The order, if the dates show it: only it makes them valid, or only it makes them ascend.

        Messages can be slightly out of order, and lines of other chats can be pasted in, so an order also wins if its
        evidence is many times stronger than the evidence against it.
        """
        dmy, mdy, ymd = self.fits["dmy"], self.fits["mdy"], self.fits["ymd"]
        if min(dmy.contradictions, mdy.contradictions) > 0 and not ymd.contradictions:
            return "ymd"
        if self.days and not self.differ:
            return "dmy"
        for order, fit, other in (("dmy", dmy, mdy), ("mdy", mdy, dmy)):
            if fit.impossible * 10 < other.impossible:
                return order
            if fit.impossible == other.impossible and fit.backward * 4 < other.backward:
                return order
        # no language writes the month first and points after the numbers
        return "dmy" if self.pointed and self.possible in (["dmy"], ["dmy", "mdy"]) else None

    @property
    def possible(self) -> list[str]:
        """The orders in which every date is valid and not before WhatsApp existed."""
        return [order for order, fit in self.fits.items() if self.days and not fit.impossible + fit.early]

    @property
    def span(self) -> tuple[date, date]:
        """The first day in any possible order, and the day after the last."""
        fits = [self.fits[order] for order in self.possible]
        return min(fit.earliest for fit in fits), max(fit.latest for fit in fits) + timedelta(1)

    def explain(self) -> str:
        """Why the dates don't show their order."""
        dmy, mdy = self.fits["dmy"].impossible, self.fits["mdy"].impossible
        if not self.days:
            return "none of its dates is one of a calendar that is known"
        if dmy and mdy:
            return f"{mdy} of its dates cannot have the month first and {dmy} cannot have the day first"
        return f"no number above 12 stands in its dates ({self.days}), and their sequence fits either way"
