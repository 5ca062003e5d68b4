"""The head of written minutes: title, participants and date, in English, Czech and Hebrew.

A head line is `Participants: Jan, Petr`, also as `**Participants:** ...`, `- Participants: ...`, or `Participants:` and
one name a line below it; Google Meet writes `Attendees` without a colon. What is no head line is the text.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import datetime, time

from relrag_pipelines.text.written_dates import whole_date

_PEOPLE = (
    r"participants?|attendees|attending|present|people|účastníci|zúčastnili se|přítomni|přítomní"
    r"|משתתפים|משתתפות|נוכחים|נוכחות|נכחו"
)
_TITLE = r"title|subject|topic|meeting|název|téma|předmět|schůzka|porada|נושא|כותרת|ישיבה|פגישה"
_DATE = r"date|when|datum|kdy|תאריך|מועד"
_MARKS = r"[ \t]*(?:[-*#>]+[ \t]*)?(?:\*\*|__)?"
_LINE = re.compile(
    rf"{_MARKS}(?:(?P<people>{_PEOPLE})|(?P<title>{_TITLE})|(?P<date>{_DATE}))"
    r"[ \t]*(?:\*\*|__)?[ \t]*:(?:\*\*|__)?(?P<said>.*)",
    re.IGNORECASE,
)
_HEADING = re.compile(rf"{_MARKS}(?:{_PEOPLE})(?:\*\*|__)?[ \t]*", re.IGNORECASE)
_BULLET = re.compile(r"[ \t]*(?:[-*•]|\d{1,2}[.)])[ \t]+(?P<name>\S.{0,79})")
_BETWEEN = re.compile(r"[,،]|\s+(?:and|a|ו)\s+(?=[A-ZÀ-Ž])")
_FRONT = re.compile(r"\A---[ \t]*\n(?P<inside>.*?)\n---[ \t]*(?:\n|\Z)", re.DOTALL)
_HEAD_LINES = 30
"""how far down a head line may stand"""
_LONGEST_TITLE = 120
_CLOCK = re.compile(r"(?:[01]?\d|2[0-3]):[0-5]\d")


@dataclass
class Minutes:
    """What minutes say about their meeting, and the rest of their text."""

    body: str
    title: str | None = None
    participants: list[str] = field(default_factory=list)
    date: datetime | None = None
    """as written, without a zone unless it names one"""
    has_time: bool = False


def parse(text: str) -> Minutes:
    """The head of minutes, and the text without it."""
    lines = _without_front(text.strip("\n")).split("\n")
    found = Minutes("")
    place = _first_line(lines, found)
    kept: list[str] = lines[:0]
    while place < len(lines):
        line = lines[place]
        place += 1
        match = _LINE.fullmatch(line) if place <= _HEAD_LINES else None
        if match and match["people"] and not found.participants:
            place = _people(found, lines, place, match["said"])
        elif match and match["title"] and match["said"].strip() and not found.title:
            found.title = _plain(match["said"])
        elif match and match["date"] and (read := _date(_plain(match["said"]))):
            found.date, found.has_time = read
        elif (
            place <= _HEAD_LINES
            and not found.participants
            and _HEADING.fullmatch(line)
            and _has_names_below(lines, place)
        ):
            place = _people(found, lines, place, "")
        else:
            kept.append(line)
    found.body = "\n".join(kept).strip()
    return found


def _without_front(text: str) -> str:
    """Front matter of Markdown is a head like any other."""
    front = _FRONT.match(text)
    return f"{front['inside']}\n{text[front.end() :]}" if front else text


def _first_line(lines: list[str], found: Minutes) -> int:
    """The first line is the title where a head follows it, or where it is a heading; returns the line behind it."""
    first = lines[0].strip() if lines else ""
    heading = first.startswith("#")
    head_follows = any(_LINE.fullmatch(line) or _HEADING.fullmatch(line) for line in lines[1:4])
    if first and len(first) <= _LONGEST_TITLE and not _LINE.fullmatch(lines[0]) and (heading or head_follows):
        found.title = _plain(first.lstrip("# "))
        return 1
    return 0


def _people(found: Minutes, lines: list[str], place: int, said: str) -> int:
    """Reads the names after the colon, else those below it; returns the line after them."""
    if said.strip(" *_\t"):
        found.participants = names(_plain(said))
        return place
    bullets = []
    while place < len(lines) and (match := _BULLET.fullmatch(lines[place])):
        bullets.append(_plain(match["name"]))
        place += 1
    if not bullets and place < len(lines):
        found.participants = names(_plain(lines[place]))
        return place + 1
    found.participants = bullets
    return place


def _has_names_below(lines: list[str], place: int) -> bool:
    below = lines[place] if place < len(lines) else ""
    return bool(_BULLET.fullmatch(below)) or ("," in below and not below.rstrip().endswith((".", ":")))


def names(text: str) -> list[str]:
    """The names in a list of them, each once."""
    parts = text.split(";") if ";" in text else _BETWEEN.split(text)  # `Novák, Jan; Svoboda, Petr`
    found = (" ".join(part.split()) for part in parts)
    return list(dict.fromkeys(name for name in found if name))


def _plain(text: str) -> str:
    return " ".join(text.strip().strip("*_").split())


def _date(text: str) -> tuple[datetime, bool] | None:
    try:
        return datetime.fromisoformat(text), len(text) > len("2025-01-14")
    except ValueError:
        pass
    day, _, clock = text.replace(" at ", " ").rpartition(" ")
    if _CLOCK.fullmatch(clock) and (found := whole_date(day.rstrip(","))):
        return datetime.combine(found, datetime.strptime(clock, "%H:%M").time()), True  # noqa: DTZ007  as written
    found = whole_date(text)
    return (datetime.combine(found, time()), False) if found else None
