"""Finds the domestic form of an IBAN's account in a text with the IBAN: it identifies the same account.

Czech and Slovak: `19-2000145399/0800`, an IBAN's last sixteen digits and its bank; Israeli: `10-800-99999999`, bank,
branch and account. The number without its bank counts too, unless it is too short to be distinctive.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field

import regex

from relrag_pipelines.pii.spans import Span

SCORE = 0.95
_MIN_DIGITS = 5
"""digits of the shortest account number that is found without its bank"""
_CZECHIA = re.compile(r"(?:(\d{1,6})\D+)?(\d{2,10})\s?/\s?(\d{4})")
_ISRAELI = re.compile(r"(\d{1,3})\D+(\d{1,3})\D+(\d{4,13})")
_GAP = r"[ \u00a0.]?"
_JOINT = r"[ \u00a0]?[-/ ][ \u00a0]?"
_START = re.compile(rf"(?<!\w)(?=0*([1-9](?:{_GAP}\d){{1,13}}))\d")
_NOT_JOINED = r"(?<![\w-])(?<!\d[./])"
# patterns before a number, matched backwards
_LEADING_ZEROS = regex.compile(rf"(?r){_NOT_JOINED}0*")
_CZECHIA_PREFIX = regex.compile(rf"(?r){_NOT_JOINED}(\d{{1,6}})[ \u00a0]?-[ \u00a0]?0*")
_ISRAELI_BRANCH = regex.compile(rf"(?r){_NOT_JOINED}(\d{{1,3}}){_JOINT}(\d{{1,3}}){_JOINT}0*")
_BANK_CODE = re.compile(r"[ \u00a0]?/[ \u00a0]?(\d{4})(?!\w)(?!-\d)")
_NUMBER_END = re.compile(r"(?!\w)(?!-\d)")
_NOT_DIGIT = re.compile(r"\D+")


@dataclass
class _Accounts:
    """The accounts of one country whose IBANs occur in a text."""

    before: regex.Pattern[str]
    """text that may precede a number: the prefix of a Czech account, bank and branch of an Israeli one"""
    numbers: set[str] = field(default_factory=set)
    joined: set[tuple[str, ...]] = field(default_factory=set)
    """groups that precede the number, and the number"""
    whole: set[tuple[str, ...]] = field(default_factory=set)
    """a short number with its bank: bank and branch before it, or the bank after it"""

    def find(self, text: str) -> Iterator[Span]:
        """The spans of the accounts in the text, in one pass."""
        openings = {number[:2] for number in self.numbers}
        lengths = sorted({len(number) for number in self.numbers}, reverse=True)
        for match in _START.finditer(text):
            digits = _NOT_DIGIT.sub("", match[1])
            if digits[:2] not in openings:
                continue
            written = (digits[:length] for length in lengths if digits[:length] in self.numbers)
            spans = (self._span(text, match.start(1), number) for number in written)
            yield from [span for span in spans if span][:1]

    def _span(self, text: str, start: int, number: str) -> Span | None:
        """The span of the account whose number begins at `start`, with the groups before and after it."""
        before = self._before(text, start, number)
        if before is None:
            return None
        end = _end_of_number(text, start, len(number))
        bank = _BANK_CODE.match(text, end)
        if bank and (number, bank[1]) in self.whole:
            return Span(before.start(), bank.end(), SCORE)
        means_one = len(number) >= _MIN_DIGITS or (*map(_significant, before.groups()), number) in self.whole
        return Span(before.start(), end, SCORE) if means_one and _NUMBER_END.match(text, end) else None

    def _before(self, text: str, start: int, number: str) -> regex.Match[str] | None:
        """The groups before the number that belong to it; None if it is a part of another number."""
        before = self.before.match(text, 0, start)
        if before and (*map(_significant, before.groups()), number) in self.joined:
            return before
        return _LEADING_ZEROS.match(text, 0, start)


def domestic_spans(text: str, ibans: Collection[str]) -> Iterator[Span]:
    """The spans of the domestic forms of these IBANs, given in compact form, in the text."""
    czechia, israel = _Accounts(_CZECHIA_PREFIX), _Accounts(_ISRAELI_BRANCH)
    for iban in ibans:
        if iban[:2] in ("CZ", "SK"):
            prefix, number = iban[8:14].lstrip("0"), iban[14:].lstrip("0")
            czechia.numbers.add(number)
            czechia.joined.add((prefix, number))
            czechia.whole.add((number, iban[4:8]))
        elif iban[:2] == "IL":
            account = (iban[4:7].lstrip("0"), iban[7:10].lstrip("0"), iban[10:].lstrip("0"))
            israel.numbers.add(account[-1])
            israel.joined.add(account)
            israel.whole.add(account)
    for accounts in (czechia, israel):
        if accounts.numbers:
            yield from accounts.find(text)


def _end_of_number(text: str, start: int, digits: int) -> int:
    """The end offset of a number with this many digits that begins at `start`."""
    end = start
    while digits:
        digits -= text[end].isdigit()
        end += 1
    return end


def _significant(group: str) -> str:
    return _NOT_DIGIT.sub("", group).lstrip("0")


def iban_of(number: str) -> str | None:
    """The compact IBAN of an account in its domestic form; None if the bank is missing."""
    if match := _CZECHIA.fullmatch(number):
        prefix, account, bank = match.groups()
        return _with_checksum("CZ", f"{bank}{prefix or '':0>6}{account:0>10}")
    if match := _ISRAELI.fullmatch(number):
        bank, branch, account = match.groups()
        return _with_checksum("IL", f"{bank:0>3}{branch:0>3}{account:0>13}")
    return None


def _with_checksum(country: str, account: str) -> str:
    """The IBAN with its ISO 7064 check digits."""
    code = "".join(str(int(letter, 36)) for letter in country)
    return f"{country}{98 - int(f'{account}{code}00') % 97:02}{account}"
