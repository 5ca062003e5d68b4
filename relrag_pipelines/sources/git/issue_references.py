"""What a commit message refers to: other commits, and issues by number."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence

from relrag_pipelines.text import reference_numbers

_HASH = re.compile(r"(?<![0-9A-Za-z])[0-9a-f]{7,64}(?![0-9A-Za-z])")
_WHY = re.compile(r"\b(?:(This reverts commit)|(cherry[ -]picked from commit)|(Fixes):?)\s+\Z", re.IGNORECASE)
_WORDS = ("", "reverts", "was cherry-picked from", "fixes")
_CONTEXT_CHARS = 40
"""characters before a hash or a number that may say what it is"""
_NUMBER = re.compile(r"(?:#|(?<!\w)GH-)(\d{1,7})(?![\w-])", re.ASCII)
_PROJECT = re.compile(r"(?<![\w./-])[\w.-]+/[\w.-]+\Z", re.ASCII)
_NO_NUMBER_BEHIND = re.compile(r"[\w&#/]")
_KEY = re.compile(r"(?<![\w/.-])[A-Z][A-Z0-9]{1,9}-[1-9]\d{0,6}(?![\w-])(?!\.\d)")
_DIGITS = re.compile(r"\d{3}")


def commits(message: str, own: str, known: Sequence[str]) -> list[dict[str, str | float]]:
    """Commits that a message names, each once: `ref`, `why` in words, `confidence`.

    `known` are the hashes of the history, sorted; a short hash counts where exactly one of them begins so. What is
    shorter than seven digits is never a hash.
    """
    found: dict[str, dict[str, str | float]] = {}
    for match in _HASH.finditer(message):
        said, full = match[0], _resolve(match[0], known)
        if full and full != own and full not in found:
            why = _WHY.search(message[max(0, match.start() - _CONTEXT_CHARS) : match.start()])
            word = _WORDS[why.lastindex or 0] if why else "names"
            confidence = 1.0 if said == full else 0.95
            found[full] = {"ref": f"git:{full}", "why": f"{word} commit {said[:12]}", "confidence": confidence}
    return list(found.values())


def issues(message: str, repository: str) -> list[str]:
    """Issues and other numbers that a message names, each once: `ABC-123`, `INV-1187`, `owner/project#12`.

    `#12` and `GH-12` mean an issue of the project itself: `<repository>#12`.
    """
    found = list(_issue_numbers(message, repository)) if "#" in message or "GH-" in message else []
    if "-" in message:
        keys = (match[0] for match in _KEY.finditer(message))
        found += [key for key in keys if key.split("-")[0] not in {*reference_numbers.STANDARDS, "GH"}]
    for line in message.split("\n"):
        if _DIGITS.search(line):
            found += reference_numbers.find_reference_numbers(line)
    return list(dict.fromkeys(found))[: reference_numbers.MAX_NUMBERS]


def _issue_numbers(message: str, repository: str) -> Iterator[str]:
    for match in _NUMBER.finditer(message):
        before = message[max(0, match.start() - _CONTEXT_CHARS) : match.start()]
        project = _PROJECT.search(before) if match[0][0] == "#" and "/" in before else None
        if project or not _NO_NUMBER_BEHIND.match(before[-1:]):
            yield f"{project[0] if project else repository}#{match[1]}"


def _resolve(said: str, known: Sequence[str]) -> str | None:
    place = bisect_left(known, said)
    if place == len(known) or not known[place].startswith(said):
        return None
    ambiguous = place + 1 < len(known) and known[place + 1].startswith(said)
    return None if ambiguous else known[place]
