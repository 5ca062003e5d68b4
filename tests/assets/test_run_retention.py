"""Old runs go, but for those that Dagster needs to show what is made."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import dagster as dg
import pytest

from relrag_pipelines.assets import reconciliation
from relrag_pipelines.assets.run_retention import delete_old_runs
from relrag_pipelines.definitions import build_defs
from relrag_pipelines.orchestration import runner
from relrag_pipelines.workspace import Workspace
from relrag_query.cli.commands import sync as commands
from tests import archive


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    config = archive.make(tmp_path)
    archive.first_sync(config, dagster=True)
    with (tmp_path / "chats" / "WhatsApp Chat with Hiking.txt").open("a") as file:
        file.write("15/02/2024, 08:00 - Petr Kolar: The plumber comes on Friday\n")
    assert commands.sync(config) == 0
    return archive.workspace(config)


@pytest.fixture
def shared(workspace: Workspace) -> Iterator[dg.DagsterInstance]:
    with runner.instance(workspace.home) as opened:
        yield opened


@pytest.fixture
def later(monkeypatch: pytest.MonkeyPatch) -> None:
    """A hundred days later."""

    class Clock(datetime):
        @classmethod
        def now(cls, tz: object = None) -> datetime:
            return datetime.now(UTC) + timedelta(days=100)

    monkeypatch.setattr("relrag_pipelines.assets.run_retention.datetime", Clock)


def jobs(shared: dg.DagsterInstance) -> list[str]:
    return sorted(run.job_name for run in shared.get_runs())


def test_runs_that_made_nothing_that_is_shown_go(workspace: Workspace, shared: dg.DagsterInstance, later: None) -> None:
    """The second sync published anew; other runs of the first one made months and tables that are still the newest."""
    job = build_defs(workspace).resolve_job_def("publish")
    unfinished = shared.create_run_for_job(job, status=dg.DagsterRunStatus.STARTED)
    before = jobs(shared)
    assert [delete_old_runs(shared, days) for days in (0, 101)] == [0, 0]
    assert jobs(shared) == before
    assert delete_old_runs(shared, 90) == 1
    assert before.count("publish") - jobs(shared).count("publish") == 1
    assert len(jobs(shared)) == len(before) - 1
    assert shared.get_run_by_id(unfinished.run_id)
    assert reconciliation.reconcile(shared, workspace) == 0, "all is shown as it was"
    assert delete_old_runs(shared, 90) == 0


def test_housekeeping_deletes_once_a_day(tmp_path: Path) -> None:
    found = build_defs(archive.workspace(archive.make(tmp_path))).get_repository_def()
    sensor = found.get_sensor_def("housekeeping")
    with (
        runner.instance(archive.home(tmp_path)) as opened,
        dg.build_sensor_context(instance=opened, repository_def=found) as context,
    ):
        messages = [sensor.evaluate_tick(context).skip_message or "" for _ in range(2)]
    assert ["old runs deleted" in message for message in messages] == [True, False]


def test_ticks_are_stored_for_the_days_that_the_settings_say(tmp_path: Path) -> None:
    folder = runner.instance_folder(tmp_path, tick_days=3)
    with dg.DagsterInstance.from_config(str(folder)) as opened:
        for kind in ("schedule", "sensor"):
            assert opened.get_settings("retention")[kind] == {"purge_after_days": 3}
