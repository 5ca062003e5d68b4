"""The edges of a published catalog: what an asset is related to, and who else is in its thread."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import duckdb

from relrag_pipelines.records import ManualLink

Direction = Literal["out", "in", "both"]
_Key = tuple[str, str, str]
"""the other end of an edge, its type and its direction"""

_NEIGHBORS = """
    SELECT dst_asset_ref, relation_type, 'out', confidence, provenance FROM asset_asset_edges
    WHERE src_asset_ref = $ref AND $direction <> 'in' AND ($types IS NULL OR list_contains($types, relation_type))
    UNION ALL
    SELECT src_asset_ref, relation_type, 'in', confidence, provenance FROM asset_asset_edges
    WHERE dst_asset_ref = $ref AND $direction <> 'out' AND ($types IS NULL OR list_contains($types, relation_type))
    ORDER BY 3 DESC, 2, 1 LIMIT $limit OFFSET $offset
"""
_MEMBERS = """
    SELECT src_asset_ref, ts, coalesce(rag_source_type, ''), coalesce(date_quality, '')
    FROM asset_asset_edges LEFT JOIN records ON asset_id = src_asset_ref
    WHERE dst_asset_ref = $thread AND relation_type = 'thread_member'
    ORDER BY ts DESC NULLS LAST, src_asset_ref LIMIT $limit OFFSET $offset
"""

_RECORDS = """
    SELECT asset_id, ts, coalesce(rag_source_type, ''), coalesce(date_quality, '')
    FROM records WHERE asset_id IN (SELECT unnest($refs))
"""
_ATTACHMENTS = """
    SELECT src_asset_ref, dst_asset_ref FROM asset_asset_edges
    WHERE dst_asset_ref IN (SELECT unnest($refs)) AND relation_type = 'attachment_of' ORDER BY src_asset_ref
"""


@dataclass(frozen=True)
class Neighbor:
    """One edge, seen from one of its ends."""

    asset_ref: str
    """the other end"""
    relation_type: str
    direction: str
    """out: the edge leads from the asset asked about to this one; in: the other way"""
    confidence: float
    provenance: str


@dataclass(frozen=True)
class Member:
    """One record of a thread."""

    asset_ref: str
    ts: int | None
    rag_source_type: str = ""
    """as in records; empty where the archive does not hold the record"""
    date_quality: str = ""
    """as in records, likewise"""


def neighbors(
    connection: duckdb.DuckDBPyConnection,
    asset_ref: str,
    relation_types: Sequence[str] | None = None,
    direction: Direction = "both",
    limit: int = 50,
    offset: int = 0,
    *,
    later: Sequence[ManualLink] = (),
) -> list[Neighbor]:
    """The direct neighbours of an asset: first those that it points to, then those that point to it.

    `later` are the owner's links and removals since the catalog was made; both ends of each link are in the archive.
    """
    types = None if relation_types is None else list(relation_types)
    values = {
        "ref": asset_ref,
        "direction": direction,
        "types": types,
        "limit": offset + limit + len(later),
        "offset": 0,
    }
    published = [Neighbor(*row) for row in connection.execute(_NEIGHBORS, values).fetchall()]
    stated = {_seen_from(asset_ref, link): link for link in later if asset_ref in _ends(link)}
    if not stated:
        return published[offset : offset + limit]
    edges = [edge for edge in published if _key(edge) not in stated]
    edges += [edge for edge in _stated_neighbors(stated) if _fits(edge, types, direction)]
    edges.sort(key=lambda edge: (edge.direction == "in", edge.relation_type, edge.asset_ref))
    return edges[offset : offset + limit]


def _stated_neighbors(stated: Mapping[_Key, ManualLink]) -> Iterator[Neighbor]:
    """The links that the owner stated, without the removals."""
    for key, link in stated.items():
        if not link.deleted:
            yield Neighbor(*key, link.confidence, link.provenance)


def _fits(edge: Neighbor, types: Sequence[str] | None, direction: Direction) -> bool:
    return direction in (edge.direction, "both") and (types is None or edge.relation_type in types)


def _ends(link: ManualLink) -> tuple[str, str]:
    return link.src_asset_ref, link.dst_asset_ref


def _key(neighbor: Neighbor) -> _Key:
    return neighbor.asset_ref, neighbor.relation_type, neighbor.direction


def _seen_from(asset_ref: str, link: ManualLink) -> _Key:
    """The other end of a link, its type, and its direction as seen from an end."""
    is_source = link.src_asset_ref == asset_ref
    return link.dst_asset_ref if is_source else link.src_asset_ref, link.relation_type, "out" if is_source else "in"


def thread_members(
    connection: duckdb.DuckDBPyConnection,
    thread_id: str,
    limit: int = 100,
    offset: int = 0,
    *,
    later: Sequence[ManualLink] = (),
) -> list[Member]:
    """The records of a thread, newest first; `offset` skips what was read before, `later` is as in `neighbors`."""
    thread = f"thread:{thread_id}"
    stated = {link.src_asset_ref: link for link in later if _is(link, "thread_member") and link.dst_asset_ref == thread}
    values = {"thread": thread, "limit": offset + limit + len(stated), "offset": 0}
    members = [Member(*row) for row in connection.execute(_MEMBERS, values).fetchall()]
    if stated:
        members = [member for member in members if member.asset_ref not in stated]
        members += _stated_members(connection, stated)
        members.sort(key=lambda member: (member.ts is None, -(member.ts or 0), member.asset_ref))
    return members[offset : offset + limit]


def _stated_members(connection: duckdb.DuckDBPyConnection, stated: Mapping[str, ManualLink]) -> list[Member]:
    """The records that the owner put into the thread, without those taken out."""
    added = [ref for ref, link in stated.items() if not link.deleted]
    return [Member(*row) for row in connection.execute(_RECORDS, {"refs": added}).fetchall()]


def _is(link: ManualLink, relation_type: str) -> bool:
    return link.relation_type == relation_type


def attachments(
    connection: duckdb.DuckDBPyConnection, asset_refs: Sequence[str], later: Sequence[ManualLink] = ()
) -> list[str]:
    """The attachments of these records; `later` is as in `neighbors`."""
    rows = connection.execute(_ATTACHMENTS, {"refs": list(asset_refs)}).fetchall()
    edges = dict.fromkeys(rows)
    for link in later:
        if _is(link, "attachment_of") and link.dst_asset_ref in asset_refs:
            edges.pop(_ends(link), None)
            if not link.deleted:
                edges[_ends(link)] = None
    return sorted({child for child, _ in edges})
