"""The retriever of LlamaIndex gives what `search` gives, whichever way it is called."""

import asyncio
from pathlib import Path

import pytest

from relrag_query.service import Service
from tests import archive

pytest.importorskip("llama_index.core", reason="needs the extra `llama-index`")


def test_both_ways_of_calling_give_the_ids_of_search(tmp_path: Path) -> None:
    from relrag_query.llama_index import ArchiveRetriever

    config = archive.make(tmp_path)
    archive.first_sync(config)
    with Service.open(config) as service:
        retriever = ArchiveRetriever(service, limit=3)
        hits = service.search("plumber", limit=3).hits
        found = retriever.retrieve("plumber")
        assert [one.node.node_id for one in found] == [hit.chunk_id for hit in hits]
        assert [one.score for one in found] == [hit.score for hit in hits]
        assert found[0].node.metadata["asset_id"] == hits[0].asset_id
        again = asyncio.run(retriever.aretrieve("plumber"))
        assert [one.node.node_id for one in again] == [hit.chunk_id for hit in hits]
