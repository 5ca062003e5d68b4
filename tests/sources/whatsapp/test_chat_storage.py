"""Databases of WhatsApp on an iPhone, and that an exported text has the same messages."""

from __future__ import annotations

from pathlib import Path

import pytest

from relrag_pipelines.records import Record
from relrag_pipelines.sources import KINDS
from relrag_pipelines.sources.whatsapp.chat_storage import quoted_key
from tests.sources.connector import keyed, mutations
from tests.sources.whatsapp.test_msgstore import read, records
from tests.whatsapp_databases import TS, chat_storage, iphone_message

TEXT = """[13/01/2024, 11:16:05] Petr Kolář: Who has the key of the cabin?
[13/01/2024, 11:17:05] Dana Levi: Eva has it.
[13/01/2024, 11:18:05] Petr Kolář: \u200eThis message was deleted.
"""


def test_a_text_and_a_database_are_one_set_of_messages(tmp_path: Path) -> None:
    chat = tmp_path / "WhatsApp Chat - Petr Kolář.txt"
    chat.write_text(TEXT)
    said = [
        iphone_message(1, "Who has the key of the cabin?"),
        iphone_message(2, "Eva has it.", ZISFROMME=1, ZPARENTMESSAGE=1),
        iphone_message(3, None, ZMESSAGETYPE=14),
    ]
    of_text, of_database = records(chat), records(chat_storage(tmp_path, said))
    assert [record.source_id for record in of_text] == [record.source_id for record in of_database]
    assert [record.ts for record in of_database] == [TS + 65, TS + 125, TS + 185]
    assert of_database[1].parent_asset_id == f"whatsapp:{of_database[0].source_id}"


def test_groups_media_and_quotes(tmp_path: Path) -> None:
    (tmp_path / "Message/Media").mkdir(parents=True)
    (tmp_path / "Message/Media/plan.pdf").write_bytes(b"%PDF")
    said = [
        iphone_message(1, "Who comes?", ZCHATSESSION=2, ZGROUPMEMBER=1),
        iphone_message(2, "Me", ZCHATSESSION=2, ZISFROMME=1, ZMEDIAITEM=1),
        iphone_message(3, "plan.pdf", ZCHATSESSION=2, ZGROUPMEMBER=1, ZMESSAGETYPE=8, ZMEDIAITEM=2),
        iphone_message(4, None, ZCHATSESSION=2, ZGROUPMEMBER=1, ZMESSAGETYPE=5, ZMEDIAITEM=3),
        iphone_message(5, None, ZCHATSESSION=2, ZMESSAGETYPE=6),
    ]
    media = [
        {"Z_PK": 1, "ZMETADATA": b"\x2a\x02K1\x30\x01"},
        {"Z_PK": 2, "ZMEDIALOCALPATH": "/Media/plan.pdf", "ZTITLE": "The plan", "ZVCARDSTRING": "application/pdf"},
        {"Z_PK": 3, "ZLATITUDE": 50.08, "ZLONGITUDE": 14.42},
    ]
    question, answer, message, file, place = records(chat_storage(tmp_path, said, media))
    assert (question.from_, question.subject) == ("Eva", "Hiking")
    assert answer.parent_asset_id == f"whatsapp:{question.source_id}"
    assert message.text == "The plan"
    assert (file.file_name, file.locations, file.content_type) == (
        "plan.pdf", ["Message/Media/plan.pdf"], "application/pdf",
    )  # fmt: skip
    assert place.text == "location: https://maps.google.com/?q=50.08,14.42"
    assert keyed("x")


@pytest.mark.parametrize(
    ("metadata", "key"),
    [(b"\x2a\x02K1", "K1"), (b"\x2a\x05K1", ""), (b"\x2a", ""), (b"", ""), (b"\x0a\x02K1", ""), (None, ""), ("K", "")],
)
def test_the_key_in_metadata(metadata: object, key: str) -> None:
    assert quoted_key(metadata) == key


def test_damaged_databases_are_survived(tmp_path: Path) -> None:
    file = chat_storage(tmp_path, [iphone_message(1, "Hello"), iphone_message(2, "Yes", ZPARENTMESSAGE=1)])
    assert KINDS["whatsapp"].recognise(file)
    assert all(isinstance(item, Record) for item in read(file, tmp_path))
    for data in mutations(file.read_bytes(), 60, "ChatStorage"):
        file.write_bytes(data)
        read(file, tmp_path)
