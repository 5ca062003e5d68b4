"""The person ids of an older system's points, as the published generation knows them."""

from __future__ import annotations

from collections.abc import Iterable

import pyarrow as pa

from relrag_pipelines.privacy.keys import safe_native_id
from relrag_pipelines.stores import catalog, generations
from relrag_pipelines.workspace import Workspace

PersonIds = tuple[list[int], list[int]]
"""who wrote, received or took part, and who is mentioned"""
_PEOPLE = """
    SELECT raw, list(DISTINCT person_id ORDER BY person_id) FILTER (role != 'mentioned'),
        list(DISTINCT person_id ORDER BY person_id) FILTER (role = 'mentioned')
    FROM person_assets JOIN refs USING (asset_ref) GROUP BY raw
"""


def person_ids(workspace: Workspace, asset_ids: Iterable[str]) -> dict[str, PersonIds] | None:
    """Who has to do with each of these records; None where nothing is published yet."""
    if generations.current_number(workspace.home) is None:
        return None  # before the keys are asked for, which would be made
    raw = sorted(set(asset_ids))
    refs = pa.table({"raw": raw, "asset_ref": [safe_native_id(asset_id, workspace.keys) for asset_id in raw]})
    with (
        generations.open_current(workspace.home) as generation,
        catalog.open(generation.path / catalog.NAME) as connection,
    ):
        connection.register("refs", refs)
        rows = connection.sql(_PEOPLE).fetchall()
    return {asset_id: (own or [], mentioned or []) for asset_id, own, mentioned in rows}


def union(people: Iterable[PersonIds]) -> PersonIds:
    """Who has to do with any of several records."""
    own: set[int] = set()
    mentioned: set[int] = set()
    for ids, named in people:
        own.update(ids)
        mentioned.update(named)
    return sorted(own), sorted(mentioned)
