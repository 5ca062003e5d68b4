"""Centres the vectors of the lake: subtracts the mean vector of each language."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from relrag_pipelines.embedders import ModelInfo, centring
from relrag_pipelines.stores import lake
from relrag_pipelines.workspace import Workspace


def language_means(workspace: Workspace, model: ModelInfo) -> centring.Means:
    """The mean vector of each language, over the first passages of each source; {} if the model needs no centring."""
    if model.means is None:
        return {}
    texts: list[str] = []
    vectors: list[Sequence[float]] = []
    sources = workspace.settings.sources
    for source in sources:
        sample = itertools.islice(_embedded_texts(workspace.home, source.name), centring.SAMPLE // len(sources))
        for text, vector in sample:
            texts.append(text)
            vectors.append(vector)
    rows = np.asarray(vectors, np.float32).reshape(-1, model.dimension)
    return centring.passage_means(texts, rows, centring.model_means(model.means, "passages"))


def _embedded_texts(home: Path, source: str) -> Iterator[tuple[str, Sequence[float]]]:
    """Yields the text and vector of each embedded passage of a source, month by month."""
    for month in lake.month_files(home, "embeddings", source):
        chunks = lake.read(home, "chunks", source, month, ["chunk_id", "text"])
        embedded = lake.read(home, "embeddings", source, month, ["chunk_id", "vector"])
        text_of = dict(zip(chunks["chunk_id"].to_pylist(), chunks["text"].to_pylist(), strict=True))
        for chunk_id, vector in zip(embedded["chunk_id"].to_pylist(), embedded["vector"].to_pylist(), strict=True):
            yield text_of[chunk_id], vector


def centre_batches(
    batches: Iterator[pa.RecordBatch], means: centring.Means, dimension: int
) -> Iterator[pa.RecordBatch]:
    """Yields the batches with their vector columns centred; each vector has `dimension` numbers."""
    for batch in batches:
        for name in ("vector", "span_vectors") if means else ():
            index = batch.schema.get_field_index(name)
            if index >= 0:
                batch = batch.set_column(index, name, _centre(batch.column(index), means, dimension))
        yield batch


def _centre(lists: pa.ListArray, means: centring.Means, dimension: int) -> pa.ListArray:
    """Centres a column of lists; each list holds any number of vectors end to end, or is null."""
    rows = np.asarray(lists.flatten(), np.float32).reshape(-1, dimension)
    flat = pa.array(centring.centre(rows, means).ravel() if len(rows) else rows.ravel(), pa.float32())
    ends = np.cumsum([0, *(pc.fill_null(pc.list_value_length(lists), 0).to_pylist())]).astype(np.int32)
    offsets = pa.array(ends, mask=np.append(np.asarray(lists.is_null()), False))
    return pa.ListArray.from_arrays(offsets, flat)
