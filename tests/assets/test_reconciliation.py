"""What Dagster shows of assets agrees with what the lake holds, whatever happened."""

from collections.abc import Iterator
from pathlib import Path

import dagster as dg
import pytest

from relrag_pipelines.assets.reconciliation import confirm_generation, reconcile
from relrag_pipelines.assets.run_tags import partition_range
from relrag_pipelines.definitions import build_defs
from relrag_pipelines.orchestration import runner
from relrag_pipelines.stores import lake
from relrag_pipelines.workspace import Workspace
from tests import archive

REDACTED = dg.AssetKey(["chat", "redacted"])


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    return archive.first_sync(archive.make(tmp_path), dagster=True)


@pytest.fixture
def shared(workspace: Workspace) -> Iterator[dg.DagsterInstance]:
    with runner.instance(workspace.home) as opened:
        yield opened


def shown(shared: dg.DagsterInstance) -> tuple[set[str], set[str]]:
    """The months of the chat's redacted records that Dagster shows as made and as failed."""
    attempts = shared.event_log_storage.get_latest_asset_partition_materialization_attempts_without_materializations(
        REDACTED
    )
    return set(shared.get_materialized_partitions(REDACTED)), set(attempts)


def test_after_a_sync_there_is_nothing_to_correct(workspace: Workspace, shared: dg.DagsterInstance) -> None:
    assert reconcile(shared, workspace) == 0


def test_a_run_that_was_killed_after_it_had_written_has_failed_nothing(
    workspace: Workspace, shared: dg.DagsterInstance
) -> None:
    job = build_defs(workspace).resolve_job_def("backfill")
    tags = partition_range("2023-12", "2024-02")
    run = shared.create_run_for_job(job, tags=tags, asset_selection={REDACTED})
    shared.report_run_failed(run)
    months = {"2023-12", "2024-01", "2024-02"}
    assert shown(shared) == (months, months)
    assert reconcile(shared, workspace) == 3
    assert shown(shared) == (months, set())
    assert reconcile(shared, workspace) == 0


def test_a_month_that_is_stale_stays_failed(workspace: Workspace, shared: dg.DagsterInstance) -> None:
    job = build_defs(workspace).resolve_job_def("backfill")
    run = shared.create_run_for_job(job, tags=partition_range("2024-01", "2024-02"), asset_selection={REDACTED})
    shared.report_run_failed(run)
    lake.drop(workspace.home, "records", "chat", ["2024-02"])
    # of 2024-01 that it is made, and of 2024-02 that it is gone
    assert reconcile(shared, workspace) == 2
    event = shared.get_latest_materialization_event(REDACTED)
    assert event and event.asset_materialization
    metadata = {name: value.value for name, value in event.asset_materialization.metadata.items()}
    assert event.asset_materialization.partition == "2024-02"
    assert metadata == {"dagster/row_count": 0, "empty": True, "reconciled": True}


def test_an_archive_without_events_is_shown_as_it_is(workspace: Workspace, tmp_path: Path) -> None:
    """As one that was restored without Dagster's databases, or made by an earlier version."""
    with runner.instance(tmp_path / "new") as shared:
        assert reconcile(shared, workspace) > 30
        event = shared.get_latest_materialization_event(dg.AssetKey("published_generation"))
        assert event and event.asset_materialization
        assert event.asset_materialization.metadata["generation"].value == 1
        assert shown(shared)[0] == {"2023-12", "2024-01", "2024-02"}
        assert reconcile(shared, workspace) == 0


def test_a_generation_that_is_up_to_date_is_confirmed_once_a_day(
    workspace: Workspace, shared: dg.DagsterInstance, monkeypatch: pytest.MonkeyPatch
) -> None:
    def events() -> int:
        return len(shared.fetch_materializations(dg.AssetKey("published_generation"), limit=10).records)

    confirm_generation(shared, workspace)
    assert events() == 1
    monkeypatch.setattr("relrag_pipelines.assets.reconciliation._CONFIRM_SECONDS", -1)
    confirm_generation(shared, workspace)
    assert events() == 2
