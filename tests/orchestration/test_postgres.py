"""Dagster's runs and events in PostgreSQL: a server that is really started, and what is said where there is none."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import dagster as dg
import pytest
from dagster._daemon.types import DaemonHeartbeat

from relrag_pipelines.assets import reconciliation
from relrag_pipelines.maintenance import verify
from relrag_pipelines.orchestration import runner
from relrag_pipelines.publishing import event_database
from relrag_pipelines.settings import SettingsError
from tests import archive, make_home
from tests.conftest import ROOT
from tests.end_to_end import test_upgrade
from tests.postgres import PASSWORD, postgres

RELRAG = str(Path(sys.executable).with_name("relrag"))


def relrag(config: Path, *arguments: str, **more: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "RELRAG_CONFIG": str(config), **more}
    return subprocess.run([RELRAG, *arguments], env=environment, capture_output=True, text=True, cwd=ROOT)


def test_the_runs_of_a_sync_are_in_postgres(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its runs, their partitions, a second sync that does nothing; no database in the folder, no password anywhere."""
    pytest.importorskip("dagster_postgres", reason="dagster-postgres is not installed (relrag[postgres])")
    config = archive.many_notes(tmp_path, months=6)
    config.write_text(f'dagster_storage = "postgres"\n{config.read_text()}')
    home = archive.home(tmp_path)
    with postgres() as url:
        done = relrag(config, "sync", DAGSTER_POSTGRES_URL=url)
        assert done.returncode == 0, done.stdout + done.stderr
        assert "Generation 1: 40 records" in done.stdout
        again = relrag(config, "sync", DAGSTER_POSTGRES_URL=url)
        assert "Nothing to do" in again.stdout
        monkeypatch.setenv("DAGSTER_POSTGRES_URL", url)
        with runner.instance(home, "postgres") as shared:
            assert "Postgres" in type(shared.run_storage).__name__
            found = shared.get_runs()
            assert len(found) == 4
            assert {one.status for one in found} == {dg.DagsterRunStatus.SUCCESS}
            made = shared.get_materialized_partitions(dg.AssetKey(["notes", "redacted"]))
            assert (min(made), max(made), len(made)) == ("2023-01", "2023-06", 6)
            assert event_database.heartbeat_age() is None
            shared.add_daemon_heartbeat(DaemonHeartbeat(time.time() - 700, "SENSOR", "a", []))
            assert 699 < (event_database.heartbeat_age() or 0) < 720
    assert [path.name for path in (home / "dagster").rglob("*.db")] == []
    assert verify.verify_home(home) == []
    for path, (_, content) in archive.contents(home).items():
        assert PASSWORD.encode() not in content, path


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("", "DAGSTER_POSTGRES_URL is not set; write it as postgresql+psycopg2://user:password@host:5432/database"),
        (f"postgresql://dagster:{PASSWORD}@127.0.0.1/d", "does not begin with postgresql+psycopg2://"),
        (f"postgresql+psycopg2://dagster:{PASSWORD}@127.0.0.1:x/d", "cannot be read"),
        (
            f"postgresql+psycopg2://dagster:{PASSWORD}@127.0.0.1:1/runs",
            "PostgreSQL at 127.0.0.1:1, database runs cannot be used (OperationalError)",
        ),
    ],
)
def test_a_database_that_cannot_be_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, given: str, said: str) -> None:
    """The message says which, and what to do, and never the password."""
    pytest.importorskip("dagster_postgres", reason="dagster-postgres is not installed (relrag[postgres])")
    monkeypatch.setenv("DAGSTER_POSTGRES_URL", given)
    with pytest.raises(SettingsError) as raised, runner.instance(tmp_path, "postgres"):
        pass
    assert said in str(raised.value)
    assert PASSWORD not in str(raised.value)


def test_the_storage_can_change(tmp_path: Path) -> None:
    """dagster.yaml follows the setting, and verify knows both."""
    for storage, words in (("postgres", "env: DAGSTER_POSTGRES_URL"), ("sqlite", "class: EventLogStorage")):
        folder = runner.instance_folder(tmp_path, storage)
        assert words in (folder / "dagster.yaml").read_text()
        assert verify.verify_home(tmp_path) == []


def test_a_home_of_an_earlier_version_goes_over_to_postgres(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its runs stay in SQLite; what it has is shown from the lake, as of no run, and the next sync makes the rest."""
    pytest.importorskip("dagster_postgres", reason="dagster-postgres is not installed (relrag[postgres])")
    fixture = test_upgrade.FIXTURES[-1]
    config = test_upgrade.unpack(fixture, tmp_path)
    config.write_text(f'dagster_storage = "postgres"\n{config.read_text()}')
    home = archive.home(tmp_path)
    with postgres() as url:
        done = relrag(config, "sync", DAGSTER_POSTGRES_URL=url)
        assert done.returncode in (0, 1), done.stdout + done.stderr
        assert "Generation 3: 9 records" in done.stdout
        assert make_home.rows(home) == json.loads((fixture / "rows.json").read_text())
        monkeypatch.setenv("DAGSTER_POSTGRES_URL", url)
        with runner.instance(home, "postgres") as shared:
            assert {run.status for run in shared.get_runs()} == {dg.DagsterRunStatus.SUCCESS}
            assert reconciliation.reconcile(shared, archive.workspace(config)) > 0
            assert shared.get_materialized_partitions(dg.AssetKey(["chat", "redacted"]))
            assert reconciliation.reconcile(shared, archive.workspace(config)) == 0
    assert verify.verify_home(home) == []
