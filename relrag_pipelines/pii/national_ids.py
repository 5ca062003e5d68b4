"""Israeli identity numbers and Czech birth numbers, and helpers for numbers with a checksum."""

from __future__ import annotations

import functools
import re
import unicodedata

from stdnum.cz import rc

from relrag_pipelines.pii import context_words
from relrag_pipelines.pii.normalized_text import WRAP, find_in_both, normalize, plain_digits
from relrag_pipelines.pii.spans import Span, resolve_overlaps

ISRAEL = "IL"
SEPARATOR = f"[- ./_\u00a0\u2002-\u200a\u202f{WRAP}\u3000\u2010-\u2015\u2212\u00b7]"


_DOUBLED = str.maketrans("0123456789", "0246813579")
_NOT_DIGIT = re.compile(r"[^0-9]+")

# patterns begin with a digit: a pattern that begins with a lookbehind is slow to search
_ID = re.compile(r"\d(?<!\d\d)(?<!\d[.,]\d)(?:\d{7}[-\u2010-\u2015\u05be]?\d|\d{6,7})(?![.,]?\d)")
_SPACED_ID = re.compile(r"\d(?<!\d\d)(?<!\d[.,]\d)(?:[-\u2010-\u2015\u05be/ .\u00a0]?\d){8}(?![.,]?\d)")
_BLANK = f"[ \u00a0{WRAP}]"
_BIRTH = re.compile(rf"\d{{6}}(?<![\d/.,\-]\d{{6}}){_BLANK}?[/\-\u2013]?{_BLANK}?\d{{3,4}}(?![/.,\-]?\d)")
_BIRTH_WORDS = (
    r"(?<![^\W_])(?:rodn\w+ (?:[čc][ií]s\w+|č)|rod\. ?[čc]|r\. ?č|rč|r\.?c|birth (?:number|no))(?![^\W\d_])\.?"
)
_announces_birth = context_words.lookbehind(
    rf"{_BIRTH_WORDS}(?:{_BLANK}?(?:č(?:íslo)?|no|je|is)(?!\w)\.?)?\W{{0,4}}$", 32
)
_mentions_birth = context_words.lookbehind(rf"{_BIRTH_WORDS}[^\n\d]*$", 40)
_birth_follows = re.compile(rf"[^\n\d.;!?]{{1,24}}{_BIRTH_WORDS}", re.IGNORECASE)
_OTHER_NUMBER = re.compile(r"\d{5}")
_SAYS_ID = re.compile(
    r"ת[\"'״׳.]{0,2} ?ז\b|תעודת[ -]זהות|מספר[ -]זהות|מס[.'׳]? ?זהות|(?i:teudat[ -]?zehut|\bidentity\b"
    r"|\bnational id\b|\bisraeli id\b|\bid[ -](?:number|no|card)\b|\bi\.d\.)"
)
_OTHER_WORDS = (
    r"(?:הזמנ|חשבונית|קבלה|אסמכתא|משלוח|מעקב|חבילה|תיק|פניי?ה|חשבון)\w{0,3}"
    r"|מספר ה?לקוח\w{0,2}|ה?לקוח\w? (?:מספר|מס)|מק[\"״]ט"
    r"|(?<![^\W_])(?:orders?|invoices?|tracking|ref|reference|tickets?|case|accounts?|acct|p\.?o|sku|serial|receipt|quote"
    r"|item|booking|parcel|model|version|build|objedn\w*|faktur\w*|zak\w{0,5}|zakáz\w*|účet\w*|účtu|inv"
    r"|(?:customer|client) (?:no|nr|num|number|code)|zák\w* č(?:ís\w+)?|číslo zák\w*)(?!\w)|customer ?(?=[#№])"
)
_COMPANY_WORDS = (
    r"(?:(?<![א-ת])[הבלמשוכ]{0,2}(?:ח[\"״'.׳ ]{0,2}פ|ע[\"״'.׳ ]{0,2}ר|(?:מספר |מס['׳.]? ?)?ה?חברה"
    r"(?: (?:מספר|מס['׳.]?))?|ה?עמותה|ה?תאגיד|תיק ניכויים)\.?"
    r"|(?<![a-z])(?:company|charity|h\.?p\.?|siren|siret|regon|ein|kpp|routing|aba"
    r"|бик|кпп|огрн)(?![a-z]))"
    r"(?:[ \u00a0]?(?:number|no\.?|num|מספר|מס['׳.]?))?[ \u00a0]{0,2}[:.#=-]{0,2}[ \u00a0]{0,2}$"
)
_announces_company = context_words.lookbehind(_COMPANY_WORDS, 40)
_announces_trader = context_words.lookbehind(r"עוסק (?:מורשה|פטור)(?: (?:מספר|מס['׳.]?))?[ :.#=-]{0,4}$", 40)
_COMPANY_START = "5"
"""first digit of the numbers of companies and associations; a trader who is a person has the person's id"""
_SMALL = "".join(letter for letter in map(chr, range(ord("a"), ord("ž") + 1)) if letter.islower())
_announces_other = context_words.lookbehind(
    rf"(?:(?:{_OTHER_WORDS})[.'׳]?"
    r"(?:[ \u00a0-]{1,2}(?!(?:for|of|by|from|to|and|pro|od|na|se|s|a)(?!\w))"
    rf"(?:(?-i:[{_SMALL}]+)|מספר|מס|הוא|היא|שלי|שלך)[.'׳]?){{0,2}}"
    r"[ \u00a0]{0,2}[:.#№(=-]{0,2}[ \u00a0]{0,2}|[#№₪$€£] ?|ש[\"״]ח ?|(?<!\w)(?:nis|ils|usd|eur|kč) ?)$",
    40,
)
_OTHER_FOLLOWS = re.compile(
    rf" ?(?:[₪$€£]|ש[\"״]ח|(?:nis|ils|usd|eur|kč)(?!\w))"
    rf"|[ ,(–-]{{1,3}}(?:(?:is|was|je|היא|הוא|זה|my|your|our|the) ){{0,3}}"
    rf"(?:{_OTHER_WORDS})(?! (?:for|of|by|from))",
    re.IGNORECASE,
)
_SAYS_SOME_ID = re.compile(r"(?i:\bid\b)|זהות")


