"""The graph of an archive: people, their records, and what relates any of them.

Hubs are capped: the people of most records, the newest records of each; what is left out is counted. Where a catalog
has no people yet, `records` others come in: the newest of those that have a relation beyond their thread.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import duckdb
from pydantic import BaseModel

from relrag_pipelines.sources import record_type
from relrag_query.people.indexed_person import is_number

Connection = duckdb.DuckDBPyConnection
_LABEL = 80
_PREVIEW = 160
_EDGES = 20_000
"""between records, at most"""

_TABLES = "SELECT table_name FROM information_schema.tables"
_PERSONS = """
    SELECT p.person_id, p.name,
        (SELECT count(*) FROM person_facts f WHERE f.person_id = p.person_id),
        (SELECT count(*) FROM person_aliases a WHERE a.person_id = p.person_id)
    FROM persons p LEFT JOIN person_assets r ON r.person_id = p.person_id
    GROUP BY ALL ORDER BY count(r.asset_ref) DESC, p.person_id LIMIT $limit
"""
_HELD = """
    SELECT person_id, asset_ref, min(role) FROM person_assets JOIN records ON asset_id = asset_ref
    WHERE person_id IN (SELECT unnest($persons)) GROUP BY person_id, asset_ref, ts
    QUALIFY row_number() OVER (PARTITION BY person_id ORDER BY ts DESC NULLS LAST, asset_ref) <= $limit
    ORDER BY person_id, asset_ref
"""
_HELD_IN_ALL = """
    SELECT count(DISTINCT asset_ref) FROM person_assets JOIN records ON asset_id = asset_ref
    WHERE person_id IN (SELECT unnest($persons))
"""
_RELATIONSHIPS = """
    SELECT DISTINCT from_person_id, to_person_id, relationship_type FROM person_relationships
    WHERE from_person_id IN (SELECT unnest($persons)) AND to_person_id IN (SELECT unnest($persons)) ORDER BY ALL
"""
_RELATED = """
    SELECT asset_id FROM records WHERE asset_id IN (
        SELECT unnest([src_asset_ref, dst_asset_ref]) FROM asset_asset_edges
        WHERE relation_type IN ('references', 'attachment_of', 'reply_to'))
    ORDER BY ts DESC NULLS LAST, asset_id LIMIT $limit
"""
_RECORDS = """
    SELECT asset_id, rag_source_type,
        left(coalesce(if(parent_asset_id IS NULL, subject, file_name), subject, file_name, text), $label),
        timestamp, left(text, $preview)
    FROM records WHERE asset_id IN (SELECT unnest($refs)) ORDER BY asset_id
"""
_BETWEEN = """
    SELECT DISTINCT src_asset_ref, dst_asset_ref, relation_type FROM asset_asset_edges
    WHERE src_asset_ref IN (SELECT unnest($refs)) AND dst_asset_ref IN (SELECT unnest($refs))
    ORDER BY ALL LIMIT $limit
"""
_AROUND = """
    SELECT DISTINCT if(src_asset_ref = $ref, dst_asset_ref, src_asset_ref) AS other FROM asset_asset_edges
    WHERE (src_asset_ref = $ref OR dst_asset_ref = $ref) AND relation_type <> 'chunk_of'
        AND other IN (SELECT asset_id FROM records) ORDER BY ALL
