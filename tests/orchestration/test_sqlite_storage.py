"""Dagster's storages in SQLite: one engine a database, no migrations read where there are none, homes of before."""

import sqlite3
import subprocess
import sys
import zlib
from contextlib import closing
from pathlib import Path
from typing import Any

import dagster as dg
import pytest
from dagster._core.storage.event_log.sqlite import consolidated_sqlite_event_log
from dagster._core.storage.runs.sqlite import sqlite_run_storage
from dagster._core.storage.schedules.sqlite import sqlite_schedule_storage
from sqlalchemy import Engine, create_engine, event

from relrag_pipelines.maintenance.verify import verify_home
from relrag_pipelines.orchestration import runner, sqlite_storage
from relrag_query.cli.commands import sync as commands
from tests import archive

DAGSTERS = (consolidated_sqlite_event_log, sqlite_run_storage, sqlite_schedule_storage)
BEFORE = """\
# The Dagster instance of an archive, shared by CLI and UI. Written by relrag; {folder} is its own place.
telemetry:
  enabled: false

nux:
  enabled: false

# One database for all events, not one a run: a sync is many small writes.
event_log_storage:
  module: dagster._core.storage.event_log
  class: ConsolidatedSqliteEventLogStorage
  config:
    base_dir: "{folder}/history"

# What libraries print is kept nowhere: it could be text of the archive.
compute_logs:
  module: dagster._core.storage.noop_compute_log_manager
  class: NoOpComputeLogManager

# A killed process leaves its runs as started; the daemon marks them failed.
run_monitoring:
  enabled: true
  start_timeout_seconds: 180
"""
"""dagster.yaml as it was before"""


def one_run(home: Path) -> int:
    """Materialises an asset with the instance of a home; returns how many runs there are then."""

    @dg.asset
    def counted() -> int:
        return 1

    with runner.instance(home) as shared:
        assert dg.materialize([counted], instance=shared).success
        return shared.get_runs_count()


def refuse(*_: Any, **__: Any) -> None:
    raise AssertionError("Dagster made an engine or read its migrations")


def test_a_database_that_is_made_is_used_with_one_engine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert one_run(tmp_path) == 1
    for module in DAGSTERS:
        monkeypatch.setattr(module, "create_engine", refuse)
        monkeypatch.setattr(module, "check_alembic_revision", refuse)
    opened: list[str] = []
    monkeypatch.setattr(
        sqlite_storage, "create_engine", lambda url, **of: opened.append(url) or create_engine(url, **of)
    )
    assert one_run(tmp_path) == 2
    assert sorted(Path(one).name for one in opened) == ["event_log.db", "runs.db"]


def test_a_run_opens_each_database_once_and_leaves_none_open(tmp_path: Path) -> None:
    assert one_run(tmp_path) == 1
    connections: list[Any] = []

    def count(connection: Any, _: object) -> None:
        connections.append(connection)

    event.listen(Engine, "connect", count)
    try:
        assert one_run(tmp_path) == 2
    finally:
        event.remove(Engine, "connect", count)
    assert len(connections) <= 4  # two of each at a time; some twenty events are written
    for connection in connections:
        with pytest.raises(sqlite3.ProgrammingError, match="closed"):
            connection.execute("SELECT 1")
    assert not [*runner.instance_folder(tmp_path).rglob("*-wal")]


@pytest.mark.parametrize("name", ["history/runs.db", "schedules/schedules.db"])
def test_a_database_that_a_kill_left_half_made_is_finished(tmp_path: Path, name: str) -> None:
    assert one_run(tmp_path) == 1
    database = runner.instance_folder(tmp_path) / name
    with closing(sqlite3.connect(database)) as connection:
        connection.execute("DELETE FROM alembic_version")
        connection.commit()
    assert one_run(tmp_path) == 2
    with closing(sqlite3.connect(database)) as connection:
        assert connection.execute("SELECT count(*) FROM alembic_version").fetchone() == (1,)


def test_a_home_of_before_is_sound_and_the_next_run_writes_its_configuration_anew(tmp_path: Path) -> None:
    config = archive.make(tmp_path)
    home = archive.first_sync(config).home
    folder = runner.instance_folder(home)
    yaml = folder / "dagster.yaml"
    yaml.write_text(BEFORE.replace("{folder}", str(folder)))
    assert [*verify_home(home)] == []
    yaml.write_text(BEFORE.replace("{folder}", str(folder)).replace("false", "true"))
    assert [finding.path for finding in verify_home(home)] == ["dagster/dagster.yaml"]
    assert one_run(home) == 1
    assert "sqlite_storage" in yaml.read_text()
    assert [*verify_home(home)] == []


def test_a_sync_without_a_graph_imports_no_pandas() -> None:
    script = "import sys, relrag_pipelines.orchestration.runner; print('pandas' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


