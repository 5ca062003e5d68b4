"""Vectors of passages and of their spans are stored as they are compared with a question."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from relrag_pipelines.embedders import centring
from relrag_pipelines.publishing.centred_vectors import centre_batches

MEANS = {"en": [1.0, 0.0], "cs": [0.0, 1.0]}


def test_every_vector_of_a_batch_is_centred_by_its_own_language() -> None:
    """Lists of none, one and two vectors, and no list, keep their places; the other columns are as they were."""
    numbers = pa.list_(pa.float32())
    batch = pa.record_batch(
        {
            "chunk_id": ["a", "b", "c"],
            "vector": pa.array([[1.0, 0.2], None, [0.1, 1.0]], numbers),
            "span_vectors": pa.array([[0.8, 0.6, 0.2, 1.0], None, []], numbers),
        }
    )
    (made,) = centre_batches(iter([batch]), MEANS, 2)
    given = np.array([[1.0, 0.2], [0.1, 1.0], [0.8, 0.6], [0.2, 1.0]], np.float32)
    first, third, *spans = centring.centre(given, MEANS)
    # .9 of the nearest mean is taken away: (1, .2) less (.9, 0) is (.1, .2), of length 1 (.447, .894)
    assert first.tolist() == pytest.approx([0.447, 0.894], abs=1e-3)
    rows = made.to_pylist()
    assert [row["chunk_id"] for row in rows] == ["a", "b", "c"]
    assert (rows[1]["vector"], rows[1]["span_vectors"], rows[2]["span_vectors"]) == (None, None, [])
    assert rows[0]["vector"] == pytest.approx(first.tolist())
    assert rows[2]["vector"] == pytest.approx(third.tolist())
    assert rows[0]["span_vectors"] == pytest.approx(np.concatenate(spans).tolist())


def test_batches_without_means_or_without_vectors_stay_as_they_are() -> None:
    batch = pa.record_batch({"vector": pa.array([[3.0, 4.0]], pa.list_(pa.float32()))})
    assert next(centre_batches(iter([batch]), {}, 2)) is batch
    words = pa.record_batch({"chunk_id": ["a"]})
    assert next(centre_batches(iter([words]), MEANS, 2)) is words
