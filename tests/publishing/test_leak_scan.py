"""What was replaced is looked for in everything outside private/, and told without its value."""

from __future__ import annotations

import json
import sqlite3
import zlib
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from relrag_pipelines.files.sparse_files import copy_with_holes
from relrag_pipelines.pii import PIIRedactor
from relrag_pipelines.publishing import leak_scan
from relrag_pipelines.publishing.leak_scan import LeakScan
from relrag_pipelines.stores import catalog, generations, lake, vector_store
from relrag_pipelines.workspace import Workspace
from relrag_query.cli.commands.verify import scan_pii
from tests import archive

PLANTED = "+972 (52) 12-34-567"
"""the number that the chat hides, as no message writes it"""
DIGITS = "521234567"
GRAPH = '[graphrag.collections.all]\nsources = ["chat", "papers", "notes"]\n'


@pytest.fixture(scope="module")
def archive_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("synced")
    archive.first_sync(archive.make(folder), dagster=True)
    return folder


@pytest.fixture
def workspace(archive_folder: Path, tmp_path: Path) -> Workspace:
    copy_with_holes(archive_folder, tmp_path)
    (tmp_path / "test.keys").chmod(0o600)
    return archive.workspace(tmp_path / "relrag.toml")


def leak_rows(seen: LeakScan) -> list[tuple[str, str, str]]:
    assert not seen.unread
    return [(one.table, one.record, one.entity) for one in seen.leaks]


def plant(path: Path, column: str, value: Any = PLANTED) -> dict[str, Any]:
    """Puts the value into the last row of a parquet file; returns the row."""
    table = pq.read_table(path, partitioning=None)
    rows = table.to_pylist()
    rows[-1][column] = value
    pq.write_table(pa.Table.from_pylist(rows, table.schema), path)
    return dict(rows[-1])


def current(workspace: Workspace) -> Path:
    return workspace.home / "published" / str(generations.current_number(workspace.home))


def test_a_clean_home_has_none(workspace: Workspace, capsys: pytest.CaptureFixture[str]) -> None:
    seen = leak_scan.scan_home(workspace)
    assert seen.leaks == seen.unread == []
    assert seen.files > 20
    assert scan_pii(workspace.settings.folder / "relrag.toml") == 0
    assert "No replaced value was found in" in capsys.readouterr().out


def test_a_value_in_the_lake_is_told_by_table_and_record(
    workspace: Workspace, capsys: pytest.CaptureFixture[str]
) -> None:
    path = lake.month_path(workspace.home, "records", "notes", "2024-02")
    row = plant(path, "text", f"Petr: {PLANTED}")
    name = path.relative_to(workspace.home).as_posix()
    assert leak_rows(leak_scan.scan_home(workspace)) == [("records", row["asset_id"], "PHONE_NUMBER")]
    assert scan_pii(workspace.settings.folder / "relrag.toml") == 1
    said = capsys.readouterr().out
    assert f"{name} records {row['asset_id']} PHONE_NUMBER\n" in said
    assert "12-34" not in said
    assert DIGITS not in said


def test_an_id_that_holds_a_value_is_not_printed(workspace: Workspace) -> None:
    path = lake.month_path(workspace.home, "chunks", "notes", "2024-02")
    count = pq.read_metadata(path).num_rows
    plant(path, "asset_id", "jsonl:notes:0521234567")
    assert leak_rows(leak_scan.scan_home(workspace)) == [("chunks", f"row {count}", "PHONE_NUMBER")]


def test_a_value_in_the_catalog_is_found(workspace: Workspace) -> None:
    with catalog.connect(str(current(workspace) / catalog.NAME)) as connection:
        connection.execute("UPDATE records SET subject = ? WHERE asset_id = 'jsonl:notes:n1'", [f"Call of {PLANTED}"])
    assert leak_rows(leak_scan.scan_home(workspace)) == [("records", "jsonl:notes:n1", "PHONE_NUMBER")]


def test_a_value_in_a_payload_is_found(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    read = vector_store.payloads

    def leaking(path: Path) -> Iterator[dict[str, Any]]:
        for payload in read(path):
            yield payload | {"subject": [PLANTED]} if payload == next(read(path)) else payload

    monkeypatch.setattr(vector_store, "payloads", leaking)
    seen = leak_scan.scan_home(workspace)
    assert {(one.table, one.entity) for one in seen.leaks} == {("payloads of points", "PHONE_NUMBER")}


def test_a_value_between_the_empty_bytes_of_an_engines_file_is_found(workspace: Workspace) -> None:
    page = current(workspace) / "page_0.dat"
    page.write_bytes(b"\0" * 4_000_000 + f"said\0{PLANTED}\0\0\0\n".encode() + b"\0" * 4_000_000)
    assert leak_rows(leak_scan.scan_home(workspace)) == [("page_0.dat", "row 1", "PHONE_NUMBER")]


def test_binary_columns_and_events_are_decoded(workspace: Workspace) -> None:
    table = pa.table(
        {"id": ["a", "b"], "packed": [zlib.compress(PLANTED.encode()), f"x {PLANTED}".encode("utf-16-le")]}
    )
    place = workspace.home / "graphrag" / "all" / "1"
    place.mkdir(parents=True)
    pq.write_table(table, place / "text_units.parquet")
    assert leak_rows(leak_scan.scan_home(workspace)) == [
        ("text_units", "a", "PHONE_NUMBER"),
        ("text_units", "b", "PHONE_NUMBER"),
    ]
    events = workspace.home / "dagster" / "events.db"
    with closing(sqlite3.connect(events)) as database:
        database.execute("CREATE TABLE event_logs (id INTEGER, event TEXT, body BLOB)")
        database.execute("INSERT INTO event_logs VALUES (7, ?, NULL)", [json.dumps({"said": f"ב{PLANTED}"})])
        database.execute("INSERT INTO event_logs VALUES (8, '', ?)", [zlib.compress(PLANTED.encode())])
        database.commit()
    (workspace.home / "dagster" / "run.err").write_text(f"fine\nfailed at {PLANTED}\n")
    assert leak_rows(leak_scan.scan_home(workspace))[:3] == [
        ("event_logs", "7", "PHONE_NUMBER"),
        ("event_logs", "8", "PHONE_NUMBER"),
        ("run.err", "row 2", "PHONE_NUMBER"),
    ]


def test_what_the_redactor_overlooks_is_withheld_and_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    config = archive.make(tmp_path)
    chat = next((tmp_path / "chats").glob("*.txt"))
    chat.write_text(chat.read_text() + f"15/01/2024, 08:00 - Dana Levi: his number again: {PLANTED}\n")
    passes = PIIRedactor.passes

    def blind(self: PIIRedactor, text: str, *given: Any) -> Any:
        return iter(()) if "again:" in text else passes(self, text, *given)

    monkeypatch.setattr(PIIRedactor, "passes", blind)
    monkeypatch.setattr("relrag_pipelines.stages.redaction_check.find_unredacted", lambda *_: {})
    workspace = archive.sync(config)
    (failure,) = lake.read(workspace.home, "failures", "chat", "2024-01").to_pylist()
    assert failure["fault"] == "known_value"
    assert failure["location"].startswith("whatsapp:")
    kept = lake.read(workspace.home, "records", "chat", "2024-01")
    assert failure["location"] not in kept["asset_id"].to_pylist()
    assert kept.num_rows == 2
    assert leak_scan.scan_home(workspace).leaks == []
