"""How many tokens a text has, roughly."""

from __future__ import annotations

import math

_BYTES_PER_TOKEN = 4
"""of UTF-8, in the vocabularies of today's models: English has more, Hebrew and Czech fewer characters a token"""


def count_tokens(text: str) -> int:
    """About how many tokens a text has; no model's vocabulary is at hand offline."""
    return math.ceil(len(text.encode()) / _BYTES_PER_TOKEN)
