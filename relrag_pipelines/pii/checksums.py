"""Card numbers, IBANs, Israeli identity numbers and Czech birth numbers: digits that carry a checksum."""

from __future__ import annotations

import functools
import re
import unicodedata
from collections.abc import Iterator

from stdnum import luhn, numdb
from stdnum.cz import rc
from stdnum.il import idnr
from stdnum.iso7064 import mod_97_10

from relrag_pipelines.pii import around
from relrag_pipelines.pii.seen import WRAP, as_seen, plain
from relrag_pipelines.pii.spans import Span, disjoint

_SEPARATOR = f"[- ./_\u00a0\u2002-\u200a\u202f{WRAP}\u3000\u2010-\u2015\u2212\u00b7]"

_GROUPS = re.compile(rf"\d+(?:(?:{_SEPARATOR}|[ \u00a0][-\u2010-\u2015][ \u00a0]|\u00a0 | \u00a0|[-.]{WRAP})\d+)*")
_GROUP = re.compile(r"\d+")
_MILLISECONDS = re.compile(r"1\d{12}")
"""a time since 1970, until 2033"""
_CARD_START = re.compile(r"1|2(?:[2-7]|131)|3|4|5[0-8]|6")
_ODD_SEPARATOR = re.compile(f"[_/\u00b7{WRAP}]")
_USUAL_GROUPS = ([4, 4, 4, 4], [4, 6, 5])
"""only in these a card is written with a separator that cards do not have"""
_MOST_GROUPS = 7
"""groups of three digits or more in nineteen, and one behind them"""
_SHORT_CARD_START = re.compile(r"50|5[6-8]|6")
_SAYS_CARD = re.compile(r"(?i:\b(?:cards?|cc|maestro|kart\w{1,3}|karet))\b|כרטיס")

_IBAN_START = re.compile(rf"[0-9][0-9](?:(?<=[A-Za-z]{{2}}[0-9]{{2}})|(?<=[A-Za-z]{{2}}{_SEPARATOR}[0-9]{{2}}))")
_IBAN_BODY = re.compile(rf"[A-Za-z]{{2}}(?:{_SEPARATOR}{{0,2}}[A-Za-z0-9]){{13,33}}")
_IBAN_DIGITS = 8
"""the fewest that any has; words may pass the checksum too"""
_INSIDE = re.compile(r"[A-Z0-9]")
_BLOCKS = r"([A-Z]{2}[0-9]{2}(?:[ -]?[A-Z0-9]{4}){2,6})((?:[ -]?[A-Z0-9]{4})?)((?:[ -]?[A-Z0-9]{1,3})?)(?![A-Z0-9])"
_IBAN_BLOCKS = (re.compile(_BLOCKS), re.compile(_BLOCKS, re.IGNORECASE))
_NOT_ALNUM = re.compile(r"[^A-Za-z0-9]+")
_IBAN_GOES_ON = re.compile(r"[A-Z0-9]")
_IBANS = numdb.get("iban")

_ID = re.compile(r"(?<!\d)(?<!\d[.,])(?:\d{8}[-\u2010-\u2015\u05be]?\d|\d{7,8})(?![.,]?\d)")
_SPACED_ID = re.compile(r"(?<!\d)(?<!\d[.,])\d(?:[-\u2010-\u2015\u05be/ .\u00a0]?\d){8}(?![.,]?\d)")
_BIRTH = re.compile(r"\d{6}(?<![\d/.,\-]\d{6}) ?/? ?\d{3,4}(?![/.,\-]?\d)")
_SAYS_BIRTH = re.compile(r"(?i:\b(?:rodn\w+ čís\w+|r\. ?č|rč|rc|birth (?:number|no)))\b[^\w\n]{0,4}$")
_OTHER_NUMBER = re.compile(r"\d{5}")
_SAYS_ID = re.compile(
    r"ת[\"'״׳.]{0,2} ?ז\b|תעודת[ -]זהות|מספר[ -]זהות|מס[.'׳]? ?זהות|(?i:teudat[ -]?zehut|\bidentity\b"
    r"|\bnational id\b|\bisraeli id\b|\bid[ -](?:number|no|card)\b|\bi\.d\.)"
)
_SAYS_OTHER = re.compile(
    r"הזמנ|חשבונית|קבלה|אסמכתא|משלוח|מעקב|חבילה|תיק|פניי?ה|חשבון|לקוח|מק[\"״]ט|[#№]|₪|ש[\"״]ח|[$€£]"
    r"|(?i:\b(?:order|invoice|tracking|ref|reference|ticket|case|account|acct|customer|p\.?o|sku|serial|receipt|quote"
    r"|item|booking|parcel|model|version|build|objedn\w*|faktur\w*|zák\w*|účet\w*|účtu|inv|nis|ils|usd|eur|kč)\b)"
)
_SAYS_SOME_ID = re.compile(r"(?i:\bid\b)|זהות")


@as_seen
def find_cards(text: str) -> list[Span]:
    """Card numbers: 13 to 19 digits in groups of three or more that pass the Luhn checksum.

    Twelve where the words in front speak of a card, which those of Maestro may have.
    """
    spans: list[Span] = []
    for run in _GROUPS.finditer(text):
        if len(run[0]) >= 12:
            spans += _cards_in(text, [match.span() for match in _GROUP.finditer(text, *run.span())])
    return disjoint(spans, text)


