"""`Name: text`: a speaker where the same name stands there again, as Zoom writes it; else words with a colon."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

_NAMED = re.compile(r"(?:- ?)?([^\W\d_][^:\n<>?!\[\]]{0,59}): +(?=\S)").match
_MOST_WORDS = 6
"""of a name; more are a sentence"""


def split_names(lines: Sequence[str]) -> tuple[list[str | None], list[str]]:
    """Speaker and text of each line; a name counts as a speaker's if it begins at least two lines."""
    found = [_NAMED(line) if ":" in line else None for line in lines]
    counted = Counter([match[1] for match in found if match])
    names = {name for name, count in counted.items() if count > 1 and len(name.split()) <= _MOST_WORDS}
    if not names:
        return [None] * len(lines), list(lines)
    found = [match if match and match[1] in names else None for match in found]
    speakers = {name: name.strip() for name in names}
    return (
        [speakers[match[1]] if match else None for match in found],
        [line[match.end() :] if match else line for match, line in zip(found, lines, strict=True)],
    )
