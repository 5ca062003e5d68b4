"""Finds spans of a text whose form marks them: files, reference numbers, quotations, capitalised names.

Pseudonyms and addresses are left out. No model is used and no language assumed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import regex

from relrag_pipelines.text.reference_numbers import find_reference_numbers


class Span(NamedTuple):
    """A part of a text."""

    text: str
    start: int
    """offset in the text, in code points"""


class MarkedSpans(NamedTuple):
    """The marked spans of a text, by their form."""

    files: list[Span]
    numbers: list[Span]
    quotations: list[Span]
    names: list[Span]
    rest: str
    """the text with files, numbers, pseudonyms and addresses blanked out"""


_PSEUDONYM = regex.compile(r"<[A-Z][A-Z_]*(?::k\d+:[0-9a-f]+)?>")
_ADDRESS = regex.compile(r"\S+@\S+|\b(?:https?://|www\.)\S+")
_FILE = regex.compile(
    r"(?<![\w/\\.-])[\w][\w.+-]{0,80}\.(?:pdf|docx?|xlsx?|pptx?|odt|ods|csv|txt|md|rtf|jpe?g|png|gif|heic|mp[34]|m4a|wav|"
    r"mov|zip|ics|eml|json|xml|html?|java|py|js|ts|sql|sh|go|rs|c|cpp)(?![\w-])",
    regex.IGNORECASE,
)
_QUOTED = regex.compile(r"(?<![\p{L}\p{N}])[\"“„«״]([^\s\"“”„«»״][^\"“”„«»״\n]{1,60})[\"”“»״](?![\p{L}\p{N}])")
_CAPITAL = r"\p{Lu}[\p{L}\p{M}\p{N}]*(?:['’&.-](?=[\p{L}\p{N}])[\p{L}\p{M}\p{N}]+)*"
_JOINING = "of|de|da|di|del|la|van|von|der|den|ben|bin|al|el"
_NAME = regex.compile(rf"(?<![\p{{L}}\p{{N}}_]){_CAPITAL}(?:[ \u00a0](?:(?:{_JOINING})[ ])?{_CAPITAL}){{0,4}}")
_MAX_NAME_CHARS = 80


def find_marked_spans(text: str) -> MarkedSpans:
    """The marked spans of a text, each list in order of their form's appearance."""
    text = _ADDRESS.sub(_blank, _PSEUDONYM.sub(_blank, text))
    files = [Span(match[0], match.start()) for match in _FILE.finditer(text)]
    numbers = list(_numbers(text, files))
    rest = _blank_spans(text, [*files, *numbers])
    return MarkedSpans(files, numbers, list(_quotations(rest)), list(_names(rest)), rest)


def _numbers(text: str, files: list[Span]) -> Iterator[Span]:
    taken: set[int] = set()
    for file in files:
        taken.update(range(file.start, file.start + len(file.text)))
    for number in find_reference_numbers(text):
        start = text.find(number)
        if start >= 0 and start not in taken:
            yield Span(number, start)


def _quotations(text: str) -> Iterator[Span]:
    for match in _QUOTED.finditer(text):
        quoted = match[1].strip(" .,!?")
        if 1 <= quoted.count(" ") <= 5:  # one word is a word, more than six are a sentence
            yield Span(quoted, match.start(1))


def _names(text: str) -> Iterator[Span]:
    matches = _NAME.finditer(text)
    return (Span(match[0], match.start()) for match in matches if len(match[0]) <= _MAX_NAME_CHARS)


def _blank_spans(text: str, spans: Iterable[Span]) -> str:
    """The text with spans blanked out, so that offsets stay."""
    for span in spans:
        text = text[: span.start] + " " * len(span.text) + text[span.start + len(span.text) :]
    return text


def _blank(match: regex.Match[str]) -> str:
    return " " * len(match[0])
