"""The account of an IBAN as people write it at home, beside the IBAN: it says the same, so it is hidden as the IBAN is.

Czech and Slovak: `19-2000145399/0800`, an IBAN's last sixteen digits and its bank; Israeli: `10-800-99999999`, bank,
branch and account. The number without its bank counts too, unless it is too short to mean anything.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from relrag_pipelines.pii.spans import Span

SCORE = 0.95
_FEWEST = 5
"""digits of an account that tells of itself"""
_CZECH = re.compile(r"(?:(\d{1,6})\D+)?(\d{2,10})\s?/\s?(\d{4})")
_ISRAELI = re.compile(r"(\d{1,3})\D+(\d{1,3})\D+(\d{4,13})")
_GAP = r"[ \u00a0.]?"
_JOINT = r"[ \u00a0]?[-/ ][ \u00a0]?"


def domestic_spans(text: str, iban: str) -> Iterator[Span]:
    """Where the account of an IBAN, in its compact form, stands in the text in its domestic form."""
    pattern = _patterns.get(iban[:2])
    if pattern:
        yield from (Span(*match.span(), SCORE) for match in re.finditer(pattern(iban), text))


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


def _czech(iban: str) -> str:
    bank, prefix, account = iban[4:8], iban[8:14].lstrip("0"), iban[14:].lstrip("0")
    before = rf"{_digits(prefix)}[ \u00a0]?-[ \u00a0]?" if prefix else "0*-"
    number = rf"(?:0*{before})?0*{_digits(account)}"
    behind = rf"[ \u00a0]?/[ \u00a0]?{bank}"
    return _whole_number(rf"{number}{behind}" if len(account) < _FEWEST else rf"{number}(?:{behind})?")


def _israeli(iban: str) -> str:
    bank, branch, account = iban[4:7].lstrip("0"), iban[7:10].lstrip("0"), iban[10:].lstrip("0")
    before = rf"0*{bank}{_JOINT}0*{branch}{_JOINT}"
    number = rf"0*{_digits(account)}"
    return _whole_number(rf"{before}{number}" if len(account) < _FEWEST else rf"(?:{before})?{number}")


def _digits(number: str) -> str:
    return _GAP.join(number)


def _whole_number(number: str) -> str:
    return rf"(?<![\w-])(?<!\d[./]){number}(?![\w])(?!-\d)"


_patterns = {"CZ": _czech, "SK": _czech, "IL": _israeli}