def _cards_in(text: str, groups: list[tuple[int, int]]) -> Iterator[Span]:
    for first, (start, _) in enumerate(groups):
        if not _CARD_START.match(text, start):
            continue
        digits = ""
        for last, (group_start, end) in enumerate(groups[first : first + _MOST_GROUPS], first):
            digits += text[group_start:end]
            if end - group_start < 3 or len(digits) > 19:
                break
            if (
                (len(digits) >= 13 or (len(digits) == 12 and _is_short_card(text, start)))
                and not _MILLISECONDS.fullmatch(text, start, end)
                and luhn.is_valid(_digits(digits))
                and _is_grouped(text, groups[first : last + 1])
            ):
                usual = len(digits) in (15, 16)
                yield Span(start, end, 1.0 if usual else 0.9)
                if usual:
                    break  # what follows is another number


def _is_grouped(text: str, groups: list[tuple[int, int]]) -> bool:
    odd = _ODD_SEPARATOR.search(text, groups[0][0], groups[-1][1])
    return not odd or [end - start for start, end in groups] in _USUAL_GROUPS


def _is_short_card(text: str, start: int) -> bool:
    return bool(_SHORT_CARD_START.match(text, start) and _SAYS_CARD.search(text, max(0, start - 25), start))


@as_seen
def find_ibans(text: str) -> list[Span]:
    """IBANs of any country in the register, with or without separators, that pass the ISO 7064 checksum."""
    spans = []
    for match in _IBAN_START.finditer(text):
        start = match.start() - (2 if text[match.start() - 1].isalpha() else 3)
        if start and _INSIDE.match(text, start - 1) and not text.endswith("IBAN", 0, start):
            continue
        length = _iban_length(text[start : start + 2].upper())
        for end, score in _iban_ends(text, start, length) if length else ():
            number = _compact(text[start:end])
            if sum(map(str.isdigit, number)) >= _IBAN_DIGITS and mod_97_10.is_valid(number[4:] + number[:4]):
                spans.append(Span(start, end, score))
    return disjoint(spans, text)


def _iban_ends(text: str, start: int, length: int) -> Iterator[tuple[int, float]]:
    """Where an IBAN that begins here may end: at its country's length, or as Presidio reads it, in blocks of four."""
    body = _IBAN_BODY.match(text, start)
    places = [place for place in range(start, body.end()) if text[place].isalnum()] if body else []
    if len(places) >= length and not _IBAN_GOES_ON.match(text, places[length - 1] + 1):
        yield places[length - 1] + 1, 1.0
    for pattern in _IBAN_BLOCKS:
        if blocks := pattern.match(text, start):
            yield from ((blocks.end(group), 0.9) for group in (3, 2, 1))


@functools.cache
def _iban_length(country: str) -> int | None:
    structure = _IBANS.info(country)[0][1].get("bban")
    return 4 + sum(map(int, re.findall(r"\d+", structure))) if structure else None


@as_seen
def find_israeli_ids(text: str) -> list[Span]:
    """Israeli identity numbers: nine digits (seven or eight where the words before say so) that pass the checksum.

    One number in ten passes it, so the words around decide: those that speak of an identity raise the score, those
    that speak of an order, an invoice, an account or an amount drop the finding. Without either it stands, but lower.
    """
    spans = []
    for match in _ID.finditer(text):
        if idnr.is_valid(normalise_id(match[0])):
            score = _id_score(text, *match.span())
            if score >= (0.95 if len(match[0]) < 9 else 0.5):
                spans.append(Span(*match.span(), score))
    for match in _SPACED_ID.finditer(text):  # only what is announced may be written in any groups
        if not match[0].isdigit() and idnr.is_valid(normalise_id(match[0])) and _id_score(text, *match.span()) >= 0.95:
            spans.append(Span(*match.span(), 0.95))
    return disjoint(spans, text)


@as_seen
def find_birth_numbers(text: str) -> list[Span]:
    """Czech and Slovak birth numbers: with a slash and a right checksum, or any where words announce one."""
    spans = []
    for match in _BIRTH.finditer(text):
        announced = _SAYS_BIRTH.search(text, max(0, match.start() - 25), match.start())
        if announced or ("/" in match[0] and len(match[0]) > 10 and rc.is_valid(match[0]) and not _bank(text, match)):
            spans.append(Span(*match.span(), 0.95 if announced else 0.7))
    return spans


def _bank(text: str, match: re.Match[str]) -> bool:
    """Whether the words in front make it an account, which has the code of its bank behind a slash."""
    return around.says_other(text, match.start())


def _id_score(text: str, start: int, end: int) -> float:
    before = _OTHER_NUMBER.split(text[max(0, start - 40) : start])[-1].rpartition("\n")[2]
    after = text[end : end + 40].partition("\n")[0]
    # words between two numbers speak of the second
    after = "" if _OTHER_NUMBER.search(after) else after[:25]
    if _SAYS_ID.search(before):
        return 0.95
    for words in (before, after):
        if _SAYS_ID.search(words):
            return 0.9
        if _SAYS_OTHER.search(words):
            return 0.0
        if _SAYS_SOME_ID.search(words):
            return 0.85
    return 0.5


def normalise_card(number: str) -> str:
    """Its digits."""
    return _digits(number)


def normalise_iban(number: str) -> str:
    """Its letters and digits, in upper case."""
    return _compact(number)


def normalise_id(number: str) -> str:
    """Its nine digits, with the zeros in front that are often left out."""
    return _digits(number).zfill(9)


def normalise_birth_number(number: str) -> str:
    """Its nine or ten digits."""
    return _digits(number)


def _digits(number: str) -> str:
    return "".join(str(unicodedata.decimal(char)) for char in number if char.isdecimal())


def _compact(number: str) -> str:
    return _NOT_ALNUM.sub("", plain(number)).upper()
