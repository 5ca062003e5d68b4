"""Texts that are expensive to search for personal data, and what the real redactor needs for a megabyte of each.

A text repeats one line or one phrase. `#` in it is a random digit and `?` a random letter, new in each repetition, so
that nothing is answered from memory; a name in braces is a random number that passes its checksum. Such texts come
from logs, tables, base64, signatures and attackers.
"""

from __future__ import annotations

import random
import re
import statistics
import string
import time
from collections.abc import Callable

from stdnum import luhn
from stdnum.cz import bankaccount
from stdnum.iso7064 import mod_97_10

from bench.measurement import Figure
from relrag_pipelines.pii import PIIRedactor, normalized_text, phones
from relrag_pipelines.privacy.keys import Keys
from relrag_pipelines.settings import PRESETS, Policy

MEGABYTE = 1_000_000
SAMPLE = 30_000
"""characters of each text that are measured: all of a megabyte take an hour, and the time grows with the length"""
MOST_SECONDS = 2.0
"""processor time of one megabyte, on the machine that bench/clock.py describes"""

HOSTILE = {
    # digits
    "one digit": "1",
    "random digits": "#",
    "digits, spaced": "# ",
    "digits, spaced, repeated": "1 ",
    "pairs of digits": "## ",
    "triples of digits": "### ",
    "fours of digits": "#### ",
    "fours of digits, hyphens": "####-",
    "digits and hyphens": "#-",
    "digits and dots": "#.",
    "digits and slashes": "#/",
    "digits and underscores": "#_",
    "digits and commas": "#,",
    "digits and bars": "#|",
    "digits and tabs": "#\t",
    "digits and ends of lines": "#\n",
    "fours and ends of lines": "####\n",
    "fours and bars": "####|",
    "fours and commas": "####, ",
    "fours and tabs": "####\t",
    "quoted digits": "#\n> ",
    "deeply quoted digits": "#\n> > > > > > > > ",
    "quotes": "> ",
    "digits and zero-width marks": "#\u200b",
    "wide digits": "７８",
    "styled digits": "𝟏𝟐",
    "Arabic digits": "٠٥٢",
    "digits and raised dots": "###\u00b7",
    "digits and brackets": "(#)",
    "digits and entities": "#&nbsp;",
    "nine digits": "######### ",
    "nine digits, glued to words": "a#########",
    "ten digits": "########## ",
    "eleven digits": "########### ",
    "decimals": "#.######## ",
    "dates": "1#.0#.202# ",
    "stamps": "202#-0#-1#T1#:1#:1#Z ",
    "table of amounts": "#,###.## | #,###.## |\n",
    "digits and colons": "#:",
    "digits and semicolons": "#;",
    "digits and equals signs": "#=",
    "digits and stars": "#*",
    "digits and tildes": "#~",
    "digits and backslashes": "#\\",
    "digits and no-break spaces": "#\u00a0",
    "digits and two blanks": "#  ",
    "pairs and slashes": "##/",
    "triples and slashes": "###/",
    "triples and dots": "###.",
    "triples and blanks, seven digits": "### #### ",
    "seven digits and slashes": "#######/",
    "rows of dates": "202#-0#-1#\t",
    "dates with slashes": "1#/0#/202# ",
    "dates with hyphens": "1#-0#-202#;",
    "dates in digits": "202#0#1#,",
    "times": "1#:##:## ",
    "ranges of years": "19##-20##, ",
    "table of figures": "| ### | ##.# | ####### | #.### |\n",
    "figures and tabs": "#,###.##\t##.#\t#\n",
    "figures and semicolons": "####,##;-##,#;#######\n",
    "rows of ids": "########,#######,######\n",
    "rows of pairs": "## ## ## ## ##\n",
    # e-mail
    "at signs": "@",
    "letters and at signs": "a@",
    "addresses without an end": "?????@",
    "local parts": "?????.",
    "long local part": "?",
    "local parts with plus": "?+",
    "domains": "@?????.?????.",
    "addresses": "?????.???@?????.com ",
    "addresses, repeated": "a@b.com,",
    "addresses, glued": "a@b.com",
    "spelt addresses": "????? at ????? dot com ",
    "spelt at": "????? at ",
    "spelt dot": "?? dot ",
    "at and dot": "at dot ",
    "bracketed at": "??? (at) ??? (dot) com ",
    "bracketed at, unclosed": "??? (at ??? [dot ",
    "spaced at": "??? @ ",
    "hyphenated at": "???-at-",
    "underlined at": "???_at_",
    "tags with at": "???<at>",
    "doubled at": "???@@",
    "quoted local parts": '"??" ',
    "quotation marks": '"',
    "quotation marks and at": '"@',
    "wrapped addresses": "???@\n> ???.",
    "wrapped domains": "@???.\n",
    "percent encoded": "???%40",
    "entities": "&#64;",
    "ampersands": "&",
    "decomposed letters": "e\u0301",
    "decomposed addresses": "e\u0301@e\u0301.",
    "Hebrew at": "??? שטרודל ",
    "Czech at": "??? zavináč ??? tečka ",
    # cards, accounts
    "cards": "{card} ",
    "cards in groups": "{card_groups} ",
    "almost cards": "4### #### #### #### ",
    "almost cards, digit by digit": "4 # # # # # # # # # # # # # # # ",
    "cards in cells": "####,####,####,####\n",
    "IBANs": "{iban} ",
    "almost IBANs": "CZ65#################### ",
    "almost IBANs, letter by letter": "C Z 6 5 # # # # # # # # # # # # # # # # # # # # ",
    "openings of IBANs": "DE##",
    "openings of IBANs, spaced": "DE## ",
    "openings of IBANs, letters": "GB##WEST",
    "openings of spelt IBANs": "D E # # ",
    "IBANs and accounts": "{iban} {account} ",
    "Czech accounts": "{account} ",
    "Czech accounts, lines": "účet {account}\n",
    "almost Czech accounts": "##-########/#### ",
    "accounts and slashes": "####/####/",
    "Israeli accounts": "10-800-####### ",
    "Israeli accounts, announced": "account 10-800-####### ",
    # ids
    "Israeli ids": "{il_id} ",
    "Israeli ids, announced": "ת.ז. {il_id} ",
    "Israeli ids in groups": "ID #-#######-# ",
    "birth numbers": "78####/#### ",
    "birth numbers, announced": "rodné číslo 78####/#### ",
    "birth words": "rodné číslo ",
    "passports": "passport ?#######, ",
    "passport words": "passport ",
    "driving licences": "licence ?###-#######, ",
    "social security": "ssn ###-##-#### ",
    "social security, bare": "###-##-#### ",
    "company numbers": "ח.פ. {il_id} ",
    "IČO": "IČO ######## ",
    "DIČ": "CZ######## ",
    "letters and digits": "?#",
    "letters and digits, hyphens": "?#-",
    "upper case and digits": "A#B#",
    # phones
    "phones": "+420 777 ### ### ",
    "phones, local": "052-####### ",
    "phones, Spanish": "6## ## ## ## ",
    "pluses": "+",
    "pluses and digits": "+# ",
    "brackets": "(",
    "phone words": "tel: ",
    "phone words and short numbers": "tel: ##### ",
    "extensions": "# x# ",
    "extension words": "ext. # ",
    "stars": "*#### ",
    "order words": "order #",
    "invoice numbers": "invoice no. ######### ",
    # machines
    "addresses of machines": "###.#.#.## ",
    "parts of addresses": "1##.",
    "version 6": "##ab:",
    "pairs of colons": "::",
    "hardware addresses": "#a:#b:",
    "web addresses": "https://?????.com/###?token=??????### ",
    "slashes of addresses": "://",
    "credentials": "://???:???@",
    "credentials, unclosed": "://???:",
    "tokens": "token=???#&",
    "keys": "sk-????#",
    "private keys": "-----BEGIN PRIVATE KEY-----",
    "base64": "??#?A+/",
    "base64 of JSON": "eyJ????????.",
    "pseudonyms": "<PHONE_NUMBER:k1:???",
    "pseudonyms, whole": "<PHONE_NUMBER:k1:" + "ab12" * 8 + "> ",
    # plain text
    "words": "????? ",
    "Hebrew words": "שלום ",
    "Hebrew glued to digits": "ב###",
    "ends of lines": "\n",
    "blanks": " ",
    "numbers in words": "in 20## there were ### of them, ",
}  # fmt: skip
"""by its name, what a text repeats"""

