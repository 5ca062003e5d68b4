"""The assets of each source: export, records, and the monthly stages; one factory makes them all."""

import time
from collections.abc import Iterable, Mapping
from datetime import timedelta
from typing import Any

import dagster as dg

from relrag_pipelines.assets import labels
from relrag_pipelines.assets.error_boundary import seal_errors
from relrag_pipelines.assets.metadata import column_schema, month_metadata, stage_lineage
from relrag_pipelines.assets.partitions import months
from relrag_pipelines.ingest.ingest import ingest
from relrag_pipelines.settings import Source
from relrag_pipelines.sources import KINDS
from relrag_pipelines.stages import backfill_range, redaction_check
from relrag_pipelines.stages import month_stages as stages
from relrag_pipelines.stages.month_stages import ASSET_OF_TABLE, STAGES, Stage
from relrag_pipelines.stores import generations, lake_damage
from relrag_pipelines.stores.fingerprint import fingerprint
from relrag_pipelines.stores.lake import ManifestEntry
from relrag_pipelines.stores.lock import writing
from relrag_pipelines.workspace import Workspace

_WAIT_SECONDS = 600.0
NIGHTLY = dg.FreshnessPolicy.time_window(fail_window=timedelta(hours=50), warn_window=timedelta(hours=26))
"""the nightly run exports every source, also one that has not changed: two nights without it are a failure"""
_KINDS_OF_STAGE = {"redacted": "presidio", "embeddings": "qdrant"}


def source_assets(workspace: Workspace, source: Source) -> list[dg.AssetsDefinition | dg.AssetSpec]:
    """All Dagster assets of one source."""
    monthly = [_stage(workspace, source, stage) for stage in STAGES]
    return [_export(workspace, source), _records(workspace, source), *monthly]


class ExportConfig(dg.Config):
    """Run configuration of an export."""

    full: bool = False
    """read every file again, not only changed ones"""
    accept_deletions: bool = False
    """continue even if more than a fifth of the source's records vanish"""


def _export(workspace: Workspace, source: Source) -> dg.AssetsDefinition:
    kind = KINDS[source.kind]

    @dg.asset(
        key=[source.name, "export"],
        group_name=source.name,
        kinds={"python", kind.name},
        owners=labels.owners(workspace),
        tags=labels.source_tags(workspace, source, labels.PRIVATE),
        code_version=str(kind.version),
        freshness_policy=NIGHTLY,
        description=f"Reads the changed files of this source ({kind.meaning}) into private records, by month.",
    )
    @seal_errors
    def _asset(context: dg.AssetExecutionContext, config: ExportConfig) -> dg.MaterializeResult[Any]:
        started = time.monotonic()
        # before the first generation, records can only be leftovers of a kill, and may vanish
        accepted = config.accept_deletions or generations.current_number(workspace.home) is None
        with writing(workspace.home, f"export of {source.name}", _WAIT_SECONDS):
            report = ingest(workspace, source, full=config.full, accept_deletions=accepted)
        for month, rows in report.months.items():
            if month in months(workspace.settings.first_month).get_partition_keys():
                key = dg.AssetKey([source.name, "records"])
                context.log_event(dg.AssetMaterialization(key, partition=month, metadata={"dagster/row_count": rows}))
        return dg.MaterializeResult(
            metadata={
                "units_read": report.units_read,
                "units_gone": report.units_gone,
                "bytes": report.bytes_read,
                "months": len(report.months),
                "failures": len(report.failures),
                "seconds": round(time.monotonic() - started, 3),
            }
        )

    return _asset


def _records(workspace: Workspace, source: Source) -> dg.AssetSpec:
    return dg.AssetSpec(
        key=[source.name, "records"],
        deps=[[source.name, "export"]],
        partitions_def=months(workspace.settings.first_month),
        group_name=source.name,
        kinds={"parquet"},
        owners=labels.owners(workspace),
        tags=labels.source_tags(workspace, source, labels.PRIVATE),
        description="Private records of the month, unredacted, owner-only. Written by export, for changed months only.",
        metadata=column_schema("private_records"),
    )


