"""Deletes old runs from Dagster's store (`run_retention_days`).

With a run its events go. A run stays as long as it made the newest state of an asset or of a month: else Dagster would
show as never made what lies in the lake.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta

import dagster as dg

_FINISHED = [dg.DagsterRunStatus.SUCCESS, dg.DagsterRunStatus.FAILURE, dg.DagsterRunStatus.CANCELED]
_MADE = dg.DagsterEventType.ASSET_MATERIALIZATION


def delete_old_runs(shared: dg.DagsterInstance, days: int) -> int:
    """Deletes runs that ended more than `days` ago, and returns their number; 0 days: none is deleted."""
    if not days:
        return 0
    before = datetime.now(UTC) - timedelta(days=days)
    old = shared.get_runs(dg.RunsFilter(statuses=_FINISHED, created_before=before))
    if not old:
        return 0
    newest = set(_newest_events(shared))
    superseded = [run for run in old if newest.isdisjoint(_events(shared, run))]
    for run in superseded:
        shared.delete_run(run.run_id)
    return len(superseded)


def _newest_events(shared: dg.DagsterInstance) -> Iterator[int]:
    """Ids of the newest materialisation of each asset and of each of its months."""
    keys = list(shared.all_asset_keys())
    for key in keys:
        yield from shared.event_log_storage.get_latest_storage_id_by_partition(key, _MADE).values()
    yield from _ids(shared.event_log_storage.get_asset_records(keys))


def _ids(records: Iterable[dg.AssetRecord]) -> Iterator[int]:
    for record in records:
        if record.asset_entry.last_materialization_storage_id is not None:
            yield record.asset_entry.last_materialization_storage_id


def _events(shared: dg.DagsterInstance, run: dg.DagsterRun) -> set[int]:
    return {record.storage_id for record in shared.get_records_for_run(run.run_id, of_type=_MADE).records}
