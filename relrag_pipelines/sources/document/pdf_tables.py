"""Lays out the lines of a page as text, and finds the columns of tables that exist only as positions.

A PDF has no tables, only words at places. A row with an empty cell reads like a row with fewer cells, and its values
slide under the wrong heading. Here cells are told by wide gaps; columns are the strips that cells of neighbouring
lines share. A run of lines is a table when no line has two cells in one strip, there are three strips or more, and at
least two lines have three cells or more. Everything else stays as it was.
"""

from __future__ import annotations

import itertools
import statistics
from bisect import bisect_left, bisect_right
from dataclasses import dataclass

from relrag_pipelines.sources.document.document_text import table_row

PARAGRAPH_GAP = 1.5
"""A drop to the next line of more than this many usual ones begins a paragraph."""
MOST_LOOKS = 100
"""Lines that are looked at for a table, for each line of the page: a page of 200 lines is looked at from every line."""
SPARSE = 50
"""Where a table would have more than this many cells for each that holds text, it is none."""


@dataclass(frozen=True, slots=True)
class Cell:
    """A stretch of a line without a wide gap; left and right in points."""

    text: str
    left: float
    right: float


@dataclass(frozen=True, slots=True)
class PdfLine:
    """A line of a page; bottom is above the page's lower edge, height that of its letters, in points."""

    cells: tuple[Cell, ...]
    bottom: float
    height: float


def layout(lines: list[PdfLine]) -> str:
    """The text of the lines: tables as rows with separated cells, paragraphs apart by an empty line."""
    usual = _usual_line_gap(lines)
    texts: list[str] = []
    at, seen = 0, 0
    while at < len(lines):
        if at and lines[at - 1].bottom - lines[at].bottom > PARAGRAPH_GAP * max(usual, lines[at].height):
            texts.append("")
        rows, looked_at = _table(lines, at) if seen <= MOST_LOOKS * len(lines) else ([], 0)
        seen += looked_at
        texts += rows or [" ".join(cell.text for cell in lines[at].cells)]
        at += len(rows) or 1
    return "\n".join(texts)


def _usual_line_gap(lines: list[PdfLine]) -> float:
    drops = [line.bottom - following.bottom for line, following in itertools.pairwise(lines)]
    return statistics.median_low([drop for drop in drops if drop > 0] or [0.0])


def _table(lines: list[PdfLine], start: int) -> tuple[list[str], int]:
    """The rows of the table that begins at that line, none where there is no table; and the lines looked at."""
    if len(lines[start].cells) < 2:
        return [], 0
    end = start + 1
    while end < len(lines) and lines[end].bottom < lines[end - 1].bottom:
        end += 1
    looked_at = end - start
    if sum(len(line.cells) > 2 for line in lines[start:end]) < 2:
        return [], looked_at
    strips, stop = _strips(lines, start, end)
    if stop < end:  # the line that does not fit has left its traces
        strips, end = _strips(lines, start, stop)
    while len(lines[end - 1].cells) == 1:  # a line of text under a table is not part of it
        end -= 1
    rows = lines[start:end]
    filled = sum(len(line.cells) for line in rows)
    if len(strips) < 3 or sum(len(line.cells) > 2 for line in rows) < 2 or len(rows) * len(strips) > SPARSE * filled:
        return [], looked_at
    columns = strips.columns[::-1] if _right_to_left(rows) else strips.columns
    return [table_row(column.get(row, "") for column in columns) for row in range(start, end)], looked_at


def _strips(lines: list[PdfLine], start: int, end: int) -> tuple[_Strips, int]:
    """The strips of these lines, and the first line of which two cells would share one."""
    strips = _Strips()
    for row in range(start, end):
        if not all(strips.widen(cell, row) for cell in lines[row].cells):
            return strips, row
    return strips, end


class _Strips:
    """Columns from left to right, none of which overlap: the widths that their cells cover."""

    def __init__(self) -> None:
        self._lefts: list[float] = []
        self._rights: list[float] = []
        self.columns: list[dict[int, str]] = []
        """for each the text of its cell by line"""

    def __len__(self) -> int:
        return len(self.columns)

    def widen(self, cell: Cell, row: int) -> bool:
        """Puts a cell into the strips that it touches, which become one; False where a line would be in it twice."""
        first, last = bisect_right(self._rights, cell.left), bisect_left(self._lefts, cell.right)
        last = max(first, last)
        touched = self.columns[first:last]
        column = max(touched, key=len, default={})
        for other in touched:
            if other is not column:  # the shorter into the longest, so that no cell is moved often
                if not column.keys().isdisjoint(other.keys()):
                    return False
                column |= other
        if row in column:
            return False
        column[row] = cell.text
        self._lefts[first:last] = [min([cell.left, *self._lefts[first:last]])]
        self._rights[first:last] = [max([cell.right, *self._rights[first:last]])]
        self.columns[first:last] = [column]
        return True


def _right_to_left(rows: list[PdfLine]) -> bool:
    return sum(1 if row.cells[0].left < row.cells[-1].left else -1 for row in rows if len(row.cells) > 1) < 0
