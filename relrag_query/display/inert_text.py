"""Makes foreign text safe to print: no control characters, no tricks with direction."""

from __future__ import annotations

import re
import unicodedata

_ALLOWED = "\n\t\u200c\u200d\u200e\u200f"
"""line ends and tabs; joiners of letters and emoji; direction marks, which affect only adjacent characters"""

ISOLATED = re.compile("\u2068([^\u2068\u2069]*)\u2069")
"""what `isolated` has made, within a text"""


def isolated(text: str) -> str:
    """A text to be filled into a sentence: its direction does not turn the sentence around, and characters that
    nobody sees stand there by their numbers, as <U+202E>."""
    shown = "".join(character if safe(character) else f"<U+{ord(character):04X}>" for character in text)
    return f"\u2068{shown}\u2069"


def safe(text: str) -> str:
    """The text without characters that could command a terminal or reverse what it shows."""
    return "".join(
        character
        for character in text
        if character in _ALLOWED or unicodedata.category(character) not in ("Cc", "Cf", "Cs", "Co")
    )
