"""Makes foreign text safe to print: no control characters, no tricks with direction."""

from __future__ import annotations

import unicodedata

_KEPT = "\n\t\u200c\u200d\u200e\u200f"
"""line ends; joiners of letters and emoji; direction marks, which change only what is beside them"""


def safe(text: str) -> str:
    """The text without characters that could command a terminal or reverse what it shows."""
    return "".join(mark for mark in text if mark in _KEPT or unicodedata.category(mark) not in ("Cc", "Cf", "Cs", "Co"))
