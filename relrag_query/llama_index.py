"""An archive as a retriever of LlamaIndex (extra `llama-index`); nothing of relrag imports this module.

retriever = ArchiveRetriever(Service.open())
retriever.retrieve("What did the plumber quote?")
"""

from __future__ import annotations

import asyncio

from llama_index.core.retrievers import BaseRetriever
from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode

from relrag_query.service import Filters, Service
from relrag_query.service.replies import HitReply


class ArchiveRetriever(BaseRetriever):  # type: ignore[misc]  # LlamaIndex is not installed where this is checked
    """Gives the passages of `search`, in its order; `aretrieve` gives the same."""

    def __init__(self, service: Service, limit: int | None = None, filters: Filters | None = None) -> None:
        super().__init__()
        self._service, self._limit, self._filters = service, limit, filters

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        found = self._service.search(query_bundle.query_str, self._filters, self._limit)
        return [_node(hit) for hit in found.hits]

    async def _aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return await asyncio.to_thread(self._retrieve, query_bundle)


def _node(hit: HitReply) -> NodeWithScore:
    said = hit.model_dump(mode="json", by_alias=True, exclude={"text", "messages"})
    return NodeWithScore(node=TextNode(id_=hit.chunk_id, text=hit.text, metadata=said), score=hit.score)
