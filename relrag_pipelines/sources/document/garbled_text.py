"""Tells pages of a PDF whose letters are drawn but not named: their fonts have no map to Unicode, or a wrong one.

PDFium then gives the numbers of glyphs as if they were characters: `7KHTXLFN` for `The quick`.
"""

from __future__ import annotations

import unicodedata
from collections import Counter

import pypdfium2
import pypdfium2.raw as pdfium

MAX_UNMAPPED = 0.3
"""Share of characters without Unicode above which a page is garbled; bullets and signs of other fonts are fewer."""
MAX_UNUSUAL = 0.1
"""Share of characters that no text has: control, private and unassigned ones."""
MIN_VOWELS = 0.2
"""Share of vowels among Latin letters; languages have .3 to .5, letters that were all swapped often fewer."""
SAMPLE = 200
"""characters of a page that are looked at, evenly spaced"""
_MIN_LETTERS = 200
"""letters of a page below which vowels tell nothing"""
_LATIN_END = "\u0250"
_VOWELS = frozenset("aeiouyıæœø")
_UNUSUAL = frozenset({"Cc", "Co", "Cn", "Cs"})
_LAYOUT = frozenset("\r\n\t\ufffe")
"""PDFium's own line ends and hyphens"""


def is_garbled(textpage: pypdfium2.PdfTextPage, text: str) -> bool:
    """Whether the text that PDFium gives for a page is not what is drawn on it."""
    return _unmapped_share(textpage) > MAX_UNMAPPED or _unusual_share(text) > MAX_UNUSUAL or _lacks_vowels(text)


def _unmapped_share(textpage: pypdfium2.PdfTextPage) -> float:
    """Share of the sampled characters that have no Unicode in their font."""
    places = range(0, textpage.count_chars(), textpage.count_chars() // SAMPLE + 1)
    unmapped = sum(pdfium.FPDFText_HasUnicodeMapError(textpage.raw, place) == 1 for place in places)
    return unmapped / len(places) if places else 0.0


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
