"""Texts that nobody writes: numbers of all kinds, broken up, glued together, among Hebrew and marks."""

from __future__ import annotations

import random

from stdnum import luhn

_COUNTRIES = {"IL": 19, "DE": 18, "GB": 0, "CZ": 20, "FR": 23, "NO": 11, "PT": 21}
_CODES = ["972", "44", "49", "33", "1", "91", "55", "420", "43"]
_BETWEEN_DIGITS = [" ", "-", ".", "/", " - ", "(", ")", ") ", "\u2011", "\u00a0", "\u200e", "x", " x"]
_EXTENSIONS = [" ext. ", " x", " ext ", "#", " x. ", ";ext=", " int ", "~"]
_BETWEEN = [" ", " ", "", "", "-", ".", ", ", ": ", "/", " - ", "\n", "(", ")", "\u200f", "  "]
_WORDS = [
    "hello", "call", "שלום", "ב", "ל", "ו-", "ת.ז.", "at", "$", "%", "₪", "a", "/", "x", "-", "(", "[", "+", "\n", "\t",
    "12:30", "2025-01-13", "03.04.2025", "1.5", "#", "*", "_", "ID", "e.g.", "é", "\u0301", "№",
]  # fmt: skip
_ADDRESSES = [
    "a@b.com", "dana.k+x@example.co.il", "דנה@example.com", "לdana@x.com", "x@y", "u_1@h-1.org", "..a@b.c.net",
    "a@b@c.com", "דָנָה@example.com", "x@例え.jp",
]  # fmt: skip


def text(chance: random.Random) -> str:
    """One such text."""
    parts = []
    for _ in range(chance.randint(1, 7)):
        kind = chance.random()
        parts.append(
            _phone(chance)
            if kind < 0.4
            else _card(chance)
            if kind < 0.5
            else _iban(chance)
            if kind < 0.58
            else chance.choice(_ADDRESSES)
            if kind < 0.65
            else _digits(chance, chance.randint(1, 12))
            if kind < 0.75
            else chance.choice(_WORDS)
        )
        parts.append(chance.choice(_BETWEEN))
    return "".join(parts)


def _digits(chance: random.Random, count: int) -> str:
    return "".join(chance.choices("0123456789", k=count))


def _card(chance: random.Random) -> str:
    number = chance.choice("3456") + _digits(chance, chance.choice([11, 12, 13, 14, 14, 14, 15]))
    number += luhn.calc_check_digit(number)
    if chance.random() < 0.3:
        return number
    return chance.choice([" ", "-", "."]).join(number[place : place + 4] for place in range(0, len(number), 4))


def _iban(chance: random.Random) -> str:
    country, length = chance.choice(list(_COUNTRIES.items()))
    account = _digits(chance, length) if length else "WEST" + _digits(chance, 14)
    value = int("".join(str(int(char, 36)) for char in f"{account}{country}00"))
    iban = f"{country}{98 - value % 97:02}{account}"
    separator = chance.choice(["", "", " ", " ", "-"])
    return separator.join(iban[place : place + 4] for place in range(0, len(iban), 4)) if separator else iban


def _phone(chance: random.Random) -> str:
    number = chance.choice(
        [
            f"05{_digits(chance, 8)}",
            f"0{chance.choice('23489')}{_digits(chance, 7)}",
            f"+{chance.choice(_CODES)}{_digits(chance, chance.randint(6, 11))}",
            f"00{_digits(chance, chance.randint(8, 13))}",
            f"1{_digits(chance, 10)}",
            _digits(chance, chance.randint(4, 13)),
        ]
    )
    parts = [char + (chance.choice(_BETWEEN_DIGITS) if chance.random() < 0.25 else "") for char in number[:-1]]
    extension = chance.choice(_EXTENSIONS) + _digits(chance, chance.randint(1, 6)) if chance.random() < 0.1 else ""
    return "".join(parts) + number[-1] + extension
