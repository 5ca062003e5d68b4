"""The graph of an archive: people, their records, and what relates any of them.

Hubs are capped: the graph shows the people with the most records, and the newest records of each; it counts the rest.
If a catalog has no people yet, the graph shows the newest records that have a relation beyond their thread.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import duckdb
from pydantic import BaseModel

from relrag_pipelines.sources import record_type
from relrag_query.people.indexed_person import is_number

Connection = duckdb.DuckDBPyConnection
_LABEL_CHARS = 80
_PREVIEW_CHARS = 160
_MAX_FACTS = 8
"""largest number of facts that a person's node shows"""
_MAX_EDGES = 20_000
"""largest number of edges between records"""

_TABLES = "SELECT table_name FROM information_schema.tables"
_PERSONS = """
    SELECT p.person_id, p.name,
        (SELECT count(*) FROM person_facts f WHERE f.person_id = p.person_id),
        (SELECT count(*) FROM person_aliases a WHERE a.person_id = p.person_id),
        (SELECT list(replace(predicate, '_', ' ') || ': ' || left(value, $preview) ORDER BY predicate, value)[:$facts]
            FROM person_facts f WHERE f.person_id = p.person_id)
    FROM persons p LEFT JOIN person_assets r ON r.person_id = p.person_id
    GROUP BY ALL ORDER BY count(r.asset_ref) DESC, p.person_id LIMIT $limit
"""
_PERSON_RECORDS = """
    SELECT person_id, asset_ref, min(role) FROM person_assets JOIN records ON asset_id = asset_ref
    WHERE person_id IN (SELECT unnest($persons)) GROUP BY person_id, asset_ref, ts
    QUALIFY row_number() OVER (PARTITION BY person_id ORDER BY ts DESC NULLS LAST, asset_ref) <= $limit
    ORDER BY person_id, asset_ref
"""
_PERSON_RECORD_COUNT = """
    SELECT count(DISTINCT asset_ref) FROM person_assets JOIN records ON asset_id = asset_ref
    WHERE person_id IN (SELECT unnest($persons))
"""
_RELATIONSHIPS = """
    SELECT DISTINCT from_person_id, to_person_id, relationship_type FROM person_relationships
    WHERE from_person_id IN (SELECT unnest($persons)) AND to_person_id IN (SELECT unnest($persons)) ORDER BY ALL
"""
_LINKED_RECORDS = """
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
_EDGES_BETWEEN = """
    SELECT DISTINCT src_asset_ref, dst_asset_ref, relation_type FROM asset_asset_edges
    WHERE src_asset_ref IN (SELECT unnest($refs)) AND dst_asset_ref IN (SELECT unnest($refs))
    ORDER BY ALL LIMIT $limit
"""
_NEIGHBORS = """
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
    facts: list[str] | None = None
    """the first facts of a person, `birthday: 1989-10-19`; None if none is known"""
    timestamp: str | None = None
    preview: str | None = None
    x: float | None = None
    y: float | None = None


class GraphEdge(BaseModel):
    """A relationship of two people, a role of a person in a record, or a relation of two records."""

    source: str
    target: str
    type: str


class FullGraph(BaseModel):
    """Nodes, and the edges between them."""

    nodes: list[FullGraphNode]
    edges: list[GraphEdge]
    omitted: dict[str, int]
    """numbers of people, and of records of the people shown, that are left out"""


def get_full_graph_data(
    connection: Connection,
    limit_persons: int = 100,
    limit_assets_per_person: int = 10,
    include_asset_edges: bool = True,
    records: int = 0,
) -> FullGraph:
    """The people with the most records, the newest records of each, and the edges between all of these.

    If there are no people, up to `records` linked records are returned instead.
    """
    persons, roles, relationships, omitted = _people(connection, limit_persons, limit_assets_per_person)
    refs = sorted({ref for _, ref, _ in roles})
    if records and not persons:
        refs = [ref for (ref,) in connection.execute(_LINKED_RECORDS, {"limit": records}).fetchall()]
    nodes = [
        FullGraphNode(
            id=f"person:{number}", type="person", label=name, facts_count=count, aliases_count=names, facts=facts
        )
        for number, name, count, names, facts in persons
    ]
    edges = [GraphEdge(source=f"person:{a}", target=f"person:{b}", type=kind) for a, b, kind in relationships]
    edges += [GraphEdge(source=f"person:{number}", target=ref, type=role) for number, ref, role in roles]
    edges += _between(connection, refs) if include_asset_edges else []
    return FullGraph(nodes=nodes + _nodes(connection, refs), edges=edges, omitted=omitted)


