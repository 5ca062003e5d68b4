"""Highlights and notes of a Kindle: `My Clippings.txt`, to which each reader appends.

A clipping is the title of the book, a line with its place and time in the language of the reader, its text, and a line
of equal signs. A bookmark has no text, and is no note.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from zoneinfo import ZoneInfo

from relrag_pipelines.records import Failure, Record
from relrag_pipelines.sources import ReadContext
from relrag_pipelines.sources.formats.charset_detection import CharsetError, decode
from relrag_pipelines.sources.formats.members import Member
from relrag_pipelines.sources.formats.text_cleaning import clean
from relrag_pipelines.sources.mail import localised_dates
from relrag_pipelines.text import reference_numbers

SUFFIX = ".txt"
_MARK = "=========="
_BEGINS = re.compile(rb"\A(?:\xef\xbb\xbf)?[^\r\n]+\r?\n- [^\r\n]*\|[^\r\n]*\d{4}")


def is_clippings(head: bytes) -> bool:
    """Whether a file begins with a clipping."""
    return _BEGINS.match(head) is not None and _MARK.encode() in head


def read(data: bytes, member: Member, reading: ReadContext) -> Iterator[Record | Failure]:
    """A record for each clipping with a text."""
    try:
        text = decode(data).text
    except CharsetError as error:
        yield Failure(member.inner_path, error.fault, f"{error}; copy the file again", whole_unit=True)
        return
    *clippings, rest = re.split(rf"^{_MARK}[ \t]*\r?\n?", text, flags=re.MULTILINE)
    for position, clipping in enumerate(clippings, 1):
        yield from _clipping(clean(clipping).strip().splitlines(), position, member, reading)
    if rest.strip():
        why = "the file ends within a clipping; copy it again"
        yield Failure(member.inner_path, "truncated", why, whole_unit=True)


def _clipping(lines: list[str], position: int, member: Member, reading: ReadContext) -> Iterator[Record | Failure]:
    if len(lines) < 2 or not lines[1].startswith("-"):
        why = "it has no line with a place and a time, as each clipping has; it is left out"
        yield Failure(f"{member.inner_path} clipping {position}".strip(), "no_clipping", why)
        return
    title, about = lines[0].strip("\ufeff "), lines[1].lstrip("- ")
    text = "\n".join(lines[2:]).strip()
    if not text:
        return
    page, _, date = about.rpartition("|")
    ts = _time(date, reading.timezone)
    yield Record(
        source_id=reading.hash(f"clipping {title} {about} {text}"),
        text=f"{title}\n{text}",
        rag_source_type="note",
        subject=title or None,
        ts=ts,
        date_quality="exact" if ts is not None else "none",
        content_type="text/plain",
        file_name=member.name,
        source_uri=member.location,
        locations=[f"{member.location}#N{position}"],
        numbers=reference_numbers.find_reference_numbers(text),
        extra={"place": page.strip()} if page.strip() else {},
    )


def _time(date: str, zone: str) -> int | None:
    """Seconds UTC of a date in words, in the time of the reader."""
    try:
        when = localised_dates.parse(date)
        return int((when if when.tzinfo else when.replace(tzinfo=ZoneInfo(zone))).timestamp()) if when else None
    except (ValueError, OverflowError):
        return None
