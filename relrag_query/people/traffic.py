"""The traffic between people: number of records, first and last, by channel."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import duckdb

from relrag_pipelines.sources import RECORD_TYPES
from relrag_query.people.people import People

_RECORDS = """
    WITH mine AS (
        SELECT asset_ref, asset_type, role FROM person_assets
        WHERE person_id IN (SELECT unnest($ids)) AND role <> 'mentioned' AND NOT list_contains($apart, asset_type)
    ), pairs AS (
        SELECT DISTINCT other.person_id AS other_id, mine.asset_type, mine.asset_ref,
            mine.role = 'sender' AND other.role = 'recipient' AS to_other,
            mine.role = 'recipient' AND other.role = 'sender' AS from_other
        FROM mine JOIN person_assets other USING (asset_ref)
        WHERE other.person_id NOT IN (SELECT unnest($ids)) AND other.role <> 'mentioned'
            AND NOT (mine.role = 'recipient' AND other.role = 'recipient')
    )
    SELECT other_id, asset_type, count(DISTINCT asset_ref) FILTER (to_other),
        count(DISTINCT asset_ref) FILTER (from_other),
        count(DISTINCT asset_ref) FILTER (NOT (to_other OR from_other)), 0, min(ts), max(ts)
    FROM pairs JOIN records ON asset_id = asset_ref GROUP BY other_id, asset_type
"""
_CHATS = """
    WITH merged AS (SELECT unnest($former) AS former, unnest($survivors) AS survivor),
    sent AS (  -- by who they are now: two ids of one person are one member
        SELECT coalesce(survivor, person_id) AS person_id, asset_type, thread_id, ts
        FROM person_assets JOIN records ON asset_id = asset_ref LEFT JOIN merged ON former = person_id
        WHERE role = 'sender' AND list_contains($chats, asset_type) AND thread_id IS NOT NULL
    ), counted AS (
        SELECT thread_id, asset_type, person_id, count(*) AS records, min(ts) AS first, max(ts) AS last
        FROM sent GROUP BY ALL
        UNION ALL BY NAME  -- the owner has every chat, also one in which he never wrote
        SELECT DISTINCT thread_id, asset_type, $owner AS person_id, 0 AS records FROM sent
        WHERE $owner IS NOT NULL AND thread_id NOT IN (SELECT thread_id FROM sent WHERE person_id = $owner)
    ), mine AS (SELECT * FROM counted WHERE person_id = $person),
    members AS (SELECT thread_id, count(DISTINCT person_id) AS members FROM counted GROUP BY thread_id)
    SELECT other.person_id, other.asset_type, sum(mine.records) FILTER (members = 2),
        sum(other.records) FILTER (members = 2), 0, count(*) FILTER (members > 2),
        min(least(mine.first, other.first)), max(greatest(mine.last, other.last))
    FROM mine JOIN counted other USING (thread_id) JOIN members USING (thread_id)
    WHERE other.person_id <> $person
    GROUP BY other.person_id, other.asset_type
"""


@dataclass
class Traffic:
    """The records of one type between a person and another."""

    other_id: int
    asset_type: str
    written: int
    """records that the person wrote to the other: mails, and messages of a chat between the two"""
    received: int
    """records that the other wrote to the person"""
    together: int
    """calls, meetings and other records in which both take part"""
    groups: int
    """chats of more than two people in which both write"""
    first: int | None
    """seconds, UTC"""
    last: int | None

    @property
    def records(self) -> int:
        """Records between the two, group chats left out."""
        return self.written + self.received + self.together


def traffic(connection: duckdb.DuckDBPyConnection, people: People, person_id: int) -> list[Traffic]:
    """The traffic between a person and each other person, those with most records first."""
    ids = people.ids_in_index([person_id])
    chats = [type_.name for type_ in RECORD_TYPES.values() if type_.chat]
    apart = [*chats, *(type_.name for type_ in RECORD_TYPES.values() if type_.about_people)]
    rows = connection.execute(_RECORDS, {"ids": ids, "apart": apart}).fetchall()
    merged = people.statements.survivors
    persons = {"person": people.survivor(person_id), "owner": people.owner, "chats": chats}
    rows += connection.execute(_CHATS, persons | {"former": [*merged], "survivors": [*merged.values()]}).fetchall()
    by_channel: dict[tuple[int, str], Traffic] = {}
    for other, asset_type, written, received, together, groups, first, last in rows:
        survivor = people.survivor(other)
        if survivor == person_id:
            continue
        counts = Traffic(survivor, asset_type, written or 0, received or 0, together, groups, first, last)
        earlier = by_channel.get((survivor, asset_type))
        by_channel[survivor, asset_type] = _sum(earlier, counts) if earlier else counts
    return sorted(by_channel.values(), key=lambda pair: (-pair.records, -pair.groups, pair.other_id, pair.asset_type))


def _sum(first_id: Traffic, second_id: Traffic) -> Traffic:
    """The traffic with a person who has two ids."""
    pair = (first_id, second_id)
    counts: dict[str, Any] = {
        name: sum(getattr(part, name) for part in pair) for name in ("written", "received", "together", "groups")
    }
    first = min((part.first for part in pair if part.first is not None), default=None)
    last = max((part.last for part in pair if part.last is not None), default=None)
    return Traffic(first_id.other_id, first_id.asset_type, **counts, first=first, last=last)
