"""The least that any index of texts does: BM25 vectors into Qdrant Edge, and the texts into a table of DuckDB.

`python -m bench.index_floor FILE` does it once in a process of its own and prints the seconds as JSON. The documents
are in memory before the clock starts, and nothing is checked, filtered or indexed but the words.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
import uuid
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
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

from bench import corpus

_BATCH = 5_000


def ingest(folder: Path, documents: list[dict[str, Any]]) -> dict[str, float]:
    """Seconds of the vectors and of the table."""
    begun = time.perf_counter()
    (folder / "vectors").mkdir()
    config = EdgeConfig(sparse_vectors={"text": EdgeSparseVectorParams(modifier=Modifier.Idf)}, wal_enabled=False)
    shard, bm25 = EdgeShard.create(str(folder / "vectors"), config), Bm25(Bm25Config())
    ids = [str(uuid.UUID(int=number)) for number in range(len(documents))]
    for start in range(0, len(documents), _BATCH):
        points = [
            Point(point, {"text": bm25.embed_document(document["text"])}, {"id": document["id"]})
            for point, document in zip(ids[start : start + _BATCH], documents[start : start + _BATCH], strict=True)
        ]
        shard.update(UpdateOperation.upsert_points(points))
    shard.flush()
    shard.close()
    vectors = time.perf_counter() - begun
    names = ("id", "text", "ts", "from", "subject")
    table = pa.table({name: [document.get(name) for document in documents] for name in names})
    with duckdb.connect(str(folder / "texts.duckdb")) as connection:
        connection.register("given", table)
        connection.execute("CREATE TABLE texts AS FROM given")
        connection.execute("CHECKPOINT")
    return {"vectors": vectors, "table": time.perf_counter() - begun - vectors}


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as place:
        print(json.dumps(ingest(Path(place), corpus.read(Path(sys.argv[1])))))
