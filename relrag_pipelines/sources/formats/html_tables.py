"""HTML tables: those that hold data, as rows; others only lay out a page."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import accumulate
from typing import NamedTuple

from relrag_pipelines.sources.formats.html_spacing import LINE
from relrag_pipelines.sources.formats.text_cleaning import one_line, table_row

_SPARSE = 4
"""A grid with more positions than this per cell isn't a table of data."""
_SMALL = 64
"""A grid of up to this many positions is never too sparse."""


class HtmlCell(NamedTuple):
    """One cell: where its pieces of text begin and end, and how many columns and rows it spans."""

    start: int
    end: int
    wide: int
    high: int


@dataclass
class HtmlTable:
    """A table while it is being read."""

    start: int
    """index of its first piece of text"""
    data: bool = True
    """false once something was read that tables of data don't contain"""
    headed: bool = False
    """it has a heading cell"""
    cell: HtmlCell | None = None
    """the open cell"""
    rows: list[list[HtmlCell]] = field(default_factory=list)


def grid(table: HtmlTable) -> int:
    """The number of positions in a table's grid; 0 for a table that only lays out text.

    A table of data has two rows of two cells, or one and a heading, and its grid is not mostly empty.
    """
    wide = sum(len(row) > 1 for row in table.rows)
    if not table.data or not (wide > 1 or (wide == 1 and table.headed)):
        return 0
    size = len(table.rows) * max(_widths(table.rows))
    return size if size <= _SPARSE * sum(map(len, table.rows)) + _SMALL else 0


def rows(table: HtmlTable, pieces: list[str]) -> Iterator[str]:
    """The text outside the cells (the caption), then the rows, as lines."""
    outside, position = [], table.start
    for row in table.rows:
        for cell in row:
            outside += pieces[position : cell.start]
            position = cell.end
    if lead := _one_line([*outside, *pieces[position:]]):
        yield lead
    widest = _widest(table.rows)
    yield from is_layout_table(
        [(_one_line(pieces[cell.start : cell.end]), min(cell.wide, widest), cell.high) for cell in row]
        for row in table.rows
    )


def is_layout_table(rows: Iterable[Iterable[tuple[str, int, int]]]) -> Iterator[str]:
    """Rows of (text, columns, rows) cells as lines; the further positions that a cell spans are empty."""
    remaining: dict[int, int] = {}  # column -> further rows that a tall cell spans there
    for row in rows:
        cells: list[str] = []
        for text, width, height in row:
            while remaining.get(len(cells), 0):
                remaining[len(cells)] -= 1
                cells.append("")
            for column in range(len(cells), len(cells) + width):
                remaining[column] = height - 1
            cells += [text, *[""] * (width - 1)]
        for column in range(len(cells), max(remaining, default=-1) + 1):
            if remaining.get(column, 0):
                remaining[column] -= 1
        if any(cells):
            yield table_row(cells)


def _widest(rows: list[list[HtmlCell]]) -> int:
    """The most cells in a row. No cell spans more columns, though pages write `colspan=100` for a whole row."""
    return max(map(len, rows))


def _widths(rows: list[list[HtmlCell]]) -> list[int]:
    """The columns filled in each row, by its own cells and by tall ones above."""
    widest = _widest(rows)
    changes = [0] * (len(rows) + 1)
    for number, row in enumerate(rows):
        for cell in row:
            changes[number] += min(cell.wide, widest)
            changes[min(number + cell.high, len(rows))] -= min(cell.wide, widest)
    return list(accumulate(changes[:-1]))


def _one_line(pieces: list[str]) -> str:
    return one_line("".join(pieces).replace(LINE, "\n"))
