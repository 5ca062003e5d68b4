"""What a mail states of its sender below its text: `Dad x`, `Mgr. Eva Nová, advokátka`, a telephone number."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from relrag_pipelines.text import kinship
from relrag_pipelines.text.names.personal_name import WrittenName, parse

_LINES, _LONGEST, _FEWEST = 6, 80, 3
"""lines at the end of a mail that may be its signature, characters of one, and letters of a sign-off"""
_NUMBER = re.compile(r"(?P<number><PHONE_NUMBER[^<>]*>|\+?\d[\d ()/-]{6,}\d)")
_TELEPHONE = re.compile(
    r"^\W*(?:(?:tel|telefon|phone|mobile?|mob|cell|gsm|t|m|טל|טלפון|נייד)\b)?[^\w<+]*[<+\d(]", re.IGNORECASE
)
_KISSES = re.compile(r"(?:\s+[xX]+|[\s,.!]|[^\w\s])+$")
_PART = re.compile(r"[,|–—]|\s-\s")


class SignatureFact(NamedTuple):
    """What a signature states."""

    predicate: str
    value: str
    quote: str


def relative(text: str, names: Sequence[WrittenName]) -> SignatureFact | None:
    """What the sender is to whom it is written, where the last line says nothing else: `Dad x`, `brácha Tomáš`."""
    lines = _lines(text)
    if not lines:
        return None
    words = parse(_KISSES.sub("", lines[-1])).words
    given = {name.words[0] for name in names}
    if not words or len(words) > 2 or (len(words) == 2 and words[1] not in given):
        return None
    type_ = kinship.types_of_names().get(words[0])
    if type_ is None or type_ in kinship.ROLES or len(words[0]) < _FEWEST:
        return None
    return SignatureFact(type_, type_, lines[-1])


def facts(text: str, names: Sequence[WrittenName]) -> Iterator[SignatureFact]:
    """The occupation and the telephone number that stand beside the sender's name or below it."""
    lines = _lines(text)
    place = next((place for place, line in enumerate(lines) if _is_named(line, names)), None)
    if place is None:
        return
    name, *more = _PART.split(lines[place])
    for part in (*more, *lines[place + 1 : place + 3]):
        if kinship.roles_in(part) and not _NUMBER.search(part):
            yield SignatureFact("occupation", part.strip(" .,"), f"{name.strip()}, {part.strip()}")
            break
    for line in lines[place:]:
        number = _NUMBER.search(line)
        if number and _TELEPHONE.match(line):
            yield SignatureFact("phone", number["number"], line)
            break


def _is_named(line: str, names: Sequence[WrittenName]) -> bool:
    """Whether a line begins with a whole name of the sender's."""
    said = parse(_PART.split(line)[0]).words
    return any(len(name.words) > 1 and said == name.words for name in names)


def _lines(text: str) -> list[str]:
    lines = [line.strip() for line in text.splitlines()]
    kept = [line for line in lines if line and not line.startswith(">")]
    return [line for line in kept[-_LINES:] if len(line) <= _LONGEST]
