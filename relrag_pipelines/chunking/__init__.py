"""Records as passages that are indexed and cited: parts of long records, and windows over chats.

`chunk()` serves one source and month. A record's passages share its asset_id and chunk_group_id; a window over a chat
is an asset of its own, with the messages as its members.
"""

from __future__ import annotations

import itertools
import re
from collections import Counter
from hashlib import blake2b
from typing import Any
from uuid import UUID, uuid5

import orjson
import pyarrow as pa
import pyarrow.compute as pc

from relrag_pipelines.chunking.chat_windows import own_passages, windows
from relrag_pipelines.chunking.document_chunks import Passage, passages, times_of
from relrag_pipelines.links.edge_rows import generate_asset_id
from relrag_pipelines.records import Chunk
from relrag_pipelines.sources import KINDS, RECORD_TYPES, record_type
from relrag_pipelines.stores.table_schema import arrow_schema

_PROJECT = UUID("b927d952-0863-45fe-9717-7c58f9bc123d")
_KEYED = re.compile(r"<([A-Z_]+):k\d+:[0-9a-f]+>")
_COLUMNS = arrow_schema(Chunk)
_CHAT_TYPES = pa.array([type_.name for type_ in RECORD_TYPES.values() if type_.chat or record_type(type_.part_of).chat])
"""types of records that stand in windows, or come with them"""
_EMPTY_IN_A_WINDOW = (
    "parent_asset_id",
    "parent_ref",
    "index_in_parent",
    "total_siblings",
    "content_type",
    "file_name",
    "source_uri",
    "language",
    "page_number",
    "last_page_number",
    "section",
    "start_second",
    "end_second",
    "date_quality",
)


def chunk(records: pa.Table, *, kind: str, chunk_tokens: int, overlap_sentences: int) -> pa.Table:
    """The Chunk rows of one source and month, ordered by chunk_id; `records` are its redacted Record rows.

    A record without text is found by its file's name or its title; one that has neither gives no chunk. What stands
    beside a mail's own text (`extra.apart`) is passages of its own, which name their section. Messages of a
    chat stand in windows; only those longer than `chunk_tokens` are cut into passages as well.
    """
    if not KINDS[kind].chat:
        return _record_chunks(records, chunk_tokens, overlap_sentences).sort_by("chunk_id")
    in_chats = pc.is_in(records["rag_source_type"], _CHAT_TYPES)
    chats, others = records.filter(in_chats), records.filter(pc.invert(in_chats))
    alone = pa.concat_tables([chats.filter(own_passages(chats, chunk_tokens)), others])
    parts = [_window_chunks(chats, kind, chunk_tokens), _record_chunks(alone, chunk_tokens, overlap_sentences)]
    return pa.concat_tables(parts).sort_by("chunk_id")


def chunk_id(asset_id: str, index: int) -> str:
    """The id of the passage at that position, the same in every run and on every machine."""
    return str(uuid5(_PROJECT, f"{asset_id}#{index}"))


def text_hash(text: str) -> str:
    """Hash of a text in which pseudonyms are replaced by their types: 32 hex digits."""
    if ":k" in text:
        text = _KEYED.sub(r"<\1>", text)
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def _record_chunks(records: pa.Table, limit: int, overlap: int) -> pa.Table:
    names = ("asset_id", "text", "pages", "spoken", "file_name", "subject", "extra")
    columns = (records[name].to_pylist() for name in names)
    rows: list[int] = []
    texts: list[str] = []
    sections: list[str | None] = []
    all_passages: list[Passage] = []
    counts: list[tuple[str, int, int]] = []
    seconds: list[tuple[float | None, float | None]] = []
    for row, (asset_id, text, pages, spoken, file_name, subject, extra) in enumerate(zip(*columns, strict=True)):
        record_passages = passages(text, pages, limit, overlap) if text.strip() else []
        record_texts = [text[passage.start : passage.end] for passage in record_passages]
        if not record_passages and (name := file_name or subject):
            record_passages, record_texts = [Passage(0, 0, None, None)], [name]
        times = times_of(record_passages, spoken) if spoken else [(None, None)] * len(record_passages)
        record_sections: list[str | None] = [None] * len(record_passages)
        for section, side_text in _side_texts(extra):
            more = passages(side_text, [], limit, overlap)
            record_passages += more
            record_texts += [side_text[passage.start : passage.end] for passage in more]
            record_sections += [section] * len(more)
            times += [(None, None)] * len(more)
        rows += [row] * len(record_passages)
        texts += record_texts
        sections += record_sections
        all_passages += record_passages
        seconds += times
        counts += [(asset_id, index, len(record_passages)) for index in range(len(record_passages))]
    return _table(records, rows, _columns(records, rows, texts, sections, all_passages, counts, seconds))


