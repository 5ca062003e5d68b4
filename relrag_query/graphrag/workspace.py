"""From community reports to the documents behind them, for programs that know only the folder of an index.

Each function opens the index and takes the steps that `trace` takes: reports -> text units -> chunks -> documents.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from relrag_query.graphrag.citations import Dataset, Reference
from relrag_query.graphrag.index import Index, open_index
from relrag_query.graphrag.page_lookup import BatchLookup, Page, pages_of
from relrag_query.graphrag.trace import resolve


def trace_reports_to_text_units(report_ids: Iterable[int], workspace_path: Path) -> set[str]:
    """The ids of the text units behind community reports; unknown reports are left out. Raises IndexMissing."""
    index = open_index(workspace_path)
    rows = {row for number in report_ids for row in resolve(Reference(Dataset.REPORTS, number), index).text_units}
    return {str(index.cell("text_units", "id", row)) for row in rows}


def map_text_units_to_chunks(text_unit_ids: Iterable[str], workspace_path: Path) -> set[str]:
    """The ids of the chunks that text units were made from; of an index that names no chunks, its documents.

    Unknown text units are left out. Raises IndexMissing.
    """
    return {chunk for chunk, _ in _chunks(text_unit_ids, open_index(workspace_path))}


def get_source_metadata(
    chunk_ids: Iterable[str], workspace_path: Path, chunks: BatchLookup | None = None
) -> list[dict[str, Any]]:
    """A row for each document and page of chunks: `document`, `page_number` and `chunk_count`.

    The page is None where it is unknown, or a chunk has several. `chunks` gives names and pages that the index does not
    have, at most 50 ids a call. Raises IndexMissing.
    """
    index, requested = open_index(workspace_path), set(chunk_ids)
    pages: dict[str, set[tuple[str, int | None]]] = {}
    for chunk, page in _chunks(index.tables["text_units"]["id"], index, chunks):
        if chunk in requested:
            pages.setdefault(chunk, set()).add((page.document, page.number))
    counts = Counter(_only_page(numbers) for numbers in pages.values())
    return [
        {"document": document, "page_number": number, "chunk_count": counts[document, number]}
        for document, number in sorted(counts, key=lambda key: (key[0], key[1] or 0))
    ]


def _chunks(
    text_unit_ids: Iterable[str], index: Index, chunks: BatchLookup | None = None
) -> Iterator[tuple[str, Page]]:
    """Yields the chunk and the page of each text unit."""
    rows = index.rows_of("text_units", "id", list(text_unit_ids))
    for row, page in zip(rows, pages_of(rows, index, chunks), strict=True):
        has_chunk = page.chunk_id != str(index.cell("text_units", "id", row))
        yield (page.chunk_id if has_chunk else page.document_id), page


def _only_page(pages: set[tuple[str, int | None]]) -> tuple[str, int | None]:
    document, number = min(pages, key=lambda page: page[0])
    return document, number if len(pages) == 1 else None
