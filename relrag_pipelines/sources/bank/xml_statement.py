"""Bank statements as XML: CAMT.052, .053 and .054 of ISO 20022 in all versions, and OFX 2."""

from __future__ import annotations

import itertools
import re
from datetime import date
from decimal import Decimal, InvalidOperation

from lxml import etree

from relrag_pipelines.records import Failure
from relrag_pipelines.sources.bank.transaction import Transaction, cleaned

MAX_PAYMENTS = 500_000

_TRUE = frozenset({"true", "1"})
_NO_AMOUNT = "an entry without a readable day or amount; it is left out"
_ROOT, _CLOSING = re.compile(rb"<([A-Za-z_][\w:.-]*)"), re.compile(rb"</([\w:.-]+)\s*>\s*\Z")
"""the name of the outermost element, at the beginning and at the end of XML"""
_FAULTS = {
    "truncated": "the statement is cut off; export it again",
    "damaged": "the XML is broken, so payments may be missing; export the statement again",
}


def camt(data: bytes) -> list[Transaction | Failure]:
    """The payments of a CAMT file in order, with failures. Raises ValueError if it is not a CAMT file."""
    tree, fault = _parse(data)
    statements = list(tree.iter("{*}Stmt", "{*}Rpt", "{*}Ntfctn"))
    if not statements:
        raise ValueError("no statement (Stmt, Rpt or Ntfctn) in it")
    payments: list[Transaction | Failure] = []
    numbers = itertools.count(1)
    for statement in statements:
        account = _account(statement.find("{*}Acct/{*}Id"))
        for entry, number in zip(statement.iterfind("{*}Ntry"), numbers, strict=False):
            payments += _payments(entry, account) or [Failure(f"entry {number}", "bad_row", _NO_AMOUNT)]
            if len(payments) > MAX_PAYMENTS:
                raise ValueError(f"more than {MAX_PAYMENTS:,} payments; export a shorter time")
    return [*payments, Failure("", fault, _FAULTS[fault], whole_unit=True)] if fault else payments


def _parse(data: bytes) -> tuple[etree._Element, str]:
    """The tree, and the fault word of XML that is cut off or of which a part could not be read."""
    parser = etree.XMLParser(resolve_entities=False, no_network=True, recover=True, remove_comments=True)
    tree = etree.fromstring(data, parser)
    if tree is None:
        raise ValueError("the XML is broken")
    root, closing = _ROOT.search(data), _CLOSING.search(data)
    if root is None or closing is None or root[1] != closing[1]:
        return tree, "truncated"
    return tree, "damaged" if any(error.level == etree.ErrorLevels.FATAL for error in parser.error_log) else ""


def _payments(entry: etree._Element, own_account: str) -> list[Transaction]:
    """The payments of an entry: one, or those of a batch, if each states its amount; none without day or amount."""
    details = list(entry.iterfind("{*}NtryDtls/{*}TxDtls"))
    parts = details if len(details) > 1 and all(_amount(part) is not None for part in details) else details[:1]
    amount, day = _amount(entry), _day(entry, "BookgDt") or _day(entry, "ValDt")
    if day is None or amount is None:
        return []
    amounts = [_amount(part) for part in parts] if len(parts) > 1 else [amount]
    return [
        _payment(entry, part, own_account, day, amount if own is None else own)
        for part, own in zip(parts or [entry], amounts, strict=True)
    ]


def _payment(entry: etree._Element, part: etree._Element, own_account: str, day: date, amount: Decimal) -> Transaction:
    indicator = _text(part, "CdtDbtInd") or _text(entry, "CdtDbtInd")
    is_out, is_reversal = indicator == "DBIT", _text(entry, "RvslInd").lower() in _TRUE
    # the indicator is of this entry (ISO 20022): a reversed debit is a credit, whose other side is still the creditor
    other = "Cdtr" if is_out != is_reversal else "Dbtr"
    name = part.find(f"{{*}}RltdPties/{{*}}{other}/{{*}}Nm")
    if name is None:  # since version 8
        name = part.find(f"{{*}}RltdPties/{{*}}{other}/{{*}}Pty/{{*}}Nm")
    currency = next((element.get("Ccy", "") for element in entry.iterfind("{*}Amt")), "")
    purpose = [_plain(line) for line in part.iterfind("{*}RmtInf/{*}Ustrd")] or [_text(entry, "AddtlNtryInf")]
    references = [_text(part, "Refs/EndToEndId"), _text(part, "RmtInf/Strd/CdtrRefInf/Ref")]
    return Transaction(
        day,
        -amount if is_out else amount,
        currency,
        payee="" if name is None else _plain(name),
        account=_account(part.find(f"{{*}}RltdPties/{{*}}{other}Acct/{{*}}Id")),
        purpose="; ".join(filter(None, purpose)),
        own_account=own_account,
        value_day=_day(entry, "ValDt"),
        references=tuple(number for number in references if number and number != "NOTPROVIDED"),
        identifier=_text(part, "Refs/AcctSvcrRef") or _text(entry, "AcctSvcrRef"),
    )


def _plain(element: etree._Element) -> str:
    return cleaned("".join(element.itertext()))


def _text(element: etree._Element, path: str) -> str:
    child = element.find("/".join(f"{{*}}{name}" for name in path.split("/")))
    return "" if child is None else _plain(child)


def _amount(element: etree._Element) -> Decimal | None:
    text = _text(element, "Amt") or _text(element, "AmtDtls/TxAmt/Amt")
    try:
        amount = Decimal(text)
    except InvalidOperation:
        return None
    return amount if amount.is_finite() else None


def _day(entry: etree._Element, name: str) -> date | None:
    text = _text(entry, f"{name}/Dt") or _text(entry, f"{name}/DtTm")
    try:
        return date.fromisoformat(text[:10])
    except ValueError:
        return None


def _account(element: etree._Element | None) -> str:
    if element is None:
        return ""
    return _text(element, "IBAN") or _text(element, "Othr/Id")
