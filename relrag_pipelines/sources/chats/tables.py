"""Exports of chats as CSV: the names of the columns in the first line, a message a row."""

from __future__ import annotations

from collections.abc import Iterator

from relrag_pipelines.records import Json
from relrag_pipelines.sources.chats.json_chats import OpenFile
from relrag_pipelines.sources.chats.json_stream import Damage
from relrag_pipelines.sources.formats.csv_rows import Row, read_rows

_OPEN_QUOTE = "a quotation mark is opened and never closed; the row is left out, export it again"
_WRONG_CELLS = "the row has another number of cells than the first line; it is left out"
_CUT = "the file ends within a row; export it again"


def table_rows(open_file: OpenFile) -> Iterator[tuple[int, Json] | Damage]:
    """The rows as objects, by the names of the columns, each with its position from 1, and faults."""
    with open_file() as stream:
        text = stream.read().decode("utf-8-sig", "replace").replace("\0", "").replace("\r\n", "\n")
    header, *rows = read_rows(text.removesuffix("\n").split("\n"), ",")
    is_cut = text[-1:] not in ("", "\n") and not _is_complete(header, rows)
    if is_cut:
        del rows[-1:]
    for position, row in enumerate(rows, 1):
        if row.is_open:
            yield Damage((), position, "open_quote", _OPEN_QUOTE)
        elif row.cells and len(row.cells) != len(header.cells):
            yield Damage((), position, "wrong_cells", _WRONG_CELLS)
        elif row.cells:
            yield position, dict(zip(header.cells, row.cells, strict=True))
    if is_cut:
        yield Damage((), 0, "truncated", _CUT, fatal=True)


def _is_complete(header: Row, rows: list[Row]) -> bool:
    """Whether the last row has all its cells; what follows an open quotation mark may be a part of a cell."""
    if not rows or any(row.is_open for row in rows):
        return False
    return len(rows[-1].cells) == len(header.cells)