def _columns(
    records: pa.Table,
    rows: list[int],
    texts: list[str],
    sections: list[str | None],
    all_passages: list[Passage],
    counts: list[tuple[str, int, int]],
    seconds: list[tuple[float | None, float | None]],
) -> dict[str, list[Any]]:
    """The columns that differ between a record's chunks; `counts` has record, index and count for each chunk."""
    dates = records["ts"].to_pylist()
    return {
        "chunk_id": [chunk_id(asset_id, index) for asset_id, index, _ in counts],
        "chunk_group_id": [asset_id for asset_id, _, _ in counts],
        "chunk_index": [index for _, index, _ in counts],
        "chunk_count": [count for _, _, count in counts],
        "text": texts,
        "text_hash": list(map(text_hash, texts)),
        "section": sections,
        "start": [passage.start for passage in all_passages],
        "end": [passage.end for passage in all_passages],
        "page_number": [passage.page_number for passage in all_passages],
        "last_page_number": [passage.last_page_number for passage in all_passages],
        "start_second": [first for first, _ in seconds],
        "end_second": [last for _, last in seconds],
        **_parts(records, rows, sections, counts),
        "last_ts": [dates[row] for row in rows],
        "members": [[]] * len(rows),
    }


def _side_texts(extra: str) -> list[tuple[str, str]]:
    """The texts of a mail apart from its own, such as its signature: (kind, text)."""
    if '"apart"' not in extra:
        return []
    apart = orjson.loads(extra).get("apart")
    side_texts = apart.items() if isinstance(apart, dict) else ()
    return [(kind, text) for kind, text in side_texts if isinstance(text, str) and text.strip()]


def _parts(
    records: pa.Table, rows: list[int], sections: list[str | None], counts: list[tuple[str, int, int]]
) -> dict[str, list[int | None]]:
    """Place among the parts of the parent, and how many there are: of a long mail or meeting these are its passages.

    What stands beside a mail's text is no part of it. How many parts a mail has is how many files are attached to it,
    which not every source tells.
    """
    sizes = Counter(row for row, section in zip(rows, sections, strict=True) if section is None)
    cut = _are_parts(records, rows, sections, sizes)
    record_rows = pa.array(rows, pa.int64())
    places, totals = (records[name].take(record_rows).to_pylist() for name in ("index_in_parent", "total_siblings"))
    mails = [record_type(name).mail for name in records["rag_source_type"].to_pylist()]
    for position in itertools.compress(range(len(rows)), cut):
        places[position] = counts[position][1]
        if totals[position] is None and not mails[rows[position]]:
            totals[position] = sizes[rows[position]]
    return {"index_in_parent": places, "total_siblings": totals}


def _are_parts(records: pa.Table, rows: list[int], sections: list[str | None], sizes: Counter[int]) -> list[bool]:
    """Whether each passage is a part of its record; `sizes` are the passages of each record's own text."""
    types = [record_type(name) for name in records["rag_source_type"].to_pylist()]
    return [
        section is None and types[row].passages_are_parts and sizes[row] > 1
        for row, section in zip(rows, sections, strict=True)
    ]


def _window_chunks(records: pa.Table, kind: str, limit: int) -> pa.Table:
    chat_windows = list(windows(records, limit))
    ids, native, threads, senders, times = (
        records[name].to_pylist() for name in ("asset_id", "source_id", "thread_id", "from", "ts")
    )
    names = [list(dict.fromkeys([senders[row] for row in window.rows])) for window in chat_windows]
    source_ids = [_native_id(window.rows, threads, native, kind) for window in chat_windows]
    asset_ids = [generate_asset_id(kind, source_id) for source_id in source_ids]
    count = len(chat_windows)
    own: dict[str, list[Any]] = {
        "chunk_id": [chunk_id(asset_id, 0) for asset_id in asset_ids],
        "asset_id": asset_ids,
        "chunk_group_id": asset_ids,
        "source_id": source_ids,
        "text": [window.text for window in chat_windows],
        "text_hash": [text_hash(window.text) for window in chat_windows],
        "members": [[ids[row] for row in window.rows] for window in chat_windows],
        "participants": names,
        "from": [", ".join(senders_) for senders_ in names],
        "last_ts": [times[window.rows[-1]] for window in chat_windows],
        "chunk_index": [0] * count,
        "chunk_count": [1] * count,
        "start": [0] * count,
        "end": [0] * count,
        "to": [[]] * count,
    }
    own |= {name: [None] * count for name in _EMPTY_IN_A_WINDOW}
    return _table(records, [window.rows[0] for window in chat_windows], own)


def _native_id(rows: list[int], threads: list[str], native: list[str], kind: str) -> str:
    chat = threads[rows[0]].removeprefix(f"{kind}:")
    first, last = (native[row].removeprefix(f"{chat}:") for row in (rows[0], rows[-1]))
    return f"chunk:{chat}:{first}:{last}"


def _table(records: pa.Table, rows: list[int], own: dict[str, list[Any]]) -> pa.Table:
    """Chunk rows: the columns of `own`, and all others as the record that each row is of has them."""
    record_rows = pa.array(rows, pa.int64())
    columns = [
        pa.array(own[field.name], field.type) if field.name in own else records[field.name].take(record_rows)
        for field in _COLUMNS
    ]
    return pa.Table.from_arrays(columns, schema=_COLUMNS)
