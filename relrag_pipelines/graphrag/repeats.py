"""Lines that occur word for word in several documents, such as signatures and footers; they name no entities."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence

_SEVERAL = 3
"""documents that hold a line, from which on it repeats what others wrote"""
_LINE = re.compile(r"[^\n]+")


def blank(texts: Sequence[str], documents: Sequence[str]) -> list[str]:
    """The texts with such lines blanked out, so that offsets stay; `documents` has the document of each text."""
    holders: dict[str, set[str]] = defaultdict(set)
    for text, document in zip(texts, documents, strict=True):
        for line in _LINE.findall(text):
            if len(holders[plain := _plain(line)]) < _SEVERAL:
                holders[plain].add(document)
    repeated = {line for line, of in holders.items() if len(of) == _SEVERAL}

    def blank_repeated(line: re.Match[str]) -> str:
        return " " * len(line[0]) if _plain(line[0]) in repeated else line[0]

    return [_LINE.sub(blank_repeated, text) for text in texts]


def _plain(line: str) -> str:
    return " ".join(line.lower().split())
