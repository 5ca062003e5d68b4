"""The line that describes a source to a reader: time, person, channel, title or file, page or minute."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

from relrag_pipelines.records import Chunk
from relrag_pipelines.sources import record_type
from relrag_pipelines.text import citation_marks
from relrag_query.display.page_texts import DEFAULT_TEXTS, PageTexts
from relrag_query.retrieval.hit import ENTITY_STORE, Hit, QuotedPlace

_ADDRESS = re.compile(r"(.*\S)\s*<[^>]*>\s*")
"""a name with an address, as in a mail header"""
_MAX_PEOPLE = 3
"""largest number of participants shown"""
_MAX_TITLE_CHARS = 70
"""largest number of characters of a title"""


def source_line(hit: Hit, zone: ZoneInfo, places: Sequence[QuotedPlace] = (), texts: PageTexts = DEFAULT_TEXTS) -> str:
    """The line of a hit; `places` are the positions that the answer quotes."""
    chunk = hit.chunk
    times = [quote_place.ts for quote_place in places if quote_place.ts is not None] if chunk.members else []
    when = when_of(hit, zone, min(times, default=chunk.ts), texts)
    parts = (
        "" if hit.source == ENTITY_STORE else when,
        _people(chunk, texts),
        " ".join(_what_parts(hit, texts)),
        pages_of(chunk, places, texts),
        seconds_of(chunk, places),
    )
    return ", ".join(part for part in parts if part)


def when_of(hit: Hit, zone: ZoneInfo, ts: int | None, texts: PageTexts = DEFAULT_TEXTS) -> str:
    """A time of a hit; `file of 2025-01-15` if it is only that of its file, which may be a copy."""
    if ts is None:
        return texts.undated
    time = time_of(ts, zone, hit.chunk.rag_source_type, hit.date_quality)
    return texts.file_of.format(day=time[:10]) if hit.dated_by_file else time


def time_of(ts: int | None, zone: ZoneInfo, rag_source_type: str, date_quality: str = "") -> str:
    """The time of a record in the owner's time zone, 2025-01-15 10:12; only the day or year if no more is known.

    Formats every time of a record on a terminal; `moment` formats other times.
    """
    if ts is None:
        return "undated"
    if date_quality == "year":
        return str(datetime.fromtimestamp(ts, UTC).year)
    if only_day(ts, rag_source_type, date_quality):
        return datetime.fromtimestamp(ts, UTC).strftime("%Y-%m-%d")
    return moment(datetime.fromtimestamp(ts, zone))


def moment(at: datetime) -> str:
    """A time that is not a record's, in the time zone of `at`: 2025-01-15 10:12."""
    return f"{at:%Y-%m-%d %H:%M}"


def boundary(ts: int, zone: ZoneInfo) -> str:
    """A boundary of a time range: only the day if it is midnight in the owner's time zone."""
    at = datetime.fromtimestamp(ts, zone)
    return f"{at:%Y-%m-%d}" if (at.hour, at.minute, at.second) == (0, 0, 0) else moment(at)


def only_day(ts: int, rag_source_type: str, date_quality: str = "") -> bool:
    """Whether only the day of a record is known: then its time is the first second of that day, UTC.

    Without a `date_quality`, the type decides: chats and mails have exact times, which may be midnight.
    """
    if date_quality in ("day", "exact"):
        return date_quality == "day"
    kind = record_type(rag_source_type)
    exact = any(record_kind.chat or record_kind.mail for record_kind in (kind, record_type(kind.part_of)))
    return bool(rag_source_type) and not exact and ts % 86_400 == 0


def pages_of(chunk: Chunk, places: Sequence[QuotedPlace] = (), texts: PageTexts = DEFAULT_TEXTS) -> str:
    """The pages of the quotes, else the page on which the passage begins: `page 3`, `pages 3, 17`."""
    pages = sorted({quote_place.page for quote_place in places if quote_place.page}) or (
        [chunk.page_number] if chunk.page_number else []
    )
    form = texts.pages if len(pages) > 1 else texts.page
    return form.format(pages=", ".join(map(str, pages))) if pages else ""


def seconds_of(chunk: Chunk, places: Sequence[QuotedPlace] = ()) -> str:
    """The times of the quotes in a recording, else the passage's range: `2:05, 3:10`, `2:05-3:10`, or `1:02:05`.

    Empty if it has no times.
    """
    if chunk.start_second is None or chunk.end_second is None:
        return ""
    starts = sorted({int(quote_place.second) for quote_place in places if quote_place.second is not None})
    if starts:
        return ", ".join(map(clock, starts))
    return "-".join(clock(int(second)) for second in (chunk.start_second, chunk.end_second))


def clock(seconds: int) -> str:
    """Seconds as 2:05, with hours as 1:02:05."""
    minutes = f"{seconds // 60 % 60}:{seconds % 60:02}"
    return f"{seconds // 3600}:{minutes:0>5}" if seconds >= 3600 else minutes


def without_address(name: str) -> str:
    """The name of a mail header without its address."""
    return _ADDRESS.sub(r"\1", name)


def _people(chunk: Chunk, texts: PageTexts) -> str:
    kind = record_type(chunk.rag_source_type)
    named = chunk.participants if chunk.participants and (kind.from_all or not chunk.from_) else [chunk.from_ or ""]
    names = list(map(without_address, named))
    more = texts.more_people.format(count=len(names) - _MAX_PEOPLE) if len(names) > _MAX_PEOPLE else ""
    return ", ".join(names[:_MAX_PEOPLE]) + more


def _what_parts(hit: Hit, texts: PageTexts) -> Iterator[str]:
    chunk = hit.chunk
    kind = record_type(chunk.rag_source_type)
    yield texts.noun(chunk.rag_source_type)
    if commit := hit.extra.get("git_commit_hash"):
        yield str(commit)[:8]
    if chunk.file_name and (kind.part_of or not chunk.subject):
        yield chunk.file_name
    if chunk.subject:
        title = (
            chunk.subject if len(chunk.subject) <= _MAX_TITLE_CHARS else f"{chunk.subject[:_MAX_TITLE_CHARS].rstrip()}…"
        )
        form = texts.of_title if kind.part_of else texts.in_title if chunk.members else '"{title}"'
        yield form.format(title=citation_marks.disarm(title))
