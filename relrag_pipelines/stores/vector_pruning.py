"""Removes the vectors of texts that were deleted or forgotten from the cache of vectors."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from relrag_pipelines.files.failpoints import failpoint
from relrag_pipelines.stores import parquet_file, vector_cache

_HASHES = pa.schema({"text_hash": pa.string(), "span_hashes": pa.list_(pa.string())})


def prune_vectors(home: Path, further: Iterable[str] = ()) -> int:
    """Removes vectors of texts that no passage or relationship of the lake has any more; returns their number.

    `further` are hashes of other texts whose vectors stay.
    """
    if not vector_cache.path(home).exists():
        return 0
    relationships = home / "lake" / "relationship_embeddings" / "archive.parquet"
    months = [*(home / "lake" / "embeddings").glob("*/*.parquet"), *([relationships] if relationships.exists() else ())]
    with vector_cache.open(home) as cache:
        current = itertools.chain.from_iterable(map(_hashes, months))
        failpoint("vector_cache.commit", vector_cache.path(home))
        return vector_cache.prune(cache, itertools.chain(current, further))


def _hashes(path: Path) -> Iterator[str]:
    """The hashes of the texts whose vectors are in a file; one of an older schema has none of spans."""
    table = parquet_file.read(path, _HASHES.names, schema=_HASHES)
    for column in (table["text_hash"], pc.list_flatten(table["span_hashes"])):
        yield from column.to_pylist()
