"""One payment of a bank statement, and its record."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from decimal import Decimal

from relrag_pipelines.records import Record
from relrag_pipelines.sources import ReadContext
from relrag_pipelines.sources.formats.members import Member
from relrag_pipelines.sources.formats.text_cleaning import clean
from relrag_pipelines.text import reference_numbers

TYPE = "bank_transaction"

_NO_NUMBER = re.compile(r"[\W0_]*|nonref|not ?provided|n/?a|none|null|unknown", re.IGNORECASE)
"""what banks write where a payment has no number"""
_NO_LETTER = re.compile(r"[\W_]+")
_PAYEE_LETTERS = 16
"""letters of a payee that all formats show"""


@dataclass(frozen=True)
class Transaction:
    """A payment as a statement lists it."""

    day: date
    amount: Decimal
    """negative for money that leaves the account"""
    currency: str = ""
    payee: str = ""
    """the other side: who is paid, or who pays"""
    account: str = ""
    """the account of the other side"""
    purpose: str = ""
    own_account: str = ""
    value_day: date | None = None
    references: tuple[str, ...] = ()
    """numbers that the payer gives: of an invoice, a variable symbol"""
    identifier: str = ""
    """the number that the bank gives to the payment, which other payments may have too"""
    details: tuple[str, ...] = ()
    """what else a statement says of it, each with its name"""


@dataclass
class TransactionRecords:
    """Makes the records of one statement; equal payments of a day are told apart by their number."""

    member: Member
    reading: ReadContext
    content_type: str
    _seen: Counter[str] = field(default_factory=Counter)

    def record(self, payment: Transaction) -> Record:
        """The record of a payment."""
        text = _text(payment)
        payee = payment.payee or None
        is_outgoing = payment.amount < 0
        return Record(
            source_id=self._native_id(payment),
            text=text,
            rag_source_type=TYPE,
            from_=None if is_outgoing else payee,
            to=[payee] if is_outgoing and payee else [],
            participants=[payee] if payee else [],
            subject=_subject(payment),
            ts=int(datetime(payment.day.year, payment.day.month, payment.day.day, tzinfo=UTC).timestamp()),
            date_quality="day",
            thread_id=self.reading.hash(payment.own_account) if payment.own_account else None,
            content_type=self.content_type,
            file_name=self.member.name,
            source_uri=self.member.location,
            locations=[self.member.location],
            numbers=list(dict.fromkeys([*payment.references, *reference_numbers.find_reference_numbers(text)])),
            extra=_fields(payment),
        )

    def _native_id(self, payment: Transaction) -> str:
        """A keyed hash of the payment, the same in every statement of it; equal ones are numbered."""
        key = self.reading.hash("\0".join(_identity(payment)))
        self._seen[key] += 1
        return key if self._seen[key] == 1 else f"{key}:{self._seen[key]}"


def _identity(payment: Transaction) -> list[str]:
    """What tells a payment from all others: its account, day, amount and payee, with its number or else its purpose.

    The number alone does not: banks give the same one to the parts of an order, and banks that give none write `0`.
    """
    day, amount = payment.day.isoformat(), f"{payment.amount.normalize():f}"
    identity = [payment.own_account, day, amount, payment.currency]
    if _NO_NUMBER.fullmatch(payment.identifier):
        return [*identity, payment.payee, payment.account, payment.purpose]
    return [*identity, payment.identifier, _NO_LETTER.sub("", payment.payee.casefold())[:_PAYEE_LETTERS]]


def cleaned(text: str | None) -> str:
    """A value on one line."""
    return " ".join(clean(text or "").split())


def amount_text(amount: Decimal, currency: str) -> str:
    """`-1250.00 CZK`"""
    plain = f"{amount:f}"
    if len(plain.partition(".")[2]) == 1:
        plain += "0"
    return f"{plain} {currency}".strip()


def _subject(payment: Transaction) -> str:
    return " ".join(
        filter(None, (payment.payee or payment.purpose[:80], amount_text(payment.amount, payment.currency)))
    )


def _text(payment: Transaction) -> str:
    other = "Paid to" if payment.amount < 0 else "Received from"
    named = {
        "Date": payment.day.isoformat(),
        "Amount": amount_text(payment.amount, payment.currency),
        other: payment.payee,
        "IBAN" if payment.account[:2].isalpha() else "Bank account": _account(payment.account),
        "Purpose": payment.purpose,
        "Reference": ", ".join(payment.references),
    }
    lines = [f"{name}: {value}" for name, value in named.items() if value]
    return "\n".join([*lines, *payment.details])


def _account(number: str) -> str:
    """An IBAN, which redaction finds; of any other number its end, since only some countries' are recognised."""
    is_iban = number[:2].isalpha()
    return number if is_iban or not number else f"ending in {number.partition('/')[0][-4:]}"


def _fields(payment: Transaction) -> dict[str, str]:
    """The fields but for accounts, which stand in the text alone."""
    fields = {
        "amount": f"{payment.amount:f}",
        "currency": payment.currency,
        "payee": payment.payee,
        "date": payment.day.isoformat(),
        "value_date": payment.value_day.isoformat() if payment.value_day else "",
        "purpose": payment.purpose,
    }
    return {name: value for name, value in fields.items() if value}
