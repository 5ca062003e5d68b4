"""`references`: what a record says of others by their ids, as its connector resolved it."""

from __future__ import annotations

from collections.abc import Iterator

import orjson
import pyarrow as pa
import pyarrow.compute as pc

from relrag_pipelines.records import Edge, arrow_schema

_MARK = '"references":'


def references(records: pa.Table) -> pa.Table:
    """A claim for each entry of `extra.references` (`ref`, `why`, `confidence`) of redacted Record rows."""
    rows = records.filter(pc.match_substring(records["extra"], _MARK))
    claims = list(_claims(rows["asset_id"].to_pylist(), rows["extra"].to_pylist()))
    return pa.Table.from_pylist(claims, schema=arrow_schema(Edge))


def _claims(asset_ids: list[str], extras: list[str]) -> Iterator[dict[str, str | float]]:
    for asset_id, extra in zip(asset_ids, extras, strict=True):
        named = orjson.loads(extra).get("references")
        for one in named if isinstance(named, list) else []:
            # a source that brings an `extra` of its own may mean something else by that word
            if isinstance(one, dict) and {"ref", "why", "confidence"} <= one.keys() and one["ref"] != asset_id:
                yield {
                    "src_asset_ref": asset_id,
                    "dst_asset_ref": str(one["ref"]),
                    "relation_type": "references",
                    "confidence": float(one["confidence"]),
                    "provenance": str(one["why"]),
                }
