"""Brings what Dagster shows of assets in line with what the lake holds, by events without a run.

After a crash, a kill, a restore, a `forget` or an upgrade the two differ: a run that was killed after it had written
its months counts as failed, and a restored lake holds other months than were made last.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import dagster as dg

from relrag_pipelines.assets.metadata import month_metadata, table_metadata
from relrag_pipelines.files.atomic import write_text
from relrag_pipelines.stages import plan as plans
from relrag_pipelines.stages.month_range import with_partition
from relrag_pipelines.stages.month_stages import STAGES
from relrag_pipelines.stores import archive_tables, generations, lake
from relrag_pipelines.stores.fingerprint import fingerprint
from relrag_pipelines.stores.lake import Manifest
from relrag_pipelines.workspace import Workspace

RECONCILED = "reconciled"
"""metadata key that marks an event as a report of older data; no run made the data now"""
_ENDED_EARLY = [dg.DagsterRunStatus.FAILURE, dg.DagsterRunStatus.CANCELED]
_BATCH = 1_000
_NOTE = "reconciled.json"
_GENERATION = dg.AssetKey("published_generation")
_CONFIRM_SECONDS = 23 * 3600


@dataclass(frozen=True)
class _MonthlyAsset:
    """An asset of a source with the months of its table."""

    key: dg.AssetKey
    source: str
    manifest: Manifest
    has_hash: bool
    """its events carry the hash of the file"""

    @property
    def name(self) -> str:
        return self.key.to_user_string()


def reconcile(shared: dg.DagsterInstance, workspace: Workspace) -> int:
    """Reports each month and table that Dagster shows otherwise than it is; returns their number.

    Only assets that have changed since the last time are looked at, or all if a run has failed since.
    """
    note = workspace.home / "dagster" / _NOTE
    former, failed_run = _read(note), _last_failed_run(shared)
    states = {
        asset.name: (fingerprint([failed_run, _outputs(asset.manifest)]), asset) for asset in _monthly_assets(workspace)
    }
    changed = [asset for name, (state, asset) in states.items() if former.get(name) != state]
    events = [event for asset in changed for event in _differences(shared, workspace, asset)]
    events += [*_table_differences(shared, workspace), *_generation_difference(shared, workspace)]
    for event in events:
        shared.report_runless_asset_event(event)
    if changed:
        write_text(note, json.dumps({name: state for name, (state, _) in states.items()}))
    return len(events)


def confirm_generation(shared: dg.DagsterInstance, workspace: Workspace) -> None:
    """Says once a day that the current generation is made from what the lake holds; the caller knows that it is."""
    entry = shared.get_latest_materialization_event(_GENERATION)
    number = generations.current_number(workspace.home)
    if number is not None and (entry is None or time.time() - entry.timestamp > _CONFIRM_SECONDS):
        shared.report_runless_asset_event(_generation_event(workspace, number))


def _read(note: Path) -> dict[str, str]:
    try:
        stored = json.loads(note.read_text())
    except (OSError, ValueError):
        return {}
    return stored if isinstance(stored, dict) else {}


def _last_failed_run(shared: dg.DagsterInstance) -> str:
    return next((run.run_id for run in shared.get_runs(dg.RunsFilter(statuses=_ENDED_EARLY), limit=1)), "")


def _outputs(manifest: Manifest) -> list[list[str]]:
    return [[month, entry.output] for month, entry in sorted(manifest.items())]


def _monthly_assets(workspace: Workspace) -> Iterator[_MonthlyAsset]:
    tables = {"records": "private_records", **{stage.name: stage.table for stage in STAGES}}
    for source in workspace.settings.sources:
        for asset, table in tables.items():
            manifest = with_partition(lake.manifest(workspace.home, table, source.name), workspace.settings.first_month)
            key = dg.AssetKey([source.name, asset])
            yield _MonthlyAsset(key, source.name, manifest, has_hash=asset != "records")


def _differences(
    shared: dg.DagsterInstance, workspace: Workspace, asset: _MonthlyAsset
) -> Iterator[dg.AssetMaterialization]:
    """An event for each month that differs, and for each that a run failed to make although it is up to date."""
    shown = _shown(shared, asset.key)
    differing = {
        month for month in asset.manifest.keys() | shown.keys() if _is_shown_otherwise(asset, month, shown.get(month))
    }
    if failed := _failed_months(shared, asset.key) - differing:
        differing |= failed & (asset.manifest.keys() - _stale_months(workspace, asset))
    for month in sorted(differing):
        metadata = month_metadata(asset.manifest.get(month), {})
        if not asset.has_hash:
            metadata = {name: value for name, value in metadata.items() if name not in ("bytes", "hash")}
        yield dg.AssetMaterialization(asset.key, partition=month, metadata={**metadata, RECONCILED: True})


def _shown(shared: dg.DagsterInstance, key: dg.AssetKey) -> dict[str, dict[str, Any]]:
    """The metadata of each month's latest event."""
    latest = shared.event_log_storage.get_latest_storage_id_by_partition(key, dg.DagsterEventType.ASSET_MATERIALIZATION)
    ids, shown = sorted(latest.values()), {}
    for start in range(0, len(ids), _BATCH):
        chosen = dg.AssetRecordsFilter(asset_key=key, storage_ids=ids[start : start + _BATCH])
        for record in shared.fetch_materializations(chosen, limit=_BATCH).records:
            if event := record.asset_materialization:
                shown[str(event.partition)] = {name: value.value for name, value in event.metadata.items()}
    return shown


