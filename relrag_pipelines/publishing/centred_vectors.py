"""The vectors of the lake as they are compared: without what all passages of a language have in common."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pyarrow as pa

from relrag_pipelines.embedders import ModelInfo, centring
from relrag_pipelines.stores import lake, parquet_file
from relrag_pipelines.workspace import Workspace


def language_means(workspace: Workspace, model: ModelInfo) -> centring.Means:
    """What the vectors of each language have in common, from the first passages of each source; {} where they stay."""
    if model.means is None:
        return {}
    texts: list[str] = []
    vectors: list[Sequence[float]] = []
    sources = workspace.settings.sources
    for source in sources:
        room = len(texts) + centring.SAMPLE // len(sources)
        for month in sorted(lake.manifest(workspace.home, "embeddings", source.name)):
            if len(texts) >= room:
                break
            chunks, embedded = (
                parquet_file.read(lake.month_path(workspace.home, table, source.name, month))
                for table in ("chunks", "embeddings")
            )
            said = dict(zip(chunks["chunk_id"].to_pylist(), chunks["text"].to_pylist(), strict=True))
            texts += [said[key] for key in embedded["chunk_id"].to_pylist()][: room - len(texts)]
            vectors += embedded["vector"].to_pylist()[: len(texts) - len(vectors)]
    rows = np.asarray(vectors, np.float32).reshape(-1, model.dimension)
    return centring.passage_means(texts, rows, centring.model_means(model.means, "passages"))


def centre_batches(batches: Iterator[pa.RecordBatch], means: centring.Means) -> Iterator[pa.RecordBatch]:
    """The batches with the vectors as they are compared."""
    for batch in batches:
        vectors = batch["vector"] if means else None
        if vectors is None or vectors.null_count == len(vectors):
            yield batch
            continue
        held = vectors.drop_null()
        rows = np.asarray(held.flatten(), np.float32).reshape(len(held), -1)
        ends = np.concatenate([[0], np.cumsum(np.asarray(vectors.is_valid()))]) * rows.shape[1]
        offsets = pa.array(ends.astype(np.int32), mask=np.append(np.asarray(vectors.is_null()), False))
        flat = pa.array(centring.centre(rows, means).ravel(), pa.float32())
        place = batch.schema.get_field_index("vector")
        yield batch.set_column(place, batch.schema.field(place), pa.ListArray.from_arrays(offsets, flat))
