"""What relrag writes into collections of older systems: an asset a source, partitioned by where points came from."""

import time
from typing import Any

import dagster as dg

from relrag_pipelines.assets.error_boundary import seal_errors
from relrag_pipelines.legacy.backfill import BackfillReport, backfill
from relrag_pipelines.settings import Source
from relrag_pipelines.sources.legacy.payload import CHANNELS
from relrag_pipelines.stores.lock import writing
from relrag_pipelines.workspace import Workspace

BACKFILL = "backfill"
channels = dg.StaticPartitionsDefinition(list(CHANNELS))
_WAIT_SECONDS = 600.0


class BackfillConfig(dg.Config):
    """What a run may ask of a backfill."""

    limit: int = 0
    """points that are written at most; 0 for all"""


def legacy_backfill(workspace: Workspace, source: Source) -> dg.AssetsDefinition:
    """The asset of one source. Person ids are those of the published generation, so it comes behind that."""

    @dg.asset(
        key=[source.name, BACKFILL],
        deps=["published_generation"],
        partitions_def=channels,
        backfill_policy=dg.BackfillPolicy.single_run(),
        group_name=source.name,
        kinds={"qdrant"},
        owners=["team:relrag"],
        description="Graph fields, universal fields and person ids in the collection itself, after a copy of it.",
    )
    @seal_errors
    def _asset(context: dg.AssetExecutionContext, config: BackfillConfig) -> dg.MaterializeResult[Any]:
        started = time.monotonic()
        with writing(workspace.home, f"backfill of {source.name}", _WAIT_SECONDS):
            done = backfill(workspace, source, list(context.partition_keys), config.limit or None)
        return dg.MaterializeResult(metadata=counts(done) | {"seconds": round(time.monotonic() - started, 3)})

    return _asset


def counts(done: BackfillReport) -> dict[str, Any]:
    """What a backfill did, in numbers, with that of the copies it took before: their names are those of folders."""
    return {
        "points": sum(done.points.values()),
        "points_written": done.changed,
        "points_with_fields_before": done.done,
        "points_with_new_fields": done.new,
        "points_with_other_people": done.people,
        "points_without_old_vectors": done.vectors,
        "points_waiting": done.waiting,
        "points_unreadable": done.unreadable,
        "snapshots": len(done.snapshots),
    }
