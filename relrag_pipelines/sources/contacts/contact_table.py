"""Contacts as CSV: LinkedIn's Connections.csv, and what Google and Outlook export; each row as a card.

The columns are known by their names in English, which these programs write in all languages but for Outlook. LinkedIn
writes a note above them.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from typing import BinaryIO

from relrag_pipelines.sources.contacts.vcard import Property, VCard
from relrag_pipelines.sources.formats.charset_detection import CharsetError, decode
from relrag_pipelines.sources.formats.csv_rows import Row, read_rows

_ROWS_ABOVE = 10
"""rows that are searched for the names of the columns"""
_NAMES = ("First Name", "Given Name", "Name")
_COLUMNS: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("FN", re.compile(r"Name|Display Name|File As")),
    ("EMAIL", re.compile(r"E-?mail Address|E-mail (?:\d+ - Value|\d+ Address)")),
    ("TEL", re.compile(r"Phone \d+ - Value|(?:Primary|Mobile|Home|Business|Company Main|Other|Car) Phone(?: 2)?")),
    ("ORG", re.compile(r"Company|Organization Name|Organization 1 - Name")),
    ("TITLE", re.compile(r"Position|Job Title|Organization Title|Organization 1 - Title")),
    ("NICKNAME", re.compile(r"Nickname")),
    ("BDAY", re.compile(r"Birthday")),
    ("URL", re.compile(r"URL|Web Page|Website \d+ - Value")),
    ("NOTE", re.compile(r"Notes")),
)
_PARTS_OF_NAMES = (("First Name", "Given Name"), ("Middle Name", "Additional Name"), ("Last Name", "Family Name"))
_ALL_PARTS = frozenset(itertools.chain.from_iterable(_PARTS_OF_NAMES))
_CONNECTED = "Connected On"
_TELLING = re.compile(
    rf"{_CONNECTED}|(?:E-mail|Phone) \d+ - Value|E-mail (?:Type|Display Name|\d+ Address)"
    r"|(?:Business|Home|Car|Company Main) Phone"
)
"""columns that only these programs write"""
_LINE_END = re.compile(r"\r\n?|\n")
_SEVERAL = " ::: "
"""between several values of one cell of Google"""


def is_table(head: bytes) -> bool:
    """Whether a file begins with the columns of contacts."""
    lines = _lines(head.rpartition(b"\n")[0] or head)[:_ROWS_ABOVE]
    return any(_is_header(row.cells) for row in read_rows(lines, ","))


def table_cards(file: BinaryIO) -> Iterator[VCard]:
    """A card for each row below the names of the columns; none if the bytes are no text."""
    lines = _lines(file.read())
    names: list[str] = []
    for row in read_rows(lines, ","):
        if names:
            yield _card(names, row)
        elif _is_header(row.cells):
            names = [name.strip() for name in row.cells]


def _lines(data: bytes) -> list[str]:
    """The lines of a text; none of other bytes. A cell may hold other separators of lines, such as U+2028."""
    try:
        return _LINE_END.split(decode(data).text.rstrip("\r\n"))
    except CharsetError:
        return []


def _is_header(cells: list[str]) -> bool:
    """Whether cells name a person and a way to reach them, and are of an address book.

    Other tables have people too. An address book has a column that only these programs write, or no other column.
    """
    names = [name.strip() for name in cells if name.strip()]
    if not any(name in names for name in _NAMES) or not {"EMAIL", "TEL"}.intersection(map(_property, names)):
        return False
    return any(map(_TELLING.fullmatch, names)) or all(_property(name) or name in _ALL_PARTS for name in names)


def _property(column: str) -> str:
    """The property of a card that a column holds; empty for none."""
    return next((name for name, pattern in _COLUMNS if pattern.fullmatch(column)), "")


def _card(names: list[str], row: Row) -> VCard:
    cells = dict(zip(names, (cell.strip() for cell in row.cells), strict=False))
    card = VCard(row.line, bad_lines=int(row.is_open))
    if full := _full_name(cells):
        card.properties.append(Property("FN", full))
    for column, cell in cells.items():
        card.properties += _properties(column, cell)
    return card


def _full_name(cells: dict[str, str]) -> str:
    parts = (next((cells[name] for name in part if cells.get(name)), "") for part in _PARTS_OF_NAMES)
    return " ".join(filter(None, parts))


def _properties(column: str, cell: str) -> list[Property]:
    """The properties that a cell states."""
    if column == _CONNECTED:
        return [Property("NOTE", f"connected on LinkedIn on {cell}")] if cell else []
    name = _property(column)
    return [Property(name, _escaped(value)) for value in cell.split(_SEVERAL) if name and value]


def _escaped(value: str) -> str:
    """A value as a card holds it, where a semicolon and a comma part values."""
    return re.sub(r"([\\;,])", r"\\\1", value)