def _inputs(source: Source, stage: Stage) -> list[list[str]]:
    """The assets that a stage is made from.

    Records are no executable asset: Dagster's daemon would not wait for them in a backfill, so what is made from them
    follows from `export` as well.
    """
    assets = [ASSET_OF_TABLE[table] for table in stage.inputs]
    return [[source.name, name] for name in (*assets, *(["export"] if "records" in assets else []))]


def _backfill_policy(months_per_run: int) -> dg.BackfillPolicy:
    return dg.BackfillPolicy.multi_run(months_per_run) if months_per_run else dg.BackfillPolicy.single_run()


def _stage(workspace: Workspace, source: Source, stage: Stage) -> dg.AssetsDefinition:
    @dg.asset(
        key=[source.name, stage.name],
        deps=_inputs(source, stage),
        partitions_def=months(workspace.settings.first_month),
        backfill_policy=_backfill_policy(workspace.settings.backfill_months),
        group_name=source.name,
        kinds={"parquet"} | ({_KINDS_OF_STAGE[stage.name]} if stage.name in _KINDS_OF_STAGE else set()),
        owners=labels.owners(workspace),
        tags=labels.source_tags(workspace, source, labels.REDACTED),
        code_version=str(stage.version),
        description=stage.meaning,
        metadata=column_schema(stage.table) | stage_lineage(source.name, stage),
    )
    @seal_errors
    def _asset(context: dg.AssetExecutionContext) -> None:
        partitions = list(context.partition_keys)
        with writing(workspace.home, f"{stage.name} of {source.name}", _WAIT_SECONDS):
            entries, counts = stages.run(workspace, source, stage, partitions)
        if "private_records" in stage.inputs and (outside := backfill_range.outside(workspace, source, partitions)):
            context.log.warning(outside)
        context.set_data_version(context.asset_key, _data_version(entries, partitions))
        for month in partitions:
            figures = month_metadata(entries.get(month), counts.get(month, {}))
            context.add_asset_metadata(figures, partition_key=month)

    return _asset


def _data_version(entries: Mapping[str, ManifestEntry], months_made: Iterable[str]) -> dg.DataVersion:
    """Equal for equal content, so that Dagster calls nothing out of sync that was made again without a change."""
    return dg.DataVersion(fingerprint([entries[month].output if month in entries else "" for month in months_made]))


def no_unredacted_value(workspace: Workspace, source: Source) -> dg.AssetChecksDefinition:
    """A check that searches redacted records for personal data that the policy forbids."""

    @dg.asset_check(
        asset=dg.AssetKey([source.name, "redacted"]),
        name="no_unredacted_value",
        blocking=True,
        description="No string of what was redacted last holds personal data that the channel's policy forbids.",
    )
    @seal_errors
    def _check() -> dg.AssetCheckResult:
        with writing(workspace.home, f"check of {source.name}", _WAIT_SECONDS):
            entities = redaction_check.check_redaction(workspace, source)
        metadata = {"values": sum(entities.values())}
        return dg.AssetCheckResult(
            passed=not entities,
            metadata=metadata,
            description=redaction_check.describe_unredacted(entities) if entities else None,
        )

    return _check


def manifest_true(workspace: Workspace, source: Source) -> dg.AssetChecksDefinition:
    """A check that compares the month files of a source with their manifests."""

    @dg.asset_check(
        asset=dg.AssetKey([source.name, "edges"]),
        name="manifest_true",
        description="Every month file of this source is as its manifest says.",
    )
    @seal_errors
    def _check() -> dg.AssetCheckResult:
        wrong = lake_damage.verify(workspace.home, source.name)
        return dg.AssetCheckResult(passed=not wrong, metadata={"files_that_differ": len(wrong)})

    return _check
