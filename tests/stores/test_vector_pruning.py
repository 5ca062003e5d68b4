"""Vectors of texts that are gone are taken out of the cache."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from relrag_pipelines.stores import vector_cache, vector_pruning


def test_an_archive_without_an_embedder_has_no_cache_of_vectors(tmp_path: Path) -> None:
    assert vector_pruning.prune_vectors(tmp_path) == 0
    assert list(tmp_path.iterdir()) == []


def test_only_what_the_lake_or_the_caller_names_stays(tmp_path: Path) -> None:
    months = tmp_path / "lake" / "embeddings" / "notes"
    months.mkdir(parents=True)
    pq.write_table(pa.table({"text_hash": ["in a month"]}), months / "2024-02.parquet")
    hashes = ["in a month", "of a graph", "forgotten"]
    with vector_cache.open(tmp_path) as cache:
        vector_cache.keep(cache, "m", hashes, np.ones((3, 4), np.float32))
    assert vector_pruning.prune_vectors(tmp_path, ["of a graph"]) == 1
    assert vector_cache.hashes_with_vector(tmp_path, "m", hashes) == {"in a month", "of a graph"}


def test_the_vectors_of_spans_stay_with_their_passage(tmp_path: Path) -> None:
    months = tmp_path / "lake" / "embeddings" / "notes"
    months.mkdir(parents=True)
    rows = pa.table({"text_hash": ["a", "b"], "span_hashes": [["a1", "a2"], []]})
    pq.write_table(rows, months / "2024-02.parquet")
    hashes = ["a", "a1", "a2", "b", "b1"]
    with vector_cache.open(tmp_path) as cache:
        vector_cache.keep(cache, "m", hashes, np.ones((5, 4), np.float32))
    assert vector_pruning.prune_vectors(tmp_path) == 1
    assert vector_cache.hashes_with_vector(tmp_path, "m", hashes) == {"a", "a1", "a2", "b"}
