"""Bank statements as XML: CAMT.052, .053 and .054 of ISO 20022 in all versions, and OFX 2."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from decimal import Decimal, InvalidOperation

from lxml import etree

from relrag_pipelines.sources.bank.transaction import Transaction, cleaned

MAX_PAYMENTS = 500_000


def camt(data: bytes) -> list[Transaction]:
    """The payments of a CAMT file in order. Raises ValueError if it is not a CAMT file."""
    tree = _parse(data)
    statements = list(tree.iter("{*}Stmt", "{*}Rpt", "{*}Ntfctn"))
    if not statements:
        raise ValueError("no statement (Stmt, Rpt or Ntfctn) in it")
    payments: list[Transaction] = []
    for statement in statements:
        account = _account(statement.find("{*}Acct/{*}Id"))
        for entry in statement.iterfind("{*}Ntry"):
            payments += _payments(entry, account)
            if len(payments) > MAX_PAYMENTS:
                raise ValueError(f"more than {MAX_PAYMENTS:,} payments; export a shorter time")
    return payments


def _parse(data: bytes) -> etree._Element:
    parser = etree.XMLParser(resolve_entities=False, no_network=True, recover=True, remove_comments=True)
    tree = etree.fromstring(data, parser)
    if tree is None:
        raise ValueError("the XML is broken")
    return tree


def _payments(entry: etree._Element, own_account: str) -> Iterator[Transaction]:
    """The payments of an entry: one, or those of a batch, if each states its amount."""
    details = list(entry.iterfind("{*}NtryDtls/{*}TxDtls"))
    parts = details if len(details) > 1 and all(_amount(part) is not None for part in details) else details[:1]
    amount, day = _amount(entry), _day(entry, "BookgDt") or _day(entry, "ValDt")
    if day is None or amount is None:
        return
    for part in parts or [entry]:
        own = _amount(part) if len(parts) > 1 else None
        yield _payment(entry, part, own_account, day, amount if own is None else own)


def _payment(entry: etree._Element, part: etree._Element, own_account: str, day: date, amount: Decimal) -> Transaction:
    indicator = _text(part, "CdtDbtInd") or _text(entry, "CdtDbtInd")
    is_out, is_reversal = indicator == "DBIT", _text(entry, "RvslInd") == "true"
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
