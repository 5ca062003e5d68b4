"""What Dagster loads: the graph, what is declared on it, its checks, and what schedule and sensors ask for."""

import graphlib
import shutil
import sqlite3
from contextlib import closing
from datetime import datetime
from pathlib import Path
from unittest.mock import Mock

import dagster as dg
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from relrag_pipelines.definitions import PUBLISHING, build_defs, follow_up
from relrag_pipelines.embedders import EmbeddingError
from relrag_pipelines.ingest.ingest import ingest
from relrag_pipelines.orchestration import runner
from relrag_pipelines.records import Record
from relrag_pipelines.stages import plan as plans
from relrag_pipelines.stages import redaction_check
from relrag_pipelines.stores import archive_tables, audit_mark, generations, lake
from relrag_pipelines.stores.table_schema import arrow_schema
from relrag_query.cli.commands import sync as commands
from tests import archive
from tests.conftest import ROOT
from tests.embedded_texts import SharedModel

STAGES = ("redacted", "identifiers", "chunks", "embeddings", "edges")


@pytest.fixture
def config(tmp_path: Path) -> Path:
    return archive.make(tmp_path)


def repository(config: Path) -> dg.RepositoryDefinition:
    return build_defs(archive.workspace(config)).get_repository_def()


def test_the_graph_is_the_declared_one(config: Path) -> None:
    graph = repository(config).asset_graph

    def parents(name: str) -> set[str]:
        return {key.to_user_string() for key in graph.get(dg.AssetKey(name.split("/"))).parent_keys}

    assert parents("chat/records") == {"chat/export"}
    assert parents("chat/redacted") == {"chat/records", "chat/export"}
    assert parents("chat/identifiers") == {"chat/records", "chat/export"}
    assert parents("chat/chunks") == {"chat/redacted"}
    assert parents("chat/embeddings") == {"chat/chunks"}
    assert parents("chat/edges") == {"chat/redacted", "chat/chunks"}
    assert parents("qdrant_points") == {
        "duckdb_catalog",
        *(f"{name}/embeddings" for name in ("chat", "papers", "notes")),
    }
    assert parents("published_generation") == {"duckdb_catalog", "qdrant_points"}
    assert parents("duckdb_catalog") >= {"chat/chunks", "persons", "person_entries", "relationship_embeddings"}
    of_people = {f"{name}/{table}" for name in ("chat", "papers", "notes") for table in ("redacted", "identifiers")}
    assert parents("persons") == of_people | {"passage_statements"}
    assert parents("relationship_embeddings") >= {"person_relationships", "chat/embeddings"}


def test_every_asset_says_what_it_is(config: Path) -> None:
    graph = repository(config).asset_graph
    for key in graph.get_all_asset_keys():
        node = graph.get(key)
        name = key.to_user_string()
        assert node.description, name
        assert node.owners == ["team:relrag"], name
        assert node.kinds, name
        across = "archive" if key.path[0] in archive_tables.NAMES else "published"
        assert "relrag/privacy" in node.tags, name
        assert node.group_name == (key.path[0] if len(key.path) == 2 else across), name
        if key.path[-1] != "records":
            assert node.code_version, name
        if key.path[-1] in STAGES:
            assert "dagster/column_schema" in node.metadata, name
            assert node.backfill_policy == dg.BackfillPolicy.single_run(), name
            assert node.partitions_def == graph.get(dg.AssetKey(["chat", "records"])).partitions_def, name


def test_descriptions_tell_assets_of_all_sources_apart(config: Path) -> None:
    graph = repository(config).asset_graph
    descriptions = [graph.get(key).description for key in graph.get_all_asset_keys() if len(key.path) == 1]
    assert len(set(descriptions)) == len(descriptions) > 15


def test_tags_say_what_an_asset_holds(config: Path) -> None:
    graph = repository(config).asset_graph
    tags = {name: dict(graph.get(dg.AssetKey(name.split("/"))).tags) for name in ("chat/records", "notes/chunks")}
    tags = {name: {tag: value for tag, value in one.items() if "relrag" in tag} for name, one in tags.items()}
    assert tags == {
        "chat/records": {"relrag/kind": "whatsapp", "relrag/channel": "whatsapp", "relrag/privacy": "private"},
        "notes/chunks": {"relrag/kind": "jsonl", "relrag/channel": "default", "relrag/privacy": "redacted"},
    }
    assert graph.get(dg.AssetKey("duckdb_catalog")).tags["relrag/privacy"] == "published"


def test_the_owner_is_a_setting(tmp_path: Path) -> None:
    found = repository(archive.make(tmp_path, 'asset_owner = "dana@example.org"')).asset_graph
    assert {tuple(found.get(key).owners) for key in found.get_all_asset_keys()} == {("dana@example.org",)}


def test_exports_and_the_generation_have_to_be_fresh(config: Path) -> None:
    graph = repository(config).asset_graph
    fresh = {key.to_user_string() for key in graph.get_all_asset_keys() if graph.get(key).freshness_policy}
    assert fresh == {"chat/export", "papers/export", "notes/export", "published_generation"}


