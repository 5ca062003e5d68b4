"""`relrag status`: counts of a known archive, and a clear line for whatever is missing."""

import json
import shutil
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from relrag_pipelines import settings
from relrag_pipelines.records import Chunk, Failure, Record, UnitMonth, UnitState
from relrag_pipelines.settings import Settings
from relrag_pipelines.stores import generations, lake, lock, unit_state
from relrag_pipelines.stores.lake import InputFingerprint
from relrag_pipelines.stores.table_schema import to_table
from relrag_query.cli.commands.status import status
from relrag_query.service.archive_status import Status, collect
from tests import archive

CONFIG = """
archive = "test"
keys_file = "test.keys"
embedder = "none"
timezone = "Asia/Jerusalem"
[[sources]]
name = "chat"
kind = "whatsapp"
path = "chats"
[[sources]]
name = "papers"
kind = "document"
path = "papers"
"""
STAMP = InputFingerprint("", 1, "")


@pytest.fixture
def config(tmp_path: Path) -> Path:
    """An archive of two sources that was never synced."""
    (tmp_path / "chats").mkdir()
    (tmp_path / "chats" / "a.txt").write_text("12345")
    (tmp_path / "papers").mkdir()
    path = tmp_path / "relrag.toml"
    path.write_text(CONFIG)
    return path


@pytest.fixture
def indexed(config: Path) -> Path:
    """The same with two chat records in two months, an undated one, three chunks and three failures."""
    settings_of_it = settings.load(config, {})
    home = settings_of_it.home_path
    settings_of_it.key_store.create()
    months = {
        "2000-01": [record("c", None)],
        "2024-01": [record("a", 1706600000)],
        "2024-03": [record("b", 1709251199)],
    }
    lake.write(home, "records", "chat", list(months), [(to_table(rows, Record), STAMP) for rows in months.values()])
    chunks = [chunk(name) for name in ("x", "y", "z")]
    lake.write(home, "chunks", "chat", ["2024-01"], [(to_table(chunks, Chunk), STAMP)])
    redaction = to_table([Failure("whatsapp:b", "redaction", "left out", "chat")], Failure)
    lake.write(home, "failures", "chat", ["2024-03"], [(redaction, STAMP)])
    states = [
        UnitState(name, size, 0, "h", "r", [UnitMonth("2024-01", 1, "h")])
        for name, size in (("a.txt", 5), ("b.zip", 7))
    ]
    unit_state.save(home, "chat", {state.path: state for state in states})
    unit_state.save_failures(
        home,
        "chat",
        [
            Failure("line 2", "charset", "save it as UTF-8", "chat", "a.txt"),
            Failure("", "encrypted", "export it again", "chat", "b\x1b[31m.zip", True),
        ],
    )
    (generations.begin(home) / "catalog.duckdb").write_bytes(b"x" * 2000)
    counts = {"records": 3, "chunks": 3, "asset_asset_edges": 1}
    generations.finish(home, {"inputs": "", "counts": counts}, datetime(2025, 1, 20, 12, tzinfo=UTC))
    return config


def record(name: str, ts: int | None) -> Record:
    return Record(name, "text", f"whatsapp:{name}", "chat", "whatsapp", "whatsapp", ts=ts)


def chunk(name: str) -> Chunk:
    return Chunk(name, f"whatsapp:{name}", name, 0, 1, "text", "h", "chat", "whatsapp", "whatsapp")


def load(config: Path) -> Settings:
    return settings.load(config, {})


def test_an_archive_is_counted(indexed: Path) -> None:
    found = collect(load(indexed))
    chat, papers = found.sources
    assert (chat.units, chat.bytes, chat.records, chat.chunks, chat.months) == (2, 12, 3, 3, 3)
    assert chat.failures == {"charset": 1, "encrypted": 1, "redaction": 1}
    assert (chat.failed, chat.skipped) == (chat.failures, {})
    assert chat.newest == "2024-02-29T23:59:59Z"
    assert chat.stored_bytes == sum(
        path.stat().st_size for path in (indexed.parent / ".relrag/lake").rglob("*.parquet")
    )
    assert (papers.units, papers.records, papers.newest, papers.failures) == (0, 0, None, {})
    assert found.generation == {
        "number": 1,
        "published_at": "2025-01-20T12:00:00+00:00",
        "counts": {"records": 3, "chunks": 3, "asset_asset_edges": 1},
        "bytes": 2000,
        "embedder": "",
    }
    assert found.evaluations == []
    assert found.writing is None


