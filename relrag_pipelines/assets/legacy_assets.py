"""Backfills of collections of older systems: an asset per source, partitioned by the points' channels."""

import time
from typing import Any

import dagster as dg

from relrag_pipelines.assets import labels
from relrag_pipelines.assets.error_boundary import seal_errors
from relrag_pipelines.legacy.backfill import BackfillReport, backfill
from relrag_pipelines.settings import Source
from relrag_pipelines.sources.legacy.payload import CHANNELS
from relrag_pipelines.stores.lock import writing
from relrag_pipelines.workspace import Workspace

BACKFILL = "backfill"
GROUP = "legacy_backfill"
"""its own: a backfill follows publishing, and the source's other assets come before"""
channels = dg.StaticPartitionsDefinition(list(CHANNELS))
_WAIT_SECONDS = 600.0


class BackfillConfig(dg.Config):
    """Run configuration of a backfill."""

    limit: int = 0
    """largest number of points to write; 0 for all"""


def legacy_backfill(workspace: Workspace, source: Source) -> dg.AssetsDefinition:
    """The backfill asset of a source. It runs after publishing, because person ids come from the generation."""

    @dg.asset(
        key=[source.name, BACKFILL],
        deps=["published_generation"],
        partitions_def=channels,
        backfill_policy=dg.BackfillPolicy.single_run(),
        group_name=GROUP,
        kinds={"qdrant"},
        owners=labels.owners(workspace),
        tags=labels.source_tags(workspace, source, labels.PUBLISHED),
        description="Graph fields, universal fields and person ids in the collection itself, after a copy of it.",
    )
    @seal_errors
    def _asset(context: dg.AssetExecutionContext, config: BackfillConfig) -> dg.MaterializeResult[Any]:
        started = time.monotonic()
        with writing(workspace.home, f"backfill of {source.name}", _WAIT_SECONDS):
            report = backfill(workspace, source, list(context.partition_keys), config.limit or None)
        for channel in context.partition_keys:
            context.add_asset_metadata({"dagster/row_count": report.points[channel]}, partition_key=channel)
        return dg.MaterializeResult(metadata=counts(report) | {"seconds": round(time.monotonic() - started, 3)})

    return _asset


def counts(report: BackfillReport) -> dict[str, Any]:
    """The figures of a backfill, with the number of snapshots but not their names, which are folder names."""
    return {
        "points": sum(report.points.values()),
        "points_written": report.changed,
        "points_with_fields_before": report.done,
        "points_with_new_fields": report.new,
        "points_with_other_people": report.people,
        "points_without_old_vectors": report.vectors,
        "points_waiting": report.waiting,
        "points_unreadable": report.unreadable,
        "snapshots": len(report.snapshots),
    }
