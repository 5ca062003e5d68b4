"""How much of what answers a question is found by words alone.

`python -m bench.retrieval FOLDER...` prints, for each folder with corpus.jsonl and questions.jsonl, the mean recall at
2, 5 and 8 passages and the share of questions whose whole gold set is among the first 8, in percent. The corpus goes
through the same words and the same store as an archive.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pyarrow as pa

from relrag_pipelines.records import Chunk
from relrag_pipelines.stores import vector_store
from relrag_pipelines.stores.table_schema import arrow_schema

_DEPTH = 8
_PEOPLE = ("person_ids", "mentioned_person_ids")


def measure(folder: Path) -> dict[str, float]:
    """Percentages over the questions of a folder, and milliseconds a search (median)."""
    corpus, questions = (_lines(folder / name) for name in ("corpus.jsonl", "questions.jsonl"))
    names = {str(uuid.UUID(int=place)): passage["id"] for place, passage in enumerate(corpus)}
    rows = [
        {"chunk_id": chunk_id, "text": passage["text"], "subject": passage["title"]}
        for chunk_id, passage in zip(names, corpus, strict=True)
    ]
    with tempfile.TemporaryDirectory() as place:
        vector_store.build(Path(place) / "vectors", batches(rows))
        with closing(vector_store.open(Path(place) / "vectors")) as store:
            found, times = {}, []
            for question in questions:
                begun = time.perf_counter()
                hits = store.search(question["question"], _DEPTH)
                times.append(time.perf_counter() - begun)
                found[question["id"]] = [names[hit.chunk_id] for hit in hits]
    gold = {question["id"]: set(question["gold"]) for question in questions}
    return scores(found, gold) | {"p50_ms": round(sorted(times)[len(times) // 2] * 1000, 2)}


def scores(found: Mapping[str, Sequence[str]], gold: Mapping[str, set[str]]) -> dict[str, float]:
    """R@2, R@5, R@8 and the share of questions with all their gold in the first 8, in percent."""
    recall = {
        f"R@{depth}": _percent([len(gold[key] & set(found[key][:depth])) / len(gold[key]) for key in gold])
        for depth in (2, 5, _DEPTH)
    }
    return recall | {f"all_gold_{_DEPTH}": _percent([gold[key] <= set(found[key][:_DEPTH]) for key in gold])}


def batches(
    rows: Sequence[Mapping[str, Any]],
    meanings: Sequence[Sequence[float] | None] = (),
    spans: Sequence[Sequence[float] | None] = (),
) -> Iterator[pa.RecordBatch]:
    """Rows with some of the columns of a chunk, the rest empty, as the store takes them; with their dense vectors.

    Those of the `spans` of a row stand one behind the other.
    """
    columns = {}
    for field in arrow_schema(Chunk):
        empty: Any = [] if pa.types.is_list(field.type) else 0 if field.type == pa.int64() else ""
        columns[field.name] = pa.array(
            [row.get(field.name, None if field.nullable else empty) for row in rows], field.type
        )
    people = {name: pa.array([row.get(name, []) for row in rows], pa.list_(pa.int64())) for name in _PEOPLE}
    given = {"vector": meanings, "span_vectors": spans}
    dense = {name: pa.array(list(of), pa.list_(pa.float32())) for name, of in given.items() if of}
    yield from pa.table(columns | people | dense).to_batches()


def _percent(values: Sequence[float]) -> float:
    return round(100 * sum(values) / len(values), 1)


def _lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


if __name__ == "__main__":
    for name in sys.argv[1:]:
        print(Path(name).name, json.dumps(measure(Path(name))))
