"""Bank statements: CSV of any bank, CAMT (ISO 20022), OFX, QIF and MT940, told apart by their contents.

One payment is one record, with amount, currency, payee, day and purpose as fields. The payments of one account are a
thread. A payment that two statements list is one record where the bank numbers it and both name the payee alike, or
where both are of one format.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path

from relrag_pipelines.files.regular_files import open_plain
from relrag_pipelines.records import Failure, Record
from relrag_pipelines.sources import ReadContext, Unit
from relrag_pipelines.sources.bank import csv_statement, tagged_statement, xml_statement
from relrag_pipelines.sources.bank.csv_statement import NoStatement
from relrag_pipelines.sources.bank.transaction import Transaction, TransactionRecords
from relrag_pipelines.sources.formats.charset_detection import CharsetError, decode
from relrag_pipelines.sources.formats.members import Member, read_members
from relrag_pipelines.sources.formats.text_cleaning import clean
from relrag_pipelines.workers.sandbox import ParserStopped, call

__all__ = ["read", "recognise"]

MAX_BYTES = 128 * 2**20
"""Largest statement that is read; a payment takes 200 to 2,000 bytes."""

_HEAD = 32_768
_CAMT = re.compile(rb"BkToCstmr(?:Stmt|AcctRpt|DbtCdtNtfctn)")
_OFX = re.compile(rb"OFXHEADER|<\?OFX|<OFX>", re.IGNORECASE)
_QIF = re.compile(rb"^!(?:Type|Account|Option)", re.IGNORECASE | re.MULTILINE)
_MT940 = re.compile(rb"^:20:[^\n]*\n(?::[^\n]*\n){0,8}?:25:[^\n]*\n(?::[^\n]*\n){0,8}?:(?:60[FM]|61):", re.MULTILINE)
_QIF_END = re.compile(rb"(?:\A|[\r\n])\^[^\r\n]*\s*\Z")
"""what ends every item, the last one too"""
_SUFFIXES = (".csv", ".tsv", ".txt", ".xml", ".ofx", ".qfx", ".qif", ".sta", ".940", ".mt940")

Payments = Iterable[Transaction | Failure]
_FORMATS: dict[str, tuple[re.Pattern[bytes], str, Callable[[bytes, ReadContext], Payments]]] = {
    "camt": (
        _CAMT,
        "application/xml",
        lambda data, reading: call(reading.limits, len(data), xml_statement.camt, data),
    ),
    "ofx": (_OFX, "application/x-ofx", lambda data, reading: tagged_statement.ofx(_text(data))),
    "qif": (_QIF, "application/qif", lambda data, reading: tagged_statement.qif(_text(data), reading.date_order)),
    "mt940": (_MT940, "text/mt940", lambda data, reading: tagged_statement.mt940(_text(data))),
}
"""format -> what is in its beginning, MIME type, reader"""


def read(unit: Unit, reading: ReadContext) -> Iterator[Record | Failure]:
    """The payments of a statement in order, each preceded by its failures."""
    return read_members(
        unit, reading, lambda path: path.lower().endswith(_SUFFIXES), lambda member: _read(member, reading)
    )


def recognise(file: Path) -> bool:
    """Whether a file is a bank statement, by its beginning: of a CSV file the names of its columns."""
    with open_plain(file) as opened:
        head = opened.read(_HEAD)
    if _format(head):
        return True
    return file.suffix.lower() in (".csv", ".tsv") and _is_table(head)


def _is_table(head: bytes) -> bool:
    """Whether a table has columns for a day and an amount, and for who is paid or why, as statements have."""
    try:
        table = csv_statement.find_table(_text(head))
    except (NoStatement, CharsetError):
        return False
    return bool({"payee", "account", "purpose", "balance", "value_date"} & table.columns.keys())


def _format(head: bytes) -> str:
    plain = head.replace(b"\r\n", b"\n").replace(b"\r", b"\n").replace(b"\0", b"")
    return next((name for name, (pattern, _, _) in _FORMATS.items() if pattern.search(plain)), "")


def _is_cut(name: str, data: bytes) -> bool:
    """Whether a statement lacks the end that its format gives it, so that payments behind it may be missing."""
    if name == "ofx":
        return re.search(rb"</OFX>\s*\Z", data, re.IGNORECASE) is None
    if name == "mt940":  # a closing balance follows the last payment
        return data.rfind(b"\n:62") < max(data.rfind(mark) for mark in (b":20:", b"\n:60", b"\n:61:"))
    if name == "qif":
        return _QIF_END.search(data) is None
    return False


def _text(data: bytes) -> str:
    return clean(decode(data).text)


def _read(member: Member, reading: ReadContext) -> Iterator[Record | Failure]:
    try:
        data = member.read(MAX_BYTES)
        if not data.strip():
            yield Failure(member.inner_path, "empty", "the file is empty; export the statement again")
            return
        name = _format(data[:_HEAD])
        records = TransactionRecords(member, reading, _FORMATS[name][1] if name else "text/csv")
        payments = _FORMATS[name][2](data, reading) if name else csv_statement.read(data, reading.date_order)
        for payment in payments:
            if isinstance(payment, Failure):
                yield replace(payment, location=f"{member.inner_path} {payment.location}".strip())
            else:
                yield records.record(payment)
        if _is_cut(name, data):
            yield Failure(member.inner_path, "truncated", csv_statement.CUT, whole_unit=True)
    except CharsetError as error:
        yield Failure(member.inner_path, error.fault, f"{error}; export the statement again", whole_unit=True)
    except ParserStopped as error:
        yield Failure(member.inner_path, error.fault, str(error), whole_unit=True)
    except NoStatement as error:
        why = f"{error}: no bank statement, or its columns have names that are not known; exclude the file"
        yield Failure(member.inner_path, "wrong_format", why, whole_unit=True)
    except ValueError as error:
        why = f"the statement cannot be read ({type(error).__name__}); export it again"
        yield Failure(member.inner_path, "damaged", why, whole_unit=True)
