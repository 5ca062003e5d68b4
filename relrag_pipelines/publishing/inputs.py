"""The inputs of a generation: the files of the lake, failures, and the owner's statements."""

from __future__ import annotations

from collections.abc import Iterable, Set
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from relrag_pipelines.files.failpoints import failpoint
from relrag_pipelines.journal import manual_links
from relrag_pipelines.links import later_links
from relrag_pipelines.pii.known_values import KnownValues
from relrag_pipelines.records import Failure
from relrag_pipelines.settings import Source
from relrag_pipelines.stages import plan as plans
from relrag_pipelines.stores import archive_tables, catalog, catalog_build, lake, unit_state
from relrag_pipelines.stores.table_schema import arrow_schema, to_table
from relrag_pipelines.workspace import Workspace


def month_files(
    workspace: Workspace, folder: Path, months: Set[str], embedded: bool, known_values: KnownValues
) -> dict[str, list[tuple[str, list[Path]]]]:
    """The files of these months (<source>/<YYYY-MM>) and all failures, by table; embeddings only if `embedded`.

    `known_values` are replaced values; they are removed from the failures.
    """
    parts: dict[str, list[tuple[str, list[Path]]]] = {table: [] for table in plans.PUBLISHED_TABLES}
    for source in workspace.settings.sources:
        for table, files_by_source in parts.items():
            files = [
                path
                for month, path in lake.month_files(workspace.home, table, source.name).items()
                if (embedded or table != "embeddings") and (table == "failures" or f"{source.name}/{month}" in months)
            ]
            files_by_source.append((source.name, files))
        failed = _redacted_failures(workspace, source, known_values)
        path = folder / f"failures-{source.name}.parquet"
        failpoint("publish.failures", path)
        pq.write_table(to_table(failed, Failure) if failed else arrow_schema(Failure).empty_table(), path)
        parts["failures"][-1][1].append(path)
    return parts


def _redacted_failures(workspace: Workspace, source: Source, known_values: KnownValues) -> list[Failure]:
    """The failures of a source, with paths and messages redacted."""
    channel, redactor = workspace.channel(source), workspace.redactor
    hidden = known_values.restrict(redactor.hidden_entities(channel))

    def redact(text: str) -> str:
        text = redactor.redact(text, channel)
        return f"h{workspace.keys.id_hash(text)}" if hidden.entities_in(text) else text

    return [
        replace(failure, location=redact(failure.location), message=redact(failure.message), unit=redact(failure.unit))
        for failure in unit_state.load_failures(workspace.home, source.name)
    ]


def other_inputs(workspace: Workspace) -> dict[str, Any]:
    """The catalog's inputs that have no month; the owner's statements are redacted like any document."""
    redacted_links = [
        replace(link, provenance=later_links.redacted_provenance(workspace, link))
        for link in manual_links.load(workspace.home)
    ]
    whole = {table: archive_tables.path(workspace.home, table) for table in (*catalog.WHOLE, *catalog_build.PEOPLE)}
    existing = {table: path for table, path in whole.items() if path.exists()}
    return {"manual_links": redacted_links, "link_max_records": workspace.settings.link_max_records, "whole": existing}


def record_count(workspace: Workspace, months: Iterable[str]) -> int:
    """Number of records in these months (<source>/<YYYY-MM>)."""
    manifests = {name: lake.manifest(workspace.home, "records", name) for name in {key.split("/")[0] for key in months}}
    outputs = [manifests[name].get(month) for name, month in (key.split("/") for key in months)]
    return sum(output.rows for output in outputs if output)
