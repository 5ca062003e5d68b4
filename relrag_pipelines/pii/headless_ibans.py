"""Accounts written as their IBAN without the code of the country, in archives of that country.

Poles write an account so: `78 1020 5558 0000 8702 3184 0297`, check digits and account, without `PL`. Others leave the
check digits out as well; these accounts count where the account has a checksum of its own.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

from stdnum import numdb
from stdnum.es import ccc

from relrag_pipelines.pii.national_ids import SEPARATOR
from relrag_pipelines.pii.spans import Span

SCORE = 0.9
_MIN_CHARS = 18
"""characters of the shortest account that counts without the word IBAN: one number in 97 passes the checksum"""
_FIELD = re.compile(r"(\d+)!([nac])")
_CLASSES = {"n": "[0-9]", "a": "[A-Za-z]", "c": "[A-Za-z0-9]"}
_GAP = f"{SEPARATOR}{{0,2}}"
_NOT_ALNUM = re.compile(r"[^A-Za-z0-9]+")
_SAYS_IBAN = re.compile(r"\bIBAN\b[^\n0-9]{0,12}$", re.IGNORECASE)
_LABEL_CHARS = 24
_MIN_DISTINCT = 3
"""distinct characters of the simplest account: rows of zeros pass checksums too"""
_LETTER_VALUES = {ord(letter): str(value) for value, letter in enumerate("ABCDEFGHIJKLMNOPQRSTUVWXYZ", 10)}
_RIB_VALUES = str.maketrans("ABCDEFGHIJKLMNOPQRSTUVWXYZ", "12345678912345678923456789")
"""values of letters in the key of a French account (https://fr.wikipedia.org/wiki/Cl%C3%A9_RIB)"""


def _passes_mod_97(account: str) -> bool:
    return int(account) % 97 == 1


def _passes_rib(account: str) -> bool:
    """The key of a French account: bank times 89, branch times 15, account times 3, and the key, modulo 97."""
    digits = account.translate(_RIB_VALUES)
    return (89 * int(digits[:5]) + 15 * int(digits[5:10]) + 3 * int(digits[10:21]) + int(digits[21:])) % 97 == 0


def _passes_ccc(account: str) -> bool:
    return bool(ccc.is_valid(account))


_OWN_CHECKS: dict[str, Callable[[str], bool]] = {
    "ES": _passes_ccc,
    "FR": _passes_rib,
    "MC": _passes_rib,
    "PT": _passes_mod_97,
    "RS": _passes_mod_97,
}
"""checksums of accounts without the check digits of their IBAN"""


class _Form(NamedTuple):
    """How the accounts of a country are written."""

    region: str
    pattern: re.Pattern[str]
    chars: int
    has_check_digits: bool


@functools.cache
def _forms(regions: tuple[str, ...]) -> tuple[_Form, ...]:
    forms = []
    for region in regions:
        structure = numdb.get("iban").info(region)[0][1].get("bban")
        if not structure:
            continue
        forms.append(_form(region, f"2!n{structure}", has_check_digits=True))
        if region in _OWN_CHECKS:
            forms.append(_form(region, structure, has_check_digits=False))
    return tuple(forms)


def _form(region: str, structure: str, *, has_check_digits: bool) -> _Form:
    fields = [_CLASSES[kind] for count, kind in _FIELD.findall(structure) for _ in range(int(count))]
    no_head = "" if has_check_digits else rf"(?<![A-Za-z]{{2}}\d\d{SEPARATOR})"
    pattern = rf"(?<![0-9A-Za-z]){no_head}(?<!\d[.,/-]){_GAP.join(fields)}(?![0-9A-Za-z]|[.,/-]\d)"
    return _Form(region, re.compile(pattern), len(fields), has_check_digits)


def find(text: str, regions: tuple[str, ...]) -> Iterator[Span]:
    """The accounts of these countries in the text."""
    for form in _forms(regions):
        for match in form.pattern.finditer(text):
            if form.chars < _MIN_CHARS and not _SAYS_IBAN.search(
                text, max(0, match.start() - _LABEL_CHARS), match.start()
            ):
                continue
            if _iban(match[0], form):
                yield Span(*match.span(), SCORE)


def iban_of(number: str, regions: tuple[str, ...]) -> str | None:
    """The compact IBAN of an account without its head; None if it is none of these countries'."""
    return next(filter(None, (_iban(number, form) for form in _forms(regions) if form.pattern.fullmatch(number))), None)


def _iban(number: str, form: _Form) -> str | None:
    account = _NOT_ALNUM.sub("", number).upper()
    if len(set(account)) < _MIN_DISTINCT:
        return None
    if form.has_check_digits:
        iban = f"{form.region}{account}"
        return iban if _remainder(iban) == 1 else None
    if not _OWN_CHECKS[form.region](account):
        return None
    return f"{form.region}{98 - _remainder(f'{form.region}00{account}'):02}{account}"


def _remainder(iban: str) -> int:
    return int((iban[4:] + iban[:4]).translate(_LETTER_VALUES)) % 97
