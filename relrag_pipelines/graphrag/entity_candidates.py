"""Finds candidates for entities in a text: capitalised and quoted spans, numbers, file names, content words.

No model is used and no language assumed. entity_selection.py decides over all texts which candidates become entities.
"""

from __future__ import annotations

import calendar
import functools
from collections.abc import Iterator
from enum import StrEnum
from itertools import chain
from typing import NamedTuple

import regex

from relrag_pipelines.graphrag.words import Language, is_everyday, is_title, language_of, languages, normal_form
from relrag_pipelines.text.marked_spans import find_marked_spans
from relrag_pipelines.text.stopwords import folded, function_words


class EntityType(StrEnum):
    """The type of an entity, as far as its form shows it; in order of precedence."""

    PERSON = "PERSON"
    NUMBER = "NUMBER"
    FILE = "FILE"
    NAME = "NAME"
    QUOTATION = "QUOTATION"
    TERM = "TERM"


class Cue(StrEnum):
    """The part of speech that the word before a word suggests."""

    NOUN = "noun"
    VERB = "verb"
    NOTHING = ""


class Use(NamedTuple):
    """The use of a word at one position."""

    language: str
    cue: Cue
    joins: bool
    """it follows another content word after a space"""
    ends: bool
    """no content word follows it after a space"""


class Candidate(NamedTuple):
    """A span of a text that may name an entity."""

    type: EntityType
    text: str
    start: int
    """offset in the text, in code points"""
    opens: bool = False
    """it begins a sentence or line, where a capital carries no information"""
    use: Use | None = None
    """for a TERM"""


_WORD = regex.compile(r"(?<![\p{L}\p{N}_])\p{L}[\p{L}\p{M}]*(?:['’״\"-][\p{L}\p{M}]+)*(?![\p{N}_])")
_TITLE_CHARS = 20
"""characters before a word that are searched for a title"""
_ABBREVIATED = regex.compile(r"(?<![\p{L}\p{N}])(\p{L}{2,5})\.$")
_LINE = regex.compile(r"[^\n]+")
_BEFORE_SENTENCE = frozenset('.!?…:;\n"“„«״([-–—•*>|')
_CALENDAR = frozenset(
    name.lower() for names in (calendar.month_name, calendar.month_abbr, calendar.day_name, calendar.day_abbr)
    for name in names if name
)  # fmt: skip
_CURRENCIES = frozenset(["kc", "czk", "eur", "usd", "gbp", "ils", "nis"])
"""of a figure, which is an amount of anything"""
_FUNCTION_WORDS = function_words() | _CALENDAR | _CURRENCIES
_MIN_LETTERS = 3
_MAX_LETTERS = 40
"""letters of a word"""


def candidates(text: str) -> list[Candidate]:
    """Every candidate in a text, by type and position, outside pseudonyms and addresses."""
    spans = find_marked_spans(text)
    marked = [
        *(Candidate(EntityType.FILE, span.text, span.start) for span in spans.files),
        *(Candidate(EntityType.NUMBER, span.text, span.start) for span in spans.numbers),
        *(Candidate(EntityType.QUOTATION, span.text, span.start) for span in spans.quotations),
        *(
            Candidate(EntityType.NAME, span.text, span.start, opens_sentence(spans.rest, span.start))
            for span in spans.names
        ),
    ]
    return [*marked, *_terms(spans.rest)]


def is_function_word(word: str) -> bool:
    """Whether a word in its normal form is a function word; days and months count as such."""
    word = word.partition("'")[0].partition("’")[0]  # I'm, don't
    return word in _FUNCTION_WORDS or folded(word) in _FUNCTION_WORDS


@functools.lru_cache(maxsize=2**16)
def says_nothing(word: str) -> bool:
    """Whether a word in its normal form is a function word or an everyday word."""
    return is_function_word(word) or is_everyday(word)


class _Word(NamedTuple):
    text: str
    start: int
    normal_form: str
    adjacent: bool
    """only a space separates it from the word before"""


def _terms(text: str) -> Iterator[Candidate]:
    """Content words, including capitalised ones that open a sentence, which entity_selection.py examines."""
    lines = [_words(text, line.start(), line.end()) for line in _LINE.finditer(text)]
    text_language = language_of(word.normal_form for word in chain.from_iterable(lines))
    for line in lines:
        language = languages()[language_of((word.normal_form for word in line), text_language)]
        are_content = [_is_content(word) for word in line]
        cues = _cues(line, are_content, language)
        for index, word in enumerate(line):
            opens = word.text[0].isupper()
            if not are_content[index] or (opens and not opens_sentence(text, word.start)):
                continue
            joins = index > 0 and word.adjacent and are_content[index - 1]
            ends = index + 1 == len(line) or not (line[index + 1].adjacent and are_content[index + 1])
            yield Candidate(EntityType.TERM, word.text, word.start, opens, Use(language.name, cues[index], joins, ends))


def _words(text: str, start: int, end: int) -> list[_Word]:
    words: list[_Word] = []
    end_ = start
    for match in _WORD.finditer(text, start, end):
        adjacent = bool(words) and not text[end_ : match.start()].strip(" \u00a0")
        words.append(_Word(match[0], match.start(), normal_form(match[0]), adjacent))
        end_ = match.end()
    return words


def _is_content(word: _Word) -> bool:
    return _MIN_LETTERS <= len(word.text) <= _MAX_LETTERS and not says_nothing(word.normal_form)


def _cues(line: list[_Word], are_content: list[bool], language: Language) -> list[Cue]:
    """The cue before each word: `the` holds for the words up to the noun, `we` for the next word only."""
    cues: list[Cue] = []
    cue = Cue.NOTHING
    for word, is_content in zip(line, are_content, strict=True):
        cue = cue if word.adjacent else Cue.NOTHING
        cues.append(cue)
        if word.normal_form in language.before_noun:
            cue = Cue.NOUN
        elif word.normal_form in language.before_verb:
            cue = Cue.VERB
        elif cue is Cue.VERB or not (is_content or is_everyday(word.normal_form)):
            cue = Cue.NOTHING
    return cues


def opens_sentence(text: str, start: int) -> bool:
    """Whether a sentence, line or quotation begins at an offset; after the point of a title none does."""
    before = text[max(0, start - _TITLE_CHARS) : start].rstrip(" \t\u00a0")
    if before.endswith(".") and (title := _ABBREVIATED.search(before)):
        return not is_title(normal_form(title[1]))
    return not before or before[-1] in _BEFORE_SENTENCE
