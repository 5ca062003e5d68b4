"""Conversations of Claude: blocks, documents, files with their text, and branches."""

from __future__ import annotations

import json
from pathlib import Path

from tests import ROOT
from tests.sources.connector import read

SAMPLE = ROOT / "examples" / "samples" / "ai_chat" / "claude" / "conversations.json"


def test_a_file_has_the_text_that_was_taken_from_it() -> None:
    records, failures = read("ai_chat", SAMPLE)
    files = {record.file_name: (record.text, record.rag_source_type) for record in records if record.file_name}
    lease = "LEASE 2024/0311. The workshop in Sadová 4 is let until 31 May 2026. Without notice it renews for one year."
    assert files == {
        "lease-workshop.txt": (lease, "ai_chat_attachment"),
        "signature.png": ("", "ai_chat_attachment"),
    }
    assert failures == []


def test_a_conversation_without_a_name_is_called_after_the_assistant() -> None:
    records, _ = read("ai_chat", SAMPLE)
    assert [record.subject for record in records][-2:] == ["Claude", "Claude"]
    assert [(record.from_, record.text) for record in records][-2:] == [
        ("Me", "Сколько весит мешок цемента?"),
        ("Claude", "Обычно 25 или 50 кг."),
    ]


def test_of_a_conversation_with_branches_the_branch_that_is_shown_is_read(tmp_path: Path) -> None:
    saved = json.loads(SAMPLE.read_bytes())[1]
    question, answer = saved["chat_messages"]
    again = answer | {"uuid": "again", "content": [{"type": "text", "text": "A bag weighs 25 kg."}]}
    for message in (answer, again):
        message["parent_message_uuid"] = question["uuid"]
    saved |= {"chat_messages": [question, answer, again], "current_leaf_message_uuid": "again"}
    file = tmp_path / "Cement.json"
    file.write_text(json.dumps(saved))
    assert [record.text for record in read("ai_chat", file)[0]] == [
        "Сколько весит мешок цемента?",
        "A bag weighs 25 kg.",
    ]


def test_odd_ids_and_titles_are_failures_and_the_rest_of_the_file_is_read(tmp_path: Path) -> None:
    titled, saved = json.loads(SAMPLE.read_bytes())
    odd_id = saved | {
        "uuid": "odd-id",
        "chat_messages": [saved["chat_messages"][0], saved["chat_messages"][1] | {"uuid": ["a", "b"]}],
        "current_leaf_message_uuid": saved["chat_messages"][0]["uuid"],
    }
    file = tmp_path / "conversations.json"
    file.write_text(json.dumps([titled | {"name": ["a title"]}, odd_id, saved]))
    records, failures = read("ai_chat", file)
    assert [record.text for record in records] == ["Сколько весит мешок цемента?"] * 2 + ["Обычно 25 или 50 кг."]
    assert [(failure.location, failure.fault) for failure in failures] == [
        ("conversation 1", "wrong_type"),
        ("conversation 2 message 2", "missing_id"),
    ]
