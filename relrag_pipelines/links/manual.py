"""Add, remove and list links between records, for the owner or a program on the owner's behalf.

A catalog is made anew by every sync and never edited. So a link is kept in the journal: it outlives every sync and
counts for more than what was read. Readers lay later links over the catalog, so that each counts at once.

`config` names a relrag.toml, else the nearest one is meant, as on the command line; a writer waits `wait` seconds for
another one to end, then raises lock.Busy.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import duckdb
import pyarrow as pa

from relrag_pipelines import settings as settings_module
from relrag_pipelines.journal import manual_links
from relrag_pipelines.links import edge_rows, later_links
from relrag_pipelines.links.edge_rows import THREAD, LinkError
from relrag_pipelines.privacy import keys as key_files
from relrag_pipelines.privacy.keys import Keys
from relrag_pipelines.records import RELATION_TYPES, ManualLink
from relrag_pipelines.settings import Settings
from relrag_pipelines.stores import catalog, generations, lock, neighbors
from relrag_pipelines.stores.neighbors import Direction, Member, Neighbor
from relrag_pipelines.workspace import Workspace

_HASHED = re.compile(r"h[0-9a-f]{16}|(?=\d*[a-f])[0-9a-f]{16}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
"""a part of an id that is a keyed hash already, or the id of a passage"""


def link_assets(
    src_ref: str,
    dst_ref: str,
    relation_type: str,
    confidence: float = 1.0,
    provenance: str = "",
    *,
    config: Path | None = None,
    wait: float = 0,
) -> None:
    """Relates two records, passages or threads; a second time it replaces confidence and provenance.

    It is an edge as soon as both ends are in the archive. Raises LinkError where it cannot be one.
    """
    if not 0 <= confidence <= 1:
        raise LinkError(f"confidence is {confidence}; give a number from 0 to 1")
    _append(ManualLink(src_ref, dst_ref, relation_type, False, float(confidence), provenance), config, wait)


def delete_asset_edge(
    src_ref: str, dst_ref: str, relation_type: str, *, config: Path | None = None, wait: float = 0
) -> None:
    """Says that there is no such relation: it goes at once, and no sync brings it back.

    `link_assets` takes that back. Raises LinkError where there can be no such relation.
    """
    _append(ManualLink(src_ref, dst_ref, relation_type, True), config, wait)


def link_attachment(parent_ref: str, child_ref: str, provenance: str = "", *, config: Path | None = None) -> None:
    """Relates what is attached or embedded to what contains it. Raises LinkError."""
    _link(edge_rows.attachment_edges([parent_ref], [child_ref], provenance), config)


def link_thread_member(thread_id: str, asset_ref: str, provenance: str = "", *, config: Path | None = None) -> None:
    """Puts a record into a thread; the thread need not have been there before. Raises LinkError."""
    _link(edge_rows.thread_member_edges([thread_id.removeprefix(THREAD)], [asset_ref], provenance), config)


def link_chunk(parent_ref: str, chunk_ref: str, provenance: str = "", *, config: Path | None = None) -> None:
    """Relates a passage (its id, `chunk:<id>`, or the id of a chat window) to its record. Raises LinkError."""
    _link(edge_rows.chunk_edges([parent_ref], [chunk_ref], provenance), config)


def _link(edges: pa.Table, config: Path | None) -> None:
    (edge,) = edges.to_pylist()
    link_assets(*edge.values(), config=config)


def get_asset_neighbors(
    asset_ref: str,
    relation_types: Sequence[str] | None = None,
    direction: Direction = "both",
    limit: int = 50,
    *,
    config: Path | None = None,
) -> list[Neighbor]:
    """The direct neighbours of a record, passage or thread, with links since the last sync: first what it points to.

    Raises generations.NothingPublished before the first sync.
    """
    for relation_type in relation_types or ():
        _require_relation_type(relation_type)
    with _open_catalog(config) as (connection, settings, later):
        ref = _stored_ref(asset_ref, _keys(settings))
        return neighbors.neighbors(connection, ref, relation_types, direction, limit, later=later)


def get_thread_members(thread_id: str, limit: int = 100, *, config: Path | None = None) -> list[Member]:
    """The records of a thread, newest first, with links since the last sync.

    Raises generations.NothingPublished before the first sync.
    """
    with _open_catalog(config) as (connection, settings, later):
        thread = _stored_ref(thread_id.removeprefix(THREAD), _keys(settings))
        return neighbors.thread_members(connection, thread, limit, later=later)


def _append(word: ManualLink, config: Path | None, wait: float) -> None:
    _require_relation_type(word.relation_type)
    settings = settings_module.load(config)
    workspace = Workspace(settings)
    keys = workspace.keys
    word.src_asset_ref, word.dst_asset_ref = (_parse_ref(ref, keys) for ref in (word.src_asset_ref, word.dst_asset_ref))
    if word.src_asset_ref == word.dst_asset_ref:
        raise LinkError(f"{word.src_asset_ref} cannot be related to itself")
    with lock.writing(workspace.home, "relrag links", wait):
        if word not in manual_links.load(workspace.home):
            manual_links.append(workspace.home, [word])


def _require_relation_type(relation_type: str) -> None:
    if relation_type not in RELATION_TYPES:
        raise LinkError(f'no relation is called "{relation_type}"; known: {", ".join(RELATION_TYPES)}')


def _parse_ref(ref: str, keys: Keys) -> str:
    kind, colon, native = ref.partition(":")
    if not (kind and colon and native):
        raise LinkError(f'"{ref}" names no record; the form is <kind>:<native id>, chunk:<id> or thread:<id>')
    return _stored_ref(ref, keys)


def _stored_ref(ref: str, keys: Keys | None) -> str:
    """The ref as the archive has it, where a part that could contain an address or a phone number is a hash."""
    if keys is None:
        return ref
    return ":".join(
        part if _HASHED.fullmatch(part) else key_files.safe_native_id(part, keys) for part in ref.split(":")
    )


def _keys(settings: Settings) -> Keys | None:
    return settings.key_store.load() if settings.key_store.exists() else None


@contextmanager
def _open_catalog(
    config: Path | None,
) -> Iterator[tuple[duckdb.DuckDBPyConnection, Settings, list[ManualLink]]]:
    """The published catalog, the settings, and the links since it was published."""
    settings = settings_module.load(config)
    with (
        generations.open_current(settings.home_path) as generation,
        catalog.open(generation.path / catalog.NAME, threads=1) as connection,
    ):
        later = later_links.read(settings, generation.manifest.get("journal", 0))
        yield connection, settings, later_links.with_both_ends(connection, later)