QUICK = ("Czech accounts", "digits, spaced", "addresses", "IBANs and accounts", "phone words", "openings of IBANs")
"""those that every test run looks at"""

_PLACEHOLDER = re.compile(r"[#?]|\{(\w+)\}")


def hostile_text(name: str, length: int) -> str:
    """The text of that name, repeated to a length in characters; deterministic."""
    chance = random.Random(name)
    template = HOSTILE[name]

    def value(match: re.Match[str]) -> str:
        if match[0] == "#":
            return chance.choice(string.digits)
        if match[0] == "?":
            return chance.choice(string.ascii_lowercase)
        return _NUMBERS[match[1]](chance)

    parts: list[str] = []
    size = 0
    while size < length:
        parts.append(_PLACEHOLDER.sub(value, template))
        size += len(parts[-1])
    return "".join(parts)[:length]


def _digits(chance: random.Random, count: int) -> str:
    return "".join(chance.choices(string.digits, k=count))


def _card(chance: random.Random) -> str:
    number = f"4{_digits(chance, 14)}"
    return number + luhn.calc_check_digit(number)


def _card_groups(chance: random.Random) -> str:
    return " ".join(re.findall("....", _card(chance)))


def _iban(chance: random.Random) -> str:
    account = f"0800{_digits(chance, 16)}"
    return f"CZ{mod_97_10.calc_check_digits(f'{account}CZ')}{account}"


