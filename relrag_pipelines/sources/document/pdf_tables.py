"""Lays out the lines of a page as text, and finds tables, which a PDF holds only as positions of words.

Without layout, a row with an empty cell would read like a row with fewer cells, and its values would appear under the
wrong heading. Wide gaps separate cells; columns are the strips that cells of neighbouring lines share. A run of lines
is a table if no line has two cells in one strip, there are at least three strips, and at least two lines have three
cells or more. All other lines stay as they are.
"""

from __future__ import annotations

import itertools
import statistics
from bisect import bisect_left, bisect_right
from dataclasses import dataclass

from relrag_pipelines.sources.formats.text_cleaning import table_row

PARAGRAPH_GAP = 1.5
"""A drop to the next line of more than this multiple of the usual gap begins a paragraph."""
MAX_SCANNED_LINES = 100
"""Lines examined in search of tables, per line of the page: a page of up to 200 lines is searched from every line."""
SPARSE = 50
"""A run of lines with more cells than this for each filled one isn't a table."""


@dataclass(frozen=True, slots=True)
class Cell:
    """A stretch of a line without a wide gap; left and right in points."""

    text: str
    left: float
    right: float


@dataclass(frozen=True, slots=True)
class PdfLine:
    """A line of a page; `bottom` is measured from the page's lower edge, `height` is that of its letters, in points."""

    cells: tuple[Cell, ...]
    bottom: float
    height: float


def layout(lines: list[PdfLine]) -> str:
    """The text of the lines: tables as rows with separated cells, paragraphs separated by an empty line."""
    usual = _usual_line_gap(lines)
    texts: list[str] = []
    index, scanned = 0, 0
    while index < len(lines):
        if index and lines[index - 1].bottom - lines[index].bottom > PARAGRAPH_GAP * max(usual, lines[index].height):
            texts.append("")
        rows, examined = _table(lines, index) if scanned <= MAX_SCANNED_LINES * len(lines) else ([], 0)
        scanned += examined
        texts += rows or [" ".join(cell.text for cell in lines[index].cells)]
        index += len(rows) or 1
    return "\n".join(texts)


def _usual_line_gap(lines: list[PdfLine]) -> float:
    drops = [line.bottom - following.bottom for line, following in itertools.pairwise(lines)]
    return statistics.median_low([drop for drop in drops if drop > 0] or [0.0])


def _table(lines: list[PdfLine], start: int) -> tuple[list[str], int]:
    """The rows of the table that begins at a line, empty if none does, and the number of lines examined."""
    if len(lines[start].cells) < 2:
        return [], 0
    end = start + 1
    while end < len(lines) and lines[end].bottom < lines[end - 1].bottom:
        end += 1
    examined = end - start
    if _count_rows(lines[start:end]) < 2:
        return [], examined
    strips, stop = _strips(lines, start, end)
    if stop < end:  # the line that doesn't fit has widened strips
        strips, end = _strips(lines, start, stop)
    while len(lines[end - 1].cells) == 1:  # a line of text under a table is not part of it
        end -= 1
    rows = lines[start:end]
    filled = sum(len(line.cells) for line in rows)
    if len(strips) < 3 or _count_rows(rows) < 2 or len(rows) * len(strips) > SPARSE * filled:
        return [], examined
    columns = strips.columns[::-1] if _right_to_left(rows) else strips.columns
    return [table_row(column.get(row, "") for column in columns) for row in range(start, end)], examined


def _count_rows(lines: list[PdfLine]) -> int:
    """Number of lines with more than two cells."""
    return sum(len(line.cells) > 2 for line in lines)


def _strips(lines: list[PdfLine], start: int, end: int) -> tuple[_Strips, int]:
    """The strips of these lines, and the first line with two cells in one strip."""
    strips = _Strips()
    for row in range(start, end):
        if not all(strips.widen(cell, row) for cell in lines[row].cells):
            return strips, row
    return strips, end


class _Strips:
    """Columns from left to right, which never overlap: the widths that their cells cover."""

    def __init__(self) -> None:
        self._lefts: list[float] = []
        self._rights: list[float] = []
        self.columns: list[dict[int, str]] = []
        """for each the text of its cell by line"""

    def __len__(self) -> int:
        return len(self.columns)

    def widen(self, cell: Cell, row: int) -> bool:
        """Adds a cell to the strips that it overlaps, merging them; False if a line would have two cells in one."""
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
