"""What sort of answer a question asks for, and whether a text holds one: a time, an amount, a name, a place."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable

from relrag_query.retrieval.term_coverage import PRICE, tokens
from relrag_query.understanding.phrases import bare, either, load_phrases
from relrag_query.understanding.phrases.tables import Phrases

_NUMBER = re.compile(r"\d")
_CONTACT = re.compile(
    r"<(?:PHONE_NUMBER|EMAIL_ADDRESS)|[\w.+-]+@[\w-]+\.|\b\d{3}[ -]?\d{3}[ -]?\d{3,4}\b|https?://|www\."
)
_NAME = re.compile(r"(?<![.!?\n:] )(?<!^)(?<!\n)\b[A-ZÀ-ÖØ-ÞĀ-Ž][\w’'-]{2,}")
_PLACE = re.compile(r"\b\d{1,4}/\d|[\w.]{3,} \d{1,3}\b")
"""a house number"""


def asked_for(question: str) -> dict[str, bool]:
    """Of each sort whether a question asks for it."""
    return {name: pattern.search(bare(question)) is not None for name, pattern in vars(load_phrases().asked).items()}


@functools.cache
def _moment(phrases: Phrases) -> re.Pattern[str]:
    """A day, an hour, a month, a year."""
    days = either(name for name in (*phrases.names.months, *phrases.names.weekdays) if len(name) > 2)
    return re.compile(
        r"\b\d{1,2}[:.]\d{2}\b|\b\d{1,2}[./-] ?\d{1,2}\b|\b(?:19|20)\d\d\b|\b\d{1,2}\. ?\w|\b\d{1,2}(?:st|nd|rd|th)\b"
        r"|\b(?:at|by|v|ve|po|do|od|around|about|kolem)\b \d|(?<!\w)ב-?\d"
        rf"|(?<!\w)(?:{phrases.date.prefix})?(?:{days}|{phrases.text.moment})(?!\w)",
        re.IGNORECASE,
    )


PRESENT: dict[str, Callable[[str], bool]] = {
    "when": lambda text: _moment(load_phrases()).search(bare(text)) is not None,
    "price": lambda text: PRICE in tokens(text) or re.search(r"\d{3}|\d[.,]\d{2}\b|\d ?k\b", text) is not None,
    "count": lambda text: _NUMBER.search(text) is not None,
    "who": lambda text: _NAME.search(text) is not None or re.search(r"[א-ת]", text) is not None,
    "where": lambda text: (
        (load_phrases().answered.place.search(bare(text)) or _PLACE.search(text) or _NAME.search(text)) is not None
    ),
    "contact": lambda text: _CONTACT.search(text) is not None,
    "why": lambda text: load_phrases().answered.reason.search(bare(text)) is not None,
    "yes": lambda text: load_phrases().answered.verdict.search(bare(text)) is not None,
}
"""sort of answer -> whether a text holds one"""
