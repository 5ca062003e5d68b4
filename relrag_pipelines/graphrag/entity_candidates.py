"""Finds what may be an entity in a text: capitalised and quoted spans, numbers, file names, words with a meaning.

No model is asked and no language assumed. entity_selection.py decides over all texts together which become entities.
"""

from __future__ import annotations

import calendar
import functools
from collections.abc import Iterator
from enum import StrEnum
from typing import NamedTuple

import regex

from relrag_pipelines.graphrag.words import Language, is_everyday, is_title, language_of, languages, normal_form
from relrag_pipelines.text.reference_numbers import find_reference_numbers
from relrag_pipelines.text.stopwords import folded, function_words


class EntityType(StrEnum):
    """What an entity is, as far as its form tells; in the order in which they count."""

    PERSON = "PERSON"
    NUMBER = "NUMBER"
    FILE = "FILE"
    NAME = "NAME"
    QUOTATION = "QUOTATION"
    TERM = "TERM"


class Cue(StrEnum):
    """What the word before a word lets expect."""

    NOUN = "noun"
    VERB = "verb"
    NOTHING = ""


class Use(NamedTuple):
    """How a word is used where it stands."""

    language: str
    cue: Cue
    joins: bool
    """the word before it is one with a meaning, too, and only a space between"""
    ends: bool
    """the word behind it is none with a meaning, or there is none"""


class Candidate(NamedTuple):
    """A span of a text that may name something."""

    type: EntityType
    text: str
    start: int
    """offset in the text, in code points"""
    opens: bool = False
    """it begins a sentence or line, where its capital means nothing"""
    use: Use | None = None
    """of a TERM"""


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
_WORD = regex.compile(r"(?<![\p{L}\p{N}_])\p{L}[\p{L}\p{M}]*(?:['’״\"-][\p{L}\p{M}]+)*(?![\p{N}_])")
_LOOKED_BACK = 20
"""characters before a word, in which a title ends"""
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
_LEAST = 3
"""letters of a word"""
_LONGEST = 40


def candidates(text: str) -> list[Candidate]:
    """Every candidate of a text, by type and place. Pseudonyms and addresses hold none."""
    marked, rest = _split_marked(text)
    return [*marked, *_quotations(rest), *_names(rest), *_terms(rest)]


def name_candidates(text: str) -> list[Candidate]:
    """Those of a text that are quoted or begin with capitals."""
    _, rest = _split_marked(text)
    return [*_quotations(rest), *_names(rest)]


def _split_marked(text: str) -> tuple[list[Candidate], str]:
    """The names of files and the numbers, and the text without these."""
    text = _ADDRESS.sub(_blank, _PSEUDONYM.sub(_blank, text))
    files = [Candidate(EntityType.FILE, found[0], found.start()) for found in _FILE.finditer(text)]
    marked = [*files, *_numbers(text, files)]
    return marked, _blank_spans(text, marked)


def is_function_word(word: str) -> bool:
    """Whether a word, compared, says nothing of what a text is about; days and months count as such."""
    word = word.partition("'")[0].partition("’")[0]  # I'm, don't
    return word in _FUNCTION_WORDS or folded(word) in _FUNCTION_WORDS


@functools.lru_cache(maxsize=2**16)
def says_nothing(word: str) -> bool:
    """Whether a word, compared, is a function word or an everyday word."""
    return is_function_word(word) or is_everyday(word)


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


class _Word(NamedTuple):
    text: str
    start: int
    normal_form: str
    adjacent: bool
    """only a space is between it and the word before"""


def _terms(text: str) -> Iterator[Candidate]:
    """Words with a meaning, also capitalised ones that open a sentence: whether these are names is seen elsewhere."""
    lines = [_words(text, line.start(), line.end()) for line in _LINE.finditer(text)]
    whole = language_of(one.normal_form for line in lines for one in line)
    for line in lines:
        language = languages()[language_of((one.normal_form for one in line), whole)]
        telling = [_is_telling(one) for one in line]
        cues = _cues(line, telling, language)
        for place, one in enumerate(line):
            if not telling[place]:
                continue
            opens = one.text[0].isupper()
            if opens and not opens_sentence(text, one.start):
                continue
            joins = place > 0 and one.adjacent and telling[place - 1]
            ends = place + 1 == len(line) or not (line[place + 1].adjacent and telling[place + 1])
            use = Use(language.name, cues[place], joins, ends)
            yield Candidate(EntityType.TERM, one.text, one.start, opens, use)


def _words(text: str, start: int, end: int) -> list[_Word]:
    found: list[_Word] = []
    behind = start
    for one in _WORD.finditer(text, start, end):
        adjacent = bool(found) and not text[behind : one.start()].strip(" \u00a0")
        found.append(_Word(one[0], one.start(), normal_form(one[0]), adjacent))
        behind = one.end()
    return found


def _is_telling(word: _Word) -> bool:
    return _LEAST <= len(word.text) <= _LONGEST and not says_nothing(word.normal_form)


def _cues(line: list[_Word], telling: list[bool], language: Language) -> list[Cue]:
    """Of each word what is said before it: `the` of the words up to the noun, `we` of the next word only."""
    found: list[Cue] = []
    cue = Cue.NOTHING
    for word, tells in zip(line, telling, strict=True):
        cue = cue if word.adjacent else Cue.NOTHING
        found.append(cue)
        if word.normal_form in language.before_noun:
            cue = Cue.NOUN
        elif word.normal_form in language.before_verb:
            cue = Cue.VERB
        elif cue is Cue.VERB or not (tells or is_everyday(word.normal_form)):
            cue = Cue.NOTHING
    return found


def opens_sentence(text: str, start: int) -> bool:
    """Whether a sentence, a line or a quotation begins at an offset; behind the point of a title none does."""
    before = text[max(0, start - _LOOKED_BACK) : start].rstrip(" \t\u00a0")
    if before.endswith(".") and (title := _ABBREVIATED.search(before)):
        return not is_title(normal_form(title[1]))
    return not before or before[-1] in _BEFORE_SENTENCE


def _blank_spans(text: str, spans: list[Candidate]) -> str:
    """The text with spans blanked out, so that offsets stay."""
    for one in spans:
        text = text[: one.start] + " " * len(one.text) + text[one.start + len(one.text) :]
    return text


def _blank(found: regex.Match[str]) -> str:
    return " " * len(found[0])
