"""Parses the beginning of a message: date and time in the phone's language, calendar and clock.

There is no specification. Four styles occur: `[date, time] name: text` (iOS), `date, time - name: text` (Android), and
`date time: name: text` and `date time name: text` of older versions. All messages of an export have the same form, so
the first one determines it; a line in another form is text.

Dates and times are the short date and the medium time of Unicode CLDR in the phone's language (checked against version
48 in ICU 78; older phones write older ones). Vietnamese puts the time first. Arabic has direction marks within the
date, and in exports one right after the bracket, according to parsers of real exports (issues of mtln/chat-export,
pull request 30, and a public Dart parser of exports, whose forms are those of this file).
"""

from __future__ import annotations

import functools
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from zoneinfo import ZoneInfo

from relrag_pipelines.sources.whatsapp.calendars import ERAS
from relrag_pipelines.sources.whatsapp.date_order import calendar_date
from relrag_pipelines.sources.whatsapp.day_halves import Hours, hour_of_day, known_hours, letters, word_of
from relrag_pipelines.sources.whatsapp.phrases import AFTERNOON, JOINING, MORNING

MARKS = "\u200e\u200f\u061c\u202a-\u202e\u2066-\u2069\ufeff"
"""Direction marks, and the byte order mark: invisible, and anywhere. For use within a character class."""

_MARK = f"[{MARKS}]*"
_SPACES = " \t\u00a0\u2007\u2009\u202f"
_SPACE = f"[{_SPACES}{MARKS}]"
_ZEROS = "0\u0660\u06f0\u0966\u09e6\u1040"
"""The zeros of the digits that dates are written in: European, Arabic, Persian, Hindi, Bengali, Burmese."""


def _digits(first: int, last: int) -> str:
    return "[" + "".join(f"{chr(ord(zero) + first)}-{chr(ord(zero) + last)}" for zero in _ZEROS) + "]"


_HOUR = rf"(?:{_digits(0, 1)}?\d|{_digits(2, 2)}{_digits(0, 3)})"
_SIXTY = rf"{_digits(0, 5)}\d"


def _flexible_pattern(word: str) -> str:
    """A pattern of the word in which points, quotes and spaces may be missing or differ."""
    loose = {".": "[.]?", "״": "[״׳\"'’]?", " ": f"{_SPACE}*"}
    return "".join(loose.get(sign, sign) for sign in word)


_HALF = rf"(?=[^\W\d_])(?i:{'|'.join(map(_flexible_pattern, (*MORNING, *AFTERNOON)))})(?![^\W\d_])"
_ANY_HALF = r"(?=[^\W\d_])[^\d\n:,;\[\]()<>?!@–-]{1,24}?"
"""any words, where what stands behind them begins the message for certain"""
_WITH_ANY_HALF = frozenset({"bracket", "dash"})
"""styles of which the half of the day may be any words"""
_ERA = rf"(?:(?i:{'|'.join(map(re.escape, sorted(ERAS, key=len, reverse=True)))}))(?![^\W\d_])"
_JOINING = f"(?:{'|'.join(map(re.escape, JOINING))}){_SPACE}+"

_STYLES = {
    "bracket": (rf"\[{_MARK}", rf"{_SPACE}*\]{_SPACE}?"),
    "dash": ("", f"{_SPACE}+[-–]{_SPACE}"),
    "colon": ("", f":{_SPACE}"),
    "bare": ("", rf"{_SPACE}+(?=[^:\n]{{1,100}}:[ \n])"),
}
"""The patterns before the date and after the time; the first style that fits the first message is the export's."""


@functools.cache
def any_forms(*, any_half: bool = False) -> tuple[re.Pattern[str], ...]:
    """The line break and the beginning of a message in any form, the date first or the time first.

    With `any_half`, any words may stand in the place of the half of the day.
    """
    early_half, late_half = _HALF, _HALF
    if any_half:
        early_half = f"(?:{_HALF}|{_ANY_HALF})"
        late_half = rf"(?:{_HALF}|{_ANY_HALF}(?={_SPACE}*\]|{_SPACE}+[-–]{_SPACE}))"
    end = "|".join(f"(?P<{style}>{pattern})" for style, (_, pattern) in _STYLES.items())
    first, last = (
        rf"(?P<era_first>{_ERA})?\d{{1,4}}",
        rf"(?P<era_inside>{_ERA})?\d{{1,4}}(?P<era_last>{_SPACE}*{_ERA})?",
    )
    day = rf"{first}{_MARK}(?P<slash>[./-]){_SPACE}*\d{{1,2}}{_MARK}[./-]{_SPACE}*{last}{_MARK}\.?"
    between = rf"{_MARK}(?P<comma>[,،])?{_SPACE}+(?P<joining>{_JOINING})?"
    hour = rf"(?P<early>{early_half}{_SPACE}*)?{_HOUR}"
    time = rf"{hour}{_MARK}(?P<point>[:.h]){_SIXTY}(?:{_MARK}[:.h]{_SIXTY})?(?P<late>{_SPACE}*{late_half})?"
    return tuple(
        re.compile(rf"\n{_MARK}(?P<opened>\[{_MARK})?(?P<inside>{stamp})(?:{end})")
        for stamp in (f"{day}{between}{time}", f"(?P<time_first>){time}{between}{day}")
    )


