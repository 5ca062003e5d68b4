"""Finds the document and page of a text unit.

Tables of Microsoft's tool know no pages. They come from, in this order: `text_unit_chunks.parquet`, which this project
writes beside its own index; a look-up of chunks, where each document of the index is a chunk of another store; form
feeds in the document's text, as PDF readers put them between pages.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from relrag_query.graphrag.index import Index, ids

BATCH = 50
"""ids that a look-up is asked for at once"""
UNKNOWN = "Unknown"
"""placeholder for the name of a document that the index does not have"""

BatchLookup = Callable[[Sequence[str]], Sequence[dict[str, Any]]]
"""ids of chunks -> a row for each that is known: `id`, `document.original_filename`, `chunk_metadata.page_number`"""


@dataclass(frozen=True)
class Page:
    """The document and pages of a text unit."""

    document: str
    number: int | None
    last: int | None
    """the page on which it ends"""
    document_id: str
    chunk_id: str


def pages_of(units: Sequence[int], index: Index, chunks: BatchLookup | None = None) -> list[Page]:
    """The page of each row of text_units."""
    documents = {unit: (ids(index.cell("text_units", "document_id", unit)) or [""])[0] for unit in units}
    chunk_rows = _look_up(list(dict.fromkeys(documents.values())), chunks) if chunks else {}
    return [_page(unit, documents[unit], index, chunk_rows.get(documents[unit])) for unit in units]


def _look_up(document_ids: list[str], chunks: BatchLookup) -> dict[str, dict[str, Any]]:
    batches = (document_ids[start : start + BATCH] for start in range(0, len(document_ids), BATCH))
    return {row["id"]: row for batch in batches for row in chunks(batch)}


def _page(unit: int, document_id: str, index: Index, chunk: dict[str, Any] | None) -> Page:
    unit_id = str(index.cell("text_units", "id", unit))
    row = index.row_of("documents", "id", document_id)
    title = UNKNOWN if row is None else (index.cell("documents", "title", row) or UNKNOWN)
    if chunk:
        name = (chunk.get("document") or {}).get("original_filename") or title
        number = (chunk.get("chunk_metadata") or {}).get("page_number")
        # a file, not one of its chunks, is the document that rows are grouped by
        return Page(name, number, number, name, document_id)
    chunk_row = index.row_of("text_unit_chunks", "text_unit_id", unit_id)
    if chunk_row is not None:
        first, last = (
            _number(index.cell("text_unit_chunks", f"{which}page_number", chunk_row)) for which in ("", "last_")
        )
        return Page(title, first, last, document_id, str(index.cell("text_unit_chunks", "chunk_id", chunk_row)))
    if row is not None and (page_numbers := _by_form_feeds(index, row, unit)):
        return Page(title, *page_numbers, document_id, unit_id)
    return Page(title, None, None, document_id, unit_id)


def _number(value: Any) -> int | None:
    return None if pd.isna(value) else int(value)


def _by_form_feeds(index: Index, document: int, unit: int) -> tuple[int, int] | None:
    """First and last page of a text unit in a document whose pages end with form feeds."""
    whole, part = index.cell("documents", "text", document), index.cell("text_units", "text", unit)
    if not isinstance(whole, str) or not isinstance(part, str) or "\f" not in whole:
        return None
    for line in _candidates(part):
        if (start := whole.find(line)) >= 0:
            first = whole.count("\f", 0, start) + 1
            return first, first + line.count("\f")
    return None


def _candidates(part: str) -> Iterator[str]:
    """The text unit, and without the lines of metadata that the tool puts before it."""
    yield part
    yield from (part.split("\n", count)[-1] for count in range(1, 4) if part.count("\n") >= count)