def _account(chance: random.Random) -> str:
    while True:
        number = f"{chance.randint(1000000000, 9999999999)}/0800"
        if bankaccount.is_valid(number):
            return number


def _il_id(chance: random.Random) -> str:
    number = _digits(chance, 8)
    return number + luhn.calc_check_digit(number)


_NUMBERS: dict[str, Callable[[random.Random], str]] = {
    "card": _card, "card_groups": _card_groups, "iban": _iban, "account": _account, "il_id": _il_id,
}  # fmt: skip


def redactor() -> PIIRedactor:
    """One that looks for every entity that a preset names."""
    return PIIRedactor(
        {"default": Policy.model_validate(PRESETS["strict"]["default"])}, Keys(b"i" * 32, b"p" * 32, "k1")
    )


def seconds_per_megabyte(name: str, redact: Callable[[str], object], length: int = SAMPLE) -> float:
    """Processor time of so much of the text, with nothing remembered, as of a megabyte."""
    text = hostile_text(name, length)
    phones.clear_cache()
    normalized_text.normalize_text.cache_clear()
    begun = time.process_time()
    redact(text)
    return (time.process_time() - begun) * MEGABYTE / length


def measure(length: int = SAMPLE) -> dict[str, float]:
    """Seconds of each, the slowest first."""
    of_all = redactor()
    of_all.redact("052-1234567 and 612408819 in plain words", "default")  # imports Presidio, loads the languages
    spent = {name: seconds_per_megabyte(name, lambda text: of_all.redact(text, "default"), length) for name in HOSTILE}
    return dict(sorted(spent.items(), key=lambda one: -one[1]))


def figures() -> list[Figure]:
    """The slowest three of all, each with its gate, and the median."""
    spent = measure()
    slowest = list(spent.items())[:3]
    return [
        *(
            Figure(f"a megabyte of hostile text, {name}, of {len(HOSTILE)}", seconds, at_most=MOST_SECONDS)
            for name, seconds in slowest
        ),
        Figure("the median of these", statistics.median(spent.values())),
    ]


def main() -> None:
    """Prints the seconds per MB of each hostile text, slowest first."""
    for name, spent in measure().items():
        print(f"{spent:7.2f} s/MB  {name}")


if __name__ == "__main__":
    main()
