"""Parses the beginning of a message: date and time in the phone's language, calendar and clock.

There is no specification. Four styles are known: `[date, time] name: text` (iOS), `date, time - name: text`
(Android), and `date time: name: text` and `date time name: text` of older versions. Within one export all messages
look alike, so the first one found fixes what the others must look like; a line that looks otherwise is text.

Dates and times are the short date and the medium time of Unicode CLDR in the phone's language (those of version 48 by
ICU 78 were looked at; older phones write older ones). Vietnamese puts the time first. Arabic has marks of direction
within the date, and in exports one right behind the bracket: parsers have it of real ones (issues of
mtln/chat-export, pull request 30, and a public Dart parser of exports, whose forms are those of this file).
"""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass
from datetime import datetime
from zoneinfo import ZoneInfo

from relrag_pipelines.sources.whatsapp.calendars import ERAS
from relrag_pipelines.sources.whatsapp.date_order import calendar_date
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
    return "".join(filter(str.isalpha, word.casefold()))


def _flexible_pattern(word: str) -> str:
    """A pattern of the word in which points, quotes and spaces may be missing or be others."""
    loose = {".": "[.]?", "״": "[״׳\"'’]?", " ": f"{_SPACE}*"}
    return "".join(loose.get(sign, sign) for sign in word)


_HALVES = {_letters(word): 0 for word in MORNING} | {_letters(word): 12 for word in AFTERNOON}
_HALF = rf"(?=[^\W\d_])(?i:{'|'.join(map(_flexible_pattern, (*MORNING, *AFTERNOON)))})(?![^\W\d_])"
_ERA = rf"(?:(?i:{'|'.join(map(re.escape, sorted(ERAS, key=len, reverse=True)))}))(?![^\W\d_])"
_JOINING = f"(?:{'|'.join(map(re.escape, JOINING))}){_SPACE}+"

_STYLES = {
    "bracket": (rf"\[{_MARK}", rf"{_SPACE}*\]{_SPACE}?"),
    "dash": ("", f"{_SPACE}+[-–]{_SPACE}"),
    "colon": ("", f":{_SPACE}"),
    "bare": ("", rf"{_SPACE}+(?=[^:\n]{{1,100}}:[ \n])"),
}
"""What stands before the date and behind the time; the first style that fits the first message is the export's."""


@functools.cache
def any_forms() -> tuple[re.Pattern[str], ...]:
    """The line break and the beginning of a message in any form, the date first or the time first."""
    behind = "|".join(f"(?P<{style}>{behind})" for style, (_, behind) in _STYLES.items())
    first, last = (
        rf"(?P<era_first>{_ERA})?\d{{1,4}}",
        rf"(?P<era_inside>{_ERA})?\d{{1,4}}(?P<era_last>{_SPACE}*{_ERA})?",
    )
    day = rf"{first}{_MARK}(?P<slash>[./-]){_SPACE}*\d{{1,2}}{_MARK}[./-]{_SPACE}*{last}{_MARK}\.?"
    between = rf"{_MARK}(?P<comma>[,،])?{_SPACE}+(?P<joining>{_JOINING})?"
    hour = rf"(?P<early>{_HALF}{_SPACE}*)?{_HOUR}"
    time = rf"{hour}{_MARK}(?P<point>[:.h]){_SIXTY}(?:{_MARK}[:.h]{_SIXTY})?(?P<late>{_SPACE}*{_HALF})?"
    return tuple(
        re.compile(rf"\n{_MARK}(?P<opened>\[{_MARK})?(?P<inside>{inside})(?:{behind})")
        for inside in (f"{day}{between}{time}", f"(?P<time_first>){time}{between}{day}")
    )


PARTS = 5
"""What `messages` of a form cuts of each message: its four groups, and all behind them."""


@dataclass(frozen=True)
class MessageFormat:
    """How the messages of one export begin.

    `messages` matches the line break before a message and its beginning; its groups are the date, hour and minute with
    the half of the day if it stands in front, the second, and the half of the day behind. `dates` gives only the date,
    and may give that of several messages in a row once. Exports of phones that are set alike have equal patterns.
    """

    style: str
    messages: re.Pattern[str]
    dates: re.Pattern[str]


def find_form(text: str) -> MessageFormat | None:
    """The form of the first message in the text, whose lines each have a line break before them."""
    found = (match for form in any_forms() if (match := _first(form, text)))
    first = min(found, key=lambda match: match.start(), default=None)
    return _form(first) if first else None


def _first(form: re.Pattern[str], text: str) -> re.Match[str] | None:
    begins = form.finditer(text)
    return next((one for one in begins if (one.lastgroup == "bracket") == (one["opened"] is not None)), None)


