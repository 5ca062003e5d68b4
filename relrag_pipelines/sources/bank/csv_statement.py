"""Bank statements as CSV: columns are known by their names in many languages (columns.toml)."""

from __future__ import annotations

import functools
import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from pathlib import Path

from relrag_pipelines.records import Failure
from relrag_pipelines.sources.bank import values
from relrag_pipelines.sources.bank.transaction import Transaction, cleaned
from relrag_pipelines.sources.formats.charset_detection import decode
from relrag_pipelines.sources.formats.csv_rows import Row, read_rows
from relrag_pipelines.sources.formats.text_cleaning import clean

MAX_ROWS_ABOVE = 60
"""rows that are searched for the names of the columns; above them stand the account and its balance"""

_DELIMITERS = (";", ",", "\t", "|")
_IBAN = re.compile(r"\b[A-Z]{2}\d{2}(?: ?[0-9A-Z]{4}){2,7}(?: ?[0-9A-Z]{1,4})?\b")
_WORDS = re.compile(r"[^\w]+|_+")
_DIRECTIONS = ("negative", "positive")
CUT = "the statement is cut off; export it again"
_OPEN_QUOTE = "a quotation mark is opened and never closed; export the statement again, or close it"


class NoStatement(ValueError):
    """A table without columns for a day and an amount."""


@dataclass(frozen=True)
class Table:
    """The rows of a statement below the names of its columns."""

    columns: dict[str, list[int]]
    """what columns hold -> their numbers"""
    names: list[str]
    rows: list[Row]
    own_account: str
    delimiter: str


def read(data: bytes, date_order: str) -> Iterator[Transaction | Failure]:
    """The payments of a statement in order, and a failure for each row that is not a payment.

    Raises NoStatement, and CharsetError if the bytes are no text.
    """
    text = clean(decode(data).text)
    table = find_table(text)
    days = values.day_reader([_first(table, row.cells, "date") for row in table.rows], date_order)
    amounts = [_first(table, row.cells, role) for row in table.rows for role in ("amount", "debit", "credit")]
    mark = values.decimal_mark([text for text in amounts if text], "," if table.delimiter == ";" else ".")
    for row in table.rows:
        cells = row.cells
        day, amount = days(_first(table, cells, "date")), _amount(table, cells, mark)
        if row.is_open:
            yield Failure(f"line {row.line}", "open_quote", _OPEN_QUOTE, whole_unit=True)
        if day and amount is not None:
            yield _transaction(table, cells, day, amount, days(_first(table, cells, "value_date")))
        elif not _is_note(cells, day, amount):
            yield Failure(f"line {row.line}", "bad_row", "a row without a readable day or amount; it is left out")
    if _is_cut(text, table):
        yield Failure("", "truncated", CUT, whole_unit=True)


def _is_cut(text: str, table: Table) -> bool:
    """Whether the last line neither ends nor has all cells of the one above it."""
    if text.endswith("\n"):
        return False
    widths = [len(table.names), *(len(row.cells) for row in table.rows[-2:])]
    return not table.rows or widths[-1] < widths[-2]