def _is_shown_otherwise(asset: _MonthlyAsset, month: str, shown: Mapping[str, Any] | None) -> bool:
    entry = asset.manifest.get(month)
    if shown is None:
        return entry is not None
    rows = entry.rows if entry else 0
    if shown.get("dagster/row_count") != rows:
        return True
    return asset.has_hash and shown.get("hash", "") != ("" if entry is None else entry.output)


def _failed_months(shared: dg.DagsterInstance, key: dg.AssetKey) -> set[str]:
    """Months whose last run has ended without making them."""
    attempts = shared.event_log_storage.get_latest_asset_partition_materialization_attempts_without_materializations(
        key
    )
    ended: dict[str, bool] = {}
    for run_id in {run_id for run_id, _ in attempts.values()}:
        run = shared.get_run_by_id(run_id)
        ended[run_id] = run is None or run.is_finished
    return {month for month, (run_id, _) in attempts.items() if ended[run_id]}


def _stale_months(workspace: Workspace, asset: _MonthlyAsset) -> set[str]:
    survey = plans.inspect_source(workspace, workspace.settings.source(asset.source))
    stale = {month.month for month in plans.stale_months([survey]) if month.stage == asset.key.path[1]}
    return stale if not survey.was_interrupted else set(asset.manifest)


def _table_differences(shared: dg.DagsterInstance, workspace: Workspace) -> Iterator[dg.AssetMaterialization]:
    """An event for each table of the whole archive that is another than Dagster shows."""
    entries = {table: archive_tables.entry(workspace.home, table) for table in archive_tables.NAMES}
    keys = {table: dg.AssetKey(table) for table, entry in entries.items() if entry}
    latest = shared.get_latest_materialization_events(list(keys.values()))
    for table, key in keys.items():
        entry = entries[table]
        if entry and _shown_hash(latest.get(key)) != entry.output:
            yield dg.AssetMaterialization(key, metadata={**table_metadata(entry), RECONCILED: True})


def _shown_hash(entry: dg.EventLogEntry | None) -> str:
    event = entry.asset_materialization if entry else None
    return str(event.metadata["hash"].value) if event and "hash" in event.metadata else ""


def _generation_difference(shared: dg.DagsterInstance, workspace: Workspace) -> Iterator[dg.AssetMaterialization]:
    """An event if another generation is current than Dagster shows."""
    number = generations.current_number(workspace.home)
    entry = shared.get_latest_materialization_event(_GENERATION)
    event = entry.asset_materialization if entry else None
    shown = event.metadata["generation"].value if event and "generation" in event.metadata else None
    if number is not None and shown != number:
        yield _generation_event(workspace, number)


def _generation_event(workspace: Workspace, number: int) -> dg.AssetMaterialization:
    rows = generations.current_manifest(workspace.home)["counts"]["records"]
    metadata = {"dagster/row_count": rows, "generation": number, RECONCILED: True}
    return dg.AssetMaterialization(_GENERATION, metadata=metadata)
