"""`references`: what a record says of others by their ids, as its connector resolved it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import orjson
import pyarrow as pa
import pyarrow.compute as pc

from relrag_pipelines.records import Edge, arrow_schema

_MARK = '"references":'


def references(records: pa.Table) -> pa.Table:
    """A claim for each entry of `extra.references` of redacted Record rows, the record that it answers left out.

    An entry is an id, or `ref`, `why` and `confidence`.
    """
    rows = records.filter(pc.match_substring(records["extra"], _MARK))
    columns = (rows[name].to_pylist() for name in ("asset_id", "parent_asset_id", "extra"))
    claims = [claim for row in zip(*columns, strict=True) for claim in _claims(*row)]
    return pa.Table.from_pylist(claims, schema=arrow_schema(Edge))


def _claims(asset_id: str, answered: str | None, extra: str) -> Iterator[dict[str, str | float]]:
    named = orjson.loads(extra).get("references")
    told = {asset_id, answered}
    for ref, why, confidence in filter(None, map(_entry, named if isinstance(named, list) else [])):
        if ref not in told:
            told.add(ref)
            yield {
                "src_asset_ref": asset_id,
                "dst_asset_ref": ref,
                "relation_type": "references",
                "confidence": confidence,
                "provenance": why,
            }


def _entry(one: Any) -> tuple[str, str, float] | None:
    """Id, reason and confidence; None where a source that brings its own `extra` means something else by the word."""
    if isinstance(one, str):
        return one, "references", 1.0
    if isinstance(one, dict) and {"ref", "why", "confidence"} <= one.keys():
        return str(one["ref"]), str(one["why"]), float(one["confidence"])
    return None
