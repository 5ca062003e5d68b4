"""CSV and TSV: every row as `column: value` pairs, so that a row can be understood on its own.

The delimiter is the character that splits most of the first rows into the same number of columns, at least two. The
first row names the columns if its cells are distinct words or years and no other numbers. Empty cells are left out of a
row; since every value is named, none appears under another's column. The names are repeated in a line above the rows.
Lines above the names, as banks write them (account, period, balance), are kept as text.
"""

from __future__ import annotations

import re
from collections import Counter

from relrag_pipelines.records import Failure
from relrag_pipelines.sources.document.document_text import DocumentText
from relrag_pipelines.sources.formats.charset_detection import DecodedText, decode
from relrag_pipelines.sources.formats.csv_rows import read_rows
from relrag_pipelines.sources.formats.text_cleaning import clean, one_line

CONTENT_TYPES = {".csv": "text/csv", ".tsv": "text/tab-separated-values"}
MAX_NAME = 200
"""Characters of a column's name that are repeated in each row."""

_HINT = re.compile('"?sep=(.)"?[,;\t ]*', re.IGNORECASE)
"""a first line that Excel writes and reads"""
_DELIMITERS = ",;\t|"
_MAX_ROWS_ABOVE = 50
"""rows that are searched for the beginning of the table"""
_YEAR = re.compile(r"(?:19|20)\d\d(?:[-/.]\d\d?){0,2}")


def extract(data: bytes, suffix: str) -> tuple[DocumentText, DecodedText]:
    """The rows of a CSV or TSV file, and how its bytes were read. Raises CharsetError."""
    decoded = decode(data)
    document = DocumentText(CONTENT_TYPES[suffix])
    lines = clean(decoded.text).strip("\n").split("\n")
    delimiter = "\t" if suffix == ".tsv" else ""
    if hint := _HINT.fullmatch(lines[0]):
        delimiter, lines = hint[1], lines[1:]
    rows = list(read_rows(lines, delimiter or _delimiter(lines)))
    if any(row.is_open for row in rows):
        why = "a quotation mark is opened and never closed, so those of its line were read as text; close it"
        document.failures.append(Failure("rows", "open_quote", why))
    document.text = "\n".join(describe_rows([[one_line(cell) for cell in row.cells] for row in rows]))
    return document, decoded


def _delimiter(lines: list[str]) -> str:
    """The delimiter that most of the first 50 rows agree on; a comma if none splits them."""
    best, agreed = ",", 0
    for delimiter in _DELIMITERS:
        widths = Counter(len(row.cells) for row in read_rows(lines[:50], delimiter) if row.cells)
        width, rows = max(widths.items(), key=lambda width_count: (width_count[0] > 1, width_count[1]), default=(1, 0))
        if width > 1 and rows > agreed:
            best, agreed = delimiter, rows
    return best


def describe_rows(rows: list[list[str]]) -> list[str]:
    """The lines of a table: what is above it, the names of its columns, and each row with the names."""
    begin = _table_begin(rows)
    above = [_text_line(row) for row in rows[:begin] if any(row)]
    rows = [row for row in rows[begin:] if any(row)]
    has_names = len(rows) > 1 and _names_columns(rows[0])
    names = [name[:MAX_NAME] or f"column {number}" for number, name in enumerate(rows[0], 1)] if has_names else []
    names += [f"column {number}" for number in range(len(names) + 1, max(map(len, rows), default=0) + 1)]
    header = [", ".join(rows[0])] if has_names else []
    body = rows[1:] if has_names else rows
    return [*above, *header, *(_named_values(names, row) for row in body)]


def _named_values(names: list[str], row: list[str]) -> str:
    return "; ".join(f"{name}: {value}" for name, value in zip(names, row, strict=False) if value)


def _text_line(row: list[str]) -> str:
    """A row above the table: `Account: 123`."""
    first, *rest = [cell for cell in row if cell]
    return " ".join([first, "; ".join(rest)]).strip() if first.endswith(":") else "; ".join([first, *rest])


def _table_begin(rows: list[list[str]]) -> int:
    """Index of the row with the names of the columns: 0, or after clearly narrower lines."""
    widths = [_width(row) for row in rows]
    widest_above, after_blank = 0, False
    for index, width in enumerate(widths[:_MAX_ROWS_ABOVE]):
        narrow = widest_above < width if after_blank else widest_above <= max(1, width - 2)
        if width > 1 and narrow and _names_columns(rows[index]) and _has_rows(widths[index + 1 :], width):
            return index
        after_blank = width == 0
        widest_above = max(widest_above, width)
    return 0


def _width(row: list[str]) -> int:
    """Number of cells up to the last filled one: Excel writes the same number of cells in all rows."""
    return max((number for number, cell in enumerate(row, 1) if cell), default=0)


def _has_rows(widths: list[int], width: int) -> bool:
    """Whether most of the rows below have about as many cells as the names of the columns."""
    nonempty = [row_width for row_width in widths if row_width]
    return sum(width / 2 < row_width <= width for row_width in nonempty) * 2 > len(nonempty)


def _names_columns(row: list[str]) -> bool:
    names = [name for name in row if name]
    words = {name for name in names if not name[0].isdigit() and "@" not in name}
    only_words_and_years = all(name in words or _YEAR.fullmatch(name) for name in names)
    return len(names) == len(set(names)) > len(row) / 2 and bool(words) and only_words_and_years
