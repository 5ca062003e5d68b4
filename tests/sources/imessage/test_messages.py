"""Databases of Messages: of older systems, with a log, damaged, and what its rows hold."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from relrag_pipelines.records import Failure, Record
from relrag_pipelines.sources import KINDS, ReadContext
from relrag_pipelines.sources.imessage import attributed_text
from relrag_pipelines.sources.unit_files import unit_of
from tests.chat_exports import MESSAGES_TABLES, cocoa, database, typed_stream
from tests.sources.connector import keyed, mutations

TS = 1_709_550_000
OLD_TABLES = """
CREATE TABLE handle (ROWID INTEGER PRIMARY KEY, id TEXT);
CREATE TABLE chat (ROWID INTEGER PRIMARY KEY, guid TEXT, style INTEGER, chat_identifier TEXT);
CREATE TABLE message (ROWID INTEGER PRIMARY KEY, guid TEXT, text TEXT, handle_id INTEGER, date INTEGER,
  is_from_me INTEGER);
CREATE TABLE chat_message_join (chat_id INTEGER, message_id INTEGER);
"""
"""of OS X 10.8"""
HANDLE = {"ROWID": 1, "id": "+420601234567"}
CHAT = {"ROWID": 1, "guid": "iMessage;-;+420601234567", "style": 45, "chat_identifier": "+420601234567"}


def read(folder: Path) -> list[Record | Failure]:
    log = folder / "chat.db-wal"
    unit = unit_of(folder / "chat.db", folder, (log,) if log.exists() else ())
    items = KINDS["imessage"].read(unit, ReadContext("sample", "Europe/Prague", keyed, owner="Dana Levi"))
    return [item for item in items if isinstance(item, Record | Failure)]


def message(number: int, **columns: Any) -> dict[str, Any]:
    return {"ROWID": number, "guid": f"G{number}", "date": cocoa(TS), "handle_id": 1, **columns}


def records(folder: Path, *messages: dict[str, Any], script: str = MESSAGES_TABLES) -> list[Record]:
    joins = [{"chat_id": 1, "message_id": row["ROWID"]} for row in messages]
    rows = {"handle": [HANDLE], "chat": [CHAT], "message": list(messages), "chat_message_join": joins}
    (folder / "chat.db").write_bytes(database(script, rows))
    items = read(folder)
    assert [item for item in items if isinstance(item, Failure)] == []
    return [item for item in items if isinstance(item, Record)]


@pytest.mark.parametrize("date", [TS - 978_307_200, cocoa(TS)])
def test_a_database_of_an_old_system(tmp_path: Path, date: int) -> None:
    (record,) = records(tmp_path, message(1, text="Is the ladder here?", date=date, is_from_me=0), script=OLD_TABLES)
    assert (record.text, record.from_, record.ts) == ("Is the ladder here?", "+420601234567", TS)


@pytest.mark.parametrize(
    "text", ["a", "x" * 127, "x" * 128, "ž" * 200, "x" * 70_000, "סולם 🍎", "NSString + \x84\x01+"]
)
def test_a_text_in_an_attributed_string(text: str) -> None:
    assert attributed_text.decode(typed_stream(text)) == text
    mutable = typed_stream(text).replace(b"\x08NSString", b"\x0fNSMutableString\x01\x84\x84\x08NSString", 1)
    assert attributed_text.decode(mutable) == text


@pytest.mark.parametrize("length", [0, 1, 12, 30, 70, 85])
def test_an_attributed_string_that_is_cut_off_has_no_text(length: int) -> None:
    assert attributed_text.decode(typed_stream("x" * 200)[:length]) is None


def test_rows_of_the_log_are_read_and_nothing_is_written(tmp_path: Path) -> None:
    live = tmp_path / "live"
    live.mkdir()
    with closing(sqlite3.connect(live / "chat.db")) as writer:
        writer.execute("PRAGMA journal_mode = WAL")
        writer.executescript(MESSAGES_TABLES)
        writer.execute("INSERT INTO handle VALUES (1, '+420601234567', 'iMessage', NULL)")
        writer.execute("INSERT INTO message (guid, text, handle_id, date) VALUES ('G1', 'In the log', 1, 1)")
        writer.commit()
        copy = tmp_path / "copy"
        shutil.copytree(live, copy, ignore=shutil.ignore_patterns("*-shm"))
    before = {file.name: file.read_bytes() for file in copy.iterdir()}
    assert before["chat.db-wal"]
    assert [item.text for item in read(copy) if isinstance(item, Record)] == ["In the log"]
    assert {file.name: file.read_bytes() for file in copy.iterdir()} == before


def test_a_reaction_that_was_taken_back_is_none(tmp_path: Path) -> None:
    first, *_ = records(
        tmp_path,
        message(1, text="Friday?", is_from_me=1),
        message(2, associated_message_guid="p:0/G1", associated_message_type=2001, date=cocoa(TS + 1)),
        message(3, associated_message_guid="p:0/G1", associated_message_type=2005, date=cocoa(TS + 2)),
        message(4, associated_message_guid="bp:G1", associated_message_type=3005, date=cocoa(TS + 3)),
        message(5, associated_message_guid="p:1/G1", associated_message_type=2007, date=cocoa(TS + 3)),
    )
    assert first.extra["reactions"] == [{"emoji": "👍", "count": 1, "from": ["+420601234567"]}]


@pytest.mark.parametrize(
    ("columns", "extra"),
    [
        ({"text": "Five", "date_edited": cocoa(TS)}, {"edited": True}),
        ({"date_edited": cocoa(TS)}, {"deleted": True}),
        ({"date_retracted": cocoa(TS)}, {"deleted": True}),
        ({"text": "\ufffc", "is_audio_message": 1}, {"media": "voice"}),
        ({"text": "x", "balloon_bundle_id": "com.apple.messages.URLBalloonProvider"}, {"media": "URLBalloonProvider"}),
        ({"item_type": 3}, {"system": True}),
    ],
)
def test_what_happened_to_a_message(tmp_path: Path, columns: dict[str, Any], extra: dict[str, Any]) -> None:
    (record,) = records(tmp_path, message(1, **columns))
    assert record.extra == extra


def test_a_row_of_another_type_is_a_failure_and_the_rest_is_read(tmp_path: Path) -> None:
    rows = {"handle": [HANDLE], "message": [message(1, text="a"), message(2, date="soon"), message(3, text=b"\xff")]}
    script = MESSAGES_TABLES.replace("date INTEGER", "date")
    (tmp_path / "chat.db").write_bytes(database(script, rows))
    items = read(tmp_path)
    assert [item.text for item in items if isinstance(item, Record)] == ["a"]
    assert {item.fault for item in items if isinstance(item, Failure)} == {"wrong_type"}


def _recursive(file: Path) -> None:
    with closing(sqlite3.connect(file)) as made:
        made.execute("CREATE VIEW message AS WITH RECURSIVE n(guid) AS (SELECT 1 UNION ALL SELECT guid FROM n) "
                     "SELECT guid, 1 AS handle_id, 1 AS is_from_me FROM n")  # fmt: skip


@pytest.mark.parametrize(
    ("make", "fault"),
    [
        (lambda file: file.write_bytes(b""), "empty"),
        (lambda file: file.write_bytes(b"SQLite format 3\0"), "damaged"),
        (lambda file: file.write_text("no database"), "not_a_chat"),
        (lambda file: file.write_bytes(database("CREATE TABLE notes (id);", {})), "not_a_chat"),
        (_recursive, "not_a_chat"),
    ],
)
def test_what_is_no_such_database_is_a_failure(tmp_path: Path, make: Callable[[Path], object], fault: str) -> None:
    make(tmp_path / "chat.db")
    (failure,) = read(tmp_path)
    assert isinstance(failure, Failure)
    assert failure.fault == fault
    assert not KINDS["imessage"].recognise(tmp_path / "chat.db")


def test_damaged_databases_are_survived(tmp_path: Path) -> None:
    sample = database(MESSAGES_TABLES, {"handle": [HANDLE], "chat": [CHAT], "message": [message(1, text="a" * 500)]})
    for data in mutations(sample, 60, "imessage"):
        (tmp_path / "chat.db").write_bytes(data)
        read(tmp_path)