PARTS = 5
"""Number of parts that `messages` of a form splits each message into: its four groups, and the text after them."""


@dataclass(frozen=True)
class MessageFormat:
    """The form in which the messages of one export begin.

    `messages` matches the line break before a message and its beginning; its groups are the date, hour and minute with
    the half of the day if that comes first, the second, and the half of the day if it comes last. `dates` has only the
    date, and may match several successive messages of one date once. Equal phone settings give equal patterns.
    """

    style: str
    messages: re.Pattern[str]
    dates: re.Pattern[str]
    has_half: bool = False
    """words for the half of the day stand beside its times"""

    def with_halves(self, words: Collection[str]) -> MessageFormat:
        """The form in which only these words stand for the half of the day."""
        written = "|".join(map(re.escape, sorted(words, key=len, reverse=True)))
        return replace(self, messages=re.compile(self.messages.pattern.replace(_ANY_HALF, f"(?:{written})")))


def find_form(text: str) -> MessageFormat | None:
    """The form of the first message in a text whose lines each have a line break before them.

    Unknown words beside its time are the half of the day, unless more messages begin as if they were part of a name.
    """
    first = _first_of(text, any_half=True)
    if first is None:
        return None
    form = _form(first)
    word = letters(first["late"] or first["early"] or "")
    if not word or word in known_hours():
        return form
    other = _first_of(text, any_half=False)
    other_form = _form(other) if other else form
    return max((form, other_form), key=lambda choice: len(choice.messages.findall(text)))


def _first_of(text: str, *, any_half: bool) -> re.Match[str] | None:
    matches = (match for form in any_forms(any_half=any_half) if (match := _first(form, text)))
    return min(matches, key=lambda match: match.start(), default=None)


def _first(form: re.Pattern[str], text: str) -> re.Match[str] | None:
    return next(filter(_is_beginning, form.finditer(text)), None)


def _is_beginning(match: re.Match[str]) -> bool:
    """Whether a bracket that is opened is closed, and a word before the hour is known: any may follow a date."""
    is_closed = (match.lastgroup == "bracket") == (match["opened"] is not None)
    return is_closed and (not match["early"] or letters(match["early"]) in known_hours())


def _form(first: re.Match[str]) -> MessageFormat:
    """The form of messages that begin like the first; what is missing there isn't optional in it."""
    style = first.lastgroup or ""
    before, end = _STYLES[style]
    stamp, time_first = first["inside"], "time_first" in first.re.groupindex
    mark, space = (_MARK, _SPACE) if re.search(f"[{MARKS}]", stamp) else ("", f"[{_SPACES}]")
    if re.search("[0-9]", stamp):
        digit, hour, sixty = "[0-9]", "(?:[01]?[0-9]|2[0-3])", "[0-5][0-9]"
    else:
        digit, hour, sixty = r"\d", _HOUR, _SIXTY
    slash = mark + re.escape(first["slash"]) + (f"{space}*" if re.search(rf"{_SPACE}\d+{_MARK}[./-]", stamp) else "")
    era_first, era_inside = (_ERA if first[name] else "" for name in ("era_first", "era_inside"))
    era_last = f"{space}*{_ERA}" if first["era_last"] else ""
    day = rf"{era_first}{digit}{{1,4}}{slash}{digit}{{1,2}}{slash}{era_inside}{digit}{{1,4}}{era_last}{mark}[.]?"
    between = f"{mark}{first['comma'] or ''}{space}+{_JOINING if first['joining'] else ''}"
    half = _ANY_HALF if style in _WITH_ANY_HALF and not time_first else _HALF
    early = f"(?:{half}{space}*)?" if first["early"] else ""
    point = mark + re.escape(first["point"])

    def time(group: str) -> str:
        late = f"(?:{space}*{group}{half}))?" if first["late"] else f"{group})"
        return f"{group}{early}{hour}{point}{sixty})(?:{point}{group}{sixty}))?{late}"

    begun = rf"\n{_MARK}{before}"
    if time_first:  # what stands behind is looked at first: the groups keep their order
        stamp = f"(?={time('(?:')}{between}({day}){end}){time('(')}{between}{day}"
        dates = rf"{begun}{time('(?:')}{between}({day}){end}"
    else:
        stamp = f"({day}){between}{time('(')}"
        repeats = rf"(?:.*{begun}\1{between})*+"  # passing over lines of the same date takes a third of the time
        dates = rf"{begun}({day}){between}{time('(?:')}{end}{repeats}"
    has_half = bool(first["early"] or first["late"])
    return MessageFormat(style, re.compile(f"{begun}{stamp}{end}"), re.compile(dates), has_half)


