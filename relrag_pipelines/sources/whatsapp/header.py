"""How a message begins in an export: its date and time, written as the phone's language and clock have it.

There is no specification. Four styles are known: `[date, time] name: text` (iOS), `date, time - name: text`
(Android), and `date time: name: text` and `date time name: text` of older versions. Within one export all messages
look alike, so the first one found fixes what the others must look like; a line that looks otherwise is text.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import date, datetime
from itertools import groupby
from zoneinfo import ZoneInfo

from relrag_pipelines.sources.whatsapp.phrases import AFTERNOON, JOINING, MORNING

MARKS = "\u200e\u200f\u061c\u202a-\u202e\u2066-\u2069\ufeff"
"""Marks of direction, and the byte order mark: invisible, and anywhere. For use within a character class."""

_MARK = f"[{MARKS}]*"
_SPACES = " \t\u00a0\u2007\u2009\u202f"
_SPACE = f"[{_SPACES}{MARKS}]"
_ZEROS = "0\u0660\u06f0\u0966\u09e6\u1040"
"""The zeros of the digits in which dates are written: of Europe, Arabic, Persian, Hindi, Bengali, Burmese."""


def _digits(first: int, last: int) -> str:
    return "[" + "".join(f"{chr(ord(zero) + first)}-{chr(ord(zero) + last)}" for zero in _ZEROS) + "]"


_HOUR = rf"(?:{_digits(0, 1)}?\d|{_digits(2, 2)}{_digits(0, 3)})"
_SIXTY = rf"{_digits(0, 5)}\d"


def _letters(word: str) -> str:
    return "".join(letter for letter in word.casefold() if letter.isalpha())


def _loosely(word: str) -> str:
    """A pattern of the word in which points, quotes and spaces may be missing or be others."""
    loose = {".": "[.]?", "״": "[״׳\"'’]?", " ": f"{_SPACE}*"}
    return "".join(loose.get(sign, sign) for sign in word)


_HALVES = {_letters(word): 0 for word in MORNING} | {_letters(word): 12 for word in AFTERNOON}
_HALF = rf"(?=[^\W\d_])(?i:{'|'.join(map(_loosely, (*MORNING, *AFTERNOON)))})(?![^\W\d_])"
_ERA = rf"(?:\.|{_SPACE}BE)?"
_JOINING = f"(?:{'|'.join(map(re.escape, JOINING))}){_SPACE}+"

_STYLES = {
    "bracket": (r"\[", rf"{_SPACE}*\]{_SPACE}?"),
    "dash": ("", f"{_SPACE}+[-–]{_SPACE}"),
    "colon": ("", f":{_SPACE}"),
    "bare": ("", rf"{_SPACE}+(?=[^:\n]{{1,100}}:[ \n])"),
}
"""What stands before the date and behind the time; the first style that fits the first message is the export's."""


@functools.cache
def any_form() -> re.Pattern[str]:
    """The line break and the beginning of a message in any form."""
    behind = "|".join(f"(?P<{style}>{behind})" for style, (_, behind) in _STYLES.items())
    day = rf"\d{{1,4}}{_MARK}(?P<slash>[./-]){_SPACE}*\d{{1,2}}{_MARK}[./-]{_SPACE}*\d{{2,4}}{_MARK}{_ERA}"
    hour = rf"{_MARK}(?P<comma>[,،])?{_SPACE}+(?P<joining>{_JOINING})?(?P<early>{_HALF}{_SPACE}*)?{_HOUR}"
    time = rf"{_MARK}(?P<point>[:.h]){_SIXTY}(?:{_MARK}[:.h]{_SIXTY})?(?P<late>{_SPACE}*{_HALF})?"
    return re.compile(rf"\n{_MARK}(?P<opened>\[)?(?P<inside>{day}{hour}{time})(?:{behind})")


PARTS = 5
"""What `messages` of a form cuts of each message: its four groups, and all behind them."""


@dataclass(frozen=True)
class Form:
    """What the messages of one export begin with.

    `messages` matches the line break before a message and its beginning; its groups are the date, hour and minute with
    the half of the day if it stands in front, the second, and the half of the day behind. `dates` gives only the date.
    """

    style: str
    messages: re.Pattern[str]
    dates: re.Pattern[str]


def find_form(text: str) -> Form | None:
    """The form of the first message in the text, whose lines each have a line break before them."""
    for match in any_form().finditer(text):
        style = match.lastgroup or ""
        if (style == "bracket") == (match["opened"] is not None):
            return _form(style, match)
    return None


def _form(style: str, first: re.Match[str]) -> Form:
    """The form of messages that begin as the first does, in which nothing is optional that it does not have."""
    before, behind = _STYLES[style]
    inside = first["inside"]
    mark, space = (_MARK, _SPACE) if re.search(f"[{MARKS}]", inside) else ("", f"[{_SPACES}]")
    if re.search("[0-9]", inside):
        digit, hour, sixty = "[0-9]", "(?:[01]?[0-9]|2[0-3])", "[0-5][0-9]"
    else:
        digit, hour, sixty = r"\d", _HOUR, _SIXTY
    slash = mark + re.escape(first["slash"]) + (f"{space}*" if re.search(rf"{_SPACE}\d+{_MARK}[./-]", inside) else "")
    day = rf"{digit}{{1,4}}{slash}{digit}{{1,2}}{slash}{digit}{{2,4}}{mark}{_ERA if 'BE' in inside else '[.]?'}"
    between = f"{mark}{first['comma'] or ''}{space}+{_JOINING if first['joining'] else ''}"
    early = f"(?:{_HALF}{space}*)?" if first["early"] else ""
    point = mark + re.escape(first["point"])

    def pattern(group: str) -> re.Pattern[str]:
        late = f"(?:{space}*{group}{_HALF}))?" if first["late"] else f"{group})"
        time = f"{group}{early}{hour}{point}{sixty})(?:{point}{group}{sixty}))?{late}"
        return re.compile(rf"\n{_MARK}{before}({day}){between}{time}{behind}")

    return Form(style, pattern("("), pattern("(?:"))


