"""Lines of a page as text, with tables that are only drawn by position told by their columns.

A PDF has no tables, only words at places. A row with an empty cell reads like a row with fewer cells, and its values
slide under the wrong heading. Here cells are told by wide gaps; columns are the strips that cells of neighbouring
lines share. A run of lines is a table when no line has two cells in one strip, there are three strips or more, and at
least two lines have three cells or more. Everything else stays as it was.
"""

from __future__ import annotations

import itertools
import statistics
from dataclasses import dataclass

from relrag_pipelines.sources.document.content import table_row

PARAGRAPH_GAP = 1.5
"""A drop to the next line of more than this many usual ones begins a paragraph."""


@dataclass(frozen=True, slots=True)
class Cell:
    """A stretch of a line without a wide gap; left and right in points."""

    text: str
    left: float
    right: float


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a page; bottom is above the page's lower edge, height that of its letters, in points."""

    cells: tuple[Cell, ...]
    bottom: float
    height: float


@dataclass(slots=True)
class _Strip:
    """A column: the width its cells cover, and the lines that have a cell in it."""

    left: float
    right: float
    cells: dict[int, str]


def layout(lines: list[Line]) -> str:
    """The text of the lines: tables as rows with separated cells, paragraphs apart by an empty line."""
    usual = _usual_drop(lines)
    texts: list[str] = []
    at = 0
    while at < len(lines):
        if at and lines[at - 1].bottom - lines[at].bottom > PARAGRAPH_GAP * max(usual, lines[at].height):
            texts.append("")
        rows = _table(lines, at)
        texts += rows or [" ".join(cell.text for cell in lines[at].cells)]
        at += len(rows) or 1
    return "\n".join(texts)


def _usual_drop(lines: list[Line]) -> float:
    drops = [line.bottom - following.bottom for line, following in itertools.pairwise(lines)]
    return statistics.median_low([drop for drop in drops if drop > 0] or [0.0])


def _table(lines: list[Line], start: int) -> list[str]:
    """The rows of the table that begins at that line; none where there is no table."""
    strips: list[_Strip] = []
    end = start
    if len(lines[start].cells) < 2:
        return []
    for row in range(start, len(lines)):
        below = row == start or lines[row].bottom < lines[row - 1].bottom
        joined = _with(strips, lines[row], row) if below else None
        if joined is None:
            break
        strips, end = joined, row + 1
    while len(lines[end - 1].cells) == 1:  # a line of text under a table is not part of it
        end -= 1
    rows = lines[start:end]
    if len(strips) < 3 or sum(len(line.cells) > 2 for line in rows) < 2:
        return []
    strips.sort(key=lambda strip: strip.left, reverse=_right_to_left(rows))
    return [table_row(strip.cells.get(row, "") for strip in strips) for row in range(start, end)]


def _with(strips: list[_Strip], line: Line, row: int) -> list[_Strip] | None:
    """The strips widened by the cells of one more line; None where two cells of a line would share a strip."""
    for cell in line.cells:
        touched = [strip for strip in strips if strip.left < cell.right and cell.left < strip.right]
        members = [member for strip in touched for member in strip.cells] + [row]
        if len(members) != len(set(members)):
            return None
        cells = {member: text for strip in touched for member, text in strip.cells.items()} | {row: cell.text}
        left = min([cell.left, *(strip.left for strip in touched)])
        right = max([cell.right, *(strip.right for strip in touched)])
        strips = [strip for strip in strips if strip not in touched] + [_Strip(left, right, cells)]
    return strips


def _right_to_left(rows: list[Line]) -> bool:
    return sum(1 if row.cells[0].left < row.cells[-1].left else -1 for row in rows if len(row.cells) > 1) < 0
