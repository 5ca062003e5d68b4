"""Phone numbers without a country code that the library misses, or finds too easily.

Czech numbers have nine digits, like many amounts, orders and company numbers, so form and context decide: mobile
numbers in any usual grouping, landline numbers in groups of three, and neither if words announce another number or an
amount follows. After a word that announces a phone, every number of six digits or more is one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from relrag_pipelines.pii import context_words
from relrag_pipelines.pii.normalized_text import WRAP
from relrag_pipelines.pii.phones import library
from relrag_pipelines.pii.spans import Span

FORM, ANNOUNCED = 0.6, 0.7
"""scores, by how a number was recognised"""
ISRAEL = "IL"
_REGIONS = ("CZ", "SK")
_NEAR = 16
"""characters on either side of a number that are searched for other digits of its chain"""
MIN_ANNOUNCED_DIGITS = 5
"""digits of the shortest number that the word before it makes a phone"""
_MIN_VERB_DIGITS = 6
"""digits of the shortest number that a verb such as `call` makes a phone"""
_LOCAL = re.compile(r"\d{3}[-. ]\d{4}")
"""a number as people in the same area write it in North America"""
_MIN_CALLED_DIGITS = 7
"""digits of the shortest number that the word after it makes a phone; shorter ones often count things"""

_GAP = "[ \u00a0\u2007\u2009\u202f\u205f\\-\u2010-\u2015.]"
_BLANK = "[ \u00a0\u2007\u2009\u202f\u205f]"
_JOINT = rf"(?:{_BLANK}?[\-\u2010-\u2015./]{_BLANK}?|(?!{WRAP}){_BLANK})"
# one separator throughout, but where a line ends in the number
_FIRST_JOINT = rf"(?:{WRAP}|(?P<gap>{_JOINT}){WRAP}?)"
_SECOND_JOINT = rf"(?:{WRAP}|(?(gap)(?P=gap){WRAP}?|{_JOINT}))"
# https://ctu.gov.cz/cislovaci-plan-0, as the library has it
_MOBILE = r"(?:60[1-8]|7(?:0[2-5]|[2379]\d))"
_PLACE = r"(?:2\d\d|3[1257-9]\d|4[16-9]\d|5[13-9]\d|800)"
_CZECHIA = re.compile(rf"(?:420)?(?:{_MOBILE}|{_PLACE})\d{{6}}")
_FORMS = re.compile(
    rf"(?<![0-9A-Za-z])(?<!\d[.,\-])"
    rf"(?:(?:420{_GAP}?)?(?:(?:\({_MOBILE}\)|{_MOBILE}){_FIRST_JOINT}\d{{3}}{_SECOND_JOINT}(?!000)\d{{3}}"
    rf"|{_MOBILE}/\d{{3}}{_BLANK}\d{{3}}|{_MOBILE}/(?!0{{6}})\d{{6}}|{_MOBILE}\d{{3}}{_BLANK}(?!000)\d{{3}}|{_MOBILE}{_GAP}?(?!0{{6}})\d{{6}}"
    rf"|{_MOBILE}(?P<pairs>{_GAP})\d\d(?P=pairs)\d\d(?P=pairs)\d\d"
    rf"|{_PLACE}(?P<blank>{_BLANK})\d{{3}}(?P=blank)(?!000)\d{{3}})"
    rf"|(?:0|421{_GAP}?)9[014]\d(?:{_GAP}|/)?\d{{3}}{_GAP}?\d{{3}})"
    rf"(?!\d)(?!{_GAP}\d{{3}}(?!\d|{_GAP}\d{{3}}{_GAP}\d{{3}}))(?![.\-]\d)"
)
_DIGIT_RUN = re.compile(rf"[(\[]{{0,2}}\d(?:[{_GAP[1:-1]}/()]{{0,3}}\d){{4,12}}(?!{_GAP}?\d)")
_ODD = "[_\u00b7\u2022\u2219\u22c5\u30fb]"
ODD = re.compile(_ODD)
"""unusual separators"""
# the first group leads, as patterns that begin with a look behind are slow to search for
# groups of digits first, as a pattern that begins with a look behind is slow to search for
_GROUPS_WITH_ODD = re.compile(
    rf"\d{{1,3}}(?P<odd>{_ODD})(?:\d{{1,3}}(?P=odd))?(?:\d{{3}}(?P=odd)\d{{3,4}}|\d{{7}})(?!\d)"
)
_WITH_ODD = re.compile(
    rf"(?P<own>(?:972.|0)(?:5\d|7[2-9]|[23489]).(?:\d{{3}}.\d{{4}}|\d{{7}}))|(?:420.)?{_MOBILE}.\d{{3}}.\d{{3}}"
)
_CLOSE = re.compile(rf"\d{_ODD}")
_LETTER = re.compile("[A-Za-z_]")
_GOES_ON = re.compile(rf"{_ODD}\d|[A-Za-z_]")
_ROUND = re.compile(r"0000$")
_SLOVAKIA = re.compile(r"(?:0|421)9[014]\d{7}")
_IN_PAIRS = re.compile(r"\d\d(?:\D\d\d){4}")


def number_patterns(text: str, start: int, end: int, regions: tuple[str, ...] = ()) -> Iterator[Span]:
    """Czech and Slovak numbers within a chain of digits.

    In an archive of other countries, only a number that is alone in its chain, in groups.
    """
    away = all(library.is_away(region, regions) for region in _REGIONS)
    for match in _FORMS.finditer(text, start, end):
        if away and not (library.is_grouped(match[0]) and _is_alone(text, match, start, end)):
            continue
        if "/" in match[0] and "/" in (text[match.start() - 1 : match.start()], text[match.end() : match.end() + 1]):
            continue  # a path
        if not context_words.is_amount(text, match.end()) and _context_allows_phone(text, match.start()):
            yield Span(*match.span(), FORM)


def _context_allows_phone(text: str, start: int) -> bool:
    """Whether the words before a number announce a phone, or at least nothing else."""
    if context_words.has_phone_context(text, start):
        return True
    other_contexts = (context_words.has_other_context, context_words.has_reference_context, context_words.in_address)
    return not any(has_context(text, start) for has_context in other_contexts)


def _is_alone(text: str, match: re.Match[str], start: int, end: int) -> bool:
    """Whether a number is its whole chain; only nearby text is checked, since a chain may be as long as the text."""
    first, last = max(start, match.start() - _NEAR), min(end, match.end() + _NEAR)
    return library.is_alone(text[first:last], match.start() - first, match.end() - first, last - first)


def with_odd_separators(text: str) -> Iterator[Span]:
    """Israeli numbers and Czech mobile ones in their usual groups with underscores or raised dots between them.

    Programs write figures with underscores, too, but none that begin with a 0: a Czech one needs to be announced.
    """
    for match in _GROUPS_WITH_ODD.finditer(text) if ODD.search(text) else ():
        start, end = match.span()
        number = _WITH_ODD.fullmatch(match[0])
        if number is None or ((start and text[start - 1].isdigit()) or _CLOSE.match(text, max(0, start - 2))):
            continue
        start -= text[start - 1 : start] == "+"
        if _may_be_number(text, start, end, number):
            yield Span(start, end, FORM)


def _may_be_number(text: str, start: int, end: int, number: re.Match[str]) -> bool:
    """Whether a number with odd separators is a phone by its form and by the text around it."""
    if context_words.has_phone_context(text, start):
        return True
    if not number["own"]:
        continues = (start and _LETTER.match(text, start - 1)) or _GOES_ON.match(text, end)
        if continues or "_" in number[0]:
            return False
    return not context_words.has_other_context(text, start)


def announced_numbers(text: str, start: int, end: int) -> Iterator[Span]:
    """The number at the beginning of a chain, if the words before or after it mark it as a phone."""
    match = _DIGIT_RUN.match(text, start, end)
    if match is None or _ROUND.search(match[0]) or context_words.is_amount(text, match.end()):
        return
    if _is_announced(text, match) or _is_called_phone(text, start, match.end()):
        yield Span(*match.span(), ANNOUNCED)


def _is_announced(text: str, match: re.Match[str]) -> bool:
    """Whether the words before the number make it a phone."""
    digits = library.count(match[0])
    if context_words.is_postcode(text, match.start(), digits):
        return False
    if digits < _MIN_VERB_DIGITS:
        return match[0].isdecimal() and context_words.has_phone_noun(text, match.start())
    if context_words.has_phone_context(text, match.start()):
        return True
    return _LOCAL.fullmatch(match[0]) is not None and context_words.has_local_number(text, match.start())


def _is_called_phone(text: str, start: int, end: int) -> bool:
    """Whether a word after the number marks it as a phone, and none before it announces another number."""
    return (
        sum(map(str.isdecimal, text[start:end])) >= _MIN_CALLED_DIGITS
        and context_words.is_called_phone(text, end)
        and not context_words.has_other_context(text, start)
    )


def normalise(number: str, digits: str) -> str | None:
    """E.164 of a Czech or Slovak number in national form; None for others."""
    if number[0] == "+":
        return None
    if _CZECHIA.fullmatch(digits):
        return f"+420{digits.removeprefix('420')}"
    if _SLOVAKIA.fullmatch(digits) and not _IN_PAIRS.fullmatch(number):
        return f"+421{digits[-9:]}"
    return None