class _Seconds(dict[str, tuple[int, str]]):
    def __missing__(self, text: str) -> tuple[int, str]:
        self[text] = int(text), f"{int(text):02}"
        return self[text]


_SECONDS = _Seconds()
"""Seconds as written, in the digits of any script -> their number and SS."""

Day = tuple[int | None, str, dict[str, int]]
"""One day of a chat: its start in seconds UTC; YYYYMMDD; how often each id occurred on it.

The start is None if the clock was changed on that day; a day that doesn't exist has no start and UNDATED.
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

    def __init__(self, order: str, timezone: str, halves: Mapping[str, Hours]) -> None:
        """`halves` are the hours of the words beside the times that are not known, by their letters."""
        self._days: dict[str, Day] = {}
        """by the date as written; with their ids, so only the last days are kept"""
        self._times: dict[str, tuple[int, str]] = {}
        """hour, minute and half of the day as written, to seconds since midnight and HHMM00"""
        self._order, self._halves = order, {**known_hours(), **halves}
        self._zone = ZoneInfo(timezone)

    def moment(self, date: str, time: str, second: str, half: str) -> tuple[int | None, str, dict[str, int]]:
        """Seconds UTC, None if there is no such day; YYYYMMDDTHHMMSS; how often each id occurred on that day.

        `time` is hour and minute as written, `half` the half of the day after them; `second` may be empty.
        """
        midnight, day, ids = self._days.get(date) or self._day(date)
        since, hhmmss = self._times.get(time + half if half else time) or self._time(time, half or "")
        if second:
            seconds, ss = _SECONDS[second]
            since, hhmmss = since + seconds, hhmmss[:4] + ss
        ts = midnight + since if midnight is not None else self._utc_of(day, hhmmss)
        return ts, f"{day}T{hhmmss}", ids

    def _day(self, text: str) -> Day:
        """The day of a message with that date; added to the cache, which is emptied when it grows too large."""
        if len(self._days) % _DAYS_COUNTED == 0:
            many = sum(len(seen) for _, _, seen in self._days.values()) > _IDS_KEPT
            if many or len(self._days) >= _DAYS_KEPT:
                self._days.clear()
        date = calendar_date(self._order, text)
        day: Day = (None, UNDATED, {})
        if date:
            start = self._utc(date.year, date.month, date.day)
            is_regular = self._utc(date.year, date.month, date.day, 23, 59, 59) - start == _LAST_SECOND
            day = (start if is_regular else None, date.isoformat().replace("-", ""), {})
        self._days[text] = day
        return day

    def _time(self, text: str, half: str) -> tuple[int, str]:
        """Seconds since midnight and HHMM00, of hour and minute as written and the half of the day after them."""
        hour, minute = map(int, _NUMBER.findall(text))
        hours = self._halves.get(letters(word_of(text, half)), Hours())
        hour = hour_of_day(hour, hours) or 0
        if len(self._times) >= _TIMES_KEPT:
            self._times.clear()
        time = self._times[text + half] = 3600 * hour + 60 * minute, f"{hour:02}{minute:02}00"
        return time

    def _utc_of(self, day: str, time: str) -> int | None:
        """Seconds UTC of a local YYYYMMDD and HHMMSS; None where the day is UNDATED."""
        if day == UNDATED:
            return None
        return self._utc(*(int(part) for part in (day[:4], day[4:6], day[6:], time[:2], time[2:4], time[4:])))

    def _utc(self, *local: int) -> int:
        moment = datetime(*local, tzinfo=self._zone)  # type: ignore[misc,arg-type]
        return int(moment.timestamp())
