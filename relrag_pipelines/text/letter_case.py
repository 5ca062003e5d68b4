"""Small letters for comparing, where places in the text have to stay."""

from __future__ import annotations


def lower(text: str) -> str:
    """The text in small letters, each where it was: the one letter that becomes two (İ) stays as it is."""
    small = text.lower()
    if len(small) == len(text):
        return small
    return "".join(one if len(one := mark.lower()) == 1 else mark for mark in text)
