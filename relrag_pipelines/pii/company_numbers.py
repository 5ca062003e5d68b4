"""Numbers of companies and traders, Israeli and Czech, with a valid checksum after words that announce them.

They are listed in public registers, and people search for invoices by them; only a policy that names them replaces
them. A person's Czech tax number, `CZ` before a birth number, is as private as the birth number.
"""

from __future__ import annotations

import re

from stdnum.cz import dic

from relrag_pipelines.pii import context_words
from relrag_pipelines.pii.national_ids import digits_of, passes_luhn
from relrag_pipelines.pii.normalized_text import normalize
from relrag_pipelines.pii.spans import Span

ANNOUNCED, CHECKED = 0.9, 0.8
"""scores, by how a number was recognised"""

_GAP = r"[- .\u00a0]?"
_NINE = re.compile(rf"\d(?<!\d\d)(?:{_GAP}\d){{8}}(?!\d)")
_EIGHT = re.compile(rf"\d(?<!\d\d)\d\d?(?:{_GAP}\d){{6}}(?!\d)")
_TAX = re.compile(r"CZ[ \u00a0]?\d{8,10}(?![0-9A-Za-z])")
_LABEL_END = r"(?:[ \u00a0]?(?:number|no\.?|num|num\w*|מספר|מס['׳.]?))?[ \u00a0]{0,2}[:.#=-]{0,2}[ \u00a0]{0,2}$"
_announces_israeli = context_words.lookbehind(
    r"(?:(?<![א-ת])[הבלמשוכ]{0,2}(?:ח[\"״'.׳ ]{0,2}פ|ע[\"״'.׳ ]{0,2}מ|ע[\"״'.׳ ]{0,2}ר|עוסק מורשה|עוסק פטור|מספר חברה"
    r"|חברה (?:מספר|מס['׳.]?)|תאגיד)\.?|(?<![a-z])(?:company|vat|business|registration|reg\.?|h\.?p\.?))" + _LABEL_END
)
_announces_ico = context_words.lookbehind(r"(?<!\w)(?:IČO?|ICO?|company id|identifikační číslo)" + _LABEL_END)


@normalize
def find_israeli(text: str) -> list[Span]:
    """Numbers of Israeli companies, associations and traders: nine digits with the checksum of identity numbers."""
    return [
        Span(*match.span(), ANNOUNCED)
        for match in _NINE.finditer(text)
        if passes_luhn(digits_of(match[0])) and _announces_israeli(text, match.start())
    ]


@normalize
def find_ico(text: str) -> list[Span]:
    """Czech IČO: eight digits, the last a checksum."""
    return [
        Span(*match.span(), ANNOUNCED)
        for match in _EIGHT.finditer(text)
        if _is_ico(digits_of(match[0])) and _announces_ico(text, match.start())
    ]


@normalize
def find_dic(text: str) -> list[Span]:
    """Czech DIČ: CZ before an IČO or a birth number."""
    return [
        Span(*match.span(), CHECKED)
        for match in _TAX.finditer(text)
        if not text[max(0, match.start() - 1) : match.start()].isalnum() and dic.is_valid(match[0])
    ]


def normalise(number: str) -> str:
    """The digits."""
    return digits_of(number)


def _is_ico(digits: str) -> bool:
    return len(digits) == 8 and digits.strip("0") != "" and dic.calc_check_digit_legal(digits[:7]) == digits[7]
