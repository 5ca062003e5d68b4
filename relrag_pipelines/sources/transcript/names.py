"""`Name: text`: a speaker where the same name stands there again, as Zoom writes it; else words with a colon."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

_NAMED = re.compile(r"(?:- ?)?([^\W\d_][^:\n<>?!\[\]]{0,59}): +(?=\S)")
_MOST_WORDS = 6
"""of a name; more are a sentence"""


def split_names(lines: Sequence[str]) -> list[tuple[str | None, str]]:
    """Speaker and text of each line; a name counts as a speaker's if it begins at least two lines."""
    found = [_NAMED.match(line) if ":" in line else None for line in lines]
    counted = Counter(match[1] for match in found if match)
    names = {name for name, count in counted.items() if count > 1 and len(name.split()) <= _MOST_WORDS}
    if not names:
        return [(None, line) for line in lines]
    return [
        (match[1].strip(), line[match.end() :]) if match and match[1] in names else (None, line)
        for match, line in zip(found, lines, strict=True)
    ]
