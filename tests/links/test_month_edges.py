"""The relations that the records of a month name themselves: an edge leads from the part to the whole."""

from __future__ import annotations

from typing import Any

import pytest

from relrag_pipelines.links import build_edges
from relrag_pipelines.records import RELATION_TYPES, Chunk, Record
from relrag_pipelines.stores.table_schema import to_table

MAIL, CHAT = "gmail:m", "whatsapp:c"
RECORDS = [
    Record("m", "see attached", MAIL, kind="gmail", thread_id="t"),
    Record("m:0", "a contract", f"{MAIL}:0", kind="gmail", thread_id="t", parent_asset_id=MAIL, index_in_parent=0),
    Record("n", "thanks", "gmail:n", kind="gmail", thread_id="t", parent_asset_id=MAIL),
    Record("c:1", "who has the key?", f"{CHAT}:1", kind="whatsapp", thread_id=CHAT),
    Record("c:2", "I do", f"{CHAT}:2", kind="whatsapp", thread_id=CHAT, parent_asset_id=f"{CHAT}:1"),
    Record("h", "Jan: hello", "call_recording:h", rag_source_type="call_recording", parent_ref="audio:h"),
    Record("i", "", "call_recording:i", rag_source_type="call_recording", parent_ref="audio:i"),
    Record("b", "fixes it", "git:b", extra={"references": [{"ref": "git:a", "why": "reverts a", "confidence": 1.0}]}),
]


def chunk(chunk_id: str, asset_id: str, members: list[str] | None = None) -> Chunk:
    kind = asset_id.partition(":")[0]
    return Chunk(chunk_id, asset_id, asset_id, 0, 1, "text", "0", kind, kind, kind, members=members or [])


CHUNKS = [
    chunk("1", MAIL),
    chunk("2", "call_recording:h"),
    chunk("3", "whatsapp:chunk:c:1:2", [f"{CHAT}:1", f"{CHAT}:2"]),
]

WANTED: dict[str, list[tuple[Any, ...]]] = {
    "thread_member": [
        ("gmail:m", "thread:t", "thread_id"),
        ("gmail:m:0", "thread:t", "thread_id"),
        ("gmail:n", "thread:t", "thread_id"),
        ("whatsapp:c:1", "thread:whatsapp:c", "thread_id"),
        ("whatsapp:c:2", "thread:whatsapp:c", "thread_id"),
    ],
    "attachment_of": [("gmail:m:0", "gmail:m", "parent_asset_id")],
    "chunk_of": [
        ("chunk:1", "gmail:m", "chunk"),
        ("chunk:2", "call_recording:h", "chunk"),
        ("whatsapp:chunk:c:1:2", "whatsapp:c:1", "window"),
        ("whatsapp:chunk:c:1:2", "whatsapp:c:2", "window"),
    ],
    "reply_to": [
        ("gmail:n", "gmail:m", "parent_asset_id"),
        ("whatsapp:c:2", "whatsapp:c:1", "parent_asset_id"),
    ],
    "references": [("git:b", "git:a", "reverts a")],
    "transcript_of": [("call_recording:h", "audio:h", "transcript")],
}


@pytest.mark.requirement("S0-12", "S0-13", "S0-14", "S0-15", "S0-16", "S0-17")
def test_each_relation_type_comes_from_what_records_and_passages_name() -> None:
    found = build_edges(to_table(RECORDS, Record), to_table(CHUNKS, Chunk)).to_pylist()
    assert tuple(WANTED) == RELATION_TYPES
    for relation, wanted in WANTED.items():
        of_type = [one for one in found if one["relation_type"] == relation]
        assert [(one["src_asset_ref"], one["dst_asset_ref"], one["provenance"]) for one in of_type] == wanted, relation
    assert len(found) == sum(map(len, WANTED.values()))
    keys = [(one["src_asset_ref"], one["dst_asset_ref"], one["relation_type"]) for one in found]
    assert keys == sorted(set(keys))
