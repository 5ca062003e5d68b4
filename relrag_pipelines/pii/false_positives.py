"""Masks numbers that only look like phones: dates and times, IP addresses, decimals, coordinates.

The phonenumbers library takes most of them for phones. Phones are hardly ever written in these patterns; a match with
adjacent digits may be a part of a phone, and is not masked.
"""

from __future__ import annotations

import re

from relrag_pipelines.pii import context_words

# 03.04.2025 9:15, 3.4.25, 20250403_091500 and 1618-1648; the minutes behind a colon are no digits of a number.
_DAY = r"(?:0?[1-9]|[12]\d|3[01])"
_TIME = r",? (?:o |v |um |at )?\d\d?(?:(?=:\d\d(?!\d))|\.\d\d)"
_YEAR = r"(?:19|20)\d\d"
_DATE = rf"{_DAY}(?:\. ?{_DAY}\. ?(?:{_YEAR}|\d\d)|-{_DAY}-{_YEAR}|/{_DAY}/(?:{_YEAR}|\d\d))(?:{_TIME})?"
_MONTH = r"(?:0[1-9]|1[0-2])"
_MONTH_DAY = rf"{_MONTH}(?:0[1-9]|[12]\d|3[01])"
_ISO_DATE = rf"{_YEAR}(?P<dash>[-./]){_MONTH}(?P=dash)(?:0[1-9]|[12]\d|3[01])(?:{_TIME})?"
_STAMP = rf"(?:20\d\d{_MONTH_DAY}[_T-]|\d\d{_MONTH_DAY}_)(?:[01]\d|2[0-3])[0-5]\d[0-5]\d"
_NUMBERED_DAY = rf"20\d\d{_MONTH_DAY}-\d\d?"
_YEARS = r"(?:1\d|20)\d\d ?[-\u2013] ?(?:1\d|20)\d\d"
# Seconds and milliseconds since 1970, until 2033, but for what Israeli services have: 1-700, 1-800, 1-599, 1-801.
_SECONDS = r"1(?![789]00|80[19]|599)\d{9}(?:\d{3})?"
_BYTE = r"(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)"
_IPV4 = rf"{_BYTE}(?:\.{_BYTE}){{3}}"
_DEGREES = r"(?:1[0-7]\d|[1-9]?\d)\.\d{4,}"
_PLACE = rf"{_DEGREES}[°NSEW]{{0,2}}(?:, ?|; ?| ){{1,2}}-?{_DEGREES}"
# An integer of one or two digits before a comma or dot; `1.2125551234` may be a number with its code.
_DECIMAL = r"(?:0[.,]\d{4,}|[1-9]\d?,\d{5,}|(?!1\.[2-9]\d{9}(?!\d))[1-9]\.\d{5,}|[1-9]\d\.\d{6,})"
_DOI = r"10\.\d{4,9}/[^\s\"<>]+"
_VERSION = r"\d{1,2}\.\d\.\d{1,5}\.\d{1,5}"
_PROGRAM = r"(?<=[A-Za-z]/)\d{1,4}(?:\.\d{1,5}){2,4}"
"""`Chrome/121.0.6167.160`"""
_CLOCK = r"(?:[01]?\d|2[0-3])[.:][0-5]\d ?[-\u2013] ?(?:[01]?\d|2[0-3])[.:][0-5]\d"
_CARD = r"\d{4}(?P<gap>[ -])\d{4}(?P=gap)\d{4}(?P=gap)\d{4}"
# 20240115, and pages 0212-0238: both begin alike
_DAY_IN_DIGITS = rf"(?:19|20)\d\d{_MONTH_DAY}"
# sms-20240310.xml: a day in the name of a file, whatever word stands before it
_DAY_IN_FILE_NAME = rf"(?<=[-_/]){_DAY_IN_DIGITS}(?=\.[a-z]\w{{1,4}}(?!\w))"
_PAGES = r"(?P<volume>0\d)\d\d[-\u2013](?P=volume)\d\d"

_NOT_PHONES = re.compile(
    rf"(?<![\d+])(?<!\d[\-./()])(?:{_DATE}(?:[\-\u2013]{_DATE})*|{_ISO_DATE}|{_DAY_IN_FILE_NAME}|{_STAMP}|{_NUMBERED_DAY}|{_YEARS}|{_PLACE}"
    rf"|{_DOI}|{_PROGRAM}|(?P<other>{_SECONDS}|{_IPV4}|{_VERSION}|{_CLOCK}|{_CARD}|{_DECIMAL}|{_DAY_IN_DIGITS}|{_PAGES}))(?![\-./()]?\d)"
)
_ACCOUNT = re.compile(r"(?<![^\W_])[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){3,7}(?: ?[A-Z0-9]{1,4})?(?![^\W_])")
"""the form of an IBAN, whatever its checksum"""


_DIGITS_BY_SLASHES = re.compile(r"(?<!\d/)(?<![\d+])\d(?:/\d){15,}(?!/?\d)")
"""single digits with slashes between them, more than a phone has"""
_DIGITS = re.compile(r"\d+")
_MAX_DIGITS = 28
"""longest run of digits in a phone, with the codes of country and carrier; longer runs are masked"""


def mask_false_positives(text: str) -> str:
    """The text with these numbers masked, offsets unchanged; after words for a phone only dates and the like."""
    if "/" in text:
        text = _DIGITS_BY_SLASHES.sub(lambda row: "\ufffc" * len(row[0]), text)
    parts: list[str] = []
    done = 0
    for digits in _DIGITS.finditer(text):  # faster than searching the pattern, which begins with a negative lookbehind
        start = digits.start()
        if start < done:
            continue
        end = digits.end()
        if end - start <= _MAX_DIGITS:
            match = _match_at(text, start)
            if match is None:
                continue
            end = match.end()
        parts += [text[done:start], "\ufffc" * (end - start)]
        done = end
    return "".join([*parts, text[done:]]) if parts else text


def _match_at(text: str, start: int) -> re.Match[str] | None:
    """The match of a number at `start` that is not a phone; None if it may be one."""
    match = _NOT_PHONES.match(text, start)
    if match is not None and not (match["other"] and context_words.has_phone_context(text, start)):
        return match
    return _ACCOUNT.match(text, start - 2) if start >= 2 and text[start - 2 : start].isupper() else None
