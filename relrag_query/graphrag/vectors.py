"""Compares the vectors of an index's entities and relationships with a question's."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from relrag_pipelines.embedders import Vectors, centring
from relrag_query.graphrag.index import Index

_MAX_MATCHES = 200
"""maximum number of a table's records that are near to a question"""


class IndexVectors:
    """The vectors that one model made, those of a table ranked by a question."""

    def __init__(self, index: Index, manifest: Mapping[str, Any]) -> None:
        """`manifest` is that of the generation whose questions are compared: its embedder, its means by language."""
        vectors, texts = index.tables["text_vectors"], index.tables["record_texts"]
        vectors = vectors[vectors["model"] == manifest.get("embedder", "")]
        self._matrix = np.empty((0, 0), np.float32)
        if len(vectors):
            flat = pa.chunked_array([pa.array(vectors["vector"])]).combine_chunks().flatten()
            self._matrix = centring.comparable(flat.to_numpy().reshape(len(vectors), -1), manifest.get("means", {}))
        positions = {key: position for position, key in enumerate(vectors["text_hash"])}
        position_by_record = {
            record: positions[key]
            for record, key in zip(texts["record_id"], texts["text_hash"], strict=True)
            if key in positions
        }
        self._rows = {name: _rows(index, name, position_by_record) for name in ("entities", "relationships")}

    def nearest(self, table: str, meaning: Vectors) -> list[int]:
        """Rows of entities or relationships, the nearest first."""
        rows, positions = self._rows[table]
        if not len(rows):
            return []
        cosines = (self._matrix @ meaning)[positions]
        order = np.argsort(-cosines, kind="stable")[:_MAX_MATCHES]
        nearest: list[int] = rows[order].tolist()
        return nearest


def _rows(index: Index, table: str, position_by_record: Mapping[str, int]) -> tuple[np.ndarray, np.ndarray]:
    """The rows of a table that have a vector, and the positions of the vectors."""
    pairs_ = [
        (row, position_by_record[record])
        for row, record in enumerate(index.tables[table]["id"])
        if record in position_by_record
    ]
    pairs = np.array(pairs_, np.int64).reshape(-1, 2)
    return pairs[:, 0], pairs[:, 1]
