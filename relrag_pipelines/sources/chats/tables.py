"""Exports of chats as CSV: the names of the columns in the first line, a message a row."""

from __future__ import annotations

from collections.abc import Iterator

from relrag_pipelines.records import Json
from relrag_pipelines.sources.chats.json_chats import OpenFile
from relrag_pipelines.sources.chats.json_stream import Damage
from relrag_pipelines.sources.formats.csv_rows import read_rows

_OPEN_QUOTE = "a quotation mark is opened and never closed; the row is left out, export it again"
_WRONG_CELLS = "the row has another number of cells than the first line; it is left out"
_CUT = "the file ends within a row; export it again"


def table_rows(open_file: OpenFile) -> Iterator[tuple[int, Json] | Damage]:
    """The rows as objects, by the names of the columns, each with its position from 1, and faults."""
    with open_file() as stream:
        text = stream.read().decode("utf-8-sig", "replace").replace("\0", "").replace("\r\n", "\n")
    lines = text.split("\n")
    is_whole = not lines.pop()  # each row ends with its line
    rows = read_rows(lines, ",")
    names = next((row.cells for row in rows), [])
    for position, row in enumerate(rows, 1):
        if row.is_open:
            yield Damage((), position, "open_quote", _OPEN_QUOTE)
        elif row.cells and len(row.cells) != len(names):
            yield Damage((), position, "wrong_cells", _WRONG_CELLS)
        elif row.cells:
            yield position, dict(zip(names, row.cells, strict=True))
    if not is_whole:
        yield Damage((), 0, "truncated", _CUT, fatal=True)
