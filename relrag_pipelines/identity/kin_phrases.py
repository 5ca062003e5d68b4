"""Where texts speak of somebody as what he is to another: `my sister`, `David's wife`, `tvůj táta`, `הבת של דנה`."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Literal, NamedTuple

from ahocorasick_rs import AhoCorasick, Implementation

from relrag_pipelines.identity.mentions import Mention
from relrag_pipelines.text import kinship
from relrag_pipelines.text.letter_case import lower
from relrag_pipelines.text.names.czech_forms import possessives

Speaker = Literal["writer", "reader"]
End = Mention | Speaker
"""who stands at one end of a relationship: somebody who is named, who writes, or to whom it is written"""
_LONGEST = 40
"""characters before a word for a relative that may say whose he is"""
_FIRST_PERSON = re.compile(r"\b(?:jsem|jsme)\b", re.IGNORECASE)
_IN_WORD = re.compile(r"[\w-]")
_PREFIX = re.compile("[ושלבמכ]{0,2}ה?")
_LONGEST_PREFIX = 3
_SPEAKERS = ("writer", "reader")


class KinPhrase(NamedTuple):
    """One such place."""

    start: int
    end: int
    """of the words, with whose he is said to be"""
    type: str
    owner: Mention | str
    """who is named, writer, reader, his or her; empty where nothing says whose he is"""
    is_subject: bool | None
    """whether it is a Czech nominative; None of another language"""
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
            said = _hebrew if word.language == "he" else _latin
            if (found := said(text, (start, end), word, by_end, by_start)) is not None:
                yield found
                break


def _latin(
    text: str, place: tuple[int, int], word: _Word, by_end: Mapping[int, Mention], by_start: Mapping[int, Mention]
) -> KinPhrase | None:
    start, end = place
    before = _modifier_pattern().search(text, max(0, start - _LONGEST), start)
    owner, is_subject = _owners().get((before["owner"] or "").lower(), ("", None)) if before else ("", None)
    start = before.start() if before else start
    if owner and is_subject is not None and is_subject is not word.is_subject:
        return None  # the Czech cases differ, or it is a word of another language
    if before and before["owner"] and before["owner"].lower() == "má" and re.search(r"\w $", text[:start][-2:]):
        owner = ""  # `klíče má sousedka`: she has them
    if owner == "own":
        owner = "writer" if _FIRST_PERSON.search(text, max(0, start - _LONGEST), start) else ""
    if owner:
        return KinPhrase(start, end, word.type, owner, word.is_subject, word.is_plural)
    named: Mention | None = None
    if word.language == "en":
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


def _hebrew(
    text: str, place: tuple[int, int], word: _Word, by_end: Mapping[int, Mention], by_start: Mapping[int, Mention]
) -> KinPhrase | None:
    del by_end
    start, end = place
    if text.startswith(" של ", end) and word.owner in ("", "his", "her") and (named := by_start.get(end + 4)):
        return KinPhrase(start, named.end, word.type, named, None, word.is_plural)
    if word.owner:
        adjectives = _hebrew_adjective_pattern().match(text, end)
        return KinPhrase(start, adjectives.end() if adjectives else end, word.type, word.owner, None, word.is_plural)
    if behind := _hebrew_owner_pattern().match(text, end):
        owner, _ = _owners()[behind["owner"]]
        return KinPhrase(start, behind.end(), word.type, owner, None, word.is_plural)
    return KinPhrase(start, end, word.type, "", None, word.is_plural)


def is_possessive(text: str, mention: Mention) -> bool:
    """Whether a Czech name is a possessive adjective by its ending: Davidova, Lenčin."""
    return not mention.is_subject and text[mention.start : mention.end].endswith(_endings())


@functools.cache
def _endings() -> tuple[str, ...]:
    his, hers = possessives("Jan"), possessives("Jana", "f")
    return tuple(sorted({form.removeprefix("Jan") for form in (*his, *hers)}))


@functools.cache
def _words() -> Mapping[str, list[_Word]]:
    """Each word for what somebody is to another, in small letters, and what it may be."""
    found: dict[str, list[_Word]] = {}

    def add(word: str, *made: _Word) -> None:
        found.setdefault(word.lower(), []).extend(made)

    english, czech, hebrew = (kinship.types_of(language) for language in ("en", "cs", "he"))
    for word, kind in english.items():
        add(word, _Word(kind, "en"))
        add(word.replace("-", " "), _Word(kind, "en"))
        add(f"{word}s", _Word(kind, "en", is_plural=True))
    for word, meant in kinship.question_forms("en").items():
        add(word, _Word(english[meant], "en", is_plural=word not in ("hubby", "baby")))
    for word, kind in czech.items():
        add(word, _Word(kind, "cs", True))
    for word, kind in kinship.czech_cases().items():
        add(word, _Word(kind, "cs", False))
    for word, meant in kinship.question_forms("cs").items():
        add(word, _Word(czech[meant], "cs", True, is_plural=True))
    for word, kind in hebrew.items():
        add(word, _Word(kind, "he"))
    for word, kind in kinship.types_of("he", "of").items():
        add(word, _Word(kind, "he", owner="her" if word.endswith("ה") else "his"))
    for part, owner in zip(("mine", "yours"), _SPEAKERS, strict=True):
        for word, kind in kinship.types_of("he", part).items():
            add(word, _Word(kind, "he", owner=owner))
    return found


@functools.cache
def _owners() -> Mapping[str, tuple[str, bool | None]]:
    """Word that says whose somebody is -> whose, and whether it is a Czech nominative."""
    plain = {word: (owner, None) for language in ("en", "he") for word, owner in kinship.owners(language).items()}
    both = ("jeho", "její")  # in all cases
    czech = {word: (owner, None if word in both else True) for word, owner in kinship.owners("cs").items()}
    oblique = {word: (owner, False) for word, owner in kinship.owners("cs", "oblique_owners").items()}
    return plain | czech | oblique


def _alternatives(words: Iterable[str]) -> str:
    return "|".join(re.escape(word) for word in sorted(words, key=len, reverse=True))


@functools.lru_cache(1)  # asked of a text for strangers, for relationships and for facts
def _places(text: str) -> tuple[tuple[int, int, str], ...]:
    """Where the words stand that name a relative, with what Hebrew writes before them, the longest first; and which."""
    said = lower(text)
    found: list[tuple[int, int, str]] = []
    hits = sorted(_automaton().find_matches_as_indexes(said, overlapping=True), key=lambda one: (one[1], -one[2]))
    for _, start, end in hits:
        begin = _word_begin(said, start)
        if begin is not None and not _IN_WORD.match(said, end) and (not found or start >= found[-1][1]):
            found.append((begin, end, said[start:end]))
    return tuple(found)


def _word_begin(text: str, start: int) -> int | None:
    """Where the word begins that holds a word for a relative: there, or with what Hebrew writes before it."""
    begin = start
    while begin and start - begin <= _LONGEST_PREFIX and _IN_WORD.match(text, begin - 1):
        begin -= 1
    if begin == start:
        return begin
    return begin if "א" <= text[start] <= "ת" and _PREFIX.fullmatch(text, begin, start) else None


@functools.cache
def _automaton() -> AhoCorasick:
    return AhoCorasick(sorted(_words()), implementation=Implementation.DFA)


@functools.cache
def _modifier_pattern() -> re.Pattern[str]:
    adjective = _alternatives(word for language in ("en", "cs") for word in kinship.adjectives(language))
    owner = _alternatives(word for word in _owners() if not "א" <= word[0] <= "ת")
    return re.compile(rf"(?:(?<!\w)(?P<owner>{owner}) )?(?:(?<!\w)(?:{adjective}) ){{0,2}}$", re.IGNORECASE)


@functools.cache
def _hebrew_adjective_pattern() -> re.Pattern[str]:
    return re.compile(rf"(?: (?:{_alternatives(kinship.adjectives('he'))})(?!\w)){{0,2}}")


@functools.cache
def _hebrew_owner_pattern() -> re.Pattern[str]:
    return re.compile(rf"{_hebrew_adjective_pattern().pattern} (?P<owner>{_alternatives(kinship.owners('he'))})(?!\w)")
