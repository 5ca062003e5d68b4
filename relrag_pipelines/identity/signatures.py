"""What a mail states of its sender below its text: `Dad x`, `Mgr. Eva Nová, advokátka`, a telephone number."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple

from relrag_pipelines.identity.kin_phrases import kin_phrases
from relrag_pipelines.text import kinship
from relrag_pipelines.text.names.personal_name import WrittenName, parse

_LINES, _LONGEST, _FEWEST, _NAME = 6, 80, 3, 3
"""lines at the end of a mail that may be its signature, characters of one, letters of a sign-off, words of a name"""
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
    """What the sender is to whom it is written: `Dad x`, `brácha Tomáš`; `Your sister`, and the name below it."""
    lines = _lines(text)
    if not lines:
        return None
    words = parse(_KISSES.sub("", lines[-1])).words
    given = {name.words[0] for name in names if name.words}
    type_ = kinship.types_of_names().get(words[0]) if words else None
    alone = len(words) == 1 or (len(words) == 2 and words[1] in given)
    if type_ and alone and type_ not in kinship.ROLES and len(words[0]) >= _FEWEST:
        return SignatureFact(type_, type_, lines[-1])
    signed = bool(words) and words[0] in given
    return next((one for line in lines[-2 if signed else -1 :] if (one := _kin_signature(line, given))), None)


def _kin_signature(line: str, given: Collection[str]) -> SignatureFact | None:
    """`Your sister`, `Tvůj bratr Petr`, `Inbal, your sister`, where a line says nothing else."""
    found = [one for one in kin_phrases(line, ()) if one.owner == "reader"]
    if len(found) != 1:
        return None
    (said,) = found
    if said.is_plural or said.is_subject is False or said.type in kinship.ROLES:
        return None
    left = parse(_KISSES.sub("", f"{line[: said.start]} {line[said.end :]}")).words
    return SignatureFact(said.type, said.type, line) if set(left[:1]) <= set(given) and len(left) <= _NAME else None


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
