"""Cleans text in the same way for all connectors."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

_DROPPED = re.compile("[\x00-\x08\x0e-\x1f\x7f\u00ad\ufeff\ufffe\uffff]")
_LINE_ENDS = re.compile("\r\n?|[\x0b\x0c\x85\u2028\u2029]")
_SURROGATES = re.compile("[\ud800-\udfff]")
_UNCLEAN = re.compile("[\x00-\x08\x0b-\x1f\x7f\x85\u00ad\u2028\u2029\ud800-\udfff\ufeff\ufffe\uffff]")
"""any character to clean, in one class: the patterns joined by `|` take five times as long, and most texts have none"""


def clean(text: str) -> str:
    """Text as it is stored: NFC, lines ended by \\n, without invisible characters and characters that UTF-8 lacks.

    Surrogate pairs become their character, a lone surrogate the replacement character; control characters, soft
    hyphens and byte order marks are removed. Offsets refer to the result.
    """
    if not _UNCLEAN.search(text):
        return unicodedata.normalize("NFC", text)
    if _SURROGATES.search(text):
        text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return unicodedata.normalize("NFC", _DROPPED.sub("", _LINE_ENDS.sub("\n", text)))


def one_line(text: str) -> str:
    """The text with each run of white space as one space."""
    return " ".join(text.split())


def table_row(cells: Iterable[str]) -> str:
    """A row of a table as one line; empty cells keep their position: `| a | | c |`."""
    escaped = (one_line(cell).replace("|", "\\|") for cell in cells)
    return "|" + "|".join(f" {cell} " if cell else " " for cell in escaped) + "|"
