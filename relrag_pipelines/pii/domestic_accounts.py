"""The account of an IBAN as people write it at home, beside the IBAN: it says the same, so it is hidden as the IBAN is.

Czech and Slovak: `19-2000145399/0800`, an IBAN's last sixteen digits and its bank; Israeli: `10-800-99999999`, bank,
branch and account. The number without its bank counts too, unless it is too short to mean anything.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field

import regex

from relrag_pipelines.pii.spans import Span

SCORE = 0.95
_FEWEST = 5
"""digits of an account that tells of itself"""
_CZECH = re.compile(r"(?:(\d{1,6})\D+)?(\d{2,10})\s?/\s?(\d{4})")
_ISRAELI = re.compile(r"(\d{1,3})\D+(\d{1,3})\D+(\d{4,13})")
_GAP = r"[ \u00a0.]?"
_JOINT = r"[ \u00a0]?[-/ ][ \u00a0]?"
_START = re.compile(rf"(?<!\w)(?=0*([1-9](?:{_GAP}\d){{1,13}}))\d")
_APART = r"(?<![\w-])(?<!\d[./])"
# what stands in front of a number is matched backwards
_ALONE = regex.compile(rf"(?r){_APART}0*")
_CZECH_PREFIX = regex.compile(rf"(?r){_APART}(\d{{1,6}})[ \u00a0]?-[ \u00a0]?0*")
_ISRAELI_BRANCH = regex.compile(rf"(?r){_APART}(\d{{1,3}}){_JOINT}(\d{{1,3}}){_JOINT}0*")
_BANK_BEHIND = re.compile(r"[ \u00a0]?/[ \u00a0]?(\d{4})(?!\w)(?!-\d)")
_END = re.compile(r"(?!\w)(?!-\d)")
_NOT_DIGIT = re.compile(r"\D+")


@dataclass
class _Accounts:
    """The accounts of one country that a text names by their IBANs."""

    before: regex.Pattern[str]
    """what may stand in front of a number: the prefix of a Czech one, bank and branch of an Israeli one"""
    numbers: set[str] = field(default_factory=set)
    joined: set[tuple[str, ...]] = field(default_factory=set)
    """what stands in front, and the number"""
    whole: set[tuple[str, ...]] = field(default_factory=set)
    """what makes an account of a number too short to mean one: bank and branch in front, or the bank behind it"""

    def find(self, text: str) -> Iterator[Span]:
        """Where they stand in the text: one pass, however many they are."""
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
        """The account whose number begins there, with what belongs to it on both sides."""
        before = self._before(text, start, number)
        if before is None:
            return None
        end = _end_of_number(text, start, len(number))
        bank = _BANK_BEHIND.match(text, end)
        if bank and (number, bank[1]) in self.whole:
            return Span(before.start(), bank.end(), SCORE)
        means_one = len(number) >= _FEWEST or (*map(_significant, before.groups()), number) in self.whole
        return Span(before.start(), end, SCORE) if means_one and _END.match(text, end) else None

    def _before(self, text: str, start: int, number: str) -> regex.Match[str] | None:
        """What stands in front of the number and belongs to it; None where it is a part of another number."""
        before = self.before.match(text, 0, start)
        if before and (*map(_significant, before.groups()), number) in self.joined:
            return before
        return _ALONE.match(text, 0, start)


def domestic_spans(text: str, ibans: Collection[str]) -> Iterator[Span]:
    """Where the accounts of IBANs, in their compact form, stand in the text in their domestic form."""
    czech, israeli = _Accounts(_CZECH_PREFIX), _Accounts(_ISRAELI_BRANCH)
    for iban in ibans:
        if iban[:2] in ("CZ", "SK"):
            prefix, number = iban[8:14].lstrip("0"), iban[14:].lstrip("0")
            czech.numbers.add(number)
            czech.joined.add((prefix, number))
            czech.whole.add((number, iban[4:8]))
        elif iban[:2] == "IL":
            account = (iban[4:7].lstrip("0"), iban[7:10].lstrip("0"), iban[10:].lstrip("0"))
            israeli.numbers.add(account[-1])
            israeli.joined.add(account)
            israeli.whole.add(account)
    for accounts in (czech, israeli):
        if accounts.numbers:
            yield from accounts.find(text)


def _end_of_number(text: str, start: int, digits: int) -> int:
    """Where a number of so many digits that begins there ends."""
    end = start
    while digits:
        digits -= text[end].isdigit()
        end += 1
    return end


def _significant(group: str) -> str:
    return _NOT_DIGIT.sub("", group).lstrip("0")


def iban_of(number: str) -> str | None:
    """The IBAN of an account in its domestic form, compact; None where it lacks the bank, and so cannot be told."""
    if match := _CZECH.fullmatch(number):
        prefix, account, bank = match.groups()
        return _with_checksum("CZ", f"{bank}{prefix or '':0>6}{account:0>10}")
    if match := _ISRAELI.fullmatch(number):
        bank, branch, account = match.groups()
        return _with_checksum("IL", f"{bank:0>3}{branch:0>3}{account:0>13}")
    return None


def _with_checksum(country: str, account: str) -> str:
    """ISO 7064, as IBANs have it."""
    code = "".join(str(int(letter, 36)) for letter in country)
    return f"{country}{98 - int(f'{account}{code}00') % 97:02}{account}"
