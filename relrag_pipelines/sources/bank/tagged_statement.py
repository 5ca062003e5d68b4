"""Bank statements in tagged text: OFX of both versions (SGML and XML), QIF of Quicken, and MT940 of SWIFT."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Sequence
from datetime import date
from decimal import Decimal, InvalidOperation

from relrag_pipelines.records import Failure
from relrag_pipelines.sources.bank import values
from relrag_pipelines.sources.bank.transaction import Transaction, cleaned

_BAD = "a payment without a readable day or amount; it is left out"
_NO_END = "a payment without an end; it is left out, export the statement again"

_OFX_PART = re.compile(r"<(/?)([A-Z0-9.]+)>([^<\r\n]*)", re.IGNORECASE)
_OFX_DAY = re.compile(r"(\d{4})(\d\d)(\d\d)")
_QIF_AMOUNT = re.compile(r"^[TU]", re.MULTILINE)
_MT_FIELD = re.compile(r"^:(\d\d[A-Z]?):(.*(?:\n(?![:-]).*)*)", re.MULTILINE)
_MT_LINE = re.compile(r"(\d{6})(\d{4})?(R?[CD])([A-Z])?([\d,]{1,15})(?:[NFS][A-Z0-9]{3})?([^\n]*)")
_MT_PART = re.compile(r"\?(\d\d)([^?]*)")
_PURPOSE = [f"{number}" for number in (*range(20, 30), *range(60, 64))]
_PART_WIDTH = 27
"""characters of a subfield of `:86:`"""
_LINE_WIDTHS = (27, 32, 35, 65)
"""characters of a line of `:86:`: 65 by SWIFT, fewer at banks that print it in columns"""
_MT_BALANCE = re.compile(r"[CD]\d{6}([A-Z]{3})")


def ofx(text: str) -> Iterator[Transaction | Failure]:
    """The payments of an OFX file in order; its SGML closes no values, so both versions read alike."""
    account = currency = ""
    fields: dict[str, str] | None = None
    number = 0
    for match in _OFX_PART.finditer(text):
        is_end, name, value = match[1], match[2].upper(), cleaned(html.unescape(match[3]))
        if name == "STMTTRN" and not is_end:
            if fields is not None:
                yield Failure(f"payment {number}", "bad_row", _NO_END, whole_unit=True)
            fields, number = {}, number + 1
        elif name == "STMTTRN" and fields is not None:
            yield _ofx_payment(fields, account, currency) or Failure(f"payment {number}", "bad_row", _BAD)
            fields = None
        elif fields is not None and value:
            fields.setdefault(name, value)
        elif name == "ACCTID" and value:
            account = value
        elif name == "CURDEF" and value:
            currency = value


def _ofx_payment(fields: dict[str, str], account: str, currency: str) -> Transaction | None:
    day, amount = _ofx_day(fields.get("DTPOSTED", "")), _decimal(fields.get("TRNAMT", ""))
    if day is None or amount is None:
        return None
    return Transaction(
        day,
        amount,
        fields.get("CURSYM", currency),
        payee=fields.get("NAME", ""),
        account=fields.get("ACCTID", ""),
        purpose=fields.get("MEMO", ""),
        own_account=account,
        value_day=_ofx_day(fields.get("DTAVAIL", "")),
        references=tuple(filter(None, (fields.get("CHECKNUM"), fields.get("REFNUM")))),
        identifier=fields.get("FITID", ""),
    )


def _ofx_day(text: str) -> date | None:
    match = _OFX_DAY.match(text)
    try:
        return date(int(match[1]), int(match[2]), int(match[3])) if match else None
    except ValueError:
        return None


def _decimal(text: str) -> Decimal | None:
    try:
        amount = Decimal(text.replace(" ", "").replace(",", "."))
    except InvalidOperation:
        return None
    return amount if amount.is_finite() else None


def qif(text: str, date_order: str) -> Iterator[Transaction | Failure]:
    """The payments of a QIF file in order: a letter a line, `^` at the end of each."""
    items = [_qif_fields(item) for item in re.split(r"^\^.*$", text, flags=re.MULTILINE)]
    items = [fields for fields in items if fields]
    days = values.day_reader([fields.get("D", "") for fields in items], date_order)
    mark = values.decimal_mark([fields.get("T") or fields.get("U", "") for fields in items])
    for number, fields in enumerate(items, 1):
        day = days(fields.get("D", ""))
        amount = values.amount(fields.get("T") or fields.get("U", ""), mark)
        if day is None or amount is None:
            yield Failure(f"payment {number}", "bad_row", _BAD)
            continue
        category = fields.get("L", "")
        yield Transaction(
            day,
            amount,
            payee=fields.get("P", ""),
            purpose=fields.get("M", ""),
            references=tuple(filter(None, [fields.get("N")])),
            details=(f"Category: {category}",) if category else (),
        )


def _qif_fields(item: str) -> dict[str, str]:
    """The fields of an item by their letters, the first of each; empty for the list of an account."""
    lines = [line.strip() for line in item.splitlines() if line.strip() and not line.startswith("!")]
    fields: dict[str, str] = {}
    for line in lines:
        fields.setdefault(line[0].upper(), cleaned(line[1:]))
    return fields if _QIF_AMOUNT.search("\n".join(lines)) else {}


def mt940(text: str) -> Iterator[Transaction | Failure]:
    """The payments of an MT940 file in order: `:61:` with its amount, `:86:` with its purpose."""
    account = currency = ""
    fields = [(match[1], match[2]) for match in _MT_FIELD.finditer(text.replace("\r\n", "\n").replace("\r", "\n"))]
    for number, (tag, value) in enumerate(fields):
        if tag == "25":
            account = cleaned(value)
        elif tag in ("60F", "60M") and (match := _MT_BALANCE.match(value)):
            currency = match[1]
        elif tag == "61":
            purpose = fields[number + 1][1] if fields[number + 1 : number + 2] and fields[number + 1][0] == "86" else ""
            yield _mt_payment(value, purpose, account, currency) or Failure(f"field {number + 1}", "bad_row", _BAD)


def _mt_payment(line: str, purpose: str, account: str, currency: str) -> Transaction | None:
    match = _MT_LINE.match(line.replace("\n", " "))
    amount = _decimal(match[5]) if match else None
    day = _mt_day(match[1], match[2]) if match else None
    if match is None or day is None or amount is None:
        return None
    is_out = match[3] in ("D", "RC")
    parts = _mt_parts(purpose)
    reference = match[6].partition("//")[0].strip()
    return Transaction(
        day,
        -amount if is_out else amount,
        currency,
        payee=_joined([parts.get(number, "") for number in ("32", "33")], _PART_WIDTH),
        account=cleaned(parts.get("31", "")),
        purpose=_joined([parts.get(number, "") for number in _PURPOSE], _PART_WIDTH) if parts else _unnumbered(purpose),
        own_account=account,
        value_day=_mt_day(match[1], None),
        references=(reference,) if reference and reference != "NONREF" else (),
    )


def _mt_day(value_day: str, booking: str | None) -> date | None:
    """The day of booking, which has no year: that of the value date, or the one beside it around New Year."""
    try:
        day = date(2000 + int(value_day[:2]), int(value_day[2:4]), int(value_day[4:]))
        if booking is None:
            return day
        years = (day.year - 1, day.year, day.year + 1)
        days = [date(year, int(booking[:2]), int(booking[2:])) for year in years]
    except ValueError:
        return None
    return min(days, key=lambda candidate: abs((candidate - day).days))


def _mt_parts(text: str) -> dict[str, str]:
    """The subfields of `:86:` by number, as German banks write them, uncleaned; none where it has no numbers."""
    return dict(_MT_PART.findall(text.replace("\n", "")))


def _unnumbered(text: str) -> str:
    """The lines of `:86:` in one; the width that they are cut at is that of the longest."""
    lines = text.split("\n")
    width = max(map(len, lines))
    return _joined(lines, width if width in _LINE_WIDTHS else max(_LINE_WIDTHS))


def _joined(pieces: Sequence[str], width: int) -> str:
    """A text that was cut into pieces: one that fills its width goes on in the next without a blank."""
    return cleaned("".join(piece if len(piece) >= width else f"{piece} " for piece in pieces))
