"""A generation on top of the one before it, and when it is built whole instead."""

from __future__ import annotations

import json
import os
import shutil
import signal
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import duckdb
import pytest

from relrag_pipelines.files import sealed_json
from relrag_pipelines.publishing import publish
from relrag_pipelines.settings import Settings
from relrag_pipelines.stores import catalog, catalog_build, generation_damage, generations, vector_store
from relrag_pipelines.workers import pool as workers
from relrag_query.archive import Archive
from relrag_query.cli import exit_codes
from relrag_query.cli.commands import sync as commands
from tests import archive


@pytest.fixture
def config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.delenv("RELRAG_CONFIG", raising=False)
    return archive.many_notes(tmp_path)


def add(config: Path, *notes: dict[str, Any]) -> None:
    with (config.parent / "notes.jsonl").open("a") as file:
        file.writelines(json.dumps(note) + "\n" for note in notes)


def published(config: Path) -> Path:
    home = archive.workspace(config).home
    return home / "published" / str(generations.current_number(home))


def on_top(config: Path) -> bool:
    return (published(config) / catalog.BASE).exists()


def search(config: Path, query: str) -> list[str]:
    with Archive.open(config) as opened:
        return [hit.chunk.source_id or "" for hit in opened.search(query).hits]


def everything(config: Path) -> dict[str, list[tuple[Any, ...]]]:
    edges = "src_asset_ref, dst_asset_ref, relation_type, confidence, provenance"
    columns = {"records": "*", "chunks": "* EXCLUDE (created_at)", "identifiers": "*", "asset_asset_edges": edges}
    with catalog.open(published(config) / catalog.NAME) as connection:
        return {
            table: connection.execute(f"SELECT {names} FROM {table} ORDER BY ALL").fetchall()
            for table, names in columns.items()
        }


