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
    return [*_read(settings.model_dump_json(), settings.folder, home, journal.state(home), since)]


@functools.lru_cache(4)
def _read(dumped: str, folder: Path, home: Path, state: object, since: int) -> tuple[ManualLink, ...]:
    # the dump lacks the folder that relative paths are resolved against
    workspace = Workspace(Settings.model_validate_json(dumped).model_copy(update={"folder": folder}))
    last = {
        (link.src_asset_ref, link.dst_asset_ref, link.relation_type): link
        for link in journal.statements(home, ManualLink, since)
    }
    return tuple(replace(link, provenance=redacted_provenance(workspace, link)) for link in last.values())


def redacted_provenance(workspace: Workspace, link: ManualLink) -> str:
    """The reason of a link as it may be published; none where it cannot be redacted."""
    if not link.provenance:
        return ""
    try:
        return workspace.redactor.redact(link.provenance, "default")
    except RedactionError:  # rather no provenance than unredacted text
        return ""


def with_both_ends(connection: duckdb.DuckDBPyConnection, links: Sequence[ManualLink]) -> list[ManualLink]:
    """The removals, and the links of which both ends are in the archive; a thread may be new."""
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
