"""LlamaIndex's IngestionPipeline and QdrantVectorStore over Qdrant in this process, hybrid."""

from __future__ import annotations

from typing import Any

from llama_index.core import MockEmbedding, VectorStoreIndex
from llama_index.core.ingestion import IngestionPipeline
from llama_index.core.schema import TextNode
from llama_index.vector_stores.qdrant import QdrantVectorStore
from qdrant_client import QdrantClient, models

from bench.peers import peer


def _sparse_question(texts: list[str]) -> tuple[list[list[int]], list[list[float]]]:
    pairs = [peer.sparse_question(text) for text in texts]
    return [indices for indices, _ in pairs], [values for _, values in pairs]


class LlamaIndex:
    """A collection of Qdrant."""

    def __init__(self, client: QdrantClient) -> None:
        store = QdrantVectorStore(
            "documents",
            client=client,
            enable_hybrid=True,
            sparse_doc_fn=peer.sparse_documents,
            sparse_query_fn=_sparse_question,
            sparse_config=models.SparseVectorParams(modifier=models.Modifier.IDF),
        )
        embedder = MockEmbedding(embed_dim=peer.DIMENSIONS)
        self._pipeline = IngestionPipeline(transformations=[embedder], vector_store=store, disable_cache=True)
        index = VectorStoreIndex.from_vector_store(store, embed_model=embedder)
        self._retriever = index.as_retriever(
            vector_store_query_mode="hybrid", similarity_top_k=peer.LIMIT, sparse_top_k=peer.LIMIT
        )

    def ingest(self, documents: list[dict[str, Any]]) -> None:
        """Runs the pipeline over the texts, each a node with its fields as metadata."""
        nodes = [
            TextNode(text=one["text"], metadata={name: value for name, value in one.items() if name != "text"})
            for one in documents
        ]
        self._pipeline.run(nodes=nodes)

    def search(self, question: str) -> list[str]:
        """Texts of the best documents."""
        return [found.text for found in self._retriever.retrieve(question)]


if __name__ == "__main__":
    peer.main(LlamaIndex, ["llama-index-core", "llama-index-vector-stores-qdrant", "qdrant-client"])
