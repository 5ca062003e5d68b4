"""Where texts speak of somebody as what he is to another: `my sister`, `David's wife`, `tvůj táta`, `הבת של דנה`."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Literal, NamedTuple

from ahocorasick_rs import AhoCorasick, Implementation

from relrag_pipelines import languages
from relrag_pipelines.identity.mentions import Mention
from relrag_pipelines.text import kinship
from relrag_pipelines.text.analyzer import PREFIXED_LETTER
from relrag_pipelines.text.letter_case import lower

Speaker = Literal["writer", "reader"]
End = Mention | Speaker
"""who stands at one end of a relationship: somebody who is named, who writes, or to whom it is written"""
_LONGEST = 40
"""characters before a word for a relative that may say whose he is"""
_FIRST_PERSON = re.compile(r"\b(?:jsem|jsme)\b", re.IGNORECASE)
_IN_WORD = re.compile(r"[\w-]")
_PREFIX = re.compile(f"{languages.prefix_pattern(2)}{languages.article_pattern()}?")
_LONGEST_PREFIX = 3
_OWNERS_OF_PARTS = {"mine": "writer", "yours": "reader", "his": "his", "hers": "her"}
"""parts of kinship.toml with words that say whose somebody is -> whose"""


class KinPhrase(NamedTuple):
    """One such place."""

    start: int
    end: int
    """of the words, with whose he is said to be"""
    type: str
    owner: Mention | str
    """who is named, writer, reader, his or her; empty where nothing says whose he is"""
    is_subject: bool | None
    """whether it is a nominative; None in a language without cases"""
    is_plural: bool


class _Word(NamedTuple):
    type: str
    language: str
    is_subject: bool | None = None
    is_plural: bool = False
    owner: str = ""
    """whose, where the word itself says so: אשתי"""


def kin_phrases(text: str, mentions: Iterable[Mention]) -> Iterator[KinPhrase]:
    """The places, in order, given the names in a text."""
    mentions = list(mentions)
    by_end, by_start = {one.end: one for one in mentions}, {one.start: one for one in mentions}
    for start, end, written in _places(text):
        for word in _words()[written]:
            reader = _owner_behind if languages.language(word.language).prefixes else _owner_before
            if (found := reader(text, (start, end), word, by_end, by_start)) is not None:
                yield found
                break


def _owner_before(
    text: str, place: tuple[int, int], word: _Word, by_end: Mapping[int, Mention], by_start: Mapping[int, Mention]
) -> KinPhrase | None:
    start, end = place
    before = _modifier_pattern().search(text, max(0, start - _LONGEST), start)
    owner, is_subject = _owners().get((before["owner"] or "").lower(), ("", None)) if before else ("", None)
    start = before.start() if before else start
    if owner and is_subject is not None and is_subject is not word.is_subject:
        return None  # the cases differ, or it is a word of another language
    if before and before["owner"] and before["owner"].lower() == "má" and re.search(r"\w $", text[:start][-2:]):
        owner = ""  # `klíče má sousedka`: she has them
    if owner == "own":
        owner = "writer" if _FIRST_PERSON.search(text, max(0, start - _LONGEST), start) else ""
    if owner:
        return KinPhrase(start, end, word.type, owner, word.is_subject, word.is_plural)
    named: Mention | None = None
    if not languages.language(word.language).has_cases:
        if text[start - 3 : start] in ("'s ", "’s "):
            named = by_end.get(start - 3)
        elif text[start - 2 : start] in ("' ", "’ ") and text[start - 3 : start - 2] == "s":
            named = by_end.get(start - 2)
        elif text.startswith(" of ", end) and (named := by_start.get(end + 4)):
            the = 4 if text[start - 4 : start].lower() == "the " else 0
            return KinPhrase(start - the, named.end, word.type, named, None, word.is_plural)
    elif text[start - 1 : start] == " " and (named := by_end.get(start - 1)) and not is_possessive(text, named):
        named = None
    if named is not None:
        return KinPhrase(named.start, end, word.type, named, word.is_subject, word.is_plural)
    following = by_start.get(end + 1) if text[end : end + 1] == " " else None
    if word.is_subject and following and not following.is_subject and not is_possessive(text, following):
        return KinPhrase(start, following.end, word.type, following, True, word.is_plural)  # manžel Věry
    return KinPhrase(start, end, word.type, "", word.is_subject, word.is_plural)


def _owner_behind(
    text: str, place: tuple[int, int], word: _Word, by_end: Mapping[int, Mention], by_start: Mapping[int, Mention]
) -> KinPhrase | None:
    del by_end
    start, end = place
    if text.startswith(" של ", end) and word.owner in ("", "his", "her") and (named := by_start.get(end + 4)):
        return KinPhrase(start, named.end, word.type, named, None, word.is_plural)
    if word.owner:
        adjectives = _adjectives_behind().match(text, end)
        return KinPhrase(start, adjectives.end() if adjectives else end, word.type, word.owner, None, word.is_plural)
    if behind := _owners_behind().match(text, end):
        owner, _ = _owners()[behind["owner"]]
        return KinPhrase(start, behind.end(), word.type, owner, None, word.is_plural)
    return KinPhrase(start, end, word.type, "", None, word.is_plural)


def is_possessive(text: str, mention: Mention) -> bool:
    """Whether a name is a possessive adjective by its ending: Davidova, Lenčin."""
    return not mention.is_subject and text[mention.start : mention.end].endswith(_endings())


@functools.cache
def _endings() -> tuple[str, ...]:
    his, hers = languages.possessives("Jan"), languages.possessives("Jana", "f")
    return tuple(sorted({form.removeprefix("Jan") for form in (*his, *hers)}))


@functools.cache
def _words() -> Mapping[str, list[_Word]]:
    """Each word for what somebody is to another, in small letters, and what it may be."""
    found: dict[str, list[_Word]] = {}

    def add(word: str, *made: _Word) -> None:
        found.setdefault(word.lower(), []).extend(made)

    for code in kinship.LANGUAGES:
        types, is_subject = kinship.types_of(code), True if languages.language(code).has_cases else None
        for word, kind in types.items():
            for form in dict.fromkeys((word, word.replace("-", " "))):
                add(form, _Word(kind, code, is_subject))
            for form in kinship.plurals(code, word):
                add(form, _Word(kind, code, is_subject, is_plural=True))
        for form, kind in kinship.inflected_forms(code).items():
            add(form, _Word(kind, code, False))
        for form, word in kinship.question_forms(code).items():
            add(form, _Word(types[word], code, is_subject, is_plural=form not in kinship.singulars(code)))
        for part, owner in _OWNERS_OF_PARTS.items():
            for form, kind in kinship.types_of(code, part).items():
                add(form, _Word(kind, code, owner=owner))
    return found


@functools.cache
def _owners() -> Mapping[str, tuple[str, bool | None]]:
    """Word that says whose somebody is -> whose, and whether it is a nominative; None of what all cases share."""
    found: dict[str, tuple[str, bool | None]] = {}
    for code in kinship.LANGUAGES:
        oblique = kinship.owners(code, "oblique_owners")
        in_all_cases = ("his", "her") if oblique else ("writer", "reader", "his", "her", "own")
        found |= {
            word: (owner, None if owner in in_all_cases else True) for word, owner in kinship.owners(code).items()
        }
        found |= {word: (owner, False) for word, owner in oblique.items()}
    return found


def _codes(*, owner_behind: bool) -> list[str]:
    """The languages in which a word for the owner follows the word for the relative, or precedes it."""
    return [code for code in kinship.LANGUAGES if bool(languages.language(code).prefixes) is owner_behind]


def _alternatives(words: Iterable[str]) -> str:
    return "|".join(re.escape(word) for word in sorted(words, key=len, reverse=True)) or "(?!)"


@functools.lru_cache(1)  # asked of a text for strangers, for relationships and for facts
def _places(text: str) -> tuple[tuple[int, int, str], ...]:
    """Start, end and word of each term for a relative, prefixed letters included; the longest match wins."""
    said = lower(text)
    found: list[tuple[int, int, str]] = []
    hits = sorted(_automaton().find_matches_as_indexes(said, overlapping=True), key=lambda one: (one[1], -one[2]))
    for _, start, end in hits:
        begin = _word_begin(said, start)
        if begin is not None and not _IN_WORD.match(said, end) and (not found or start >= found[-1][1]):
            found.append((begin, end, said[start:end]))
    return tuple(found)


def _word_begin(text: str, start: int) -> int | None:
    """Start of the word that contains the term, prefixed letters included; None where it is a part of another word."""
    begin = start
    while begin and start - begin <= _LONGEST_PREFIX and _IN_WORD.match(text, begin - 1):
        begin -= 1
    if begin == start:
        return begin
    return begin if PREFIXED_LETTER.match(text, start) and _PREFIX.fullmatch(text, begin, start) else None


@functools.cache
def _automaton() -> AhoCorasick:
    return AhoCorasick(sorted(_words()), implementation=Implementation.DFA)


@functools.cache
def _modifier_pattern() -> re.Pattern[str]:
    adjective = _alternatives(word for code in _codes(owner_behind=False) for word in kinship.adjectives(code))
    owner = _alternatives(word for word in _owners() if not PREFIXED_LETTER.match(word))
    return re.compile(rf"(?:(?<!\w)(?P<owner>{owner}) )?(?:(?<!\w)(?:{adjective}) ){{0,2}}$", re.IGNORECASE)


@functools.cache
def _adjectives_behind() -> re.Pattern[str]:
    words = _alternatives(word for code in _codes(owner_behind=True) for word in kinship.adjectives(code))
    return re.compile(rf"(?: (?:{words})(?!\w)){{0,2}}")


@functools.cache
def _owners_behind() -> re.Pattern[str]:
    words = _alternatives(word for code in _codes(owner_behind=True) for word in kinship.owners(code))
    return re.compile(rf"{_adjectives_behind().pattern} (?P<owner>{words})(?!\w)")
