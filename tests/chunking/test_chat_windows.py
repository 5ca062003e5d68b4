"""Chats in windows: who says what, where a window ends, and what becomes of files, notices and very long messages."""

from itertools import pairwise
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from relrag_pipelines.chunking import chunk
from relrag_pipelines.chunking.chat_windows import MESSAGES, OVERLAP, SILENCE
from relrag_pipelines.records import Record
from relrag_pipelines.stores.table_schema import to_table

NOON = 1736769600
"""2025-01-13 12:00 UTC"""


def message(number: int, text: str = "", sender: str | None = "Dana", at: int | None = None, **fields: Any) -> Record:
    """Message `number` of a chat, a minute after the one before unless `at` (seconds after noon) says otherwise."""
    chat = fields.pop("chat", "c1")
    after = 60 * number if at is None else at
    native = f"{chat}:20250113T{120000 + after:06}:{number:016x}"
    return Record(
        fields.pop("native", native),
        text or f"message {number}",
        f"whatsapp:{fields.pop('asset', native)}",
        "family",
        "whatsapp",
        rag_source_type="whatsapp",
        from_=sender,
        subject="Family",
        ts=NOON + after,
        timestamp="2025-01-13T12:00:00Z",
        thread_id=f"whatsapp:{chat}",
        locations=[f"family.txt#L{number + 1}"],
        **fields,
    )


def table(messages: list[Record], tokens: int = 256) -> pa.Table:
    rows = to_table(sorted(messages, key=lambda record: record.asset_id), Record)
    return chunk(rows, kind="whatsapp", chunk_tokens=tokens, overlap_sentences=1)


def windows(messages: list[Record], tokens: int = 256) -> list[dict[str, Any]]:
    rows = table(messages, tokens).to_pylist()
    order = [(record.thread_id, record.asset_id) for record in messages]
    return sorted(
        (row for row in rows if row["members"]),
        key=lambda row: (row["thread_id"], order.index((row["thread_id"], row["members"][0]))),
    )


def members(rows: list[dict[str, Any]]) -> list[list[int]]:
    return [[int(member.rpartition(":")[2], 16) for member in row["members"]] for row in rows]


@pytest.mark.requirement("S0-37")
@pytest.mark.requirement("S0-36")
def test_a_window() -> None:
    """It is an asset and a group of its own, named after its first and last message, with who and when."""
    said = [message(0, "INV-1187 is 8,400₪"), message(1, "VAT is wrong\nagain", "Alex"), message(2, "ok")]
    (row,) = windows(said)
    named = "chunk:c1:20250113T120000:0000000000000000:20250113T120120:0000000000000002"
    expected = {
        "asset_id": f"whatsapp:{named}",
        "chunk_group_id": f"whatsapp:{named}",
        "source_id": named,
        "chunk_index": 0,
        "chunk_count": 1,
        "text": "Dana: INV-1187 is 8,400₪\nAlex: VAT is wrong\nagain\nDana: ok",
        "members": [record.asset_id for record in said],
        "from": "Dana, Alex",
        "participants": ["Dana", "Alex"],
        "to": [],
        "subject": "Family",
        "timestamp": "2025-01-13T12:00:00Z",
        "ts": NOON,
        "last_ts": NOON + 120,
        "thread_id": "whatsapp:c1",
        "parent_asset_id": None,
        "source": "family",
        "kind": "whatsapp",
        "rag_source_type": "whatsapp",
    }
    assert {name: row[name] for name in expected} == expected


def test_eight_messages_two_of_them_again() -> None:
    """Twenty in a row: the windows begin at 0, 6 and 12."""
    assert (MESSAGES, OVERLAP) == (8, 2)
    assert members(windows([message(number) for number in range(20)])) == [
        list(range(8)),
        list(range(6, 14)),
        list(range(12, 20)),
    ]


def test_a_silence_ends_a_window() -> None:
    """Three hours are no silence yet, a second more is; nothing is repeated after it."""
    assert SILENCE == 3 * 3600
    at = [0, 60, 60 + SILENCE, 61 + 2 * SILENCE, 62 + 2 * SILENCE]
    assert members(windows([message(number, at=after) for number, after in enumerate(at)])) == [[0, 1, 2], [3, 4]]


