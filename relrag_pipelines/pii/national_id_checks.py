"""Checksums of national ids: python-stdnum's, and those of ids that it doesn't know.

Each function is given an id without separators, in upper case.
"""

from __future__ import annotations

import functools
import importlib
import re
from collections.abc import Callable

from stdnum.exceptions import ValidationError

_GERMANY_WEIGHTS = (2, 1, 2, 5, 7, 1, 2, 1, 2, 1, 2, 1)
_MONTH_DAY = r"(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])"
_BRITISH = re.compile(r"(?!BG|GB|NK|KN|TN|NT|ZZ)[A-CEGHJ-PR-TW-Z][A-CEGHJ-NPR-TW-Z]\d{6}[A-D]")
_HUNGARY_PERSON = re.compile(rf"[1-8]\d\d{_MONTH_DAY}\d{{4}}")
_KOREA = re.compile(rf"\d\d{_MONTH_DAY}[1-8]\d{{6}}")
_SINGAPOREAN = {"S": (0, "JZIHGFEDCBA"), "T": (4, "JZIHGFEDCBA"), "F": (0, "XWUTRQPNMLK"), "G": (4, "XWUTRQPNMLK")}
_SINGAPOREAN |= {"M": (3, "KLJNPQRTUWX")}


def australia_medicare(number: str) -> bool:
    """Medicare number: eight digits times 1, 3, 7, 9 in turn, modulo 10; the number of the card follows."""
    return number[0] in "23456" and _weighted(number[:8], (1, 3, 7, 9) * 2) % 10 == int(number[8])


def british_insurance(number: str) -> bool:
    """National Insurance: https://www.gov.uk/hmrc-internal-manuals/national-insurance-manual/nim39110."""
    return _BRITISH.fullmatch(number) is not None


def germany_insurance(number: str) -> bool:
    """Rentenversicherungsnummer: area, date of birth, letter, serial, check digit; VKVV, paragraph 4."""
    digits = f"{number[:8]}{ord(number[8]) - ord('A') + 1:02}{number[9:]}"
    products = (int(digit) * weight for digit, weight in zip(digits[:12], _GERMANY_WEIGHTS, strict=True))
    return sum(sum(divmod(product, 10)) for product in products) % 10 == int(number[-1])


def germany_health(number: str) -> bool:
    """Krankenversichertennummer: a letter and nine digits, of which the last is a checksum; paragraph 290 SGB V."""
    digits = f"{ord(number[0]) - ord('A') + 1:02}{number[1:]}"
    products = (int(digit) * weight for digit, weight in zip(digits[:10], (1, 2) * 5, strict=True))
    return sum(sum(divmod(product, 10)) for product in products) % 10 == int(number[-1])


def hungary_insurance(number: str) -> bool:
    """TAJ: digits times 3 and 7 in turn, modulo 10."""
    return _weighted(number[:8], (3, 7) * 4) % 10 == int(number[8])


def hungary_person(number: str) -> bool:
    """Személyi szám: digits times their place, modulo 11; times their place from the end for those born since 1997."""
    if not _HUNGARY_PERSON.fullmatch(number):
        return False
    return int(number[10]) in (_weighted(number[:10], weights) % 11 for weights in (range(1, 11), range(10, 0, -1)))


def hungary_tax(number: str) -> bool:
    """Adóazonosító jel of a person: begins with 8, digits times their place, modulo 11."""
    return number[0] == "8" and _weighted(number[:9], range(1, 10)) % 11 == int(number[9])


def indian_trader(number: str) -> bool:
    """GSTIN of a person: contains the person's PAN, whose fourth letter is a P."""
    return number[5] == "P" and check("in_.gstin")(number)


def korea_resident(number: str) -> bool:
    """Resident registration: a date of birth and the code of a century. Those since October 2020 have no checksum."""
    return _KOREA.fullmatch(number) is not None


def russia_insurance(number: str) -> bool:
    """СНИЛС: digits times their place from the end, modulo 101, of which 100 counts as 0."""
    return _weighted(number[:9], range(9, 0, -1)) % 101 % 100 == int(number[9:])


def singaporean_identity(number: str) -> bool:
    """NRIC and FIN: weighted digits give a letter, which depends on the series."""
    if number[0] not in _SINGAPOREAN or not number[1:8].isdigit():
        return False
    offset, letters = _SINGAPOREAN[number[0]]
    return letters[(_weighted(number[1:8], (2, 7, 6, 5, 4, 3, 2)) + offset) % 11] == number[8]


def spain_insurance(number: str) -> bool:
    """Número de afiliación: province and serial number, modulo 97; a serial below 10,000,000 has seven digits."""
    province, serial, remainder = number[:2], number[2:10], int(number[10:])
    whole = f"{province}{serial}" if serial[0] != "0" else f"{province}{serial[1:]}"
    return int(whole) % 97 == remainder


def any_number(number: str) -> bool:
    """Accepts any number except zeros, for ids without a checksum."""
    return number.strip("0") != ""


_OWN: dict[str, Callable[[str], bool]] = {
    function.__name__: function
    for function in (
        australia_medicare,
        british_insurance,
        germany_health,
        germany_insurance,
        indian_trader,
        hungary_insurance,
        hungary_person,
        hungary_tax,
        korea_resident,
        russia_insurance,
        singaporean_identity,
        spain_insurance,
        any_number,
    )
}


@functools.cache
def check(name: str) -> Callable[[str], bool]:
    """The check with this name: a function of this module, or a module of python-stdnum such as `es.dni`.

    Raises ImportError if there is none.
    """
    if own := _OWN.get(name):
        return own
    validate = importlib.import_module(f"stdnum.{name}").validate

    @functools.lru_cache(maxsize=1 << 10)
    def is_valid(number: str) -> bool:
        try:
            validate(number)
        except ValidationError:
            return False
        return True

    return is_valid


def _weighted(digits: str, weights: range | tuple[int, ...]) -> int:
    return sum(int(digit) * weight for digit, weight in zip(digits, weights, strict=True))
