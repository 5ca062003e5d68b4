"""Domestic numbers of bank accounts, Israeli and Czech.

People search for their accounts by number, and a shared account relates records; so only a policy that names
BANK_ACCOUNT replaces them. An Israeli account is `10-800-99999999`, bank, branch and account, and is recognised only
after words for an account; a Czech one, `19-2000145399/0800`, contains a checksum and the code of its bank.
"""

from __future__ import annotations

import re

from stdnum.cz import bankaccount

from relrag_pipelines.pii.normalized_text import normalize, plain_digits
from relrag_pipelines.pii.spans import Span, resolve_overlaps

ANNOUNCED, CHECKED = 0.9, 0.8
"""scores, by how an account was recognised"""

_CONTEXT_CHARS = 40
_WEIGHTS = (1, 2, 4, 8, 5, 10, 9, 7, 3, 6)
"""weights of the digits of a Czech account, from its end"""
_ISRAELI = re.compile(
    r"(?<![\d./-])\d{1,2}(?P<dash> ?[-/ ] ?)\d{3}(?P=dash)\d{5,9}(?![\d/-])|(?<![\d./-])\d{5,9}(?![\d/-])"
)
_BRANCHED = re.compile(r"\d{1,2}-\d{3}-\d{5,9}")
_WORDS = (
    r"[הבלמשוכ]{0,2}(?:חשבון|ח-ן)|בנק|סניף"
    r"|(?i:\baccounts?\b|\bacct\b|\ba/c\b|\bbank\b|\bbranch\b|\búčet\b|\búčt\w{1,3}|\bbank\w{1,3}\b)"
)
_SAYS_ACCOUNT = re.compile(_WORDS)
_ENDS_IN_ACCOUNT = re.compile(
    r"(?:[הבלמשוכ]{0,2}(?:חשבון|ח-ן)|(?i:\baccount|\bacct|\ba/c))\.?"
    r"(?: (?:מספר|מס['׳.]?|(?i:number|no\.?|#)))?[:# ]{0,3}$"
)
_CZECH = re.compile(r"(?<![\d./-])(?:\d{1,6}-)?\d{2,10}/\d{4}(?![\d/])")


@normalize
def find(text: str) -> list[Span]:
    """Accounts in the text."""
    spans = [Span(*match.span(), CHECKED) for match in _CZECH.finditer(text) if _is_czech(match[0])]
    for match in _ISRAELI.finditer(text):
        pattern = _SAYS_ACCOUNT if match["dash"] else _ENDS_IN_ACCOUNT
        line = text.rfind("\n", 0, match.start()) + 1
        if pattern.search(text, max(line, match.start() - _CONTEXT_CHARS), match.start()):
            spans.append(Span(*match.span(), ANNOUNCED))
    return resolve_overlaps(spans, text)


def _is_czech(number: str) -> bool:
    """Whether prefix and account have the right checksums, and the bank exists."""
    prefix, _, account = number.partition("/")[0].rpartition("-")
    return _is_multiple_of_11(prefix) and _is_multiple_of_11(account) and bool(bankaccount.is_valid(number))


def _is_multiple_of_11(digits: str) -> bool:
    weighted = (int(digit) * weight for digit, weight in zip(reversed(digits), _WEIGHTS, strict=False))
    return sum(weighted) % 11 == 0


def is_whole(number: str) -> bool:
    """Whether the text is an account with its bank; a Czech one must also pass its checksum."""
    return bool(_BRANCHED.fullmatch(number)) or (bool(_CZECH.fullmatch(number)) and _is_czech(number))


def normalise(number: str) -> str:
    """Its groups of digits, joined by hyphens; a Czech one with its slash."""
    number = plain_digits(number)
    return re.sub(r"[^\d/]+", "-", number) if _CZECH.fullmatch(number) else "-".join(re.findall(r"\d+", number))