def test_months_and_chats_are_apart() -> None:
    """A month is a call of its own; within it no window holds two chats."""
    mixed = [message(number, chat=f"c{number % 2}") for number in range(6)]
    assert members(windows(mixed)) == [[0, 2, 4], [1, 3, 5]]
    january, february = (windows([message(number) for number in part]) for part in (range(3), range(3, 6)))
    assert members(january + february) == [[0, 1, 2], [3, 4, 5]]


def test_messages_of_one_minute_keep_the_order_of_the_export() -> None:
    """Most exports give no seconds, and ids are hashes: the line of the export decides."""
    said = [
        message(number, f"line {number}", at=0, asset=f"c1:20250113T120000:{9 - number:016x}") for number in range(5)
    ]
    (row,) = windows(said)
    assert row["text"].splitlines() == [f"Dana: line {number}" for number in range(5)]


def test_notices_stand_in_no_window() -> None:
    """What nobody sent is not indexed."""
    rows = table([message(0), message(1, "Dana added Petr", None), message(2)]).to_pylist()
    assert [row["text"] for row in rows] == ["Dana: message 0\nDana: message 2"]


def test_media_are_named() -> None:
    """A file that came along is named in the window and found by itself; left-out media and nothing at all differ."""
    sent = message(0, " ")
    picture = Record(
        f"{sent.source_id}:a0",
        "",
        f"{sent.asset_id}:a0",
        "family",
        "whatsapp",
        "whatsapp_attachment",
        from_="Dana",
        ts=sent.ts,
        thread_id=sent.thread_id,
        parent_asset_id=sent.asset_id,
        index_in_parent=0,
        file_name="IMG-1.jpg",
    )
    left_out, deleted = message(1, " ", extra={"omitted": "image"}), message(2, " ", extra={"deleted": True})
    rows = {row["asset_id"]: row["text"] for row in table([sent, picture, left_out, deleted]).to_pylist()}
    assert list(rows.values()).count("Dana: IMG-1.jpg\nDana: (image)") == 1
    assert rows[picture.asset_id] == "IMG-1.jpg"
    assert len(rows) == 2


def test_a_very_long_message_is_cut_into_passages_too() -> None:
    """Its window shows the beginning; all of it is in passages of its own."""
    long = "word " * 100
    rows = table([message(0, long), message(1, "yes")], tokens=40).to_pylist()
    inside = [row for row in rows if row["members"]]
    own = [row for row in rows if not row["members"]]
    assert [row["text"] for row in inside] == ["Dana: " + "word " * 7 + "word …\nDana: yes"]
    assert len(inside[0]["members"]) == 2
    assert sum(row["text"].count("word") for row in own) == 100
    assert {row["asset_id"] for row in own} == {message(0).asset_id}


def test_undated_messages_are_kept() -> None:
    """In a window of their own."""
    undated = message(1, "when?")
    undated.ts = None
    assert [row["text"] for row in windows([message(0), undated])] == ["Dana: message 0", "Dana: when?"]


CHAT = st.lists(
    st.tuples(st.sampled_from([0, 60, 3600, SILENCE + 1]), st.sampled_from(["Dana", "Alex", None]), st.integers(1, 30)),
    max_size=40,
)


def chat(parts: list[tuple[int, str | None, int]]) -> list[Record]:
    made, at = [], 0
    for number, (pause, sender, words) in enumerate(parts):
        at += pause
        made.append(message(number, "word " * words, sender, at))
    return made


@given(CHAT)
def test_every_message_is_in_a_window(parts: list[tuple[int, str | None, int]]) -> None:
    """In order, each window with something new, none with a silence in it or longer than allowed."""
    found = members(windows(chat(parts), tokens=64))
    spoken = [number for number, (_, sender, _) in enumerate(parts) if sender]
    assert sorted({number for window in found for number in window}) == spoken
    times = [record.ts or 0 for record in chat(parts)]
    for window in found:
        assert window == [number for number in spoken if window[0] <= number <= window[-1]]
        assert len(window) <= MESSAGES
        assert all(times[after] - times[before] <= SILENCE for before, after in pairwise(window))
    for before, after in pairwise(found):
        assert before[0] < after[0]
        assert before[-1] < after[-1]


@given(CHAT, st.integers(1, 10))
def test_a_new_message_changes_the_last_window_only(parts: list[tuple[int, str | None, int]], words: int) -> None:
    """All windows but the last are the same, text and ids."""
    before = windows(chat(parts), tokens=64)
    after = windows(chat([*parts, (60, "Dana", words)]), tokens=64)
    assert after[: len(before) - 1] == before[:-1]
    assert len(before) <= len(after) <= len(before) + 1