def get_graph_around(connection: Connection, ref: str, limit: int = 30) -> FullGraph:
    """The neighbours of a node: records related to a record, or the newest records of a person."""
    if ref.startswith("person:"):
        number = ref.removeprefix("person:")
        has_assets = is_number(number) and "person_assets" in _tables(connection)
        persons = [int(number)] if has_assets else []
        roles = _rows(connection, _PERSON_RECORDS, persons=persons, limit=limit) if has_assets else []
        refs = [asset_ref for _, asset_ref, _ in roles]
        edges = [GraphEdge(source=ref, target=asset_ref, type=role) for _, asset_ref, role in roles]
        omitted = _omitted(records=_record_count(connection, persons) - len(refs)) if len(refs) == limit else {}
        return FullGraph(nodes=_nodes(connection, refs), edges=edges, omitted=omitted)
    others = [other for (other,) in _rows(connection, _NEIGHBORS, ref=ref)]
    nodes = _nodes(connection, [ref, *others[:limit]])
    edges = _between(connection, [node.id for node in nodes])
    return FullGraph(nodes=nodes, edges=edges, omitted=_omitted(records=len(others) - limit))


def _people(
    connection: Connection, persons: int, assets: int
) -> tuple[list[Any], list[Any], list[Any], dict[str, int]]:
    needed = {"persons", "person_aliases", "person_facts", "person_assets", "person_relationships"}
    if not needed <= _tables(connection):  # published before there were people
        return [], [], [], {}
    people = _rows(connection, _PERSONS, limit=persons, preview=_PREVIEW_CHARS, facts=_MAX_FACTS)
    numbers = [person[0] for person in people]
    ((total,),) = _rows(connection, "SELECT count(*) FROM persons")
    roles = _rows(connection, _PERSON_RECORDS, persons=numbers, limit=assets)
    relationships = _rows(connection, _RELATIONSHIPS, persons=numbers)
    shown = len({ref for _, ref, _ in roles})
    omitted = _omitted(persons=total - len(people), records=_record_count(connection, numbers) - shown)
    return people, roles, relationships, omitted


def _record_count(connection: Connection, persons: Sequence[int]) -> int:
    ((count,),) = _rows(connection, _PERSON_RECORD_COUNT, persons=list(persons))
    return int(count)


def _omitted(**counts: int) -> dict[str, int]:
    return {name: count for name, count in counts.items() if count > 0}


def _nodes(connection: Connection, refs: Sequence[str]) -> list[FullGraphNode]:
    rows = _rows(connection, _RECORDS, refs=list(refs), label=_LABEL_CHARS, preview=_PREVIEW_CHARS)
    return [
        FullGraphNode(id=ref, type=_node_type(kind), label=label or ref, timestamp=timestamp, preview=preview)
        for ref, kind, label, timestamp, preview in rows
    ]


def _node_type(rag_source_type: str) -> str:
    """The type of a record's node, one of four."""
    kind = record_type(rag_source_type)
    parent_kind = record_type(kind.part_of) if kind.part_of else kind
    if parent_kind.chat:
        return "whatsapp_msg"
    if parent_kind.mail:
        return "gmail"
    return "call_recording" if kind.spoken else "document"


def _between(connection: Connection, refs: Iterable[str]) -> list[GraphEdge]:
    rows = _rows(connection, _EDGES_BETWEEN, refs=list(refs), limit=_MAX_EDGES)
    return [GraphEdge(source=source, target=target, type=kind) for source, target, kind in rows]


def _tables(connection: Connection) -> set[str]:
    return {name for (name,) in connection.execute(_TABLES).fetchall()}


def _rows(connection: Connection, query: str, **values: Any) -> list[Any]:
    return connection.execute(query, values).fetchall()
