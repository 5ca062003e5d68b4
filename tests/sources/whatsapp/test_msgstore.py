"""Databases of WhatsApp on Android, of both schemas, and that an exported text has the same messages."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from relrag_pipelines.ingest.ingest import ingest
from relrag_pipelines.records import Failure, Record
from relrag_pipelines.sources import KINDS, ReadContext
from relrag_pipelines.sources.unit_files import unit_of
from relrag_pipelines.stages import month_stages
from relrag_pipelines.stores import lake
from tests import archive
from tests.chat_exports import database
from tests.sources.connector import keyed, mutations
from tests.whatsapp_databases import EVA, GROUP, HIDDEN, NEW, PETR, TS, message, msgstore, old_msgstore

TEXT = """13/01/2024, 11:16 - Petr Kolář: Who has the key of the cabin?
13/01/2024, 11:17 - Dana Levi: Eva has it.
Ask her.
13/01/2024, 11:17 - Dana Levi: Eva has it.
Ask her.
13/01/2024, 11:18 - Petr Kolář: Friday then <This message was edited>
13/01/2024, 11:19 - Petr Kolář: This message was deleted
13/01/2024, 11:20 - Petr Kolář: \u200eIMG-20240113-WA0001.jpg (file attached)
The key
"""
"""the chat as WhatsApp exports it"""
MESSAGES = [
    message(1, "Who has the key of the cabin?"),
    message(2, "Eva has it.\nAsk her.", from_me=1),
    message(3, "Eva has it.\nAsk her.", from_me=1, timestamp=(TS + 150) * 1000),
    message(4, "Friday then", timestamp=(TS + 180) * 1000),
    message(5, None, message_type=15, timestamp=(TS + 240) * 1000),
    message(6, "The key", message_type=1, timestamp=(TS + 300) * 1000),
]
TABLES: dict[str, list[dict[str, Any]]] = {
    "message_quoted": [{"message_row_id": 2, "key_id": "K1"}, {"message_row_id": 4, "key_id": "K2"}],
    "message_edit_info": [{"message_row_id": 4}],
    "message_media": [
        {"message_row_id": 6, "file_path": "Media/WhatsApp Images/IMG-20240113-WA0001.jpg", "mime_type": "image/jpeg"}
    ],
}


def read(file: Path, root: Path) -> list[Record | Failure]:
    reading = ReadContext("sample", "Europe/Prague", keyed, owner="Dana Levi")
    items = KINDS["whatsapp"].read(unit_of(file, root), reading)
    return [item for item in items if isinstance(item, Record | Failure)]


def records(file: Path) -> list[Record]:
    items = read(file, file.parent)
    assert [item for item in items if isinstance(item, Failure)] == []
    return [item for item in items if isinstance(item, Record)]


def test_a_text_and_a_database_are_one_set_of_messages(tmp_path: Path) -> None:
    chat = tmp_path / "WhatsApp Chat with Petr Kolář.txt"
    chat.write_text(TEXT)
    of_text, of_database = records(chat), records(msgstore(tmp_path, MESSAGES, TABLES))
    assert [record.source_id for record in of_text] == [record.source_id for record in of_database]
    assert [(record.from_, record.text, record.subject) for record in of_text] == [
        (record.from_, record.text, record.subject) for record in of_database
    ]
    assert [record.thread_id for record in of_text] == [record.thread_id for record in of_database]


def test_what_only_the_database_tells(tmp_path: Path) -> None:
    first, second, third, fourth, deleted, picture, file = records(msgstore(tmp_path, MESSAGES, TABLES))
    assert first.ts == TS + 60
    assert first.people[0].name == "Petr Kolář +420601234567"
    assert second.parent_asset_id == f"whatsapp:{first.source_id}"
    assert third.source_id == f"{second.source_id}:2"
    assert fourth.parent_asset_id == f"whatsapp:{second.source_id}"
    assert (fourth.extra, deleted.extra, deleted.text) == ({"edited": True}, {"deleted": True}, "")
    assert (picture.text, picture.total_siblings) == ("The key", 1)
    assert (file.file_name, file.content_type, file.parent_asset_id) == (
        "IMG-20240113-WA0001.jpg", "image/jpeg", f"whatsapp:{picture.source_id}",
    )  # fmt: skip


def test_files_that_lie_beside_the_database_are_located(tmp_path: Path) -> None:
    folder = tmp_path / "Databases"
    media = tmp_path / "Media/WhatsApp Documents"
    media.mkdir(parents=True)
    (media / "plan.pdf").write_bytes(b"%PDF")
    path = "Media/WhatsApp Documents/plan.pdf"
    made = msgstore(folder, [message(1, message_type=9)], {"message_media": [{"message_row_id": 1, "file_path": path}]})
    _, file = (item for item in read(made, tmp_path) if isinstance(item, Record))
    assert (file.locations, file.file_name) == ([path], "plan.pdf")
    assert file.extra["bytes_hash"]


@pytest.mark.parametrize(
    ("columns", "tables", "text", "extra"),
    [
        ({"message_type": 5}, {"message_location": [{"message_row_id": 1, "latitude": 50.08, "longitude": 14.42}]},
         "location: https://maps.google.com/?q=50.08,14.42", {"place": [50.08, 14.42]}),
        ({"message_type": 66, "text_data": "Which day?"},
         {"message_poll_option": [{"message_row_id": 1, "option_name": "Friday", "vote_total": 2},
                                  {"message_row_id": 1, "option_name": "Sunday", "vote_total": 1}]},
         "POLL:\nWhich day?\nOPTION: Friday (2 votes)\nOPTION: Sunday (1 vote)", {"poll": True}),
        ({"text_data": "News"}, {"message_forwarded": [{"message_row_id": 1, "forward_score": 1}]}, "News",
         {"forwarded": True}),
        ({"text_data": "Yes"},
         {"message_add_on": [{"_id": 7, "parent_message_row_id": 1, "from_me": 1},
                             {"_id": 8, "parent_message_row_id": 1, "from_me": 0, "sender_jid_row_id": 2}],
          "message_add_on_reaction": [{"message_add_on_row_id": 7, "reaction": "👍"},
                                      {"message_add_on_row_id": 8, "reaction": "👍"}]},
         "Yes", {"reactions": [{"emoji": "👍", "count": 2, "from": ["Dana Levi", "Eva"]}]}),
        ({"message_type": 7, "text_data": "Hiking in May"}, {}, "Hiking in May", {"system": True}),
        ({"message_type": 10}, {}, "missed call", {"system": True}),
    ],
)  # fmt: skip
def test_messages_that_are_more_than_a_text(
    tmp_path: Path, columns: dict[str, Any], tables: dict[str, Any], text: str, extra: dict[str, Any]
) -> None:
    (record,) = records(msgstore(tmp_path, [message(1, **columns)], tables))
    assert (record.text, record.extra) == (text, extra)
    assert (record.from_ is None) is ("system" in extra)


def test_a_notice_without_words_is_left_out(tmp_path: Path) -> None:
    assert [one.text for one in records(msgstore(tmp_path, [message(1, message_type=7), message(2, "Hi")]))] == ["Hi"]


def test_an_account_that_hides_its_number_is_one_person_with_it(tmp_path: Path) -> None:
    said = [
        message(1, "By number", chat_row_id=2, sender_jid_row_id=1),
        message(2, "Hidden", chat_row_id=2, sender_jid_row_id=3),
    ]
    mapped = {"jid_map": [{"lid_row_id": 3, "jid_row_id": 1}]}
    first, second = records(msgstore(tmp_path, said, mapped))
    assert first.from_ == second.from_ == "Petr Kolář"
    assert first.people == second.people
    assert first.subject == "Hiking"
    _, unknown = records(msgstore(tmp_path, said))
    assert unknown.from_ == HIDDEN


@pytest.mark.parametrize("table", ["jid_map", "message_media", "message_quoted", "message_edit_info", "message_add_on"])
def test_a_version_that_lacks_a_table_is_read(tmp_path: Path, table: str) -> None:
    script = "\n".join(part + ";" for part in NEW.split(";") if f"TABLE {table} " not in part and part.strip())
    made = msgstore(tmp_path, MESSAGES, {name: rows for name, rows in TABLES.items() if name != table}, script)
    assert [one.text for one in records(made)][:2] == ["Who has the key of the cabin?", "Eva has it.\nAsk her."]


def test_names_come_from_the_number_where_there_is_no_address_book(tmp_path: Path) -> None:
    made = msgstore(tmp_path, [message(1, "Hi")])
    (tmp_path / "wa.db").unlink()
    (record,) = records(made)
    assert record.from_ == record.subject == "+420 601 234 567"


def test_the_older_schema(tmp_path: Path) -> None:
    row = {"key_from_me": 0, "key_remote_jid": PETR, "media_wa_type": "0"}
    said = [
        row | {"_id": 2, "key_id": "K1", "data": "Who has the key?", "timestamp": TS * 1000},
        row | {"_id": 3, "key_id": "K2", "data": "Eva", "timestamp": TS * 1000 + 1,
               "quoted_row_id": 9, "key_from_me": 1},
        row | {"_id": 4, "key_id": "K3", "media_wa_type": "1", "media_caption": "This one", "timestamp": TS * 1000 + 2},
        row | {"_id": 5, "key_id": "K4", "key_remote_jid": GROUP, "remote_resource": EVA, "data": "Hello",
               "timestamp": TS * 1000, "forwarded": 1},
        row | {"_id": 6, "key_id": "K5", "key_remote_jid": GROUP, "status": 6, "timestamp": TS * 1000 + 1},
    ]  # fmt: skip
    made = old_msgstore(tmp_path, said, [{"_id": 9, "key_remote_jid": PETR, "key_id": "K1"}])
    hello, question, answer, picture, file = records(made)
    assert (hello.from_, hello.subject, hello.extra) == ("Eva", "Hiking", {"forwarded": True})
    assert (question.from_, question.subject, question.text) == ("Petr Kolář", "Petr Kolář", "Who has the key?")
    assert (answer.from_, answer.parent_asset_id) == ("Dana Levi", f"whatsapp:{question.source_id}")
    assert (picture.text, file.file_name) == ("This one", "image")


@pytest.mark.parametrize("data", [b"", b"encrypted \x01\x02", database("CREATE TABLE notes (id);", {})])
def test_what_is_no_such_database_is_a_failure(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "msgstore.db").write_bytes(data)
    (failure,) = read(tmp_path / "msgstore.db", tmp_path)
    assert isinstance(failure, Failure)
    assert failure.fault == "not_a_chat"
    assert not KINDS["whatsapp"].recognise(tmp_path / "msgstore.db")


def test_damaged_databases_are_survived(tmp_path: Path) -> None:
    file = msgstore(tmp_path, MESSAGES, TABLES)
    for data in mutations(file.read_bytes(), 60, "msgstore"):
        file.write_bytes(data)
        read(file, tmp_path)


def test_an_archive_with_both_has_each_message_once_and_whom_it_answers(tmp_path: Path) -> None:
    (tmp_path / "chats").mkdir()
    (tmp_path / "relrag.toml").write_text(
        'archive = "test"\nkeys_file = "test.keys"\ntimezone = "Europe/Prague"\nowner = "Dana Levi"\n'
        'embedder = "none"\n'
        '[[sources]]\nname = "chats"\nkind = "whatsapp"\npath = "chats"\n'
    )
    (tmp_path / "chats/WhatsApp Chat with Petr Kolář.txt").write_text(TEXT)
    msgstore(tmp_path / "chats", MESSAGES, TABLES)
    workspace = archive.workspace(tmp_path / "relrag.toml")
    ingest(workspace, workspace.settings.source("chats"))
    merged = month_stages.merge_duplicates(lake.read(workspace.home, "private_records", "chats", "2024-01"))
    messages = [row for row in merged.to_pylist() if row["rag_source_type"] == "whatsapp"]
    assert len(messages) == 6
    (answer,) = (row for row in messages if row["parent_asset_id"] and row["text"].startswith("Eva has it"))
    assert len(answer["locations"]) == 2
