"""The retriever of LangChain gives what `search` gives, whichever way it is called."""

import asyncio
from pathlib import Path

import pytest

from relrag_query.service import Filters
from tests import archive

pytest.importorskip("langchain_core", reason="needs the extra `langchain`")


def test_every_way_of_calling_gives_the_ids_of_search(tmp_path: Path) -> None:
    from relrag_query.langchain import ArchiveRetriever

    config = archive.make(tmp_path)
    archive.first_sync(config)
    retriever = ArchiveRetriever.open(config, limit=3, filters=Filters(sources=["notes"]))
    with retriever.service as service:
        hits = service.search("plumber", Filters(sources=["notes"]), 3).hits
        found = retriever.invoke("plumber")
        assert [one.id for one in found] == [hit.chunk_id for hit in hits]
        assert [one.page_content for one in found] == [hit.text for hit in hits]
        assert found[0].metadata["asset_id"].startswith("jsonl:notes:n")
        assert retriever.batch(["plumber", "boiler"])[0] == found
        assert asyncio.run(retriever.ainvoke("plumber")) == found
