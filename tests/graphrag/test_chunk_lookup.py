"""Chunks of a real archive behind an index whose documents they are, and behind one that we make of them."""

from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import pytest

from relrag_pipelines.graphrag import parquet
from relrag_pipelines.graphrag.build import build
from relrag_pipelines.graphrag.invariants import violations
from relrag_query.archive import Archive
from relrag_query.graphrag.chunk_lookup import get_chunks_batch
from relrag_query.graphrag.index import open_index
from relrag_query.graphrag.trace import trace
from tests import archive as archives
from tests import passages
from tests.query_hits import publish, record


@pytest.fixture(scope="module")
def config(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = archives.make(tmp_path_factory.mktemp("archive"))
    archives.sync(made)
    return made


@pytest.fixture
def archive(config: Path) -> Iterator[Archive]:
    with Archive.open(config) as opened:
        yield opened


@pytest.mark.requirement("S1-8", "S1-9")
def test_chunks_by_id(config: Path, archive: Archive) -> None:
    (lease,) = archives.chunks(config, "papers")
    found = get_chunks_batch(archive, [lease.chunk_id, "00000000-0000-0000-0000-000000000000", lease.chunk_id])
    assert found == {
        "chunks": [
            {
                "id": lease.chunk_id,
                "document": {"original_filename": "lease 2024-01-05.md"},
                "chunk_metadata": {
                    "page_number": None,
                    "last_page_number": None,
                    "chunk_index": 0,
                    "asset_id": lease.asset_id,
                },
                "chunk_text": lease.text[:200],
            }
        ],
        "count": 1,
    }
    assert get_chunks_batch(archive, [*map(str, range(50)), lease.chunk_id]) == {"chunks": [], "count": 0}


@pytest.mark.requirement("S1-7")
def test_a_preview_has_two_hundred_characters(tmp_path: Path) -> None:
    long = record("document:long", "word " * 100)
    with Archive.open(publish(tmp_path, [long])) as archive:
        (chunk,) = archive.chunks_of("document:long")
        (row,) = get_chunks_batch(archive, [chunk.chunk_id])["chunks"]
    assert row["chunk_text"] == "word " * 40


@pytest.mark.requirement("S1-6", "S1-10")
def test_an_index_whose_documents_are_chunks_of_the_archive(config: Path, archive: Archive, tmp_path: Path) -> None:
    (lease,) = archives.chunks(config, "papers")
    pd.DataFrame({"id": ["unit"], "text": [lease.text], "document_ids": [[lease.chunk_id]]}).to_parquet(
        tmp_path / "text_units.parquet"
    )
    index = open_index(tmp_path)
    answer = "The rent is nine hundred [Data: Sources (0)]."
    (only,) = trace(answer, index, chunks=lambda ids: get_chunks_batch(archive, ids)["chunks"]).sources
    assert only.document == "lease 2024-01-05.md"
    assert "The tenant pays nine hundred a month." in only.quote
    assert trace(answer, index).sources[0].document == "Unknown"


def test_an_index_of_the_archive_leads_back_to_its_chunks(config: Path, archive: Archive, tmp_path: Path) -> None:
    chunks = [one for source in ("chat", "notes", "papers") for one in archives.chunks(config, source)]
    tables = build(passages.table(chunks))
    assert violations(tables) == []
    parquet.write(tables, tmp_path)
    index = open_index(tmp_path)
    cited = "".join(f"The boiler is broken [Data: Sources ({row})]." for row in range(len(chunks)))
    found = trace(cited, index).sources
    ids = [one for source in found for one in source.chunk_ids]
    assert sorted(ids) == sorted(one.chunk_id for one in chunks)
    assert {chunk.chunk_id for one in ids if (chunk := archive.chunk(one))} == set(ids)
    assert found[0].quote == "Dana Levi: The boiler of the cabin is broken again"