def calendar_date(order: str, first: int, second: int, third: int) -> date | None:
    """The day that three numbers mean in that order; None where there is no such day.

    Years of two digits are of this century, years above 2400 of the Buddhist era; a year of four digits in front is
    a year in every order.
    """
    day, month, year = {"dmy": (first, second, third), "mdy": (second, first, third)}.get(order, (third, second, first))
    if first > 999:
        day, month, year = third, second, first
    year += 2000 if year < 100 else -543 if year > 2400 else 0
    try:
        return date(year, month, day) if 1990 <= year < 2200 else None
    except ValueError:
        return None


@dataclass
class _Fit:
    impossible: int = 0
    backward: int = 0
    early: int = 0
    last: date | None = None


@dataclass
class Orders:
    """What the dates of a chat say about their order, collected in one pass over all of them."""

    fits: dict[str, _Fit] = field(default_factory=lambda: {order: _Fit() for order in ("dmy", "mdy", "ymd")})
    days: int = 0
    differ: bool = False

    def add(self, dates: Iterable[str]) -> None:
        """Dates as written, in the chat's order."""
        for written, _ in groupby(dates):
            first, second, third = (int(number) for number in re.findall(r"\d+", written))
            meanings = {order: calendar_date(order, first, second, third) for order in self.fits}
            if not any(meanings.values()):
                continue
            self.days += 1
            self.differ |= first != second and first <= 999
            for order, fit in self.fits.items():
                meant = meanings[order]
                if meant is None:
                    fit.impossible += 1
                else:
                    fit.backward += fit.last is not None and meant < fit.last
                    fit.early += meant.year < 2009  # before there was WhatsApp
                    fit.last = meant

    def decide(self) -> str | None:
        """The order, where the dates tell: only one makes them possible, or lets them run forward in time.

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
        return None

    def explain(self) -> str:
        """Why the dates do not tell."""
        dmy, mdy = self.fits["dmy"].impossible, self.fits["mdy"].impossible
        if not self.days:
            return "none of its dates is one of the Gregorian calendar"
        if dmy and mdy:
            return f"{mdy} of its dates cannot have the month first and {dmy} cannot have the day first"
        return f"no number above 12 stands in its dates ({self.days}), and their sequence fits either way"


class _Seconds(dict[str, tuple[int, str]]):
    def __missing__(self, written: str) -> tuple[int, str]:
        self[written] = int(written), f"{int(written):02}"
        return self[written]


SECONDS = _Seconds()
"""Seconds as written, in any script's digits, to their number and to SS."""

Day = tuple[int | None, str, dict[str, int]]
"""One day of a chat: where it starts, in seconds UTC; YYYYMMDD; how often each id was given on it.

There is no start where the clock was changed on that day, and UNDATED for the day where there is no such day.
"""

UNDATED = "undated"

_LAST_SECOND = 86_399
_DAYS_KEPT, _DAYS_COUNTED, _IDS_KEPT = 400, 20, 50_000
_TIMES_KEPT = 3000


class Clock:
    """Local times of one chat to UTC.

    A time that occurs twice when clocks go back is taken as the first, and one that never occurs when they go forward
    by the offset that was in force before.
    """

    def __init__(self, order: str, timezone: str) -> None:
        self.days: dict[str, Day] = {}
        """by the date as written; with their ids, so only the last days are kept"""
        self.times: dict[str, tuple[int, str]] = {}
        """hour, minute and half of the day as written, to seconds since midnight and HHMM00"""
        self._order = order
        self._zone = ZoneInfo(timezone)

    def day(self, written: str) -> Day:
        """The day of a message that begins with that date."""
        if len(self.days) % _DAYS_COUNTED == 0:
            many = sum(len(seen) for _, _, seen in self.days.values()) > _IDS_KEPT
            if many or len(self.days) >= _DAYS_KEPT:
                self.days.clear()
        first, second, third = (int(number) for number in re.findall(r"\d+", written))
        day = calendar_date(self._order, first, second, third)
        found: Day = (None, UNDATED, {})
        if day:
            start = self._utc(day.year, day.month, day.day)
            whole = self._utc(day.year, day.month, day.day, 23, 59, 59) - start == _LAST_SECOND
            found = (start if whole else None, day.isoformat().replace("-", ""), {})
        self.days[written] = found
        return found

    def time(self, written: str, half: str) -> tuple[int, str]:
        """Seconds since midnight and HHMM00, of hour and minute as written and the half of the day behind them."""
        hour, minute = (int(number) for number in re.findall(r"\d+", written))
        shift = _HALVES.get(_letters(half or written))
        if shift is not None and hour <= 12:  # 13:05 PM is what some phones write for 13:05
            hour = hour % 12 + shift
        if len(self.times) >= _TIMES_KEPT:
            self.times.clear()
        self.times[written + half] = 3600 * hour + 60 * minute, f"{hour:02}{minute:02}00"
        return self.times[written + half]

    def utc(self, day: str, time: str) -> int | None:
        """Seconds UTC of a local YYYYMMDD and HHMMSS; None where the day is UNDATED."""
        if day == UNDATED:
            return None
        return self._utc(*(int(part) for part in (day[:4], day[4:6], day[6:], time[:2], time[2:4], time[4:])))

    def _utc(self, *local: int) -> int:
        moment = datetime(*local, tzinfo=self._zone)  # type: ignore[misc,arg-type]
        return int(moment.timestamp())
