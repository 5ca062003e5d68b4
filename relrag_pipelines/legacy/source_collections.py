"""The collections of a source of an older system, what is noted of one on a server, and copies taken before writing."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from relrag_pipelines.files.atomic import write_text
from relrag_pipelines.ingest.read_context import units_of_source
from relrag_pipelines.settings import Source
from relrag_pipelines.sources import KINDS
from relrag_pipelines.sources.legacy.local_collection import LocalCollection
from relrag_pipelines.sources.legacy.payload import PointFields, parse
from relrag_pipelines.sources.legacy.payload_values import PayloadError
from relrag_pipelines.sources.legacy_collection import CollectionError, LegacyCollection
from relrag_pipelines.stores import legacy_server
from relrag_pipelines.workspace import Workspace

_FINISHED = "finished: "
"""before the key of a copy that belongs to a backfill that is done"""
_OF_OTHERS = ("index_in_parent", "total_siblings")
"""fields that a backfill writes and that follow from other points"""


def sources(workspace: Workspace) -> list[Source]:
    """The sources whose collections can be written into."""
    return [source for source in workspace.settings.sources if KINDS[source.kind].backfills]


def collections(workspace: Workspace, source: Source) -> Iterator[LegacyCollection]:
    """The collections of a source. Raises CollectionError, and SourceNotFound where its folder is not there."""
    if source.url:
        yield legacy_server.collection(source.url, source.collection)
        return
    local_collections = [LocalCollection(unit.file, source.name) for unit in units_of_source(workspace, source)]
    if not local_collections:
        path = workspace.settings.source_path(source)
        raise CollectionError(f"{source.name}: {path} holds no collection; name the folder that has meta.json in it")
    yield from local_collections


def note_state(workspace: Workspace, source: Source) -> bool:
    """Brings the file up to date by which a sync tells whether a collection on a server has changed; tells if it had.

    It holds a keyed hash of what the points say, which is the same before and after a backfill.
    """
    (collection,) = collections(workspace, source)
    digest, count = hashlib.blake2b(digest_size=16, key=workspace.keys.ids), 0
    for point in collection.points():
        own = {name: value for name, value in (point.payload or {}).items() if name not in _OF_OTHERS}
        digest.update(repr((point.id, _fields(point.id, own, workspace.zone(source.name)))).encode())
        count += 1
    state = {"url": source.url, "collection": source.collection, "points": count, "hash": digest.hexdigest()}
    path, text = workspace.settings.source_path(source), json.dumps(state, indent=1) + "\n"
    if path.is_file() and path.read_text(encoding="utf-8") == text:
        return False
    write_text(path, text)
    return True


def _fields(point_id: int | str, payload: dict[str, Any], timezone: str) -> PointFields | None:
    try:
        return parse(point_id, payload, timezone)
    except PayloadError:  # a failure when it is read, and none less when it stays as it is
        return None


def snapshot(workspace: Workspace, source: Source, collection: LegacyCollection) -> str:
    """The name of a copy of the collection as it was before the first write of a backfill, which may take many runs."""
    snapshots, key = _load_states(workspace), _key(source, collection)
    if key in snapshots and collection.has_snapshot(snapshots[key]):
        return snapshots[key]
    snapshot_name = collection.snapshot(f"{datetime.now(UTC):%Y%m%dT%H%M%S%fZ}")
    _note(workspace, snapshots | {key: snapshot_name})
    return snapshot_name


def finish(workspace: Workspace, source: Source, collection: LegacyCollection) -> None:
    """Nothing of the backfill is left to do: the next one begins with a copy of its own."""
    noted, key = _load_states(workspace), _key(source, collection)
    if copy := noted.pop(key, None):
        _note(workspace, noted | {f"{_FINISHED}{key}": copy})


def copies(workspace: Workspace, source: Source) -> list[str]:
    """The names of the last copy of each of its collections. They are told on a terminal only."""
    ours = {key.removeprefix(_FINISHED): copy for key, copy in sorted(_load_states(workspace).items())}
    return sorted({copy for key, copy in ours.items() if key.startswith(f"{source.name}/")})


def _key(source: Source, collection: LegacyCollection) -> str:
    return f"{source.name}/{collection.name}"


def _place(workspace: Workspace) -> Path:
    return workspace.home / "private" / "backfills.json"


def _load_states(workspace: Workspace) -> dict[str, str]:
    try:
        return dict(json.loads(_place(workspace).read_text(encoding="utf-8")))
    except (FileNotFoundError, ValueError):  # one that is damaged costs another copy
        return {}


def _note(workspace: Workspace, noted: dict[str, str]) -> None:
    write_text(_place(workspace), json.dumps(noted, indent=1) + "\n")
