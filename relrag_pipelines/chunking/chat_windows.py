"""Chats as windows: a few messages in a row that belong to one conversation.

Up to eight messages, two of them repeated in the next window, and a new window after a silence of three hours: this
found more at equal words shown than the other ways that docs/chat-windows.md compares. Notices of the system, which
nobody sent, stand in no window.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import groupby, pairwise
from typing import Any, NamedTuple, cast

import orjson
import pyarrow as pa
import pyarrow.compute as pc

from relrag_pipelines.text.packing import NEVER, pack, split_long
from relrag_pipelines.text.token_count import count_tokens, fits

MESSAGES = 8
OVERLAP = 2
SILENCE = 3 * 60 * 60
"""seconds"""
_PLACE = re.compile(r"#(?:C\d+)?[LM](\d{1,18})$", re.ASCII)


class Window(NamedTuple):
    """Messages in a row, by their row numbers in the table of records, and what they say."""

    rows: list[int]
    text: str


def windows(records: pa.Table, limit: int) -> Iterator[Window]:
    """The windows over the messages among one month's records, thread by thread in the order of time.

    A message longer than `limit` tokens stands in its windows with its beginning only.
    """
    lines = _lines(records, limit)
    times, threads = records["ts"].to_pylist(), records["thread_id"].to_pylist()
    for _, group in groupby(filter(lines.__contains__, _in_order(records)), key=threads.__getitem__):
        rows = list(group)
        sizes = [count_tokens(lines[row]) for row in rows]
        least = _silences([times[row] for row in rows])
        for first, behind in pack(sizes, least, limit, MESSAGES, OVERLAP):
            inside = rows[first:behind]
            yield Window(inside, "\n".join([lines[row] for row in inside]))


def _in_order(records: pa.Table) -> list[int]:
    """Row numbers by thread and time; within a minute, where exports give no seconds, in the order of their lines."""
    lines = pa.array(map(_line_number, records["locations"].to_pylist()), pa.int64())
    keys = [("thread_id", "ascending"), ("ts", "ascending"), ("line", "ascending"), ("asset_id", "ascending")]
    order = pc.sort_indices(records.append_column("line", lines), sort_keys=keys)
    return cast(list[int], order.to_pylist())


def own_passages(records: pa.Table, limit: int) -> pa.Array:
    """Which records of a chat are cut into passages of their own: files that came along, and very long messages."""
    columns = (records[name].to_pylist() for name in ("from", "index_in_parent", "text"))
    return pa.array(
        [
            index is not None or (sender is not None and not fits(text, limit))
            for sender, index, text in zip(*columns, strict=True)
        ],
        pa.bool_(),
    )


def _sent_files(
    indexes: Sequence[int | None], parents: Sequence[str | None], file_names: Sequence[str | None]
) -> dict[str, list[str]]:
    """asset_id of a message -> names of the files that were sent with it."""
    files: dict[str, list[str]] = {}
    for index, parent, file_name in zip(indexes, parents, file_names, strict=True):
        if index is not None and parent and file_name:
            files.setdefault(parent, []).append(file_name)
    return files


def _lines(records: pa.Table, limit: int) -> dict[int, str]:
    """`Name: text` of each message by its row, with the names of the files sent along."""
    names = ("asset_id", "from", "thread_id", "index_in_parent", "parent_asset_id", "file_name", "text", "extra")
    ids, senders, threads, indexes, parents, file_names, texts, extras = (records[name].to_pylist() for name in names)
    files = _sent_files(indexes, parents, file_names)
    lines = {}
    for row, (sender, thread, index, text) in enumerate(zip(senders, threads, indexes, texts, strict=True)):
        if sender is None or thread is None or index is not None:
            continue
        sent = files.get(ids[row]) or [file_names[row] or ""]
        if content := " ".join([*sent, text.strip()]).strip() or _left_out(extras[row]):
            lines[row] = _truncate(f"{sender}: {content}", limit)
    return lines


def _left_out(extra: str) -> str:
    """The placeholder for media that were not exported."""
    facts: dict[str, Any] = orjson.loads(extra) if extra else {}
    return f"({facts['omitted']})" if facts.get("omitted") else ""


def _truncate(line: str, limit: int) -> str:
    if fits(line, limit):
        return line
    return line[: split_long(line, 0, len(line), limit // 4)[0]].rstrip() + " …"


def _line_number(locations: list[str]) -> int:
    """The place in its export: the line that `family.txt#L12` names, the message of `result.json#C2M12`, else 0."""
    match = _PLACE.search(locations[0]) if locations else None
    return int(match[1]) if match else 0


def _silences(times: list[int | None]) -> list[int]:
    """For each message 0 where a window ends before it, else NEVER; undated ones stand apart from the others."""
    return [NEVER, *(0 if _silent(before, after) else NEVER for before, after in pairwise(times))]


def _silent(before: int | None, after: int | None) -> bool:
    if before is None or after is None:
        return before is not after
    return after - before > SILENCE
