"""Reads three numbers as a date, and tells the order of day and month from all dates of a chat."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import date, timedelta

from relrag_pipelines.sources.whatsapp.calendars import ERAS, gregorian

_PARTS = re.compile("|".join((r"\d+", *(re.escape(era) for era in sorted(ERAS, key=len, reverse=True)))), re.IGNORECASE)


def numbers(written: str) -> tuple[int, int, int, str, bool]:
    """The three numbers of a date as written, the word for its era, and whether the first number is the year."""
    parts = _PARTS.findall(written)
    first, second, third = (int(part) for part in parts if part.isdecimal())
    era = next((part.lower() for part in parts if not part.isdecimal()), "")
    return first, second, third, era, first > 999 or not parts[0].isdecimal()


def calendar_date(order: str, written: str) -> date | None:
    """The day of a date in that order; None if there is no such day."""
    return _date_in_order(order, *numbers(written))


def _date_in_order(order: str, first: int, second: int, third: int, era: str, year_first: bool) -> date | None:
    """A year of four digits in front, or of an era in front, is a year in every order."""
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
    """the date that was added last; one that comes again at once says nothing new"""

    def add(self, dates: Iterable[str]) -> None:
        """Adds dates as written, in the chat's order."""
        for written in dates:
            if written == self.last:
                continue
            self.last = written
            parts = first, second, *_, year_first = numbers(written)
            meanings = {order: _date_in_order(order, *parts) for order in self.fits}
            if not any(meanings.values()):
                continue
            self.days += 1
            self.differ |= first != second and not year_first
            self.pointed |= "." in written
            for order, fit in self.fits.items():
                meant = meanings[order]
                if meant is None:
                    fit.impossible += 1
                else:
                    fit.backward += fit.last is not None and meant < fit.last
                    fit.early += meant.year < 2009  # before there was WhatsApp
                    fit.last = meant
                    fit.earliest, fit.latest = min(meant, fit.earliest), max(meant, fit.latest)

    def decide(self) -> str | None:
        """The order, if the dates tell: only it makes them valid, or only it makes them ascend.

        Messages can be out of order by a little, and lines of other chats be pasted in: evidence that is many times
        stronger than the evidence against it decides.
        """
        dmy, mdy, ymd = self.fits["dmy"], self.fits["mdy"], self.fits["ymd"]
        contradicted = min(fit.impossible + fit.backward + fit.early for fit in (dmy, mdy)) > 0
        if contradicted and not ymd.impossible + ymd.backward + ymd.early:
            return "ymd"
        if self.days and not self.differ:
            return "dmy"
        for order, here, there in (("dmy", dmy, mdy), ("mdy", mdy, dmy)):
            if here.impossible * 10 < there.impossible:
                return order
            if here.impossible == there.impossible and here.backward * 4 < there.backward:
                return order
        # no language writes the month first and points behind the numbers
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
        """Says why the dates do not tell."""
        dmy, mdy = self.fits["dmy"].impossible, self.fits["mdy"].impossible
        if not self.days:
            return "none of its dates is one of a calendar that is known"
        if dmy and mdy:
            return f"{mdy} of its dates cannot have the month first and {dmy} cannot have the day first"
        return f"no number above 12 stands in its dates ({self.days}), and their sequence fits either way"