def test_what_an_older_database_lacks_is_asked_for_again(tmp_path: Path) -> None:
    assert one_run(tmp_path) == 1
    with runner.instance(tmp_path) as shared:
        events: Any = shared.event_log_storage
        url = events._conn_string
        assert not events.has_table("later") and not events.has_table("later")
        with sqlite_storage._connect(url) as connection:
            assert not events._has_asset_key_col_on_connection(connection, "later")
            connection.exec_driver_sql("CREATE TABLE later (one INTEGER)")
            connection.exec_driver_sql("ALTER TABLE asset_keys ADD COLUMN later INTEGER")
        assert events.has_table("later")
        with sqlite_storage._connect(url) as connection:
            assert events._has_asset_key_col_on_connection(connection, "later")


def test_events_at_hand_together_are_stored_in_one_transaction(tmp_path: Path) -> None:
    @dg.asset(
        partitions_def=dg.StaticPartitionsDefinition([f"{number:03d}" for number in range(200)]),
        backfill_policy=dg.BackfillPolicy.single_run(),
    )
    def counted() -> None: ...

    commits: list[Any] = []

    def count(connection: Any) -> None:
        commits.append(connection)

    event.listen(Engine, "commit", count)
    try:
        with runner.instance(tmp_path) as shared:
            tags = {"dagster/asset_partition_range_start": "000", "dagster/asset_partition_range_end": "199"}
            assert dg.materialize([counted], instance=shared, tags=tags).success
            key = dg.AssetKey("counted")
            assert len(shared.get_materialized_partitions(key)) == 200
            assert len(shared.fetch_planned_materializations(key, limit=300).records) == 200
            latest = shared.get_latest_materialization_event(key)
            (newest,) = shared.fetch_materializations(key, limit=1).records
            assert latest and latest.asset_materialization == newest.asset_materialization
            assert list(shared.all_asset_keys()) == [key]
    finally:
        event.remove(Engine, "commit", count)
    assert len(commits) < 200  # of 400 events, which alone would be two each


def test_a_database_that_was_replaced_is_opened_again(tmp_path: Path) -> None:
    """As by `relrag restore` while the web server has it open."""
    assert one_run(tmp_path) == 1
    folder = runner.instance_folder(tmp_path) / "history"
    kept = {path.name: path.read_bytes() for path in folder.glob("*.db")}
    with dg.DagsterInstance.from_config(str(folder.parent)) as served:
        assert served.get_runs_count() == 1
        assert one_run(tmp_path) == 2
        assert served.get_runs_count() == 2
        for name, content in kept.items():
            for path in folder.glob(f"{name}*"):
                path.unlink()
            (folder / name).write_bytes(content)
        assert served.get_runs_count() == 1


def test_the_bytes_of_a_deleted_run_are_overwritten(tmp_path: Path) -> None:
    """They are compressed, so that a search for forgotten text would not see them in a free page."""
    assert one_run(tmp_path) == 1
    path = runner.instance_folder(tmp_path) / "history" / "runs.db"
    with closing(sqlite3.connect(path)) as connection:
        ((body,),) = connection.execute("SELECT run_body FROM runs").fetchall()
    assert body[8:-8] in path.read_bytes()
    with runner.instance(tmp_path) as shared:
        shared.delete_run(shared.get_runs()[0].run_id)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    assert body[8:-8] not in path.read_bytes()


def test_a_sync_of_one_message_writes_few_events(tmp_path: Path) -> None:
    config = archive.make(tmp_path)
    home = archive.first_sync(config, dagster=True).home

    def stored() -> tuple[int, int]:
        """Events and their bytes, indexes apart."""
        with closing(sqlite3.connect(home / "dagster" / "history" / "event_log.db")) as connection:
            count, size = connection.execute("SELECT count(*), sum(length(event)) FROM event_logs").fetchone()
        return count, size

    count, size = stored()
    with (tmp_path / "chats" / "WhatsApp Chat with Hiking.txt").open("a") as file:
        file.write("15/02/2024, 08:00 - Petr Kolar: The plumber comes on Friday\n")
    assert commands.sync(config) == 0
    later_count, later_size = stored()
    assert later_count - count < 80
    assert later_size - size < 45_000  # as text they would be 95,000


def test_rows_of_an_earlier_version_are_read(tmp_path: Path) -> None:
    """They are text; now they are compressed."""
    assert one_run(tmp_path) == 1
    folder = runner.instance_folder(tmp_path) / "history"
    for name, table, column in (
        ("event_log.db", "event_logs", "event"),
        ("event_log.db", "asset_keys", "last_materialization"),
        ("runs.db", "runs", "run_body"),
    ):
        with closing(sqlite3.connect(folder / name)) as connection:
            rows = connection.execute(f"SELECT id, {column} FROM {table}").fetchall()
            texts = [(zlib.decompress(row).decode(), number) for number, row in rows]
            assert texts and all(text.startswith("{") for text, _ in texts)
            connection.executemany(f"UPDATE {table} SET {column} = ? WHERE id = ?", texts)
            connection.commit()
    assert one_run(tmp_path) == 2
    with runner.instance(tmp_path) as shared:
        assert [run.status for run in shared.get_runs()] == [dg.DagsterRunStatus.SUCCESS] * 2
        assert len(shared.fetch_materializations(dg.AssetKey("counted"), limit=5).records) == 2
        (record,) = shared.get_asset_records([dg.AssetKey("counted")])
        assert record.asset_entry.last_materialization
