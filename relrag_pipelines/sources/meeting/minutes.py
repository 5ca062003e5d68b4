"""The head of written minutes: title, participants and date, in the languages of `exports.toml`.

A head line is `Participants: Jan, Petr`, also as `**Participants:** ...`, `- Participants: ...`, or `Participants:`
followed by a line for each name; Google Meet writes `Attendees` without a colon. All other lines are the text.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import datetime, time

from relrag_pipelines import languages
from relrag_pipelines.sources.formats.calendar.zones import zone_by_name
from relrag_pipelines.text.written_dates import stated_date, title_date, whole_date

_PEOPLE, _TITLE, _DATE = (languages.patterns("exports", f"minutes_{part}") for part in ("people", "title", "date"))
_MARKS = r"[ \t]*(?:[-*#>]+[ \t]*)?(?:\*\*|__)?"
_LINE = re.compile(
    rf"{_MARKS}(?:(?P<people>{_PEOPLE})|(?P<title>{_TITLE})|(?P<date>{_DATE}))"
    r"[ \t]*(?:\*\*|__)?[ \t]*:(?:\*\*|__)?(?P<value>.*)",
    re.IGNORECASE,
)
_HEADING = re.compile(rf"{_MARKS}(?:{_PEOPLE})(?:\*\*|__)?[ \t]*", re.IGNORECASE)
_BULLET = re.compile(r"[ \t]*(?:[-*•]|\d{1,2}[.)])[ \t]+(?P<name>\S.{0,79})")
_BETWEEN = re.compile(rf"[,،]|\s+(?:{languages.patterns('exports', 'between_names')})\s+(?=[A-ZÀ-Ž])")
_FRONT = re.compile(r"\A---[ \t]*\n(?P<inside>.*?)\n---[ \t]*(?:\n|\Z)", re.DOTALL)
_HEAD_LINES = 30
"""lines in which the head may be"""
_MAX_TITLE = 120
_TITLE_LINES = 2
"""first lines that may state the date as a title does"""
_MOMENT = re.compile(
    r"(?<!\d)(?P<year>(?:19|20)\d\d)(?P<gap>[-/._])(?P<month>\d\d)(?P=gap)(?P<day>\d\d)(?!\d)"
    r"(?:[ T,_]+(?:at )?(?P<hour>[01]?\d|2[0-3])[:_](?P<minute>[0-5]\d)(?::\d\d)?"
    r"(?: ?(?P<zone>[A-Z]{1,5}(?:[+-][\d:]{1,5})?))?\b)?"
)
"""as Google Meet writes it: `Standup (2025-01-13 19:02 GMT+1) - Transcript`"""
_CLOCK = re.compile(r"(?:[01]?\d|2[0-3]):[0-5]\d")


@dataclass
class Minutes:
    """The head of minutes, and the rest of their text."""

    body: str
    title: str | None = None
    participants: list[str] = field(default_factory=list)
    date: datetime | None = None
    """as written, without a zone unless it names one"""
    has_time: bool = False


def parse(text: str) -> Minutes:
    """The head of minutes, and the text without it."""
    lines = _without_front(text.strip("\n")).split("\n")
    minutes = Minutes("")
    position = _first_line(lines, minutes)
    body: list[str] = []
    while position < len(lines):
        line = lines[position]
        position += 1
        following = _head_line(minutes, lines, position) if position <= _HEAD_LINES else None
        if following is None:
            body.append(line)
        else:
            position = following
    minutes.body = "\n".join(body).strip()
    if minutes.date is None and (stated := _date_in_titles(lines)):
        minutes.date, minutes.has_time = stated
    return minutes


def _date_in_titles(lines: list[str]) -> tuple[datetime, bool] | None:
    """The date that the first lines state, as titles do, and whether it has a time."""
    titles = [line.strip() for line in lines if line.strip()][:_TITLE_LINES]
    dates = (_date_in_title(title) for title in titles if len(title) <= _MAX_TITLE)
    return next(filter(None, dates), None)


def _date_in_title(title: str) -> tuple[datetime, bool] | None:
    """The only date of a title; None for what somebody says, which has a colon before."""
    matches = list(_MOMENT.finditer(title))
    if ": " in title[: matches[0].start() if matches else None] or len(matches) > 1:
        return None
    if not matches:
        day = stated_date(title) or title_date(title)
        return (datetime.combine(day, time()), False) if day else None
    return _moment(matches[0])


def _moment(match: re.Match[str]) -> tuple[datetime, bool] | None:
    """The date of a match of _MOMENT, with its time unless that is of a zone that is not known."""
    zone = zone_by_name(match["zone"]) if match["zone"] else None
    has_time = match["hour"] is not None and (zone is not None or not match["zone"])
    names = ("year", "month", "day", "hour", "minute")[: 5 if has_time else 3]
    try:
        return datetime(*map(int, match.group(*names)), tzinfo=zone), has_time  # type: ignore[misc,arg-type]
    except ValueError:
        return None


def _head_line(minutes: Minutes, lines: list[str], position: int) -> int | None:
    """Reads the line before `position` if it is a head line, with names below it.

    Returns the position of the next line; None if it isn't a head line or repeats a field.
    """
    line = lines[position - 1]
    match = _LINE.fullmatch(line)
    if match and match["people"] and not minutes.participants:
        return _people(minutes, lines, position, match["value"])
    if match and match["title"] and match["value"].strip() and not minutes.title:
        minutes.title = _plain(match["value"])
        return position
    if match and match["date"] and (date := _date(_plain(match["value"]))):
        minutes.date, minutes.has_time = date
        return position
    if minutes.participants or not _HEADING.fullmatch(line):
        return None
    below = position + (lines[position : position + 1] == [""])
    return _people(minutes, lines, below, "") if _has_names_below(lines, below) else None


def _without_front(text: str) -> str:
    """The text with the front matter of Markdown as an ordinary head."""
    front = _FRONT.match(text)
    return f"{front['inside']}\n{text[front.end() :]}" if front else text


def _first_line(lines: list[str], minutes: Minutes) -> int:
    """Reads a first line that is the title: a heading, or a line before a head. Returns the position of the next."""
    first = lines[0].strip() if lines else ""
    if not first or len(first) > _MAX_TITLE or _LINE.fullmatch(lines[0]):
        return 0
    if not first.startswith("#") and not any(_LINE.fullmatch(line) or _HEADING.fullmatch(line) for line in lines[1:4]):
        return 0
    minutes.title = _plain(first.lstrip("# "))
    return 1


def _people(minutes: Minutes, lines: list[str], position: int, value: str) -> int:
    """Reads the names after the colon, else those below it; returns the position after them."""
    if value.strip(" *_\t"):
        minutes.participants = names(_plain(value))
        return position
    bullets = []
    while position < len(lines) and (match := _BULLET.fullmatch(lines[position])):
        bullets.append(_plain(match["name"]))
        position += 1
    if not bullets and position < len(lines):
        minutes.participants = names(_plain(lines[position]))
        return position + 1
    minutes.participants = bullets
    return position


def _has_names_below(lines: list[str], position: int) -> bool:
    below = lines[position] if position < len(lines) else ""
    return bool(_BULLET.fullmatch(below)) or ("," in below and not below.rstrip().endswith((".", ":")))


def names(text: str) -> list[str]:
    """The names in a list, without duplicates."""
    parts = text.split(";") if ";" in text else _BETWEEN.split(text)  # `Novák, Jan; Svoboda, Petr`
    stripped = (" ".join(part.split()) for part in parts)
    return list(dict.fromkeys(name for name in stripped if name))


def _plain(text: str) -> str:
    return " ".join(text.strip().strip("*_").split())


def _date(text: str) -> tuple[datetime, bool] | None:
    try:
        return datetime.fromisoformat(text), len(text) > len("2025-01-14")
    except ValueError:
        pass
    day, _, clock = text.replace(" at ", " ").rpartition(" ")
    if _CLOCK.fullmatch(clock) and (date := whole_date(day.rstrip(","))):
        return datetime.combine(date, datetime.strptime(clock, "%H:%M").time()), True  # noqa: DTZ007  as written
    date = whole_date(text)
    return (datetime.combine(date, time()), False) if date else None
