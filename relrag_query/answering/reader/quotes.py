"""Finds a quote in a passage, whatever its white space, letter case, quotation marks and dashes.

Nothing else may differ, and a quote neither begins nor ends within a word or a number: `costs 900` is not in
`costs 9000`.
"""

from __future__ import annotations

import functools
import re
import unicodedata

_QUOTATION_MARKS = "\"'`´‘’‚‛“”„‟‹›«»′″״׳＂＇"
_DASHES = "-‐‑‒–—―−־"
_CLASSES = {mark: f"[{re.escape(marks)}]" for marks in (_QUOTATION_MARKS, _DASHES) for mark in marks}
_UNSEEN = r"[\u00ad\u061c\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff]"
"""marks of direction and joiners: a model leaves them out"""
_AROUND = f" \t\r\n{_QUOTATION_MARKS}"
_ELLIPSES = ("...", "…")
_MAX_CHARACTERS = 2000
_MIN_LETTERS = 2
"""letters and digits of a quote at least"""
_FOR_A_MODEL = re.compile(
    r"\b(?:answerable|statements)\b\W{0,3}:|[<‹]\s*/?\s*(?:untrusted-)?passages?\b", re.IGNORECASE
)
"""fields and delimiters of the reader's own protocol: a passage that holds them was written for a model"""


def comparable(text: str) -> str:
    """The text as quotes are looked up in it: composed letters (NFC), as models write them."""
    return text if text.isascii() else unicodedata.normalize("NFC", text)


def find_quote(quote: str, passage: str) -> tuple[int, int] | None:
    """First and last offset of a quote in a passage that is `comparable`; None where it is not in it word for word.

    A passage that holds the reader's own protocol is evidence of nothing.
    """
    quote = _trimmed(comparable(quote))
    if len(quote) > _MAX_CHARACTERS or sum(map(str.isalnum, quote)) < _MIN_LETTERS or _FOR_A_MODEL.search(passage):
        return None
    match = _pattern(quote).search(passage)
    return match.span() if match else None


def _trimmed(quote: str) -> str:
    """The quote without the marks that a model puts around it."""
    previous = ""
    while quote != previous:
        previous, quote = quote, quote.strip(_AROUND)
        for ellipsis in _ELLIPSES:
            quote = quote.removeprefix(ellipsis).removesuffix(ellipsis)
    return quote


@functools.lru_cache(maxsize=256)
def _pattern(quote: str) -> re.Pattern[str]:
    words = re.sub(_UNSEEN, "", quote).split()
    gap = f"{_UNSEEN}*"
    body = rf"{gap}\s{gap}\s*".join(gap.join(_CLASSES.get(sign, re.escape(sign)) for sign in word) for word in words)
    start = r"(?<![^\W_])(?<!\d[.,])" if words[0][0].isalnum() else ""
    end = r"(?![^\W_])(?![.,]\d)" if words[-1][-1].isalnum() else ""
    return re.compile(f"{start}{body}{end}", re.IGNORECASE)
