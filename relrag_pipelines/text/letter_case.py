"""Letters for comparing: in small letters, and without accents."""

from __future__ import annotations

import unicodedata

_WITHOUT_DECOMPOSITION = str.maketrans(
    {"ł": "l", "đ": "d", "ð": "d", "ø": "o", "ß": "ss", "æ": "ae", "œ": "oe", "ı": "i", "þ": "th"}
)


def lower(text: str) -> str:
    """The text in small letters, each where it was: the one letter that becomes two (İ) stays as it is."""
    small = text.lower()
    if len(small) == len(text):
        return small
    return "".join(small if len(small := mark.lower()) == 1 else mark for mark in text)


def fold(text: str) -> str:
    """The text in lower case without accents, vowel points and invisible marks."""
    if text.isascii():
        return text.lower()
    decomposed = unicodedata.normalize("NFKD", text.lower().translate(_WITHOUT_DECOMPOSITION))
    return "".join([mark for mark in decomposed if unicodedata.category(mark) not in ("Mn", "Cf")])