def test_groups_form_no_cycle(config: Path) -> None:
    graph = repository(config).asset_graph
    above: dict[str, set[str]] = {}
    for key in graph.get_all_asset_keys():
        node = graph.get(key)
        groups = {graph.get(parent).group_name for parent in node.parent_keys} - {node.group_name}
        above.setdefault(node.group_name, set()).update(groups)
    graphlib.TopologicalSorter(above).prepare()


def test_the_partitions_are_months_up_to_the_current_one(config: Path) -> None:
    months = repository(config).asset_graph.get(dg.AssetKey(["chat", "records"])).partitions_def
    assert months
    keys = months.get_partition_keys(current_time=datetime.fromisoformat("2025-01-20T12:00:00+00:00"))
    assert (keys[0], keys[-1], len(keys)) == ("2000-01", "2025-01", 25 * 12 + 1)


def test_runs_are_seen_by_the_ui_and_hold_no_text(config: Path) -> None:
    archive.first_sync(config, dagster=True)
    home = archive.workspace(config).home
    with runner.instance(home) as shared:
        assert {one.status for one in shared.get_runs()} == {dg.DagsterRunStatus.SUCCESS}
        exported = shared.get_materialized_partitions(dg.AssetKey(["chat", "records"]))
        assert exported == {"2023-12", "2024-01", "2024-02"}
        event = shared.get_latest_materialization_event(dg.AssetKey(["chat", "redacted"]))
        assert event and event.asset_materialization
        assert set(event.asset_materialization.metadata) >= {"dagster/row_count", "bytes", "seconds", "hash"}
    for path, (_, content) in archive.contents(home / "dagster").items():
        for text in (b"Christmas", b"Dana Levi", b"Hiking", b"052-123"):
            assert text not in content, path


def test_the_check_of_redaction_looks_at_what_was_written_last_all_over_the_month(tmp_path: Path) -> None:
    workspace = archive.sync(archive.many_notes(tmp_path, 2000))
    source = workspace.settings.source("notes")
    rows = lake.read(workspace.home, "records", "notes", "2023-03")
    assert rows.num_rows == 85
    assert redaction_check.find_unredacted(workspace, source, 160) == {}
    empty = arrow_schema(Record).empty_table()  # all that it held had to be left out
    lake.write(workspace.home, "records", "notes", ["2023-04"], [(empty, lake.InputFingerprint("", 0, ""))])
    assert redaction_check.find_unredacted(workspace, source) == {}
    leaking = rows.to_pylist()
    for row in leaking[-40:]:
        row["text"] = "call 052-123-4567"
    pq.write_table(
        pa.Table.from_pylist(leaking, rows.schema), lake.month_path(workspace.home, "records", "notes", "2023-03")
    )
    assert redaction_check.find_unredacted(workspace, source, 160) == {"2023-03": 14}  # 0, 3, ... 84 are looked at
    audit_mark.mark_unaudited(workspace.home, "notes", ["2023-05"])
    assert redaction_check.find_unredacted(workspace, source) == {}  # only what waits for the search is
    audit_mark.mark_unaudited(workspace.home, "notes", ["2023-03"])
    assert redaction_check.find_unredacted(workspace, source) == {"2023-03": 40}


def test_the_checks_fail_when_what_they_check_is_wrong(config: Path) -> None:
    archive.first_sync(config, dagster=True)
    workspace = archive.workspace(config)
    defs = build_defs(workspace)
    checks = {key: check for check in defs.asset_checks or [] for key in check.check_keys}  # type: ignore[union-attr]

    def passed(asset: list[str], name: str) -> bool:
        result = checks[dg.AssetCheckKey(dg.AssetKey(asset), name)]()  # type: ignore[operator]
        return bool(result.passed)

    assert passed(["chat", "edges"], "manifest_true")
    assert passed(["chat", "redacted"], "no_unredacted_value")
    assert passed(["published_generation"], "nothing_dangling")
    assert passed(["published_generation"], "generation_true")

    raw = lake.read(workspace.home, "records", "chat", "2024-01").to_pylist()
    raw[0]["text"] = "call 052-123-4567"
    path = lake.month_path(workspace.home, "records", "chat", "2024-01")
    pq.write_table(pa.Table.from_pylist(raw, pq.read_schema(path)), path)
    assert not passed(["chat", "edges"], "manifest_true")
    assert not passed(["chat", "redacted"], "no_unredacted_value")
    assert "2024-01" not in lake.manifest(workspace.home, "records", "chat")

    generation = generations.current_number(workspace.home)
    catalog = workspace.home / "published" / str(generation) / "catalog.duckdb"
    import duckdb

    with duckdb.connect(str(catalog)) as connection:
        connection.execute("DELETE FROM records")
    assert not passed(["published_generation"], "nothing_dangling")
    assert not passed(["published_generation"], "generation_true")


