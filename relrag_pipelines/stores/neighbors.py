"""The edges of a published catalog: what an asset is related to, and who else is in its thread."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import duckdb

Direction = Literal["out", "in", "both"]

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

_ATTACHMENTS = """
    SELECT src_asset_ref FROM asset_asset_edges
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
) -> list[Neighbor]:
    """The direct neighbours of an asset: first those that it points to, then those that point to it."""
    rows = connection.execute(
        _NEIGHBORS,
        {
            "ref": asset_ref,
            "direction": direction,
            "types": None if relation_types is None else list(relation_types),
            "limit": limit,
            "offset": offset,
        },
    ).fetchall()
    return [Neighbor(*row) for row in rows]


def thread_members(
    connection: duckdb.DuckDBPyConnection, thread_id: str, limit: int = 100, offset: int = 0
) -> list[Member]:
    """The records of a thread, newest first; `offset` skips what was read before."""
    values = {"thread": f"thread:{thread_id}", "limit": limit, "offset": offset}
    return [Member(*row) for row in connection.execute(_MEMBERS, values).fetchall()]


def attachments(connection: duckdb.DuckDBPyConnection, asset_refs: Sequence[str]) -> list[str]:
    """The attachments of these records."""
    return [ref for (ref,) in connection.execute(_ATTACHMENTS, {"refs": list(asset_refs)}).fetchall()]
