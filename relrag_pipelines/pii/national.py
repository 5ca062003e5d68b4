"""Phone numbers without the code of their country that the library does not find, or finds too easily.

Czech numbers have nine digits, as amounts, orders and companies have, so their form and the words around decide:
mobile numbers in any usual grouping, those of a place in groups of three, and neither where the words announce another
number or an amount follows. Behind a word that announces a phone every number of six digits or more is one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from relrag_pipelines.pii import around
from relrag_pipelines.pii.spans import Span

FORM, ANNOUNCED = 0.6, 0.7
"""scores, by how a number was recognised"""

_GAP = "[ \u00a0\u2007\u2009\u202f\u205f\\-\u2010-\u2015.]"
_BLANK = "[ \u00a0\u2007\u2009\u202f\u205f]"
_JOINT = rf"(?:{_BLANK}?[\-\u2010-\u2015./]{_BLANK}?|{_BLANK})"
# https://ctu.gov.cz/cislovaci-plan-0, as the library has it
_MOBILE = r"(?:60[1-8]|7(?:0[2-5]|[2379]\d))"
_PLACE = r"(?:2\d\d|3[1257-9]\d|4[16-9]\d|5[13-9]\d|800)"
_CZECH = re.compile(rf"(?:420)?(?:{_MOBILE}|{_PLACE})\d{{6}}")
_FORMS = re.compile(
    rf"(?<![0-9A-Za-z])(?<!\d[.,\-])"
    rf"(?:(?:420{_GAP}?)?(?:(?:\({_MOBILE}\)|{_MOBILE})(?P<gap>{_JOINT})\d{{3}}(?P=gap)(?!000)\d{{3}}"
    rf"|{_MOBILE}/\d{{3}}{_BLANK}\d{{3}}|{_MOBILE}{_GAP}?(?!0{{6}})\d{{6}}"
    rf"|{_MOBILE}(?P<pairs>{_GAP})\d\d(?P=pairs)\d\d(?P=pairs)\d\d"
    rf"|{_PLACE}(?P<blank>{_BLANK})\d{{3}}(?P=blank)(?!000)\d{{3}})"
    rf"|(?:0|421{_GAP}?)9[014]\d(?:{_GAP}|/)?\d{{3}}{_GAP}?\d{{3}})"
    rf"(?!\d)(?!{_GAP}\d{{3}}(?!\d|{_GAP}\d{{3}}{_GAP}\d{{3}}))(?![.\-]\d)"
)
_SOME = re.compile(rf"[(\[]{{0,2}}\d(?:[{_GAP[1:-1]}/()]{{0,3}}\d){{5,12}}(?!{_GAP}?\d)")
_ROUND = re.compile(r"0000$")
_SLOVAK = re.compile(r"(?:0|421)9[014]\d{7}")
_IN_PAIRS = re.compile(r"\d\d(?:\D\d\d){4}")


def forms(text: str, start: int, end: int) -> Iterator[Span]:
    """Czech and Slovak numbers within the chain of digits that stands there."""
    for match in _FORMS.finditer(text, start, end):
        if not around.is_amount(text, match.end()) and (
            around.says_phone(text, match.start())
            or not (around.says_other(text, match.start()) or around.in_address(text, match.start()))
        ):
            yield Span(*match.span(), FORM)


def announced(text: str, start: int, end: int) -> Iterator[Span]:
    """The number that the chain of digits begins with, where the words in front announce a phone."""
    match = _SOME.match(text, start, end)
    if (
        match
        and around.says_phone(text, start)
        and not (_ROUND.search(match[0]) or around.is_amount(text, match.end()))
    ):
        yield Span(*match.span(), ANNOUNCED)


def normalise(number: str, digits: str) -> str | None:
    """E.164 of a number that is Czech or Slovak as it is written; None for others."""
    if number[0] == "+":
        return None
    if _CZECH.fullmatch(digits):
        return f"+420{digits.removeprefix('420')}"
    if _SLOVAK.fullmatch(digits) and not _IN_PAIRS.fullmatch(number):
        return f"+421{digits[-9:]}"
    return None
