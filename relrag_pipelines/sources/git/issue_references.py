"""References in a commit message: other commits, and issues by number."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence

from relrag_pipelines.text import reference_numbers

_HASH = re.compile(r"(?<![0-9A-Za-z])[0-9a-f]{7,64}(?![0-9A-Za-z])")
_WHY = re.compile(r"\b(?:(This reverts commit)|(cherry[ -]picked from commit)|(Fixes):?)\s+\Z", re.IGNORECASE)
_WORDS = ("", "reverts", "was cherry-picked from", "fixes")
_CONTEXT_CHARS = 40
"""characters before a hash or a number that may describe it"""
_NUMBER = re.compile(r"(?:#|(?<!\w)GH-)(\d{1,7})(?![\w-])", re.ASCII)
_PROJECT = re.compile(r"(?<![\w./-])[\w.-]+/[\w.-]+\Z", re.ASCII)
_NO_NUMBER_BEHIND = re.compile(r"[\w&#/]")
_KEY = re.compile(r"(?<![\w/.-])[A-Z][A-Z0-9]{1,9}-[1-9]\d{0,6}(?![\w-])(?!\.\d)")
_DIGITS = re.compile(r"\d{3}")


def commits(message: str, own: str, hashes: Sequence[str]) -> list[dict[str, str | float]]:
    """Commits that a message refers to, without duplicates: `ref`, `why` in words, `confidence`.

    `own` is the message's commit, `hashes` are those of the history, sorted. A short hash counts if exactly one of them
    begins with it and it has at least seven digits.
    """
    references: dict[str, dict[str, str | float]] = {}
    for match in _HASH.finditer(message):
        written, full = match[0], _resolve(match[0], hashes)
        if full and full != own and full not in references:
            why = _WHY.search(message[max(0, match.start() - _CONTEXT_CHARS) : match.start()])
            word = _WORDS[why.lastindex or 0] if why else "names"
            confidence = 1.0 if written == full else 0.95
            references[full] = {"ref": f"git:{full}", "why": f"{word} commit {written[:12]}", "confidence": confidence}
    return list(references.values())


def issues(message: str, repository: str) -> list[str]:
    """Issues and other numbers in a message, without duplicates: `ABC-123`, `INV-1187`, `owner/project#12`.

    `#12` and `GH-12` are issues of the project itself: `<repository>#12`.
    """
    numbers = list(_issue_numbers(message, repository)) if "#" in message or "GH-" in message else []
    if "-" in message:
        keys = (match[0] for match in _KEY.finditer(message))
        numbers += [key for key in keys if key.split("-")[0] not in {*reference_numbers.STANDARDS, "GH"}]
    for line in message.split("\n"):
        if _DIGITS.search(line):
            numbers += reference_numbers.find_reference_numbers(line)
    return list(dict.fromkeys(numbers))[: reference_numbers.MAX_NUMBERS]


def _issue_numbers(message: str, repository: str) -> Iterator[str]:
    for match in _NUMBER.finditer(message):
        before = message[max(0, match.start() - _CONTEXT_CHARS) : match.start()]
        project = _PROJECT.search(before) if match[0][0] == "#" and "/" in before else None
        if project or not _NO_NUMBER_BEHIND.match(before[-1:]):
            yield f"{project[0] if project else repository}#{match[1]}"


def _resolve(prefix: str, hashes: Sequence[str]) -> str | None:
    """The hash that begins with `prefix`; None unless exactly one does."""
    index = bisect_left(hashes, prefix)
    if index == len(hashes) or not hashes[index].startswith(prefix):
        return None
    ambiguous = index + 1 < len(hashes) and hashes[index + 1].startswith(prefix)
    return None if ambiguous else hashes[index]