def test_it_is_printed_in_the_owners_time(indexed: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert status(indexed) == 0
    said = capsys.readouterr().out
    assert max(map(len, said.splitlines()[1:4])) <= 80
    (row,) = [line.split() for line in said.splitlines() if line.startswith("chat ")]
    assert row[:6] == ["chat", "whatsapp", "2", "12", "B", "3"]
    assert "2024-03-01 01:59" in said
    assert "1 charset, 1 encrypted, 1 redaction" in said
    contents = "Generation 1, published 2025-01-20 14:00, 2.0 kB: 3 records, 3 passages, 1 relation.\n"
    assert f"{contents}It is searched by words.\n" in said
    assert "A sync would read 1 file, let go of 1 file that is gone, " in said


def test_json_holds_the_same(indexed: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert status(indexed, as_json=True) == 0
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    assert found["archive"] == "test"
    assert [(one["name"], one["records"], one["failures"].get("charset")) for one in found["sources"]] == [
        ("chat", 3, 1),
        ("papers", 0, None),
    ]
    assert found["generation"]["number"] == 1


def test_failures_are_listed_without_what_could_steer_a_terminal(
    indexed: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert status(indexed, failures=True) == 0
    assert capsys.readouterr().out.splitlines() == [
        "chat: a.txt, line 2: charset: save it as UTF-8",
        "chat: b[31m.zip: encrypted: export it again",
        "chat: whatsapp:b: redaction: left out",
    ]
    assert status(indexed, failures=True, as_json=True) == 0
    assert [one["fault"] for one in json.loads(capsys.readouterr().out)] == ["charset", "encrypted", "redaction"]


def test_a_new_archive_has_nothing_and_nothing_is_written(config: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert status(config) == 0
    said = capsys.readouterr().out
    assert "Nothing is published yet.\n" in said
    assert "A sync would read 1 file (5 B) and publish the first generation.\n" in said
    assert sorted(path.name for path in config.parent.iterdir()) == ["chats", "papers", "relrag.toml"]
    assert status(config, failures=True) == 0
    assert capsys.readouterr().out == "Everything was read.\n"


def test_an_archive_without_sources_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "relrag.toml").write_text("")
    assert status(tmp_path / "relrag.toml") == 0
    assert "No sources; add a [[sources]] table to relrag.toml" in capsys.readouterr().out


@pytest.mark.parametrize("indexed_before", [True, False])
def test_a_missing_source_folder_is_told(
    request: pytest.FixtureRequest, indexed_before: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    config: Path = request.getfixturevalue("indexed" if indexed_before else "config")
    shutil.rmtree(config.parent / "papers")
    assert status(config) == 0
    missing = config.parent / "papers"
    advice = "mount or restore it, or change the path in relrag.toml"
    assert f"problem: papers: {missing} is not there; {advice}\n" in capsys.readouterr().out


def test_missing_keys_are_told_and_none_are_made(indexed: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (indexed.parent / "test.keys").unlink()
    assert status(indexed) == 0
    said = capsys.readouterr().out
    path = indexed.parent / "test.keys"
    assert f"problem: the archive's keys are missing: {path}; restore them from your backup\n" in said
    assert "Everything is up to date" not in said
    assert not path.exists()


def test_a_lake_of_a_newer_relrag_is_refused_by_name(indexed: Path) -> None:
    manifest = indexed.parent / ".relrag/lake/records/chat/MANIFEST.json"
    archive.as_schema(manifest, 99)
    found: Status = collect(load(indexed))
    assert "was written by a newer relrag (schema 99, this one knows" in found.sources[0].problem


def test_a_generation_that_is_gone_is_told(indexed: Path) -> None:
    shutil.rmtree(indexed.parent / ".relrag/published/1")
    found = collect(load(indexed))
    assert found.generation is None
    assert "generation 1 is named as current but is not there" in found.problems


def test_who_is_writing_is_told(indexed: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with lock.writing(indexed.parent / ".relrag", "relrag sync"):
        assert status(indexed) == 0
    assert "relrag sync (process " in capsys.readouterr().out.splitlines()[-1]


def test_an_embedder_without_its_package_is_told(
    indexed: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The rest is told too; what a sync would do cannot be known."""
    monkeypatch.setitem(sys.modules, "fastembed", None)
    text = indexed.read_text()
    indexed.write_text(text.replace('"none"', '"fastembed"\nembedding_model = "BAAI/bge-small-en-v1.5"'))
    assert status(indexed) == 0
    said = capsys.readouterr().out
    why = 'embedder "fastembed" needs the package fastembed; install relrag[fastembed]'
    assert f"It is searched by words; the embedder cannot be used: {why}\n" in said
    assert "Generation 1" in said
