"""HTML tables: those that hold data, as rows; others only lay out a page."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import accumulate
from typing import NamedTuple

from relrag_pipelines.sources.document.document_text import one_line, table_row

LINE = "\x1d"
"""A line end that any other one absorbs. `clean` removes it from input."""

_SPARSE = 4
"""A grid with more than so many places for each cell is no table of data."""
_SMALL = 64
"""Places of a grid that is never too sparse."""


class HtmlCell(NamedTuple):
    """One cell: its pieces of text, and the columns and rows that it takes up."""

    start: int
    end: int
    wide: int
    high: int


@dataclass
class HtmlTable:
    """A table while it is read."""

    start: int
    """where its text begins among the pieces"""
    data: bool = True
    """whether nothing was seen yet that tables of data do not hold"""
    headed: bool = False
    """it has a heading cell"""
    cell: HtmlCell | None = None
    """the open cell"""
    rows: list[list[HtmlCell]] = field(default_factory=list)


def grid(table: HtmlTable) -> int:
    """The places of a table's grid; 0 where it only lays out text.

    A table of data has two rows of two cells, or one and a heading, and its grid is not mostly empty.
    """
    wide = sum(len(row) > 1 for row in table.rows)
    if not table.data or not (wide > 1 or (wide == 1 and table.headed)):
        return 0
    size = len(table.rows) * max(_widths(table.rows))
    return size if size <= _SPARSE * sum(map(len, table.rows)) + _SMALL else 0


def rows(table: HtmlTable, pieces: list[str]) -> Iterator[str]:
    """What stands outside the cells (the caption), then the rows, as lines."""
    outside, position = [], table.start
    for start, end, *_ in (cell for row in table.rows for cell in row):
        outside += pieces[position:start]
        position = end
    if lead := _one_line([*outside, *pieces[position:]]):
        yield lead
    widest = _widest(table.rows)
    yield from is_layout_table(
        [(_one_line(pieces[one.start : one.end]), min(one.wide, widest), one.high) for one in row] for row in table.rows
    )


def is_layout_table(rows: Iterable[Iterable[tuple[str, int, int]]]) -> Iterator[str]:
    """Rows of cells, each with its columns and rows, as lines; columns that a wide or tall one also fills are empty."""
    taken: dict[int, int] = {}
    for row in rows:
        cells: list[str] = []
        for text, width, height in row:
            while taken.get(len(cells), 0):
                taken[len(cells)] -= 1
                cells.append("")
            for place in range(len(cells), len(cells) + width):
                taken[place] = height - 1
            cells += [text, *[""] * (width - 1)]
        for place in range(len(cells), max(taken, default=-1) + 1):
            if taken.get(place, 0):
                taken[place] -= 1
        if any(cells):
            yield table_row(cells)


def _widest(rows: list[list[HtmlCell]]) -> int:
    """The most cells of a row: no cell fills more columns, though pages write `colspan=100` for the whole row."""
    return max(map(len, rows))


def _widths(rows: list[list[HtmlCell]]) -> list[int]:
    """The columns that are taken up in each row, by its own cells and by tall ones above."""
    widest = _widest(rows)
    changes = [0] * (len(rows) + 1)
    for number, row in enumerate(rows):
        for cell in row:
            changes[number] += min(cell.wide, widest)
            changes[min(number + cell.high, len(rows))] -= min(cell.wide, widest)
    return list(accumulate(changes[:-1]))


def _one_line(pieces: list[str]) -> str:
    return one_line("".join(pieces).replace(LINE, "\n"))
