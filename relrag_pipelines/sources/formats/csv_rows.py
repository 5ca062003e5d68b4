"""Rows of CSV (RFC 4180), where a stray quotation mark costs its own line and no other.

A quotation mark that opens a cell and is never closed makes one cell of all that follows, or of what lies before the
next mark. Such a row is recognised by its marks, or by the lines in it that are rows themselves. Its first line is then
read with the marks as text, and the lines below it anew.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

MAX_FIELD = 2**24
"""A cell with more characters means that a quotation mark was never closed."""

BeginsRow = Callable[[list[str]], bool]
"""whether cells, read without regard to quotation marks, are a row of their own"""


@dataclass(frozen=True)
class Row:
    """The cells of a row."""

    line: int
    """number of its first line, from 1"""
    cells: list[str]
    is_open: bool = False
    """a quotation mark in it is never closed, so that its marks were read as text"""


def read_rows(
    lines: Sequence[str], delimiter: str, begins_row: BeginsRow = lambda cells: False, first: int = 0
) -> Iterator[Row]:
    """The rows of lines without their ends, from the line with the index `first`.

    `begins_row` recognises a row that lies within a cell of several lines, which no cell of the format would hold.
    """
    position = first
    while position < len(lines):
        for row, end in _quoted_rows(lines, position, delimiter):
            span = lines[position:end]
            if row is None or ((len(span) > 1 or end == len(lines)) and _swallows(span, delimiter, begins_row)):
                break
            yield Row(position + 1, row)
            position = end
        else:
            return
        yield Row(position + 1, _plain(lines[position], delimiter), is_open=True)
        position += 1


def _quoted_rows(lines: Sequence[str], position: int, delimiter: str) -> Iterator[tuple[list[str] | None, int]]:
    """Each row with the index of the line behind it; None for one with a cell that is too long."""
    csv.field_size_limit(MAX_FIELD)
    source = (f"{lines[number]}\n" for number in range(position, len(lines)))
    reader = csv.reader(source, delimiter=delimiter, skipinitialspace=True)
    try:
        for row in reader:
            yield row, position + reader.line_num
    except csv.Error:
        yield None, position + 1


def _swallows(span: Sequence[str], delimiter: str, begins_row: BeginsRow) -> bool:
    """Whether the lines of one row are several rows, joined by a stray quotation mark, or end within a cell."""
    source = (f"{line}\n" for line in span)
    try:
        list(csv.reader(source, delimiter=delimiter, skipinitialspace=True, strict=True))
    except csv.Error as error:  # a mark that is not closed, or text behind one that closes
        return len(span) > 1 or "end of data" in str(error)
    return any(begins_row(_plain(line, delimiter)) for line in span[1:])


def _plain(line: str, delimiter: str) -> list[str]:
    return [cell.lstrip(" ") for cell in line.split(delimiter)] if line else []
