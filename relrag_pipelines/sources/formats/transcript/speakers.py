"""`Name: text`: a speaker where the same name stands there again, as Zoom writes it; else words with a colon."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

_LINE = re.compile(r"(?:(?:- ?)?+([^\W\d_][^:\n<>?!\[\]]{0,59}+): +(?=\S))?(.*)\n")
"""a name, if there may be one, and what follows it"""
_MOST_WORDS = 6
"""of a name; more are a sentence"""


def split_names(lines: Sequence[str]) -> tuple[list[str | None], list[str]]:
    """Speaker and text of each line; a name counts as a speaker's if it begins at least two lines."""
    found = _named(lines)
    counted = Counter([name for name, _ in found])
    names = {name: name.strip() for name, count in counted.items() if name and count > 1 and _may_be_name(name)}
    if not names:
        return [None] * len(lines), list(lines)
    return (
        [names.get(name) for name, _ in found],
        [text if name in names else line for (name, text), line in zip(found, lines, strict=True)],
    )


def _named(lines: Sequence[str]) -> list[tuple[str, str]]:
    """What may be a name, empty where nothing may, and the text behind it."""
    found = _LINE.findall("\n".join([*lines, ""]))
    if len(found) == len(lines):
        return found
    # a dialogue has several lines in one; its first tells who speaks
    matches = [_LINE.match(f"{line}\n") for line in lines]
    return [
        (match[1] or "", line[match.start(2) :]) if match else ("", line)
        for match, line in zip(matches, lines, strict=True)
    ]


def _may_be_name(text: str) -> bool:
    return len(text.split()) <= _MOST_WORDS
