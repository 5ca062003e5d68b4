"""The records that filters leave, for a search without words: in order of time, in pages, and counted.

An entry is the first passage of a record, or a window of a chat. Only columns without text are read here, so that a
catalog that is redacted as it is read redacts no more than the entries of a page.
"""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from datetime import UTC, date, datetime
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

from relrag_pipelines.sources import record_type
from relrag_pipelines.stores.vectors.protocol import ANYWHERE, ChunkFilter
from relrag_query.retrieval import attachment_filter, catalog_reader
from relrag_query.retrieval.attachment_filter import Attachment
from relrag_query.retrieval.hit import Hit, Message
from relrag_query.retrieval.steps.contents import TIMED_TYPES, load_dates, match_messages, with_messages
from relrag_query.understanding.time_expressions import WhenError, day_range

if TYPE_CHECKING:
    import duckdb

    from relrag_query.retrieval.question_reader import DateLike, Filters

_ENTRIES = "chunk_index = 0 AND section IS NULL"
_WHERE = f"""
    FROM chunks WHERE {_ENTRIES}
    AND (len($sources) = 0 OR list_contains($sources, source)) AND (len($kinds) = 0 OR list_contains($kinds, kind))
    AND ($since IS NULL OR ts >= $since) AND ($until IS NULL OR ts < $until)
    AND (len($people) = 0 OR list_has_any(person_ids, $people) OR list_has_any(mentioned_person_ids, $people))
    AND ($added IS NULL OR created_at >= $added)
"""
_QUALITY = "CASE WHEN list_contains($timed, rag_source_type) THEN '' ELSE coalesce(date_quality, '') END"
"""`Hit.date_quality`, as `load_dates` sets it"""
_UNDATED = f"(ts IS NULL OR {_QUALITY} IN ('modified', 'outside'))"
"""whether an entry has no time, or `Hit.is_undated` of it"""
_ORDERS = {
    False: f"{_UNDATED}, ts DESC, chunk_id",
    True: f"{_UNDATED}, ts, chunk_id",
}
"""whether the oldest come first -> the order"""
_COUNTS = """
    WITH merged AS (SELECT unnest($former::BIGINT[]) AS person, unnest($survivors::BIGINT[]) AS survivor),
    entries AS MATERIALIZED (SELECT chunk_id, source, kind, ts, {undated} AS undated, {quality} AS quality, person_ids,
        mentioned_person_ids {where})
    SELECT 'entries', '', count(*) FROM entries
    UNION ALL SELECT 'sources', source, count(*) FROM entries GROUP BY source
    UNION ALL SELECT 'kinds', kind, count(*) FROM entries GROUP BY kind
    UNION ALL SELECT 'years', year.key::VARCHAR, year.value FROM (
        SELECT unnest(map_entries(histogram(CASE WHEN quality = 'year'
            THEN epoch(make_date(year(make_timestamp(ts * 1000000)), 7, 1))::BIGINT ELSE ts END, $ends))) AS year
        FROM entries WHERE NOT undated) WHERE year.value > 0
    UNION ALL SELECT 'people', person::VARCHAR, count(*) FROM (
        SELECT unnest(person_ids) AS person FROM entries
        UNION ALL SELECT unnest(list_filter(mentioned_person_ids, lambda id: NOT list_contains(person_ids, id)))
        FROM entries) ANTI JOIN merged USING (person) GROUP BY person
    UNION ALL SELECT 'people', survivor::VARCHAR, count(DISTINCT chunk_id) FROM (
        SELECT chunk_id, unnest(list_concat(person_ids, mentioned_person_ids)) AS person FROM entries
        WHERE len($former) > 0) JOIN merged USING (person) GROUP BY survivor
"""
"""Counted by the seconds that years end with, since a calendar takes ten times as long; of a year alone its middle
counts, which is in it by every clock. People who were merged are counted apart, since that takes longer."""
_YEARS = range(1000, 3000)
"""years that a filter can name"""
_ADDED = f"""
    SELECT source, count(*) FROM chunks WHERE {_ENTRIES} AND created_at >= $added GROUP BY source ORDER BY source
"""  # noqa: S608  a constant
_ADDED_IDS = "SELECT chunk_id FROM chunks WHERE created_at >= $added"
_NEWEST_ADDITION = "SELECT max(created_at) FROM chunks"


@dataclass(frozen=True)
class Selection:
    """Which records are listed."""

    limits: ChunkFilter = ANYWHERE
    """of which sources, kinds, times and people"""
    attachment: Attachment | None = None
    added: datetime | None = None
    """first published then or later, UTC, without a zone"""


@dataclass(frozen=True)
class EntryCounts:
    """How many entries of a selection have each value."""

    entries: int = 0
    sources: Counter[str] = field(default_factory=Counter)
    kinds: Counter[str] = field(default_factory=Counter)
    years: Counter[str] = field(default_factory=Counter)
    people: Counter[int] = field(default_factory=Counter)
    """by person_id: who wrote, received, took part or is named"""


def are_empty(filters: Filters) -> bool:
    """Whether filters limit nothing."""
    return not any(getattr(filters, limit.name) for limit in fields(filters))


