"""The owner's links since a generation was published, which readers lay over its edges."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import duckdb

from relrag_pipelines.journal import journal
from relrag_pipelines.links.edge_rows import THREAD
from relrag_pipelines.pii import RedactionError
from relrag_pipelines.records import AUDIO_REF, ManualLink
from relrag_pipelines.settings import Settings
from relrag_pipelines.workspace import Workspace

_KNOWN = """
    SELECT ref FROM (SELECT unnest($refs) AS ref)
    WHERE ref IN (SELECT asset_id FROM records) OR ref IN (SELECT asset_id FROM chunks)
        OR ref IN (SELECT 'chunk:' || chunk_id FROM chunks)
"""


def read(settings: Settings, since: int) -> list[ManualLink]:
    """The last link or removal of each edge, of those after the entry of the journal with the number `since`.

    Their provenance is redacted as it would be published. Raises JournalError if the journal cannot be read.
    """
    home = settings.home_path
    links = _last_links(home, journal.state(home), since)
    if not any(link.provenance for link in links):
        return [*links]
    workspace = Workspace(settings)
    return [replace(link, provenance=redacted_provenance(workspace, link)) for link in links]


@functools.lru_cache(4)
def _last_links(home: Path, state: object, since: int) -> tuple[ManualLink, ...]:
    """The last link or removal of each edge, as the owner stated it; `state` changes with the journal."""
    last = {
        (link.src_asset_ref, link.dst_asset_ref, link.relation_type): link
        for link in journal.statements(home, ManualLink, since)
    }
    return tuple(last.values())


def redacted_provenance(workspace: Workspace, link: ManualLink) -> str:
    """The reason of a link as it may be published; none where it cannot be redacted."""
    if not link.provenance:
        return ""
    try:
        return workspace.redactor.redact(link.provenance, "default")
    except RedactionError:  # rather no provenance than unredacted text
        return ""


def with_both_ends(connection: duckdb.DuckDBPyConnection, links: Sequence[ManualLink]) -> list[ManualLink]:
    """Drops the links to records that the archive does not hold. Removals stay, and so do links to a new thread."""
    refs = {ref for link in links if not link.deleted for ref in (link.src_asset_ref, link.dst_asset_ref)}
    present = _present(connection, refs)
    return [link for link in links if link.deleted or _is_between(link, present)]


def _present(connection: duckdb.DuckDBPyConnection, refs: set[str]) -> set[str]:
    """Those of the refs that the archive has."""
    return {ref for (ref,) in connection.execute(_KNOWN, {"refs": sorted(refs)}).fetchall()} if refs else set()


def _is_between(link: ManualLink, present: set[str]) -> bool:
    """Whether both ends of a link are there."""
    return link.src_asset_ref in present and (link.dst_asset_ref in present or _names_itself(link.dst_asset_ref))


def _names_itself(ref: str) -> bool:
    """Whether something is there as soon as an edge names it: a thread, a recording."""
    return ref.startswith((THREAD, AUDIO_REF))
