"""Invoice, order, contract and account numbers in a text, for exact lookup.

Three shapes are taken; what is in doubt is left out, because the words of the text are searchable anyway:

- capitals joined to digits by hyphens, three digits or more in a row: `INV-1187`, `TXN-98765-2024`;
- a year and a running number: `2025/0042`, but not the years `2024/2025`;
- after a word that announces a number (invoice, order: `reference_words` of the languages): three digits or
  more, with letters, hyphens and slashes: `order 123456789`, `account 10-800-99999999`.

Dates, bare years, amounts and the names of standards (`ISO-8601`) are no such numbers.
"""

from __future__ import annotations

import re

from relrag_pipelines import languages

FILE_NAME = re.compile(r"[^\s/\\:*?\"<>|()\[\],;]+\.[A-Za-z]\w{1,4}(?!\w)")
"""the name of a file with an ending, which is a reference too"""
MAX_NUMBERS = 500
"""A text with more is a table of numbers; these many are kept."""

_WORDS = "|".join(
    ["№", *(f"[{language.prefixes}]{{0,2}}(?:{word})" if language.prefixes else word
            for language in languages.languages() for word in language.reference_words)]
)  # fmt: skip
_LABELS = "|".join(label for language in languages.languages() for label in language.reference_labels)
_LABEL = f"(?:{_LABELS or '(?!)'})"
_GAP = r"[ \t\xa0]?[.:#'׳]{0,2}[ \t\xa0]{0,2}"
_ANNOUNCED = re.compile(
    rf"(?<!\w)(?:{_WORDS})(?!\w){_GAP}(?:{_LABEL}(?!\w){_GAP}){{0,2}}#?"
    r"(?P<number>(?:[A-Z]{1,10}[-/])?[A-Z0-9]*\d[A-Z0-9]*(?:[-/][A-Z0-9]+){0,5})(?![\w/-])(?!\.?,?\d)",
    re.IGNORECASE,
)
_PREFIXED = re.compile(r"(?<![\w/-])(?P<number>[A-Z]{2,10}(?:-[A-Z0-9]{1,16}){1,5})(?![\w/-])")
_YEARLY = re.compile(r"(?<![\w/.-])(?P<number>(?:19|20)\d\d/\d{3,8})(?![\w/])")

_DIGITS = re.compile(r"\d+")
_REACH = 100
"""characters; the words that announce a number, and those that make it an amount, are nearer"""
_AMOUNT = re.compile(r"[ \xa0]?(?:[€$£₪%]|Kč|CZK|EUR|USD|GBP|ILS|NIS)")
_NO_NUMBER = re.compile(r"(?:19|20)\d\d|(?:19|20)\d\d[-/](?:0\d|1[0-2])[-/]\d\d|\d{1,2}[-/]\d{1,2}[-/](?:\d\d){1,2}")
_YEARS = re.compile(r"(?:19|20)\d\d/(?:19|20)\d\d")
STANDARDS = frozenset(
    {"ISO", "IEC", "IEEE", "RFC", "UTF", "UCS", "SHA", "AES", "RSA", "DIN", "EN", "COVID", "CP", "USB"}
)


def find_reference_numbers(text: str) -> list[str]:
    """The numbers in order of appearance, each once, at most MAX_NUMBERS."""
    if not _has_digit(text):
        return []
    # no number goes over a line's end, and most of what people say has no digit anywhere near
    text = "\n".join([_around_digits(line) for line in text.split("\n") if _has_digit(line)])
    numbers: dict[int, str] = {}
    for pattern, mark in ((_ANNOUNCED, ""), (_PREFIXED, "-"), (_YEARLY, "/")):
        for match in pattern.finditer(text) if mark in text else ():
            number = match["number"]
            if _is_number(number, pattern) and not _AMOUNT.match(text, match.end()):
                numbers[match.start("number")] = number
    return list(dict.fromkeys(numbers[position] for position in sorted(numbers)))[:MAX_NUMBERS]


def has_ascii_digit(text: str) -> bool:
    """Whether the text contains one of 0 to 9."""
    # ten looks for one character take a fifth of the time of one look for any of ten
    return (
        "0" in text or "1" in text or "2" in text or "3" in text or "4" in text
        or "5" in text or "6" in text or "7" in text or "8" in text or "9" in text
    )  # fmt: skip


def _has_digit(text: str) -> bool:
    return has_ascii_digit(text) if text.isascii() else _DIGITS.search(text) is not None


def _around_digits(line: str) -> str:
    """The parts of a line within _REACH characters of digits, cut at spaces, each on a line of its own."""
    if len(line) <= 3 * _REACH:
        return line
    parts: list[str] = []
    begin, last, covered = -1, 0, 0
    for digits in _DIGITS.finditer(line):
        if begin >= 0 and digits.start() - last > 3 * _REACH:
            covered = _space(line, last + _REACH)
            parts.append(line[begin:covered])
            begin = -1
        if digits.start() < covered:  # no space stood between, so the part reaches further
            continue
        if begin < 0:
            begin = max(covered, line.rfind(" ", covered, max(covered, digits.start() - _REACH)) + 1)
        last = digits.end()
    if begin >= 0:
        parts.append(line[begin : _space(line, last + _REACH)])
    return "\n".join(parts)


def _space(line: str, start: int) -> int:
    """Position of the next space, or the end of the line."""
    space = line.find(" ", start)
    return len(line) if space < 0 else space


def _is_number(number: str, pattern: re.Pattern[str]) -> bool:
    if pattern is _YEARLY:
        return not _YEARS.fullmatch(number)
    if pattern is _PREFIXED:
        return bool(re.search(r"\d{3}", number)) and number.split("-")[0] not in STANDARDS
    return sum(map(str.isdigit, number)) >= 3 and not _NO_NUMBER.fullmatch(number)
