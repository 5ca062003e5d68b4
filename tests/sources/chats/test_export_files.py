"""Files of a zip whose messages begin behind long lists are read, or are named."""

import json
from pathlib import Path

import pytest

from relrag_pipelines.sources import KINDS
from relrag_pipelines.sources.chats.export_files import HEAD
from tests.sources.connector import packed, read

MANY = [{"name": f"Member {number} of the orchard club"} for number in range(1_500)]
MESSENGER = {
    "participants": MANY,
    "messages": [{"sender_name": "Dana", "timestamp_ms": 1714000000000, "content": "hello"}],
    "title": "Orchard club",
}
TELEGRAM = {
    "name": "Orchard club",
    "members": MANY,
    "type": "private_group",
    "id": 5,
    "messages": [{"id": 1, "type": "message", "date_unixtime": "1714000000", "from": "Dana", "text": "hello"}],
}
GOOGLE = {"messages": [{"annotations": MANY, "creator": {"name": "Dana"}, "created_date": "", "text": "hello"}]}
GOOGLE["messages"][0] |= {"topic_id": "t", "message_id": "s/t/t"}
TEAMS = {"userId": "8:dana", "exportDate": "2024-05-01", "conversations": [{"id": "a", "members": MANY}]}
TEAMS["conversations"][0] |= {"MessageList": [{"id": "1714000000000", "from": "8:dana", "content": "hello"}]}  # type: ignore[index]


@pytest.mark.parametrize(
    ("kind", "name", "content"),
    [
        ("messenger", "inbox/club/message_1.json", MESSENGER),
        ("telegram", "club/result.json", TELEGRAM),
        ("google_chat", "Groups/Space A/messages.json", GOOGLE),
        ("teams", "messages.json", TEAMS),
    ],
)
def test_messages_behind_a_long_list_are_read(kind: str, name: str, content: object, tmp_path: Path) -> None:
    text = json.dumps(content)
    assert text.index("hello") > 2**14
    file = packed(tmp_path / "a.zip", {name: text})
    assert KINDS[kind].recognise(file)
    assert "hello" in [record.text for record in read(kind, file)[0]]


def test_a_long_file_of_which_nothing_is_known_is_named(tmp_path: Path) -> None:
    members = {"a/message_1.json": json.dumps(MESSENGER), "b/message_1.json": json.dumps({"x": "y" * HEAD} | MESSENGER)}
    records, failures = read("messenger", packed(tmp_path / "a.zip", members | {"notes.json": "{}"}))
    assert [record.text for record in records] == ["hello"]
    assert [(failure.location, failure.fault, failure.whole_unit) for failure in failures] == [
        ("b/message_1.json", "not_a_chat", False)
    ]