"""


class FullGraphNode(BaseModel):
    """A person or a record."""

    id: str
    type: str
    """person, whatsapp_msg, gmail, call_recording or document"""
    label: str
    facts_count: int | None = None
    aliases_count: int | None = None
    timestamp: str | None = None
    preview: str | None = None
    x: float | None = None
    y: float | None = None


class GraphEdge(BaseModel):
    """What relates two nodes: a relationship of people, a role of a person in a record, a relation of records."""

    source: str
    target: str
    type: str


class FullGraph(BaseModel):
    """Nodes and edges, each edge between nodes that are there."""

    nodes: list[FullGraphNode]
    edges: list[GraphEdge]
    omitted: dict[str, int]
    """how many persons, and records of those who are there, are not shown"""


def get_full_graph_data(
    connection: Connection,
    limit_persons: int = 100,
    limit_assets_per_person: int = 10,
    include_asset_edges: bool = True,
    records: int = 0,
) -> FullGraph:
    """The people of most records with the newest records of each, and the edges between all of these.

    `records` others are added where there are no people.
    """
    persons, held, relationships, omitted = _people(connection, limit_persons, limit_assets_per_person)
    refs = sorted({ref for _, ref, _ in held})
    if records and not persons:
        refs = [ref for (ref,) in connection.execute(_RELATED, {"limit": records}).fetchall()]
    nodes = [
        FullGraphNode(id=f"person:{number}", type="person", label=name, facts_count=facts, aliases_count=aliases)
        for number, name, facts, aliases in persons
    ]
    edges = [GraphEdge(source=f"person:{a}", target=f"person:{b}", type=kind) for a, b, kind in relationships]
    edges += [GraphEdge(source=f"person:{number}", target=ref, type=role) for number, ref, role in held]
    edges += _between(connection, refs) if include_asset_edges else []
    return FullGraph(nodes=nodes + _nodes(connection, refs), edges=edges, omitted=omitted)


def get_graph_around(connection: Connection, ref: str, limit: int = 30) -> FullGraph:
    """A record and what it is directly related to, or a person and his newest records, for a click that expands it."""
    if ref.startswith("person:"):
        number = ref.removeprefix("person:")
        known = is_number(number) and "person_assets" in _tables(connection)
        persons = [int(number)] if known else []
        held = _rows(connection, _HELD, persons=persons, limit=limit) if known else []
        refs = [one for _, one, _ in held]
        edges = [GraphEdge(source=ref, target=one, type=role) for _, one, role in held]
        omitted = _omitted(records=_held_in_all(connection, persons) - len(refs)) if len(refs) == limit else {}
        return FullGraph(nodes=_nodes(connection, refs), edges=edges, omitted=omitted)
    others = [one for (one,) in _rows(connection, _AROUND, ref=ref)]
    nodes = _nodes(connection, [ref, *others[:limit]])
    edges = _between(connection, [one.id for one in nodes])
    return FullGraph(nodes=nodes, edges=edges, omitted=_omitted(records=len(others) - limit))


def _people(
    connection: Connection, persons: int, assets: int
) -> tuple[list[Any], list[Any], list[Any], dict[str, int]]:
    needed = {"persons", "person_aliases", "person_facts", "person_assets", "person_relationships"}
    if not needed <= _tables(connection):  # published before there were people
        return [], [], [], {}
    found = _rows(connection, _PERSONS, limit=persons)
    numbers = [one[0] for one in found]
    ((total,),) = _rows(connection, "SELECT count(*) FROM persons")
    held = _rows(connection, _HELD, persons=numbers, limit=assets)
    related = _rows(connection, _RELATIONSHIPS, persons=numbers)
    shown = len({ref for _, ref, _ in held})
    omitted = _omitted(persons=total - len(found), records=_held_in_all(connection, numbers) - shown)
    return found, held, related, omitted


def _held_in_all(connection: Connection, persons: Sequence[int]) -> int:
    ((count,),) = _rows(connection, _HELD_IN_ALL, persons=list(persons))
    return int(count)


def _omitted(**counts: int) -> dict[str, int]:
    return {name: count for name, count in counts.items() if count > 0}


def _nodes(connection: Connection, refs: Sequence[str]) -> list[FullGraphNode]:
    rows = _rows(connection, _RECORDS, refs=list(refs), label=_LABEL, preview=_PREVIEW)
    return [
        FullGraphNode(id=ref, type=_node_type(kind), label=label or ref, timestamp=timestamp, preview=preview)
        for ref, kind, label, timestamp, preview in rows
    ]


def _node_type(rag_source_type: str) -> str:
    """The four types of records that the graph tells apart."""
    found = record_type(rag_source_type)
    whole = record_type(found.part_of) if found.part_of else found
    if whole.chat:
        return "whatsapp_msg"
    if whole.mail:
        return "gmail"
    return "call_recording" if found.spoken else "document"


def _between(connection: Connection, refs: Iterable[str]) -> list[GraphEdge]:
    rows = _rows(connection, _BETWEEN, refs=list(refs), limit=_EDGES)
    return [GraphEdge(source=source, target=target, type=kind) for source, target, kind in rows]


def _tables(connection: Connection) -> set[str]:
    return {name for (name,) in connection.execute(_TABLES).fetchall()}


def _rows(connection: Connection, query: str, **values: Any) -> list[Any]:
    return connection.execute(query, values).fetchall()
