"""The stages over the whole archive, with an asset per table; one factory makes them all."""

import inspect
import time
from collections import Counter
from collections.abc import Iterator
from typing import Any

import dagster as dg

from relrag_pipelines.assets import labels
from relrag_pipelines.assets.error_boundary import seal_errors
from relrag_pipelines.assets.metadata import column_schema, table_metadata
from relrag_pipelines.records import TABLES
from relrag_pipelines.stages import whole_archive
from relrag_pipelines.stages.month_stages import ASSET_OF_TABLE
from relrag_pipelines.stages.whole_archive import ArchiveStage
from relrag_pipelines.stores import archive_tables
from relrag_pipelines.stores.lock import writing
from relrag_pipelines.workspace import Workspace

_GROUP = "archive"
_WAIT_SECONDS = 600.0


def archive_stage(workspace: Workspace, stage: ArchiveStage) -> dg.AssetsDefinition:
    """The Dagster assets of a stage, materialised in one step; each table is made from all inputs of the stage."""
    sources = [source.name for source in workspace.settings.sources]
    archive_inputs = [[table] for table in stage.inputs if table in archive_tables.NAMES]
    monthly = [ASSET_OF_TABLE[table] for table in stage.inputs if table not in archive_tables.NAMES]
    inputs = [*archive_inputs, *([source, name] for source in sources for name in monthly)]

    @seal_errors
    def build() -> tuple[Any, Any]:
        with writing(workspace.home, stage.name, _WAIT_SECONDS):
            return whole_archive.run(workspace, stage)

    @dg.multi_asset(
        name=stage.name,
        specs=[_spec(workspace, stage, table, inputs) for table in stage.tables],
    )
    def _assets() -> Iterator[dg.MaterializeResult[Any]]:
        started = time.monotonic()
        manifests, counts = build()
        # what the stage took is on its first table alone: each repetition would be stored anew at every sync
        figures = {stage.tables[0]: {**counts, "seconds": _seconds_since(started)}}
        for table, manifest in manifests.items():
            yield dg.MaterializeResult(
                asset_key=table,
                data_version=dg.DataVersion(manifest.output),
                metadata={**table_metadata(manifest), **figures.get(table, {})},
            )

    return _assets


def _seconds_since(started: float) -> float:
    return round(time.monotonic() - started, 3)


def _spec(workspace: Workspace, stage: ArchiveStage, table: str, inputs: list[Any]) -> dg.AssetSpec:
    return dg.AssetSpec(
        table,
        deps=inputs,
        group_name=_GROUP,
        kinds={"parquet"},
        owners=labels.owners(workspace),
        tags=labels.archive_tags(labels.REDACTED),
        code_version=str(stage.version),
        description=f"{inspect.getdoc(TABLES[table].row)} {stage.meaning}",
        metadata=column_schema(table),
    )


def completion_check(stage: ArchiveStage, workspace: Workspace) -> dg.AssetChecksDefinition:
    """A check that a stage is finished; it warns if the next sync has to continue it."""

    @dg.asset_check(
        asset=stage.tables[0], name="finished", description="The stage came to its end; else the next sync goes on."
    )
    @seal_errors
    def _check() -> dg.AssetCheckResult:
        remainder = stage.unfinished(workspace) if stage.unfinished else ""
        return dg.AssetCheckResult(
            passed=not remainder, severity=dg.AssetCheckSeverity.WARN, description=remainder or None
        )

    return _check


def tables_true(workspace: Workspace) -> dg.AssetChecksDefinition:
    """A check per table of the whole archive: its file is compared with the manifest, all in one step."""
    description = "The table's file is as its manifest says."

    @seal_errors
    def count_damage() -> Counter[str]:
        return Counter(path.split("/")[1] for path, _ in archive_tables.damage(workspace.home))

    @dg.multi_asset_check(
        name="archive_manifests_true",
        specs=[
            dg.AssetCheckSpec("manifest_true", asset=table, description=description) for table in archive_tables.NAMES
        ],
        can_subset=True,
    )
    def _checks(context: dg.AssetCheckExecutionContext) -> Iterator[dg.AssetCheckResult]:
        damaged = count_damage()
        for key in sorted(context.selected_asset_check_keys):
            files = damaged[key.asset_key.path[0]]
            yield dg.AssetCheckResult(
                asset_key=key.asset_key, check_name=key.name, passed=not files, metadata={"files_that_differ": files}
            )

    return _checks
