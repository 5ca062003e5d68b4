"""The stage that embeds relationships: each distinct text once, in the cache of passage vectors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import pyarrow as pa

from relrag_pipelines import embedders
from relrag_pipelines.embedders import Vectors
from relrag_pipelines.identity import statement_overlay
from relrag_pipelines.privacy.pseudonyms import to_entity_type
from relrag_pipelines.records import PersonRelationship, RelationshipEmbedding
from relrag_pipelines.stores import vector_cache
from relrag_pipelines.stores.table_schema import arrow_schema, to_table
from relrag_pipelines.workspace import Workspace

if TYPE_CHECKING:
    from pyarrow.dataset import Dataset


def make(workspace: Workspace, inputs: Mapping[str, Dataset]) -> tuple[dict[str, pa.Table], dict[str, float]]:
    """The rows of relationship_embeddings, and the number of newly embedded texts; no rows without an embedder."""
    model = embedders.model(workspace.settings)
    rows = [PersonRelationship(**row) for row in inputs["person_relationships"].to_table().to_pylist()]
    if model is None or not rows:
        return {"relationship_embeddings": arrow_schema(RelationshipEmbedding).empty_table()}, {"embedded": 0}
    vectors, embedded = embed(workspace, rows)
    embeddings = [RelationshipEmbedding(key, model.name, vector.tolist()) for key, vector in sorted(vectors.items())]
    return {"relationship_embeddings": to_table(embeddings, RelationshipEmbedding)}, {"embedded": embedded}


def embed(workspace: Workspace, rows: Sequence[PersonRelationship]) -> tuple[dict[str, Vectors], int]:
    """Hash of each text -> vector, and the number of vectors that were not cached. Raises EmbeddingError."""
    model = embedders.model(workspace.settings)
    if model is None:
        return {}, 0
    texts = {row.text_hash: to_entity_type(statement_overlay.embedded_text(row)) for row in rows}
    with vector_cache.open(workspace.home) as cache:
        vectors = vector_cache.find(cache, model.name, list(texts))
        missing = sorted(texts.keys() - vectors.keys())
        for start in range(0, len(missing), model.batch_texts):
            batch = missing[start : start + model.batch_texts]
            new_vectors, _ = workspace.embedder.documents([texts[key] for key in batch])
            vector_cache.keep(cache, model.name, batch, new_vectors)
            vectors |= zip(batch, new_vectors, strict=True)
    return {key: vectors[key] for key in texts}, len(missing)
