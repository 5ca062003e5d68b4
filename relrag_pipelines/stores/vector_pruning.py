"""Removes the vectors of texts that were deleted or forgotten from the cache of vectors."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from pathlib import Path

from relrag_pipelines.files.failpoints import failpoint
from relrag_pipelines.stores import parquet_file, vector_cache


def prune_vectors(home: Path, further: Iterable[str] = ()) -> int:
    """Removes vectors of texts that no passage or relationship of the lake has any more; returns how many vectors.

    `further` are hashes of other texts whose vectors stay.
    """
    if not vector_cache.path(home).exists():
        return 0
    relationships = home / "lake" / "relationship_embeddings" / "archive.parquet"
    months = [*(home / "lake" / "embeddings").glob("*/*.parquet"), *([relationships] if relationships.exists() else ())]
    with vector_cache.open(home) as cache:
        kept = (key for month in months for key in parquet_file.read(month, ["text_hash"])[0])
        failpoint("vector_cache.commit", vector_cache.path(home))
        return vector_cache.prune(cache, itertools.chain((key.as_py() for key in kept), further))
