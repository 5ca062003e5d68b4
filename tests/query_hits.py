"""Publishes a small archive from records, without the pipeline: one passage a record, chat windows as given."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from unittest import mock

import pyarrow as pa
import pyarrow.parquet as pq

from relrag_pipelines import links
from relrag_pipelines.records import TABLES, Chunk, Record
from relrag_pipelines.stores import catalog, catalog_build, generations, vector_store
from relrag_pipelines.stores.table_schema import to_table
from relrag_pipelines.stores.vectors import local_build

NOW = datetime(2025, 1, 20, 12, tzinfo=UTC)
CONFIG = """
archive = "test"
keys_file = "test.keys"
embedder = "none"
timezone = "Asia/Jerusalem"
asset_neighborhood_expansion_enabled = true
{extra}
"""


def record(asset_id: str, text: str, timestamp: str | None = None, **fields: Any) -> Record:
    """A record; `timestamp` in ISO 8601, UTC."""
    kind, _, native = asset_id.partition(":")
    ts = int(datetime.fromisoformat(timestamp).timestamp()) if timestamp else None
    values = {"source": kind, "kind": kind, "rag_source_type": kind} | fields
    return Record(native, text, asset_id, timestamp=timestamp, ts=ts, **values)


def passages(record: Record, texts: Sequence[str] | None = None) -> list[Chunk]:
    """The record's passages: its whole text, or the texts given."""
    return [_chunk(record, text, index, len(texts or "1")) for index, text in enumerate(texts or [record.text])]


def window(messages: Sequence[Record]) -> Chunk:
    """A chat window over these messages."""
    first, last = messages[0], messages[-1]
    senders = list(dict.fromkeys(message.from_ or "" for message in messages))
    native = f"chunk:{first.thread_id}:{first.ts}:{last.ts}"
    text = "\n".join(f"{message.from_}: {message.text}" for message in messages)
    chunk = _chunk(first, text, 0, 1)
    chunk.asset_id = chunk.chunk_group_id = f"{first.kind}:{native}"
    chunk.chunk_id = str(uuid.uuid5(uuid.NAMESPACE_URL, chunk.asset_id))
    chunk.members = [message.asset_id for message in messages]
    chunk.from_, chunk.participants, chunk.last_ts = ", ".join(senders), senders, last.ts
    return chunk


def publish(folder: Path, records: Sequence[Record], chunks: Iterable[Chunk] | None = None, extra: str = "") -> Path:
    """Writes and publishes an archive in that folder; returns its relrag.toml."""
    found = list(chunks) if chunks is not None else [one for each in records for one in passages(each)]
    (folder / "relrag.toml").write_text(CONFIG.format(extra=extra) + "".join(map(_source, _names(records))))
    home = folder / ".relrag"
    place = generations.begin(home)
    tables = {"records": to_table(list(records), Record), "chunks": to_table(found, Chunk)}
    tables["asset_asset_edges"] = links.build_edges(tables["records"], tables["chunks"])
    parts = {}
    for name, table in tables.items():
        path = folder / "lake" / name / "2025-01.parquet"
        path.parent.mkdir(parents=True, exist_ok=True)
        pq.write_table(table.sort_by([(key, "ascending") for key in TABLES[name].key]), path)
        parts[name] = [("all", [path])]

    def index(batches: Iterator[pa.RecordBatch], _: Sequence[str]) -> None:
        # without indexes of payload fields, which take 4 MB each and make no search of so few quicker
        with mock.patch.object(local_build, "_index"):
            vector_store.build(place / "vectors", batches)

    counts = catalog_build.build(place / catalog.NAME, parts, at=NOW, index=index)
    generations.finish(home, {"counts": counts}, NOW)
    return folder / "relrag.toml"


def _chunk(record: Record, text: str, index: int, count: int) -> Chunk:
    chunk_id = str(uuid.uuid5(uuid.NAMESPACE_URL, f"{record.asset_id}#{index}"))
    chunk = Chunk(
        chunk_id, record.asset_id, record.asset_id, index, count, text, "0", record.source, record.kind,
        record.rag_source_type,
    )  # fmt: skip
    for name in (
        "source_id", "from_", "to", "participants", "subject", "timestamp", "ts", "thread_id", "parent_asset_id",
        "parent_ref", "index_in_parent", "total_siblings", "content_type", "file_name", "source_uri", "language",
        "date_quality",
    ):  # fmt: skip
        setattr(chunk, name, getattr(record, name))
    chunk.last_ts = record.ts
    return chunk


def _names(records: Sequence[Record]) -> list[str]:
    return list(dict.fromkeys(record.source for record in records))


def _source(name: str) -> str:
    return f'\n[[sources]]\nname = "{name}"\nkind = "jsonl"\npath = "{name}.jsonl"\n'
