"""JSON is read as a stream: whatever its size, layout and damage."""

from __future__ import annotations

import io
import json
import time
import tracemalloc
from typing import Any

import pytest

from relrag_pipelines.sources.chats import json_stream
from relrag_pipelines.sources.chats.json_stream import Begin, Damage, Items, JsonStream, Value


def items(data: bytes, *walked: str) -> list[Any]:
    """All items of all arrays, and the faults."""
    read: list[Any] = []
    for event in JsonStream(io.BytesIO(data), frozenset(walked)).events():
        if isinstance(event, Items):
            read += event.items
        elif isinstance(event, Damage):
            read.append((event.fault, event.position))
    return read


ROWS = [{"id": number, "text": f"line }},{{ {number} ✓", "parts": [{"id": 1}, {"id": 2}]} for number in range(1, 3_001)]


@pytest.mark.parametrize("indent", [None, 1, 2, 4, "\t"])
@pytest.mark.parametrize("block", [64, 1_000, 2**18])
def test_items_come_in_order_in_any_layout_and_block(
    indent: int | str | None, block: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(json_stream, "BLOCK", block)
    rows = ROWS[: block * 3]
    data = json.dumps({"name": "A", "messages": rows, "title": "B"}, indent=indent, ensure_ascii=False).encode()
    assert items(data) == rows


def test_values_have_their_path_and_walked_arrays_begin_objects() -> None:
    data = (
        b'{"about": "x", "chats": {"list": [{"name": "A", "messages": [1, "b", null]}, {"id": -2.5, "messages": []}]}}'
    )
    events = list(JsonStream(io.BytesIO(data), frozenset({"list"})).events())
    assert events == [
        Value(("about",), "x"),
        Begin(("chats", "list")),
        Value(("chats", "list", "name"), "A"),
        Items(("chats", "list", "messages"), 1, [1, "b", None]),
        Begin(("chats", "list")),
        Value(("chats", "list", "id"), -2.5),
    ]


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b'[{"id": 1}, {"id": 2}, {"id": 3', [{"id": 1}, {"id": 2}, ("truncated", 3)]),
        (b'[{"id": 1}, {"id": nil}, {"id": 3}]', [{"id": 1}, ("not_json", 2), {"id": 3}]),
        (b'[{"id": 1}, {"id": "\\x1F\xff\\ud800"}]', [{"id": 1}, {"id": "\x1f\ufffd\ud800"}]),
        (b"[" + b"[" * 40 + b"]" * 40 + b"]", [json.loads("[" * 40 + "]" * 40)]),
        (b"\xef\xbb\xbf[1]", [1]),
        (b"", [("truncated", 0)]),
        (b"[" * 100_000, [("truncated", 1)]),
        (b'{"a": [1, 2', [1, ("truncated", 2), ("truncated", 0)]),
    ],
    ids=["cut", "one_bad", "repaired", "deep", "mark", "empty", "brackets", "nested"],
)
def test_what_is_damaged_is_told_and_the_rest_is_read(data: bytes, expected: list[Any]) -> None:
    assert items(data) == expected


def test_a_lost_quote_costs_the_items_that_it_joins_and_no_more() -> None:
    data = json.dumps(ROWS[:500], indent=1, ensure_ascii=False).encode()
    at = data.index(b'"text"', 20_000)
    read = items(data[:at] + data[at + 1 :])
    assert len([item for item in read if isinstance(item, dict)]) >= 498
    assert len([item for item in read if isinstance(item, tuple)]) == 1


def test_memory_does_not_grow_with_the_file() -> None:
    def peak(count: int) -> int:
        data = io.BytesIO(json.dumps(ROWS[:100] * count, indent=1).encode())
        tracemalloc.start()
        for _ in JsonStream(data).events():
            pass
        size = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return size

    assert peak(400) < 1.5 * peak(100)


@pytest.mark.parametrize(
    ("begin", "end", "walked"),
    [(b'{"a":', b"}", ""), (b'{"list":[', b"]}", "list"), (b'{"messages":[', b"]}", ""), (b"[", b"]", "")],
)
def test_nesting_of_any_depth_costs_its_length(begin: bytes, end: bytes, walked: str) -> None:
    def seconds(depth: int) -> float:
        data = b'{"deep":' + begin * depth + b"1" + end * depth + b',"messages":[{"id":1}]}'
        started = time.process_time()
        events = list(JsonStream(io.BytesIO(data), frozenset({walked})).events())
        assert events[-1] == Items(("messages",), 1, [{"id": 1}])
        return time.process_time() - started

    assert seconds(20_000) < 1


def test_a_deep_item_is_read_before_the_file_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_stream, "BLOCK", 64)
    deep: dict[str, Any] = {"text": "brackets }] in a string"}
    for _ in range(20):
        deep = {"inner": [deep]}
    rows = [{"id": 1}, deep, {"id": 3}, deep]
    stream = io.BytesIO(json.dumps([*rows, *({"id": number} for number in range(200))]).encode())
    read: list[Any] = []
    for event in JsonStream(stream).events():
        assert isinstance(event, Items)
        read += event.items
        if len(read) >= len(rows):
            break
    assert read[: len(rows)] == rows
    assert stream.tell() < 2_000
