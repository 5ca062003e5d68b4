"""An archive as a retriever of LangChain (extra `langchain`); nothing of relrag imports this module.

retriever = ArchiveRetriever.open()
retriever.invoke("What did the plumber quote?")
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from langchain_core.callbacks import CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from pydantic import Field

from relrag_query.service import Filters, Service
from relrag_query.service.replies import HitReply


class ArchiveRetriever(BaseRetriever):  # type: ignore[misc]  # LangChain is not installed where this is checked
    """Gives the passages of `search`, in its order; `batch` and `ainvoke` give the same."""

    service: Any = Field(exclude=True, repr=False)
    limit: int | None = None
    filters: Any = None

    @classmethod
    def open(cls, config: Path | None = None, limit: int | None = None, filters: Filters | None = None) -> Any:
        """A retriever over the archive of that relrag.toml, else of the nearest one."""
        return cls(service=Service.open(config), limit=limit, filters=filters)

    def _get_relevant_documents(self, query: str, *, run_manager: CallbackManagerForRetrieverRun) -> list[Document]:
        return [_document(hit) for hit in self.service.search(query, self.filters, self.limit).hits]


def _document(hit: HitReply) -> Document:
    said = hit.model_dump(mode="json", by_alias=True, exclude={"text", "messages"})
    return Document(id=hit.chunk_id, page_content=hit.text, metadata=said)