def test_the_folder_sensor_starts_the_export_of_what_changed(config: Path) -> None:
    found = repository(config)
    sensor = found.get_sensor_def("source_folders")
    with dg.build_sensor_context(repository_def=found) as context:
        asked = sensor.evaluate_tick(context).run_requests
    assert asked
    assert [one.asset_selection for one in asked] == [
        [dg.AssetKey([name, "export"])] for name in ("chat", "papers", "notes")
    ]
    commands.sync(config)
    with dg.build_sensor_context(repository_def=found) as context:
        assert not sensor.evaluate_tick(context).run_requests


def test_the_follow_up_sensor_asks_for_stale_months_and_then_for_a_generation(config: Path) -> None:
    archive.first_sync(config, dagster=True)
    workspace = archive.workspace(config)
    (skipped,) = follow_up(workspace)
    assert isinstance(skipped, dg.SkipReason)

    archive.configure(config.parent, "chunk_tokens = 64")
    stale = archive.workspace(config)
    asked = [one for one in follow_up(stale) if isinstance(one, dg.RunRequest) and one.tags]
    assert (asked[0].job_name, asked[0].tags["dagster/asset_partition_range_start"]) == ("sync", "2023-12")

    archive.configure(config.parent)
    shutil.rmtree(workspace.home / "published")
    (wanted,) = follow_up(archive.workspace(config))
    assert isinstance(wanted, dg.RunRequest) and wanted.job_name == "publish"


def test_the_sensor_publishes_a_first_generation_though_nothing_can_be_embedded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As a sync does: it is searched by words, until the vectors are there."""
    config = archive.many_notes(tmp_path, 1)
    config.write_text(config.read_text().replace(archive.WORDS_ONLY, ""))
    workspace = archive.workspace(config)
    ingest(workspace, workspace.settings.source("notes"))
    broken = Mock(side_effect=EmbeddingError("out of order"))
    with monkeypatch.context() as patch:
        patch.setattr(SharedModel, "documents", broken)
        assert tick(config) == ["sync"]
        assert not broken.called
        assert [tick(config), tick(config)] == [["sync"], ["publish"]], "first who is who"
        assert generations.current_manifest(workspace.home)["embedder"] == ""
        assert tick(config) == ["sync"]
        assert broken.called
    assert generations.current_number(workspace.home) == 1
    assert [tick(config), tick(config), tick(config)] == [["sync"], ["sync"], ["publish"]]
    assert generations.current_manifest(workspace.home)["embedder"] == "multilingual-e5-small-int8:1571fc98"
    assert tick(config) == []
    assert plans.build_plan(workspace).empty


def tick(config: Path) -> list[str]:
    """Does what the follow-up sensor asks for, and returns its jobs."""
    workspace = archive.workspace(config)
    asked = [one for one in follow_up(workspace) if isinstance(one, dg.RunRequest)]
    for one in asked:
        selection = list(one.asset_selection or [dg.AssetKey(name) for name in PUBLISHING])
        dg.materialize(
            build_defs(workspace).assets or [],  # type: ignore[arg-type]
            selection=selection,
            tags=dict(one.tags),
            raise_on_error=False,
        )
    return [str(one.job_name) for one in asked]


def test_the_schedule_runs_every_night_in_the_owners_zone(config: Path) -> None:
    schedule = repository(config).get_schedule_def("nightly")
    assert (schedule.cron_schedule, schedule.execution_timezone) == ("30 3 * * *", "Europe/Prague")
    assert schedule.default_status == dg.DefaultScheduleStatus.RUNNING
    with dg.build_schedule_context(repository_def=repository(config)) as context:
        (wanted,) = schedule.evaluate_tick(context).run_requests or []
    assert [key.to_user_string() for key in wanted.asset_selection or []] == [
        "chat/export",
        "papers/export",
        "notes/export",
    ]
    assert wanted.tags["relrag/launched_by"] == "schedule"
    assert {"chat/records:silence", "notes/records:failure_share", "archive_home:free_disk"} <= {
        key.to_user_string() for key in wanted.asset_check_keys or []
    }


def test_the_schedule_can_be_switched_off(tmp_path: Path) -> None:
    config = archive.make(tmp_path, 'nightly = "off"')
    assert not repository(config).has_schedule_def("nightly")


def test_no_dagster_instance_sends_telemetry() -> None:
    for path in (ROOT / "dagster.yaml", ROOT / "relrag_pipelines" / "orchestration" / "dagster.yaml"):
        assert "telemetry:\n  enabled: false" in path.read_text()


def test_a_database_that_a_process_was_killed_over_while_it_made_it_is_made_anew(tmp_path: Path) -> None:
    """One table of many was there; what holds events stays."""
    with runner.instance(tmp_path):
        pass
    path = tmp_path / "dagster" / runner._EVENTS
    for part in path.parent.glob(f"{path.name}*"):
        part.unlink()
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE event_logs (id INTEGER)")
    with runner.instance(tmp_path) as shared:
        assert list(shared.all_asset_keys()) == []
        shared.report_runless_asset_event(dg.AssetMaterialization("a"))
    with runner.instance(tmp_path) as shared:
        assert list(shared.all_asset_keys()) == [dg.AssetKey("a")]
