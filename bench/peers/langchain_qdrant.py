"""LangChain's QdrantVectorStore over Qdrant in this process, dense and sparse vectors together."""

from __future__ import annotations

from typing import Any

from langchain_core.embeddings import Embeddings
from langchain_qdrant import QdrantVectorStore, RetrievalMode, SparseEmbeddings, SparseVector
from qdrant_client import QdrantClient, models

from bench.peers import peer


class _Constant(Embeddings):
    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        return [[1.0] * peer.DIMENSIONS for _ in texts]

    def embed_query(self, text: str) -> list[float]:
        return [1.0] * peer.DIMENSIONS


class _Sparse(SparseEmbeddings):
    def embed_documents(self, texts: list[str]) -> list[SparseVector]:
        pairs = zip(*peer.sparse_documents(texts), strict=True)
        return [SparseVector(indices=indices, values=values) for indices, values in pairs]

    def embed_query(self, text: str) -> SparseVector:
        indices, values = peer.sparse_question(text)
        return SparseVector(indices=indices, values=values)


class LangChain:
    """A collection of Qdrant."""

    def __init__(self, client: QdrantClient) -> None:
        client.create_collection(
            "documents",
            vectors_config={"dense": models.VectorParams(size=peer.DIMENSIONS, distance=models.Distance.COSINE)},
            sparse_vectors_config={"sparse": models.SparseVectorParams(modifier=models.Modifier.IDF)},
        )
        self._store = QdrantVectorStore(
            client=client,
            collection_name="documents",
            embedding=_Constant(),
            sparse_embedding=_Sparse(),
            retrieval_mode=RetrievalMode.HYBRID,
            vector_name="dense",
            sparse_vector_name="sparse",
        )

    def ingest(self, documents: list[dict[str, Any]]) -> None:
        """Adds the texts with their fields as metadata."""
        texts = [document["text"] for document in documents]
        fields = [{name: value for name, value in one.items() if name != "text"} for one in documents]
        self._store.add_texts(texts, fields)

    def search(self, question: str) -> list[str]:
        """Texts of the best documents."""
        return [found.page_content for found in self._store.similarity_search(question, k=peer.LIMIT)]


if __name__ == "__main__":
    peer.main(LangChain, ["langchain-core", "langchain-qdrant", "qdrant-client"])
