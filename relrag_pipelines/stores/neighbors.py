"""The edges of a published catalog: what an asset is related to, and who else is in its thread."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import duckdb

from relrag_pipelines.records import ManualLink

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
    rows = connection.execute(
        _NEIGHBORS,
        {
            "ref": asset_ref,
            "direction": direction,
            "types": None if relation_types is None else list(relation_types),
            "limit": offset + limit + len(later),
            "offset": 0,
        },
    ).fetchall()
    stated = {_seen_from(asset_ref, link): link for link in later if asset_ref in _ends(link)}
    found = [one for one in (Neighbor(*row) for row in rows) if _key(one) not in stated]
    for (ref, relation_type, where), link in stated.items():
        fits = direction in (where, "both") and (relation_types is None or relation_type in relation_types)
        if fits and not link.deleted:
            found.append(Neighbor(ref, relation_type, where, link.confidence, link.provenance))
    if stated:
        found.sort(key=lambda one: (one.direction == "in", one.relation_type, one.asset_ref))
    return found[offset : offset + limit]


def _ends(link: ManualLink) -> tuple[str, str]:
    return link.src_asset_ref, link.dst_asset_ref


def _key(neighbor: Neighbor) -> tuple[str, str, str]:
    return neighbor.asset_ref, neighbor.relation_type, neighbor.direction


def _seen_from(asset_ref: str, link: ManualLink) -> tuple[str, str, str]:
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
    stated = {link.src_asset_ref: link for link in later if _ends(link)[1] == thread and _is(link, "thread_member")}
    values = {"thread": thread, "limit": offset + limit + len(stated), "offset": 0}
    members = [Member(*row) for row in connection.execute(_MEMBERS, values).fetchall()]
    if stated:
        added = [ref for ref, link in stated.items() if not link.deleted]
        members = [member for member in members if member.asset_ref not in stated]
        members += [Member(*row) for row in connection.execute(_RECORDS, {"refs": added}).fetchall()]
        members.sort(key=lambda member: (member.ts is None, -(member.ts or 0), member.asset_ref))
    return members[offset : offset + limit]


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
