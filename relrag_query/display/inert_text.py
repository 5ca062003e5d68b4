"""Makes foreign text safe to print: no control characters, no tricks with direction."""

from __future__ import annotations

import unicodedata

_ALLOWED = "\n\t\u200c\u200d\u200e\u200f"
"""line ends and tabs; joiners of letters and emoji; direction marks, which affect only adjacent characters"""


def safe(text: str) -> str:
    """The text without characters that could command a terminal or reverse what it shows."""
    return "".join(
        character
        for character in text
        if character in _ALLOWED or unicodedata.category(character) not in ("Cc", "Cf", "Cs", "Co")
    )