def moment(added: DateLike, zone: ZoneInfo) -> datetime | None:
    """A date, or a time with or without a zone, as catalogs have it: UTC, without a zone. Raises WhenError."""
    if added is None:
        return None
    try:
        return _local_time(added, zone).astimezone(UTC).replace(tzinfo=None)
    except WhenError:
        raise
    except (ValueError, OverflowError):  # the zone may lead out of the years 1 to 9999
        message = f'"{added}" is not a time; write 2024-03-15 or 2024-03-15T10:00:00Z'
        raise WhenError(message, code="time_wrong", text=str(added)) from None


def _local_time(added: date | str, zone: ZoneInfo) -> datetime:
    if isinstance(added, str) and "T" in added:
        added = datetime.fromisoformat(added)
    if isinstance(added, datetime):
        return added if added.tzinfo else added.replace(tzinfo=zone)
    first, _ = day_range(str(added))
    return datetime(first.year, first.month, first.day, tzinfo=zone)


def hits(
    connection: duckdb.DuckDBPyConnection, selection: Selection, limit: int, offset: int, *, oldest_first: bool
) -> list[Hit]:
    """So many entries of a selection behind the first `offset`, those without a date of their own last.

    Of a chat window, the messages of the time that is asked for match.
    """
    where, values = _query(selection)
    query = f"SELECT chunk_id {where} ORDER BY {_ORDERS[oldest_first]} LIMIT $limit OFFSET $offset"
    ids = [row[0] for row in connection.execute(query, values | {"limit": limit, "offset": offset}).fetchall()]
    chunks = catalog_reader.chunks(connection, ids)
    entries = [Hit(chunks[name], 1.0, 1.0, members=tuple(chunks[name].members)) for name in ids]
    extras = catalog_reader.extras(connection, [hit.chunk.asset_id for hit in entries if not hit.members])
    detailed = [replace(hit, extra=_details(hit, extras)) for hit in with_messages(entries, connection)]
    return [match_messages(hit, lambda message: _is_in_time(message, selection.limits)) for hit in load_dates(detailed)]


def _details(hit: Hit, extras: Mapping[str, Mapping[str, Any]]) -> Mapping[str, Any]:
    """The fields that only commits and code have, as `load_extra` gives them to the hits of a search."""
    return extras.get(hit.chunk.asset_id, {}) if record_type(hit.chunk.rag_source_type).details else {}


def counts(
    connection: duckdb.DuckDBPyConnection, selection: Selection, zone: ZoneInfo, merged: Mapping[int, int]
) -> EntryCounts:
    """The counts of a selection; years are those of the owner's clock. `merged`: former id of a person -> present id.

    An entry counts once for a person, by whichever ids it has that person.
    """
    present = {survivor: survivor for survivor in merged.values()} | dict(merged)
    where, values = _query(selection)
    query = _COUNTS.format(undated=_UNDATED, quality=_QUALITY, where=where)
    counted: dict[str, Counter[str]] = {name: Counter() for name in ("entries", "sources", "kinds", "years", "people")}
    year_ends = _year_ends(zone)
    values |= {"ends": list(year_ends), "former": [*present], "survivors": [*present.values()]}
    for name, value, count in connection.execute(query, values).fetchall():
        counted[name][value] = count
    years = Counter({year_ends[int(end)]: count for end, count in counted["years"].items()})
    people = Counter({int(person): count for person, count in counted["people"].items()})
    return EntryCounts(counted["entries"].total(), counted["sources"], counted["kinds"], years, people)


@functools.cache
def _year_ends(zone: ZoneInfo) -> dict[int, str]:
    """The last second of each year in that zone -> the year."""
    return {int(datetime(year + 1, 1, 1, tzinfo=zone).timestamp()) - 1: str(year) for year in _YEARS}


def added_by_source(connection: duckdb.DuckDBPyConnection, added: datetime) -> dict[str, int]:
    """Source -> entries that were first published then or later; sources with any."""
    return dict(connection.execute(_ADDED, {"added": added}).fetchall())


def added_passages(connection: duckdb.DuckDBPyConnection, added: datetime) -> frozenset[str]:
    """The ids of the passages that were first published then or later; NOWHERE if there are none."""
    rows = connection.execute(_ADDED_IDS, {"added": added}).fetchall()
    return frozenset(chunk_id for (chunk_id,) in rows) or attachment_filter.NOWHERE


def newest_addition(connection: duckdb.DuckDBPyConnection) -> datetime | None:
    """When a passage was first published last, UTC, without a zone; None of an empty archive."""
    row = connection.execute(_NEWEST_ADDITION).fetchone()
    return row[0] if row else None


def _query(selection: Selection) -> tuple[str, dict[str, Any]]:
    """The conditions of a selection, and their values."""
    limits = selection.limits
    values: dict[str, Any] = {
        "sources": list(limits.sources),
        "kinds": list(limits.kinds),
        "since": limits.ts_from,
        "until": limits.ts_to,
        "people": list(limits.person_ids),
        "added": selection.added,
        "timed": sorted(TIMED_TYPES),
    }
    if selection.attachment is None:
        return _WHERE, values
    return f"{_WHERE} AND chunk_id IN ({attachment_filter.PASSAGES})", values | attachment_filter.values(
        selection.attachment
    )


def _is_in_time(message: Message, limits: ChunkFilter) -> bool:
    """Whether a message is of the time that is asked for, if one is."""
    if limits.ts_from is None and limits.ts_to is None:
        return False
    time = message.ts or 0
    return (limits.ts_from is None or time >= limits.ts_from) and (limits.ts_to is None or time < limits.ts_to)
