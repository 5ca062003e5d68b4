"""The least that each part of a sync of a million messages takes: the same input read, the same output written.

What lies between, the work itself, is left out: no ids, no redaction, no passages, no keys and indexes, no checks. All
in one process, as Arrow, DuckDB and Qdrant Edge do it by themselves. `python -m bench.sync_floor HOME` prints seconds.
"""

from __future__ import annotations

import hashlib
import sys
import tempfile
import time
from collections import deque
from collections.abc import Callable, Iterable
from pathlib import Path
from zoneinfo import ZoneInfo

import duckdb
import orjson
import pyarrow as pa
import pyarrow.parquet as pq
from qdrant_edge import (
    Bm25,
    Bm25Config,
    EdgeConfig,
    EdgeShard,
    EdgeSparseVectorParams,
    Modifier,
    Point,
    UpdateOperation,
)

from bench import whatsapp_parse

_READ = {
    "redacted": ("private", "records"),
    "identifiers": ("private", "identifiers"),
    "chunks": ("records", "chunks"),
    "edges": ("chunks", "asset_asset_edges"),
}
"""stage -> the table that it reads and the one that it writes"""
_TABLES = ("records", "identifiers", "chunks", "asset_asset_edges")
_UTC = ZoneInfo("UTC")
_BATCH = 5_000


def measure(home: Path) -> dict[str, float]:
    """Seconds by stage, of the archive whose RELRAG_HOME this is; its exports lie beside it."""
    with tempfile.TemporaryDirectory(dir=home.parent) as name:
        place = Path(name)
        found = {"export": _seconds(lambda: _export(home, place))}
        for stage, (read, written) in _READ.items():
            found[stage] = _seconds(lambda read=read, written=written: _copy(home, read, written, place))
        found["duckdb_catalog"] = _seconds(lambda: _catalog(home, place)) + _seconds(lambda: _points(home, place))
        found["published_generation"] = _seconds(lambda: _hash(home))
    return found


def _files(home: Path, table: str) -> list[Path]:
    folder = home / "private" / "records" if table == "private" else home / "lake" / table
    return sorted(folder.rglob("*.parquet"))


def _export(home: Path, place: Path) -> None:
    """Messages by a pattern with datetime, mails by orjson; the private records as they are, written."""
    for chat in sorted((home.parent / "chats").iterdir()):
        deque(whatsapp_parse.plain(chat, _UTC), maxlen=0)
    for mails in sorted((home.parent / "mails").iterdir()):
        deque(map(orjson.loads, mails.open("rb")), maxlen=0)
    _write(map(pq.read_table, _files(home, "private")), place)


def _copy(home: Path, read: str, written: str, place: Path) -> None:
    for file in _files(home, read):
        pq.read_table(file)
    _write(map(pq.read_table, _files(home, written)), place)


def _write(tables: Iterable[pa.Table], place: Path) -> None:
    for table in tables:
        pq.write_table(table, place / "written.parquet", compression="zstd")


def _catalog(home: Path, place: Path) -> None:
    with duckdb.connect(str(place / "catalog.duckdb")) as connection:
        for table in _TABLES:
            rows = connection.read_parquet([str(file) for file in _files(home, table)])
            rows.create(table)
        connection.execute("CHECKPOINT")


def _points(home: Path, place: Path) -> None:
    (place / "vectors").mkdir()
    config = EdgeConfig(sparse_vectors={"text": EdgeSparseVectorParams(modifier=Modifier.Idf)}, wal_enabled=False)
    shard, bm25 = EdgeShard.create(str(place / "vectors"), config), Bm25(Bm25Config())
    for file in _files(home, "chunks"):
        for batch in pq.ParquetFile(file).iter_batches(_BATCH, columns=["chunk_id", "asset_id", "text"]):
            rows = zip(*(column.to_pylist() for column in batch.columns), strict=True)
            points = [Point(chunk, {"text": bm25.embed_document(text)}, {"id": asset}) for chunk, asset, text in rows]
            shard.update(UpdateOperation.upsert_points(points))
    shard.flush()
    shard.close()


def _hash(home: Path) -> None:
    for file in (home / "published").rglob("*"):
        if file.is_file():
            with file.open("rb") as opened:
                hashlib.file_digest(opened, "sha256")


def _seconds(work: Callable[[], None]) -> float:
    begun = time.perf_counter()
    work()
    return time.perf_counter() - begun


if __name__ == "__main__":
    for stage, seconds in measure(Path(sys.argv[1])).items():
        print(f"{stage:22} {seconds:6.1f} s")
