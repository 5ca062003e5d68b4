"""Prints tables that fit 80 columns, on a terminal and in a pipe."""

from __future__ import annotations

from collections.abc import Sequence

from relrag_query.display.inert_text import safe

WIDTH = 80
"""columns"""
_GAP = "  "
_MIN_CELL_WIDTH = 6
"""a cell is never cut below this many columns"""


def print_table(head: Sequence[str], rows: Sequence[Sequence[str]], right: Sequence[str] = ()) -> None:
    """Prints rows below their heading, nothing if there are none. Columns named in `right` are flush right."""
    for line in table_lines(head, rows, right) if rows else ():
        print(line)


def table_lines(head: Sequence[str], rows: Sequence[Sequence[str]], right: Sequence[str] = ()) -> list[str]:
    """The lines of a table. Cells of the widest columns are cut to fit the width."""
    cells = [list(head), *([safe(cell).replace("\n", " ") for cell in row] for row in rows)]
    widths = _fit_widths([max(map(len, column)) for column in zip(*cells, strict=True)])
    return [_line(row, widths, [name in right for name in head]) for row in cells]


def _fit_widths(widths: list[int]) -> list[int]:
    available = WIDTH - len(_GAP) * (len(widths) - 1)
    fitted = list(widths)
    while sum(fitted) > available and max(fitted) > _MIN_CELL_WIDTH:
        fitted[fitted.index(max(fitted))] -= 1
    return fitted


def _line(row: Sequence[str], widths: Sequence[int], right: Sequence[bool]) -> str:
    cells = [_cut(cell, width) for cell, width in zip(row, widths, strict=True)]
    aligned = [
        cell.rjust(width) if is_right else cell.ljust(width)
        for cell, width, is_right in zip(cells, widths, right, strict=True)
    ]
    return _GAP.join(aligned).rstrip()


def _cut(cell: str, width: int) -> str:
    return cell if len(cell) <= width else f"{cell[: width - 1]}…"