@pytest.mark.usefixtures("without_dagster")
def test_a_new_note_lies_on_top_and_is_found_beside_the_old_ones(
    config: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    archive.first_sync(config)
    whole = published(config) / catalog.NAME
    add(config, {"id": "new", "text": "The orangery is heated by a rusty boiler.", "ts": 1735689600})
    with monkeypatch.context() as patch:  # what it lies on top of was compared when it was built
        patch.setattr(catalog, "count_removed", Mock(side_effect=AssertionError))
        assert commands.sync(config) == 0
    assert on_top(config)
    assert (published(config) / catalog.BASE).samefile(whole)
    with catalog.open(published(config) / catalog.NAME) as connection:
        look_up = "EXPLAIN ANALYZE SELECT text FROM records WHERE asset_id IN (?, ?)"
        ((_, steps),) = connection.execute(look_up, ["jsonl:notes:n3", "jsonl:notes:n4"]).fetchall()
    assert steps.count("Index Scan") == 2, steps  # in both layers
    assert search(config, "rusty boiler")[0] == "new"
    assert search(config, "greenhouse pane 21")[0] == "n3"
    assert generation_damage.verify(archive.workspace(config).home, 2) == []
    # the same archive synced once into a new home
    (tmp_path / "fresh").mkdir()
    fresh = tmp_path / "fresh" / "relrag.toml"
    fresh.write_text(config.read_text())
    (tmp_path / "fresh" / "notes.jsonl").write_text((tmp_path / "notes.jsonl").read_text())
    shutil.copy2(tmp_path / "test.keys", tmp_path / "fresh")
    assert commands.sync(fresh) == 0
    assert everything(fresh) == everything(config)


def test_a_second_one_lies_on_the_same_base_and_the_base_outlives_its_generation(config: Path) -> None:
    archive.first_sync(config)
    for number in range(4):  # more than are kept
        add(config, {"id": f"new{number}", "text": f"A boiler, number {number}.", "ts": 1735689600})
        archive.sync(config)
        assert on_top(config)
    home = archive.workspace(config).home
    assert sorted(generations.numbers(home)) == [4, 5]
    assert generation_damage.verify(home, 5) == []
    assert set(search(config, "boiler")) == {"new0", "new1", "new2", "new3"}
    assert len(everything(config)["records"]) == 44


def test_an_edit_leaves_nothing_of_the_old_text(config: Path) -> None:
    add(config, {"id": "secret", "text": "The safe opens with zanzibar.", "ts": 1735689600})
    archive.first_sync(config)
    notes = config.parent / "notes.jsonl"
    notes.write_text(notes.read_text().replace("zanzibar", "patience"))
    archive.sync(config)
    assert not on_top(config)
    assert generations.numbers(archive.workspace(config).home) == [2]
    assert search(config, "safe opens with patience")[0] == "secret"
    assert all(b"zanzibar" not in path.read_bytes() for path in published(config).rglob("*") if path.is_file())


def test_the_usual_embedder_of_the_first_generation_is_carried_on(
    config: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Under a version with another default too; an archive that recorded none was made with minilm."""
    usual = Settings.model_fields["embedder"]
    archive.first_sync(config)
    manifest = published(config) / "MANIFEST.json"
    recorded = sealed_json.read(manifest)
    assert recorded.pop("default_embedder") == usual.default
    manifest.write_text(sealed_json.seal(recorded))
    for default in ("e5", "minilm"):
        monkeypatch.setattr(usual, "default", default)
        add(config, {"id": default, "text": "The orangery is heated by a rusty boiler.", "ts": 1735689600})
        archive.sync(config)
        assert sealed_json.read(published(config) / "MANIFEST.json")["default_embedder"] == "minilm"


def test_much_that_is_new_is_built_whole(config: Path) -> None:
    archive.first_sync(config)
    add(config, *({"id": f"x{number}", "text": f"More {number}.", "ts": 1735689600} for number in range(12)))
    archive.sync(config)
    assert not on_top(config)


def test_another_setting_is_built_whole(config: Path) -> None:
    archive.first_sync(config)
    config.write_text(config.read_text().replace("pii_redaction_enabled = true", "pii_redaction_enabled = false"))
    archive.sync(config)
    assert not on_top(config)


def test_a_damaged_account_of_the_months_is_no_reason_to_fail(config: Path) -> None:
    archive.first_sync(config)
    (published(config) / "months.json").write_text("{")
    add(config, {"id": "new", "text": "The orangery is heated.", "ts": 1735689600})
    archive.sync(config)
    assert not on_top(config)
    assert search(config, "orangery heated")[0] == "new"


def test_where_memory_does_not_suffice_on_top_it_is_built_whole(config: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    archive.first_sync(config)
    add(config, {"id": "new", "text": "The orangery is heated by a rusty boiler.", "ts": 1735689600})
    finish, tried = catalog_build._finish, []

    def finish_whole(connection: duckdb.DuckDBPyConnection, path: Path, on_top: bool) -> dict[str, int]:
        tried.append(on_top)
        if on_top:
            connection.execute("SET memory_limit = '1MB'")
        return finish(connection, path, on_top)

    monkeypatch.setattr(catalog_build, "_finish", finish_whole)
    archive.sync(config)
    assert tried == [True, False]
    assert not on_top(config)
    assert search(config, "rusty boiler")[0] == "new"
    assert len(generations.numbers(archive.workspace(config).home)) == 2


def test_vectors_that_lack_a_passage_are_not_published(
    config: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    build = vector_store.build
    monkeypatch.setattr(vector_store, "build", lambda *given, **named: build(*given, **named) - 1)
    assert commands.sync(config) == exit_codes.COULD_NOT
    assert "the new generation does not fit together: {'points': " in capsys.readouterr().out
    assert generations.current_number(archive.workspace(config).home) is None


def test_where_the_system_ends_the_process_that_fills_the_vectors_a_fresh_one_does(config: Path) -> None:
    workspace = archive.first_sync(config)
    shutil.rmtree(workspace.home / "published")
    pool = workers.start_pool(1)
    assert pool
    (executor,) = pool.executors
    process = executor.submit(os.getpid).result()
    os.kill(process, signal.SIGKILL)
    counts = publish.build(replace(workspace, pool=pool))
    workers.stop_pool(pool)
    assert (counts["points"], counts["points"] == counts["chunks"]) == (40, True)
    publish.publish(workspace)
    assert search(config, "greenhouse pane 21")[0] == "n3"
