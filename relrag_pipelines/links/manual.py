"""Add, remove and list links between records, for the owner or a program on the owner's behalf.

A catalog is made anew by every sync and never edited. So a word is kept in the journal: it outlives every sync,
counts for more than what was read, and holds from the next sync on. `config` names a relrag.toml, else the nearest one
is meant, as on the command line; a writer waits `wait` seconds for another one to end, then raises lock.Busy.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import duckdb

from relrag_pipelines import settings as settings_module
from relrag_pipelines.errors import RelragError
from relrag_pipelines.journal import manual_links
from relrag_pipelines.links.month_edges import CHUNK, THREAD
from relrag_pipelines.privacy import keys as key_files
from relrag_pipelines.privacy.keys import Keys
from relrag_pipelines.records import RELATION_TYPES, ManualLink
from relrag_pipelines.settings import Settings
from relrag_pipelines.stores import catalog, generations, lock, neighbors
from relrag_pipelines.stores.neighbors import Direction, Member, Neighbor
from relrag_pipelines.workspace import Workspace

_HASHED = re.compile(r"h[0-9a-f]{16}|(?=\d*[a-f])[0-9a-f]{16}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
"""a part of an id that is a keyed hash already, or the id of a passage"""


class LinkError(RelragError, ValueError):
    """A relation that cannot exist; the message says what is wrong with it and what is known."""

    stored = "a relation that the owner stated cannot be used"


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

    It becomes an edge when both ends are in the archive. Raises LinkError where it cannot be one.
    """
    if not 0 <= confidence <= 1:
        raise LinkError(f"confidence is {confidence}; give a number from 0 to 1")
    _append(ManualLink(src_ref, dst_ref, relation_type, False, float(confidence), provenance), config, wait)


def delete_asset_edge(
    src_ref: str, dst_ref: str, relation_type: str, *, config: Path | None = None, wait: float = 0
) -> None:
    """Says that there is no such relation: it goes with the next sync and no later one brings it back.

    `link_assets` takes that back. Raises LinkError where there can be no such relation.
    """
    _append(ManualLink(src_ref, dst_ref, relation_type, True), config, wait)


def link_attachment(parent_ref: str, child_ref: str, provenance: str = "", *, config: Path | None = None) -> None:
    """Relates what is attached or embedded to what contains it. Raises LinkError."""
    link_assets(child_ref, parent_ref, "attachment_of", 1.0, provenance, config=config)


def link_thread_member(thread_id: str, asset_ref: str, provenance: str = "", *, config: Path | None = None) -> None:
    """Puts a record into a thread; the thread need not have been there before. Raises LinkError."""
    link_assets(asset_ref, f"{THREAD}{thread_id.removeprefix(THREAD)}", "thread_member", 1.0, provenance, config=config)


def link_chunk(parent_ref: str, chunk_ref: str, provenance: str = "", *, config: Path | None = None) -> None:
    """Relates a passage (its id, `chunk:<id>`, or the id of a chat window) to its record. Raises LinkError."""
    chunk_ref = chunk_ref if ":" in chunk_ref else f"{CHUNK}{chunk_ref}"
    link_assets(chunk_ref, parent_ref, "chunk_of", 1.0, provenance, config=config)


def get_asset_neighbors(
    asset_ref: str,
    relation_types: Sequence[str] | None = None,
    direction: Direction = "both",
    limit: int = 50,
    *,
    config: Path | None = None,
) -> list[Neighbor]:
    """The published direct neighbours of a record, passage or thread: first those that it points to.

    Raises generations.NothingPublished before the first sync.
    """
    for relation_type in relation_types or ():
        _require_relation_type(relation_type)
    with _open_catalog(config) as (connection, settings):
        return neighbors.neighbors(
            connection, _stored_ref(asset_ref, _keys(settings)), relation_types, direction, limit
        )


def get_thread_members(thread_id: str, limit: int = 100, *, config: Path | None = None) -> list[Member]:
    """The records of a thread, newest first, as published.

    Raises generations.NothingPublished before the first sync.
    """
    with _open_catalog(config) as (connection, settings):
        return neighbors.thread_members(connection, _stored_ref(thread_id.removeprefix(THREAD), _keys(settings)), limit)


def generate_asset_id(source: str, source_id: str) -> str:
    """The name of a record everywhere: `<kind>:<native id>`, the same for all its passages.

    `source` is the kind that reads it (gmail, whatsapp, ...). Raises LinkError where one of them is empty or the kind
    holds a colon, which separates the two.
    """
    if not source or not source_id or ":" in source:
        raise LinkError(f'kind "{source}" and native id "{source_id}" make no id; the form is <kind>:<native id>')
    return f"{source}:{source_id}"


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
def _open_catalog(config: Path | None) -> Iterator[tuple[duckdb.DuckDBPyConnection, Settings]]:
    settings = settings_module.load(config)
    with (
        generations.open_current(settings.home_path) as generation,
        catalog.open(generation.path / catalog.NAME, threads=1) as connection,
    ):
        yield connection, settings
