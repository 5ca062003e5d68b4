"""Recognises PDF pages with garbled text: their fonts have no map to Unicode, or a wrong one.

PDFium then returns glyph numbers as if they were characters: `7KHTXLFN` for `The quick`.
"""

from __future__ import annotations

import unicodedata
from collections import Counter

import pypdfium2
import pypdfium2.raw as pdfium

MAX_UNMAPPED = 0.3
"""Share of characters without Unicode above which a page is garbled; bullets and signs stay below it."""
MAX_UNUSUAL = 0.1
"""Share of control, private and unassigned characters, which no real text has."""
MIN_VOWELS = 0.2
"""Share of vowels among Latin letters; languages have .3 to .5, substituted letters often fewer."""
SAMPLE = 200
"""characters of a page that are tested, evenly spaced"""
_MIN_LETTERS = 200
"""letters that a page needs for its share of vowels to count"""
_LATIN_END = "\u0250"
_VOWELS = frozenset("aeiouyıæœø")
_UNUSUAL = frozenset({"Cc", "Co", "Cn", "Cs"})
_LAYOUT = frozenset("\r\n\t\ufffe")
"""PDFium's own line ends and hyphens"""


def is_garbled(textpage: pypdfium2.PdfTextPage, text: str) -> bool:
    """Whether the text that PDFium returns for a page differs from what is drawn on it."""
    return _unmapped_share(textpage) > MAX_UNMAPPED or _unusual_share(text) > MAX_UNUSUAL or _lacks_vowels(text)


def _unmapped_share(textpage: pypdfium2.PdfTextPage) -> float:
    """Share of the sampled characters that have no Unicode in their font."""
    positions = range(0, textpage.count_chars(), textpage.count_chars() // SAMPLE + 1)
    unmapped = sum(pdfium.FPDFText_HasUnicodeMapError(textpage.raw, position) == 1 for position in positions)
    return unmapped / len(positions) if positions else 0.0


def _unusual_share(text: str) -> float:
    sample = [character for character in text[:: len(text) // SAMPLE + 1] if character not in _LAYOUT]
    unusual = sum(unicodedata.category(character) in _UNUSUAL or character == "\ufffd" for character in sample)
    return unusual / len(sample) if sample else 0.0


def _lacks_vowels(text: str) -> bool:
    counted = Counter(text.lower())
    letters = {letter: count for letter, count in counted.items() if letter.isalpha()}
    latin = {letter: count for letter, count in letters.items() if letter < _LATIN_END}
    total = sum(latin.values())
    if total < _MIN_LETTERS or total * 2 < sum(letters.values()):
        return False
    vowels = sum(count for letter, count in latin.items() if unicodedata.normalize("NFD", letter)[0] in _VOWELS)
    return vowels < MIN_VOWELS * total
