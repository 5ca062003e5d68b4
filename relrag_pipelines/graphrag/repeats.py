"""Blanks out lines that occur word for word in several documents, such as footers; they name no entities."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence

_SEVERAL = 3
"""documents with a line from which it counts as repeated"""
_LINE = re.compile(r"[^\n]+")


def blank(texts: Sequence[str], documents: Sequence[str]) -> list[str]:
    """The texts with repeated lines blanked out, so that offsets stay; `documents` has the document of each text."""
    documents_by_line: dict[str, set[str]] = defaultdict(set)
    for text, document in zip(texts, documents, strict=True):
        for line in _LINE.findall(text):
            if len(documents_by_line[key := _normalised(line)]) < _SEVERAL:
                documents_by_line[key].add(document)
    repeated = {line for line, ids in documents_by_line.items() if len(ids) == _SEVERAL}

    def blank_repeated(line: re.Match[str]) -> str:
        return " " * len(line[0]) if _normalised(line[0]) in repeated else line[0]

    return [_LINE.sub(blank_repeated, text) for text in texts]


def _normalised(line: str) -> str:
    return " ".join(line.lower().split())
