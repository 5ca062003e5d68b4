"""The page about a person: aliases, facts, relationships, traffic, latest records."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import duckdb

from relrag_pipelines.records import PersonFact
from relrag_pipelines.sources import RECORD_TYPES
from relrag_query.people.indexed_person import IndexedPerson
from relrag_query.people.people import People
from relrag_query.people.traffic import Traffic, traffic
from relrag_query.understanding.people_question import Relation

_LATEST = 5
_TRAFFIC = """
    SELECT asset_type, count(DISTINCT asset_ref) AS records, min(ts) AS first, max(ts) AS last,
        coalesce(arg_min(date_quality, ts), '') AS first_quality,
        coalesce(arg_max(date_quality, ts), '') AS last_quality
    FROM person_assets JOIN records ON records.asset_id = asset_ref
    WHERE person_id IN (SELECT unnest($ids)) AND role <> 'mentioned' AND NOT list_contains($about, asset_type)
    GROUP BY asset_type ORDER BY records DESC, asset_type
"""
_YEARS = """
    SELECT year(if(date_quality IN ('day', 'year'), make_timestamp(ts * 1000000),
        timezone($zone, to_timestamp(ts)))) AS year, count(DISTINCT asset_ref) AS records
    FROM person_assets JOIN records ON records.asset_id = asset_ref
    WHERE person_id IN (SELECT unnest($ids)) AND role <> 'mentioned' AND ts IS NOT NULL
        AND NOT list_contains($about, asset_type)
    GROUP BY year ORDER BY year
"""
_RECORDS = """
    WITH latest AS (
        SELECT asset_ref, min(asset_type) AS asset_type, min(role) AS role, any_value(ts) AS last_ts
        FROM person_assets JOIN records ON asset_id = asset_ref
        WHERE person_id IN (SELECT unnest($ids)) AND role <> 'mentioned' AND ts IS NOT NULL
            AND NOT list_contains($about, asset_type)
        GROUP BY asset_ref ORDER BY last_ts DESC, asset_ref LIMIT $limit)
    SELECT asset_ref, asset_type, role, ts, date_quality, subject, text
    FROM latest JOIN records ON asset_id = asset_ref ORDER BY ts DESC, asset_ref
"""
_MENTIONS = """
    SELECT count(*) AS records FROM (
        SELECT asset_ref FROM person_assets JOIN records ON asset_id = asset_ref
        WHERE person_id IN (SELECT unnest($ids)) AND NOT list_contains($about, asset_type)
        GROUP BY asset_ref HAVING bool_and(role = 'mentioned'))
"""


class Moment(NamedTuple):
    """A time, with the source and precision of the date."""

    ts: int | None = None
    """seconds, UTC"""
    rag_source_type: str = ""
    date_quality: str = ""


@dataclass
class PersonPage:
    """All that is known about a person."""

    person: IndexedPerson
    facts: list[PersonFact]
    relations: list[Relation]
    others: dict[int, IndexedPerson]
    """the people of the relations and pairs"""
    traffic: list[dict[str, Any]]
    """asset_type, records, first, last, first_quality, last_quality: a row for each channel of records that the person
    wrote, received or took part in; the qualities are the `date_quality` of the first and last record"""
    years: list[dict[str, Any]]
    """year, records: a row for each year in the owner's time zone that has records, the oldest first"""
    pairs: list[Traffic]
    """traffic between the person and others, those with most records first"""
    latest: list[dict[str, Any]]
    """asset_ref, asset_type, role, ts, date_quality, subject, text: the latest records, newest first"""
    mentions: int = 0
    """records that name the person but in which the person takes no part"""

    @property
    def records(self) -> int:
        """Records of all channels that the person wrote, received or took part in."""
        return sum(channel["records"] for channel in self.traffic)

    @property
    def first_contact(self) -> Moment:
        """The time of the person's first record."""
        channels = [channel for channel in self.traffic if channel["first"] is not None]
        return min((_moment(channel, "first") for channel in channels), default=Moment())

    @property
    def last_contact(self) -> Moment:
        """The time of the person's last record."""
        channels = [channel for channel in self.traffic if channel["last"] is not None]
        return max((_moment(channel, "last") for channel in channels), default=Moment())


def _moment(channel: Mapping[str, Any], which: str) -> Moment:
    return Moment(channel[which], channel["asset_type"], channel[f"{which}_quality"])


def page(connection: duckdb.DuckDBPyConnection, people: People, person: IndexedPerson, zone: str) -> PersonPage:
    """The page about a person; `zone` is the owner's."""
    ids = people.ids_in_index([person.person_id])
    about = [type_.name for type_ in RECORD_TYPES.values() if type_.about_people]
    relations = people.relationships([person.person_id])
    pairs = traffic(connection, people, person.person_id)
    return PersonPage(
        person,
        people.facts([person.person_id]),
        relations,
        people.by_id([*(relation.other_id for relation in relations), *(pair.other_id for pair in pairs)]),
        _rows(connection, _TRAFFIC, {"ids": ids, "about": about}),
        _rows(connection, _YEARS, {"ids": ids, "about": about, "zone": zone}),
        pairs,
        _rows(connection, _RECORDS, {"ids": ids, "about": about, "limit": _LATEST}),
        _rows(connection, _MENTIONS, {"ids": ids, "about": about})[0]["records"],
    )


def _rows(connection: duckdb.DuckDBPyConnection, query: str, values: dict[str, Any]) -> list[dict[str, Any]]:
    cursor = connection.execute(query, values)
    names = [column[0] for column in cursor.description or ()]
    return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]