def find_israeli_ids(text: str, regions: tuple[str, ...] = ()) -> list[Span]:
    """Israeli identity numbers: nine digits (seven or eight after words for an id) that pass the checksum.

    One number in ten passes it, so the words around decide: words for an id raise the score; words that announce an
    order, an invoice, a company or an amount drop the finding (`order 123456782`, but not `the order of Dana Levi,
    123456782`). Without either, the finding has a low score, and counts only if Israel is one of the archive's
    `regions`, or these are unknown.
    """
    at_home = not regions or ISRAEL in regions
    return find_in_both(text, functools.partial(_find_israeli_ids, min_score=0.5 if at_home else 0.9))


def _find_israeli_ids(text: str, min_score: float) -> list[Span]:
    spans = []
    for match in _ID.finditer(text):
        if _is_id(match[0]):
            score = _id_score(text, *match.span())
            if score >= (0.95 if len(match[0]) < 9 else min_score):
                spans.append(Span(*match.span(), score))
    for match in _SPACED_ID.finditer(text):  # other groupings only after words for an id
        if not match[0].isdigit() and _is_id(match[0]) and (score := _id_score(text, *match.span())) >= 0.9:
            spans.append(Span(*match.span(), score))
    return resolve_overlaps(spans, text)


@normalize
def find_birth_numbers(text: str) -> list[Span]:
    """Czech and Slovak birth numbers: with a slash and a valid checksum, or any after words for one."""
    spans = []
    for match in _BIRTH.finditer(text):
        if score := _birth_score(text, match):
            spans.append(Span(*match.span(), score))
    return spans


@functools.lru_cache(maxsize=1 << 10)
def _is_birth_number(digits: str) -> bool:
    return rc.is_valid(digits)


def _birth_score(text: str, match: re.Match[str]) -> float:
    if _announces_birth(text, match.start()):
        return 0.95
    digits = digits_of(match[0])
    # the cheap checksum comes first: it rejects nine of ten numbers before their date is checked
    if len(digits) < 10 or int(digits[:-1]) % 11 % 10 != int(digits[-1]) or not _is_birth_number(digits):
        return 0.0
    if _mentions_birth(text, match.start()) or _birth_follows.match(text, match.end()):
        return 0.8
    return 0.7 if "/" in match[0] and not _is_account(text, match) else 0.0


def _is_account(text: str, match: re.Match[str]) -> bool:
    """Whether the words before it announce another number: a bank account has its bank's code after a slash."""
    return context_words.has_other_context(text, match.start())


def _is_id(number: str) -> bool:
    digits = digits_of(number).zfill(9)
    return passes_luhn(digits) and digits.strip("0") != ""


def _id_score(text: str, start: int, end: int) -> float:
    before = _OTHER_NUMBER.split(text[max(0, start - 40) : start])[-1].rpartition("\n")[2]
    after = text[end : end + 40].partition("\n")[0]
    # words between two numbers belong to the second
    after = "" if _OTHER_NUMBER.search(after) else after[:25]
    if _announces_trader(before, len(before)) and text[start] == _COMPANY_START:
        return 0.0
    return _score_from_words(before, after)


@functools.lru_cache(maxsize=1 << 12)
def _score_from_words(before: str, after: str) -> float:
    """The score of an identity number by the words before and after it."""
    if _SAYS_ID.search(before):
        return 0.95
    if _SAYS_ID.search(after) and not _announces_other(before, len(before)):
        return 0.9
    if _announces_other(before, len(before)) or _announces_company(before, len(before)) or _OTHER_FOLLOWS.match(after):
        return 0.0
    return 0.85 if _SAYS_SOME_ID.search(before) or _SAYS_SOME_ID.search(after) else 0.5


def normalise_id(number: str) -> str:
    """The nine digits, with leading zeros, which are often left out."""
    return digits_of(strip_html_references(number)).zfill(9)


def normalise_birth_number(number: str) -> str:
    """The nine or ten digits."""
    return digits_of(strip_html_references(number))


def passes_luhn(digits: str) -> bool:
    """Whether the Luhn checksum of cards and Israeli ids is valid; four times as fast as stdnum's."""
    return luhn(digits) % 10 == 0


def luhn(digits: str) -> int:
    """The Luhn sum."""
    return sum(map(int, digits[::-2])) + sum(map(int, digits[-2::-2].translate(_DOUBLED)))


def digits_of(number: str) -> str:
    """The digits of a number, as ASCII."""
    if number.isascii():
        return _NOT_DIGIT.sub("", number)
    return "".join(str(unicodedata.decimal(char)) for char in number if char.isdecimal())


def strip_html_references(number: str) -> str:
    """The number with HTML references such as `&#160;` resolved, so that their digits don't count."""
    return plain_digits(number) if "&" in number else number