def _form(first: re.Match[str]) -> MessageFormat:
    """The form of messages that begin as the first does, in which nothing is optional that it does not have."""
    style = first.lastgroup or ""
    before, behind = _STYLES[style]
    inside, time_first = first["inside"], "time_first" in first.re.groupindex
    mark, space = (_MARK, _SPACE) if re.search(f"[{MARKS}]", inside) else ("", f"[{_SPACES}]")
    if re.search("[0-9]", inside):
        digit, hour, sixty = "[0-9]", "(?:[01]?[0-9]|2[0-3])", "[0-5][0-9]"
    else:
        digit, hour, sixty = r"\d", _HOUR, _SIXTY
    slash = mark + re.escape(first["slash"]) + (f"{space}*" if re.search(rf"{_SPACE}\d+{_MARK}[./-]", inside) else "")
    era_first, era_inside = (_ERA if first[name] else "" for name in ("era_first", "era_inside"))
    era_last = f"{space}*{_ERA}" if first["era_last"] else ""
    day = rf"{era_first}{digit}{{1,4}}{slash}{digit}{{1,2}}{slash}{era_inside}{digit}{{1,4}}{era_last}{mark}[.]?"
    between = f"{mark}{first['comma'] or ''}{space}+{_JOINING if first['joining'] else ''}"
    early = f"(?:{_HALF}{space}*)?" if first["early"] else ""
    point = mark + re.escape(first["point"])

    def time(group: str) -> str:
        late = f"(?:{space}*{group}{_HALF}))?" if first["late"] else f"{group})"
        return f"{group}{early}{hour}{point}{sixty})(?:{point}{group}{sixty}))?{late}"

    begun = rf"\n{_MARK}{before}"
    if time_first:  # what stands behind is looked at first: the groups keep their order
        inside = f"(?={time('(?:')}{between}({day}){behind}){time('(')}{between}{day}"
        dates = rf"{begun}{time('(?:')}{between}({day}){behind}"
    else:
        inside = f"({day}){between}{time('(')}"
        alike = rf"(?:.*{begun}\1{between})*+"  # passing over lines of the same date takes a third of the time
        dates = rf"{begun}({day}){between}{time('(?:')}{behind}{alike}"
    return MessageFormat(style, re.compile(f"{begun}{inside}{behind}"), re.compile(dates))


class _Seconds(dict[str, tuple[int, str]]):
    def __missing__(self, written: str) -> tuple[int, str]:
        self[written] = int(written), f"{int(written):02}"
        return self[written]


_SECONDS = _Seconds()
"""Seconds as written, in any script's digits, to their number and to SS."""

Day = tuple[int | None, str, dict[str, int]]
"""One day of a chat: where it starts, in seconds UTC; YYYYMMDD; how often each id was given on it.

There is no start where the clock was changed on that day, and UNDATED for the day where there is no such day.
"""

UNDATED = "undated"

_LAST_SECOND = 86_399
_DAYS_KEPT, _DAYS_COUNTED, _IDS_KEPT = 400, 20, 50_000
_TIMES_KEPT = 3000
_NUMBER = re.compile(r"\d+")


class LocalClock:
    """Converts local times of one chat to UTC.

    A time that occurs twice when clocks go back is taken as the first, and one that never occurs when they go forward
    by the offset that was in force before.
    """

    def __init__(self, order: str, timezone: str) -> None:
        self._days: dict[str, Day] = {}
        """by the date as written; with their ids, so only the last days are kept"""
        self._times: dict[str, tuple[int, str]] = {}
        """hour, minute and half of the day as written, to seconds since midnight and HHMM00"""
        self._order = order
        self._zone = ZoneInfo(timezone)

    def moment(self, date: str, time: str, second: str, half: str) -> tuple[int | None, str, dict[str, int]]:
        """Seconds UTC, None where there is no such day; YYYYMMDDTHHMMSS; how often each id was given on that day.

        `time` is hour and minute as written, `half` the half of the day behind them; `second` may be empty.
        """
        midnight, day, ids = self._days.get(date) or self._day(date)
        since, hhmmss = self._times.get(time + half if half else time) or self._time(time, half or "")
        if second:
            seconds, ss = _SECONDS[second]
            since, hhmmss = since + seconds, hhmmss[:4] + ss
        ts = midnight + since if midnight is not None else self._utc_of(day, hhmmss)
        return ts, f"{day}T{hhmmss}", ids

    def _day(self, written: str) -> Day:
        """The day of a message that begins with that date."""
        if len(self._days) % _DAYS_COUNTED == 0:
            many = sum(len(seen) for _, _, seen in self._days.values()) > _IDS_KEPT
            if many or len(self._days) >= _DAYS_KEPT:
                self._days.clear()
        day = calendar_date(self._order, written)
        found: Day = (None, UNDATED, {})
        if day:
            start = self._utc(day.year, day.month, day.day)
            whole = self._utc(day.year, day.month, day.day, 23, 59, 59) - start == _LAST_SECOND
            found = (start if whole else None, day.isoformat().replace("-", ""), {})
        self._days[written] = found
        return found

    def _time(self, written: str, half: str) -> tuple[int, str]:
        """Seconds since midnight and HHMM00, of hour and minute as written and the half of the day behind them."""
        hour, minute = map(int, _NUMBER.findall(written))
        shift = _HALVES.get(_letters(half or written))
        if shift is not None and hour <= 12:  # 13:05 PM is what some phones write for 13:05
            hour = hour % 12 + shift
        if len(self._times) >= _TIMES_KEPT:
            self._times.clear()
        found = self._times[written + half] = 3600 * hour + 60 * minute, f"{hour:02}{minute:02}00"
        return found

    def _utc_of(self, day: str, time: str) -> int | None:
        """Seconds UTC of a local YYYYMMDD and HHMMSS; None where the day is UNDATED."""
        if day == UNDATED:
            return None
        return self._utc(*(int(part) for part in (day[:4], day[4:6], day[6:], time[:2], time[2:4], time[4:])))

    def _utc(self, *local: int) -> int:
        moment = datetime(*local, tzinfo=self._zone)  # type: ignore[misc,arg-type]
        return int(moment.timestamp())
