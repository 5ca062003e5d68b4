"""What in a text may name something: capitalised and quoted spans, numbers, file names, words with a meaning.

No model and no language is asked. Which candidates are entities is decided over all texts together (selection.py).
"""

from __future__ import annotations

import calendar
from collections.abc import Iterator
from enum import StrEnum
from typing import NamedTuple

import regex

from relrag_pipelines.graphrag.common_words import is_common
from relrag_pipelines.text.analyzer import fold
from relrag_pipelines.text.reference_numbers import find_reference_numbers
from relrag_pipelines.text.stopwords import CZECH, ENGLISH, FINAL_LETTERS, HEBREW, OTHERS


class EntityType(StrEnum):
    """What an entity is, as far as its form tells; in the order in which they count."""

    PERSON = "PERSON"
    NUMBER = "NUMBER"
    FILE = "FILE"
    NAME = "NAME"
    QUOTATION = "QUOTATION"
    TERM = "TERM"


class Candidate(NamedTuple):
    """A span of a text that may name something."""

    type: EntityType
    text: str
    start: int
    """offset in the text, in code points"""
    opens: bool = False
    """it begins a sentence or line, where its capital means nothing"""


_PSEUDONYM = regex.compile(r"<[A-Z][A-Z_]*(?::k\d+:[0-9a-f]+)?>")
_ADDRESS = regex.compile(r"\S+@\S+|\b(?:https?://|www\.)\S+")
_FILE = regex.compile(
    r"(?<![\w/\\.-])[\w][\w.+-]{0,80}\.(?:pdf|docx?|xlsx?|pptx?|odt|ods|csv|txt|md|rtf|jpe?g|png|gif|heic|mp[34]|m4a|wav|"
    r"mov|zip|ics|eml|json|xml|html?|java|py|js|ts|sql|sh|go|rs|c|cpp)(?![\w-])",
    regex.IGNORECASE,
)
_QUOTED = regex.compile(r"[\"“„«״]([^\s\"“”„«»״][^\"“”„«»״\n]{1,60})[\"”“»״]")
_CAPITAL = r"\p{Lu}[\p{L}\p{M}\p{N}]*(?:['’&.-](?=[\p{L}\p{N}])[\p{L}\p{M}\p{N}]+)*"
_JOINING = "of|de|da|di|del|la|van|von|der|den|ben|bin|al|el"
_NAME = regex.compile(rf"(?<![\p{{L}}\p{{N}}_]){_CAPITAL}(?:[ \u00a0](?:(?:{_JOINING})[ ])?{_CAPITAL}){{0,4}}")
_WORD = regex.compile(r"(?<![\p{L}\p{N}_])[\p{L}\p{M}]+(?:['’״\"-][\p{L}\p{M}]+)*(?![\p{N}_])")
_BEFORE_SENTENCE = frozenset('.!?…:;\n"“„«״([-–—•*>|')
_CALENDAR = frozenset(
    name.lower() for names in (calendar.month_name, calendar.month_abbr, calendar.day_name, calendar.day_abbr)
    for name in names if name
)  # fmt: skip
_EMPTY = frozenset(
    {"ok", "okay", "re", "fwd", "fw", "hi", "hello", "dear", "thanks", "thank", "regards", "yes", "please"}
    | {"kc", "kč", "czk", "eur", "usd", "gbp", "ils", "nis"}  # of a figure, which is an amount of anything
)
_FUNCTION_WORDS = ENGLISH | CZECH | OTHERS | _CALENDAR | _EMPTY
_LEAST = 4
"""letters of a word of a script with capitals; of another one fewer: Hebrew leaves out vowels"""
_LEAST_OF_OTHERS = 3
_LONGEST = 40


def candidates(text: str) -> list[Candidate]:
    """Every candidate of a text, by type and place. Pseudonyms and addresses hold none."""
    text = _ADDRESS.sub(_blank, _PSEUDONYM.sub(_blank, text))
    files = [Candidate(EntityType.FILE, found[0], found.start()) for found in _FILE.finditer(text)]
    numbers = list(_numbers(text, files))
    rest = _without(text, [*files, *numbers])
    return [*files, *numbers, *_quotations(rest), *_names(rest), *_terms(rest)]


def is_function_word(word: str) -> bool:
    """Whether a word, folded, says nothing of what a text is about; days and months count as such."""
    word = word.partition("'")[0].partition("’")[0]  # I'm, don't
    return word in _FUNCTION_WORDS or word.translate(FINAL_LETTERS) in HEBREW


def _says_nothing(word: str) -> bool:
    return is_function_word(word) or is_common(word)


def _numbers(text: str, files: list[Candidate]) -> Iterator[Candidate]:
    taken = {place for one in files for place in range(one.start, one.start + len(one.text))}
    for number in find_reference_numbers(text):
        start = text.find(number)
        if start >= 0 and start not in taken:
            yield Candidate(EntityType.NUMBER, number, start)


def _quotations(text: str) -> Iterator[Candidate]:
    for found in _QUOTED.finditer(text):
        quoted = found[1].strip(" .,!?")
        if 1 <= quoted.count(" ") <= 5:  # one word is a word, more than six are a sentence
            yield Candidate(EntityType.QUOTATION, quoted, found.start(1))


def _names(text: str) -> Iterator[Candidate]:
    for found in _NAME.finditer(text):
        if len(found[0]) <= 2 * _LONGEST:
            yield Candidate(EntityType.NAME, found[0], found.start(), opens_sentence(text, found.start()))


def _terms(text: str) -> Iterator[Candidate]:
    for found in _WORD.finditer(text):
        word = found[0]
        if word[0].isupper() or len(word) > _LONGEST:
            continue
        if len(word) >= (_LEAST if word[0].islower() else _LEAST_OF_OTHERS) and not _says_nothing(fold(word)):
            yield Candidate(EntityType.TERM, word, found.start())


def opens_sentence(text: str, start: int) -> bool:
    """Whether a sentence, a line or a quotation begins at an offset."""
    place = start - 1
    while place >= 0 and text[place] in " \t\u00a0":
        place -= 1
    return place < 0 or text[place] in _BEFORE_SENTENCE


def _without(text: str, spans: list[Candidate]) -> str:
    """The text with spans blanked out, so that offsets stay."""
    for one in spans:
        text = text[: one.start] + " " * len(one.text) + text[one.start + len(one.text) :]
    return text


def _blank(found: regex.Match[str]) -> str:
    return " " * len(found[0])
