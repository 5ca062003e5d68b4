"""Reads facts about a mail's sender from its signature: `Dad x`, `Mgr. Eva Nová, advokátka`, a telephone number."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple

from relrag_pipelines import languages
from relrag_pipelines.identity.kin_phrases import kin_phrases
from relrag_pipelines.text import kinship
from relrag_pipelines.text.names.personal_name import WrittenName, parse

_MAX_LINES, _MAX_LINE_CHARS, _MIN_LETTERS, _MAX_NAME_WORDS = 6, 80, 3, 3
"""lines at the end of a mail that may be its signature, characters of a line, letters of a sign-off, words of a name"""
_NUMBER = re.compile(r"(?P<number><PHONE_NUMBER[^<>]*>|\+?\d[\d ()/-]{6,}\d)")
_TELEPHONE = re.compile(rf"^\W*(?:(?:{languages.patterns('exports', 'telephone')})\b)?[^\w<+]*[<+\d(]", re.IGNORECASE)
_KISSES = re.compile(r"(?:\s+[xX]+|[\s,.!]|[^\w\s])+$")
_PART = re.compile(r"[,|–—]|\s-\s")


class SignatureFact(NamedTuple):
    """A fact that a signature states."""

    predicate: str
    value: str
    quote: str


def relative(text: str, names: Sequence[WrittenName]) -> SignatureFact | None:
    """The relationship of the sender to the reader: `Dad x`, `brácha Tomáš`; `Your sister`, and the name below it."""
    lines = _lines(text)
    if not lines:
        return None
    words = parse(_KISSES.sub("", lines[-1])).words
    given_names = {name.words[0] for name in names if name.words}
    type_ = _sign_off_type(words, given_names)
    if type_:
        return SignatureFact(type_, type_, lines[-1])
    signed = bool(words) and words[0] in given_names
    signatures = (_kin_signature(line, given_names) for line in lines[-2 if signed else -1 :])
    return next((signature for signature in signatures if signature), None)


def _sign_off_type(words: Sequence[str], given_names: Collection[str]) -> str | None:
    """The relationship type of a sign-off that is a kin term, alone or before the sender's given name."""
    if not words or len(words[0]) < _MIN_LETTERS:
        return None
    type_ = kinship.types_of_names().get(words[0])
    alone = len(words) == 1 or (len(words) == 2 and words[1] in given_names)
    return type_ if alone and type_ not in kinship.ROLES else None


def _kin_signature(line: str, given_names: Collection[str]) -> SignatureFact | None:
    """`Your sister`, `Tvůj bratr Petr`, `Inbal, your sister`, if the line contains nothing else."""
    phrases = [phrase for phrase in kin_phrases(line, ()) if phrase.owner == "reader"]
    if len(phrases) != 1:
        return None
    (phrase,) = phrases
    if phrase.is_plural or phrase.is_subject is False or phrase.type in kinship.ROLES:
        return None
    rest = parse(_KISSES.sub("", f"{line[: phrase.start]} {line[phrase.end :]}")).words
    if not set(rest[:1]) <= set(given_names) or len(rest) > _MAX_NAME_WORDS:
        return None
    return SignatureFact(phrase.type, phrase.type, line)


def facts(text: str, names: Sequence[WrittenName]) -> Iterator[SignatureFact]:
    """The occupation and the telephone number next to the sender's name or below it."""
    lines = _lines(text)
    first = next((number for number, line in enumerate(lines) if _is_named(line, names)), None)
    if first is None:
        return
    name, *more = _PART.split(lines[first])
    for part in (*more, *lines[first + 1 : first + 3]):
        if kinship.roles_in(part) and not _NUMBER.search(part):
            yield SignatureFact("occupation", part.strip(" .,"), f"{name.strip()}, {part.strip()}")
            break
    for line in lines[first:]:
        number = _NUMBER.search(line)
        if number and _TELEPHONE.match(line):
            yield SignatureFact("phone", number["number"], line)
            break


def _is_named(line: str, names: Sequence[WrittenName]) -> bool:
    """Whether a line begins with a whole name of the sender's."""
    line_words = parse(_PART.split(line)[0]).words
    return any(len(name.words) > 1 and line_words == name.words for name in names)


def _lines(text: str) -> list[str]:
    lines = [line.strip() for line in text.splitlines()]
    own = [line for line in lines if line and not line.startswith(">")]
    return [line for line in own[-_MAX_LINES:] if len(line) <= _MAX_LINE_CHARS]
