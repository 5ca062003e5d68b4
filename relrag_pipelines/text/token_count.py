"""How long a text is, in tokens: words (of up to sixteen letters; longer ones count more) and marks."""

from __future__ import annotations

import re

_LETTER = r"\w\u0300-\u036f\u0591-\u05bd\u05bf-\u05c7"  # a combining mark belongs to its letter
TOKEN = re.compile(rf"[{_LETTER}]{{1,16}}|[^\s{_LETTER}]")
_NO_MARKS = bytes(code for code in range(128) if chr(code).isspace() or chr(code).isalnum() or chr(code) == "_")
_SPACES = bytes(code for code in range(128) if chr(code).isspace())


def count_tokens(text: str) -> int:
    """How long a text is."""
    return len(TOKEN.findall(text))


def fits(text: str, limit: int) -> bool:
    """Whether a text is at most that long; counted only where it is not plain to see."""
    if len(text) <= limit:
        return True
    if text.isascii():
        # between two tokens is a space, or one of them is a mark, or they are parts of a word of more than 16 letters
        letters = text.encode()
        spaces, marks = len(letters) - len(letters.translate(None, _SPACES)), len(letters.translate(None, _NO_MARKS))
        if spaces + 1 + 2 * marks + len(text) // 16 <= limit:
            return True
    return count_tokens(text) <= limit
