"""Forgotten records that come again under another id: of a chat by another title, of a source by another name."""

import json
from pathlib import Path
from typing import Any

import pytest

from relrag_pipelines.erasure import purge, record_fingerprints, record_selection, rule_file, rule_matching
from relrag_pipelines.ingest.ingest import ingest
from relrag_pipelines.privacy.keys import Keys
from relrag_pipelines.records import PrivateRecord
from relrag_pipelines.stores import unit_state
from relrag_pipelines.stores.table_schema import to_table
from relrag_pipelines.workspace import Workspace
from tests import archive

KEYS = Keys(b"i" * 32, b"p" * 32, "k1")
LONG = "The boiler of the cabin is broken again"


def marked(**fields: Any) -> list[tuple[str, bool, bool]]:
    record = PrivateRecord("1", **{"kind": "whatsapp", "from_": "Dana", "ts": 60, "text": LONG} | fields)
    return [
        (one.hash, one.sure, one.telling)
        for one in record_fingerprints.fingerprints(to_table([record], PrivateRecord), KEYS)
    ]


@pytest.mark.parametrize(
    ("fields", "same"),
    [
        ({"ts": 119, "text": f"  {LONG.upper()}!"}, True),  # one export has seconds and another has none
        ({"asset_id": "whatsapp:other", "subject": "Other", "thread_id": "whatsapp:o"}, True),
        ({"ts": 120}, False),
        ({"from_": "Ota"}, False),
        ({"kind": "jsonl"}, False),
        ({"text": LONG + " today"}, False),
    ],
)
def test_what_tells_a_message_is_sender_minute_and_sentence(fields: dict[str, Any], same: bool) -> None:
    assert (marked(**fields) == marked()) is same


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({}, [(False, True)]),  # the same may be sent to many chats
        ({"text": "This message was deleted"}, [(False, False)]),
        ({"text": ""}, [(False, False)]),
        ({"text": "", "from_": None}, []),
        ({"ts": None}, []),
        ({"ts": None, "text": f"{LONG} and {LONG}"}, [(False, True)]),
        ({"kind": "jsonl"}, [(False, True), (True, True)]),  # by what it says, and by its own id as well
        ({"kind": "jsonl", "text": "ok"}, [(False, False), (True, True)]),
        ({"kind": "jsonl", "text": "ok", "ts": None}, [(False, False)]),
        ({"kind": "gmail"}, []),  # its Message-ID stays the same
        ({"kind": "gmail", "extra": {"bytes_hash": "00ff"}}, [(True, True)]),
        ({"index_in_parent": 0}, []),  # goes and stays with its message
    ],
)
def test_only_files_and_rows_with_an_id_are_sure(fields: dict[str, Any], told: list[tuple[bool, bool]]) -> None:
    assert [(sure, telling) for _, sure, telling in marked(**fields)] == told


def forget(workspace: Workspace, *texts: str) -> record_selection.ErasureSelection:
    rows = [row for _, _, table in record_selection.private_months(workspace) for row in table.to_pylist()]
    going = [row["asset_id"] for row in rows if row["text"] in texts]
    rule = rule_matching.for_records(going, workspace.keys, "now")
    chosen = record_selection.select(workspace, [rule])
    kept = rule_file.add_rule(
        rule_file.load(workspace.home, workspace.keys), record_selection.complete_rule(rule, chosen, workspace)
    )
    rule_file.save(workspace.home, kept, workspace.keys)
    purge.remove(workspace, kept, chosen)
    return chosen


def texts(workspace: Workspace, source: str) -> list[str]:
    ingest(workspace, workspace.settings.source(source))
    found = [
        row
        for name, _, table in record_selection.private_months(workspace)
        for row in table.to_pylist()
        if name == source
    ]
    return [row["text"] for row in sorted(found, key=lambda row: (row["ts"] or 0, row["asset_id"]))]


MORE = "15/02/2024, 08:00 - Dana Levi: ok\n16/02/2024, 08:00 - Petr Kolar: ok\n"


def titled(folder: Path, title: str, chat: str) -> None:
    (folder / "chats" / f"WhatsApp Chat with {title}.txt").write_text(chat)


def test_a_chat_of_another_title_does_not_bring_it_back(tmp_path: Path) -> None:
    workspace = archive.workspace(archive.make(tmp_path))
    titled(tmp_path, "Hiking", archive.CHAT + MORE)
    before = texts(workspace, "chat")
    assert len(before) == 7
    forget(workspace, *before)
    titled(tmp_path, "The Hikers", archive.CHAT + MORE + "17/02/2024, 08:00 - Dana Levi: Are you there?\n")
    assert texts(workspace, "chat") == ["Are you there?"]
    assert unit_state.load_failures(workspace.home, "chat") == []