def _is_note(row: list[str], day: date | None, amount: Decimal | None) -> bool:
    """Whether a row is a sum, a heading or a note below the table rather than a payment."""
    return not day and (amount is None or sum(map(bool, row)) <= len(row) // 2 + 1)


def find_table(text: str) -> Table:
    """The table in a text. Raises NoStatement if none has columns for a day and an amount."""
    lines = text.split("\n")
    for delimiter in _DELIMITERS:
        for row in read_rows(lines[:MAX_ROWS_ABOVE], delimiter):
            names = [cleaned(cell) for cell in row.cells]
            columns = _columns(names)
            if "date" in columns and ("amount" in columns or {"debit", "credit"} & columns.keys()):
                above = "\n".join(lines[: row.line - 1])
                account = match[0].replace(" ", "") if (match := _IBAN.search(above)) else ""
                rows = list(_body(lines, row.line, delimiter, columns["date"]))
                return Table(_with_other_side(columns, rows), names, rows, account, delimiter)
    raise NoStatement("no columns for a day and an amount of money")


def _with_other_side(columns: dict[str, list[int]], rows: list[Row]) -> dict[str, list[int]]:
    """The columns, where one named like the own account has that of the other side: it differs from row to row."""
    own = columns.get("own_account", [])
    if "account" in columns or "payee" not in columns or len(own) != 1:
        return columns
    accounts = [row.cells[own[0]] for row in rows if own[0] < len(row.cells)]
    if all(accounts) and len(set(accounts)) * 2 <= len(accounts) + 1:
        return columns
    return {role: numbers for role, numbers in columns.items() if role != "own_account"} | {"account": own}


def _body(lines: list[str], first: int, delimiter: str, dates: list[int]) -> Iterator[Row]:
    """The filled rows below the names of the columns."""

    def begins_row(cells: list[str]) -> bool:
        return any(number < len(cells) and values.is_day(cells[number].strip('" ')) for number in dates)

    for row in read_rows(lines, delimiter, begins_row, first):
        cells = [cleaned(cell.strip('"') if row.is_open else cell) for cell in row.cells]
        if any(cells):
            yield Row(row.line, cells, row.is_open)


def _columns(row: list[str]) -> dict[str, list[int]]:
    """What the columns hold by their names; each column holds one thing."""
    columns: dict[str, list[int]] = {}
    for number, name in enumerate(row):
        if role := _role(_WORDS.sub(" ", name).strip().casefold()):
            columns.setdefault(role, []).append(number)
    return columns


@functools.lru_cache(4096)
def _role(name: str) -> str:
    if role := _roles().get(name):
        return role
    head, _, tail = name.rpartition(" ")  # `amount eur`, `betrag in eur`
    is_currency = len(tail) == 3 or tail in ("kč", "€", "£")
    return _roles().get(head.removesuffix(" in"), "") if is_currency else ""


@functools.cache
def _roles() -> dict[str, str]:
    """Name of a column -> what it holds; the first role of a name counts."""
    roles: dict[str, str] = {}
    for role, text in _words().items():
        if role not in _DIRECTIONS:
            for name in _split(text):
                roles.setdefault(_WORDS.sub(" ", name).strip().casefold(), role)
    return roles


@functools.cache
def _words() -> dict[str, str]:
    return tomllib.loads((Path(__file__).parent / "columns.toml").read_text(encoding="utf-8"))


def _split(text: str) -> list[str]:
    return [name.strip() for line in text.splitlines() for name in line.split(",") if name.strip()]


def _all(table: Table, row: list[str], role: str) -> list[str]:
    return [row[number] for number in table.columns.get(role, ()) if number < len(row) and row[number]]


def _first(table: Table, row: list[str], role: str) -> str:
    return next(iter(_all(table, row, role)), "")


def _amount(table: Table, row: list[str], mark: str) -> Decimal | None:
    """The amount of a row: signed, of a column for money out or in, or with a column that says which."""
    for role, is_out in (("debit", True), ("credit", False)):
        amount = values.amount(_first(table, row, role), mark)
        if amount:
            return -abs(amount) if is_out else abs(amount)
    amount = values.amount(_first(table, row, "amount"), mark)
    direction = _first(table, row, "direction").casefold()
    if amount is not None and direction in _split(_words()["negative"]):
        return -abs(amount)
    return amount


def _transaction(table: Table, row: list[str], day: date, amount: Decimal, value_day: date | None) -> Transaction:
    account = _first(table, row, "account")
    code = _first(table, row, "bank_code")
    if code.isdigit() and account and "/" not in account and not account[:2].isalpha():
        account = f"{account}/{code}"
    return Transaction(
        day,
        amount,
        _currency(table, row),
        payee=_first(table, row, "payee"),
        account=account,
        purpose="; ".join(dict.fromkeys(_all(table, row, "purpose"))),
        own_account=_first(table, row, "own_account") or table.own_account,
        value_day=value_day,
        references=tuple(_all(table, row, "symbols")),
        identifier=_first(table, row, "identifier"),
        details=tuple(_unknown(table, row)),
    )


def _currency(table: Table, row: list[str]) -> str:
    """The currency of a row, by its column, its amount, or the name of the amount's column."""
    amounts = [number for role in ("amount", "debit", "credit") for number in table.columns.get(role, ())]
    texts = [_first(table, row, "currency"), *(row[number] for number in amounts if number < len(row))]
    texts += [table.names[number] for number in amounts]
    return next((code for text in texts if text and (code := values.currency(text))), "")


def _unknown(table: Table, row: list[str]) -> Iterator[str]:
    """The cells of columns whose names are not known, with these names."""
    columns = {number for numbers in table.columns.values() for number in numbers}
    for number, cell in enumerate(row):
        if cell and number not in columns and number < len(table.names) and table.names[number]:
            yield f"{table.names[number]}: {cell}"