def test_what_may_be_forgotten_messages_is_kept_and_named_until_the_owner_has_said(tmp_path: Path) -> None:
    workspace = archive.workspace(archive.make(tmp_path))
    titled(tmp_path, "Hiking", archive.CHAT + MORE)
    texts(workspace, "chat")
    forget(workspace, "Merry Christmas to the whole hiking group", "ok")  # these are not most of what was said between
    titled(tmp_path, "The Hikers", archive.CHAT + MORE)
    assert len(texts(workspace, "chat")) == 4 + 7
    like = unit_state.load_failures(workspace.home, "chat")
    assert [one.fault for one in like] == [record_fingerprints.LIKE_FORGOTTEN] * 3
    assert "if this is the same, run `relrag forget whatsapp:" in like[0].message
    forget(workspace, "Merry Christmas to the whole hiking group", "ok")
    assert unit_state.load_failures(workspace.home, "chat") == []
    assert len(texts(workspace, "chat")) == 4 + 4


def test_what_was_sent_to_a_forgotten_chat_and_another_stays_in_that(tmp_path: Path) -> None:
    """Wishes that the owner sends to everybody, and what WhatsApp says at the beginning of each chat."""
    workspace = archive.workspace(archive.make(tmp_path))
    sent = (
        "31/12/2023, 23:58 - Messages and calls are end-to-end encrypted. No one outside of this chat can read them.\n"
        "31/12/2023, 23:59 - Ola: What a year it was for all of us!\n"
        "01/01/2024, 00:00 - Ola: Happy new year to all of you, my dear friends!\n"
        "01/01/2024, 00:01 - Ola: <Media omitted>\n"
    )
    titled(tmp_path, "Bob", sent + "01/01/2024, 00:02 - Bob: thank you\n")
    forget(workspace, *texts(workspace, "chat"))
    titled(tmp_path, "Cyril", sent + "01/01/2024, 00:07 - Cyril: thanks\n")
    assert len(texts(workspace, "chat")) == 5
    like = unit_state.load_failures(workspace.home, "chat")
    assert [one.fault for one in like] == [record_fingerprints.LIKE_FORGOTTEN] * 4


def test_another_row_that_says_the_same_is_kept_and_named(tmp_path: Path) -> None:
    done = "The nightly backup of the house server finished without any error and all is well"
    workspace = archive.workspace(archive.make(tmp_path))
    archive.write_notes(tmp_path, {"id": "n3", "text": done})
    assert done in texts(workspace, "notes")
    forget(workspace, done)
    archive.write_notes(tmp_path, {"id": "n3", "text": done}, {"id": "n4", "text": done})
    assert texts(workspace, "notes").count(done) == 1
    assert [one.fault for one in unit_state.load_failures(workspace.home, "notes")] == [
        record_fingerprints.LIKE_FORGOTTEN
    ]


def test_a_source_of_another_name_does_not_bring_it_back(tmp_path: Path) -> None:
    config = archive.make(tmp_path)
    archive.write_notes(tmp_path, {"id": "n3", "text": "ok", "from": "Ota", "timestamp": "2024-02-21"})
    assert len(texts(archive.workspace(config), "notes")) == 3
    forget(archive.workspace(config), "The plumber quoted 7,980 for the boiler.")
    config.write_text(config.read_text().replace('name = "notes"', 'name = "remarks"'))
    assert texts(archive.workspace(config), "remarks") == ["Remember to thank the plumber.", "ok"]


def test_what_was_there_twice_when_one_was_forgotten_stays_once(tmp_path: Path) -> None:
    """A message that was sent to two chats: the owner named one."""
    workspace = archive.workspace(archive.make(tmp_path))
    second = tmp_path / "chats" / "WhatsApp Chat with Ota.txt"
    second.write_text(f"14/02/2024, 21:40 - Dana Levi: {LONG}\n15/02/2024, 08:00 - Dana Levi: ok\n")
    assert texts(workspace, "chat").count(LONG) == 2
    (one,) = {
        row["asset_id"]
        for _, _, table in record_selection.private_months(workspace)
        for row in table.to_pylist()
        if row["text"] == LONG and row["subject"] == "Hiking"
    }
    rule = rule_matching.for_records([one], workspace.keys, "now")
    chosen = record_selection.select(workspace, [rule])
    assert len(chosen.copies) == 1
    kept = rule_file.add_rule(rule_file.ErasureRules(), record_selection.complete_rule(rule, chosen, workspace))
    rule_file.save(workspace.home, kept, workspace.keys)
    purge.remove(workspace, kept, chosen)
    ingest(workspace, workspace.settings.source("chat"), full=True)
    assert texts(workspace, "chat").count(LONG) == 1


def test_rules_keep_no_words(tmp_path: Path) -> None:
    workspace = archive.workspace(archive.make(tmp_path))
    texts(workspace, "chat")
    forget(workspace, LONG)
    stored = json.loads((workspace.home / rule_file.PATH).read_text())
    assert not [word for word in LONG.lower().split() if len(word) > 3 and word in json.dumps(stored)]
