"""Finds kin terms in texts with their owners: `my sister`, `David's wife`, `tvůj táta`, `הבת של דנה`."""

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
"""a person at one end of a relationship: a name, the writer, or the reader"""
_MAX_OWNER_CHARS = 40
"""characters before a kin term that may name its owner"""
_FIRST_PERSON = re.compile(r"\b(?:jsem|jsme)\b", re.IGNORECASE)
_IN_WORD = re.compile(r"[\w-]")
_PREFIX = re.compile(f"{languages.prefix_pattern(2)}{languages.article_pattern()}?")
_MAX_PREFIX_LETTERS = 3
_OWNERS_OF_PARTS = {"mine": "writer", "yours": "reader", "his": "his", "hers": "her"}
"""parts of kinship.toml whose words contain their owner -> owner"""


class KinPhrase(NamedTuple):
    """A kin term with its owner."""

    start: int
    end: int
    """span of the term with its owner"""
    type: str
    owner: Mention | str
    """a name, writer, reader, his or her; empty if the text names no owner"""
    is_subject: bool | None
    """whether the term is a nominative; None in a language without cases"""
    is_plural: bool


class _Word(NamedTuple):
    type: str
    language: str
    is_subject: bool | None = None
    is_plural: bool = False
    owner: str = ""
    """the owner, if the word itself contains it: אשתי"""


def kin_phrases(text: str, mentions: Iterable[Mention]) -> tuple[KinPhrase, ...]:
    """The kin phrases of a text, in order, given the names in it."""
    return _kin_phrases(text, tuple(mentions))


@functools.lru_cache(maxsize=4)
def _kin_phrases(text: str, mentions: tuple[Mention, ...]) -> tuple[KinPhrase, ...]:
    """The latest texts are remembered: names, relations and facts each ask for the phrases of the same text."""
    return tuple(_phrases(text, mentions))


def _phrases(text: str, mentions: tuple[Mention, ...]) -> Iterator[KinPhrase]:
    by_end, by_start = {mention.end: mention for mention in mentions}, {mention.start: mention for mention in mentions}
    for start, end, written in _kin_terms(text):
        for word in _words()[written]:
            reader = _owner_behind if languages.language(word.language).prefixes else _owner_before
            if (phrase := reader(text, (start, end), word, by_end, by_start)) is not None:
                yield phrase
                break


def _owner_before(
    text: str, span: tuple[int, int], word: _Word, by_end: Mapping[int, Mention], by_start: Mapping[int, Mention]
) -> KinPhrase | None:
    start, end = span
    modifiers = _modifier_pattern().search(text, max(0, start - _MAX_OWNER_CHARS), start)
    owner_word = (modifiers["owner"] or "").lower() if modifiers else ""
    owner, is_subject = _owners().get(owner_word, ("", None))
    start = modifiers.start() if modifiers else start
    if owner and is_subject is not None and is_subject is not word.is_subject:
        return None  # the cases differ, or it is a word of another language
    phrase = KinPhrase(start, end, word.type, "", word.is_subject, word.is_plural)
    if owner := _owner_in_sentence(text, start, owner_word, owner):
        return phrase._replace(owner=owner)
    if languages.language(word.language).has_cases:
        return _with_inflected_name(text, phrase, by_end, by_start)
    return _with_owner_name(text, phrase, by_end, by_start)


def _owner_in_sentence(text: str, start: int, owner_word: str, owner: str) -> str:
    """The owner that a possessive word means in front of a phrase: `own` depends on the person of the verb."""
    if owner_word == "má" and re.search(r"\w $", text[:start][-2:]):
        return ""  # `klíče má sousedka`: she has them
    if owner != "own":
        return owner
    return "writer" if _FIRST_PERSON.search(text, max(0, start - _MAX_OWNER_CHARS), start) else ""


def _with_owner_name(
    text: str, phrase: KinPhrase, by_end: Mapping[int, Mention], by_start: Mapping[int, Mention]
) -> KinPhrase:
    """The phrase with a name that owns it: `David's wife`, `the wife of David`."""
    start, end = phrase.start, phrase.end
    owner: Mention | None = None
    if text[start - 3 : start] in ("'s ", "’s "):
        owner = by_end.get(start - 3)
    elif text[start - 2 : start] in ("' ", "’ ") and text[start - 3 : start - 2] == "s":
        owner = by_end.get(start - 2)
    elif text.startswith(" of ", end) and (owner := by_start.get(end + 4)):
        article = 4 if text[start - 4 : start].lower() == "the " else 0
        return phrase._replace(start=start - article, end=owner.end, owner=owner, is_subject=None)
    return phrase if owner is None else phrase._replace(start=owner.start, owner=owner)


def _with_inflected_name(
    text: str, phrase: KinPhrase, by_end: Mapping[int, Mention], by_start: Mapping[int, Mention]
) -> KinPhrase:
    """The phrase with a name that owns it: `Davidova žena`, `manžel Věry`."""
    start, end = phrase.start, phrase.end
    owner = by_end.get(start - 1) if text[start - 1 : start] == " " else None
    if owner is not None and is_possessive(text, owner):
        return phrase._replace(start=owner.start, owner=owner)
    following = by_start.get(end + 1) if text[end : end + 1] == " " else None
    if phrase.is_subject and following and not following.is_subject and not is_possessive(text, following):
        return phrase._replace(end=following.end, owner=following)
    return phrase


def _owner_behind(
    text: str, span: tuple[int, int], word: _Word, by_end: Mapping[int, Mention], by_start: Mapping[int, Mention]
) -> KinPhrase | None:
    del by_end
    start, end = span
    of = next((of for of in languages.words_for_of(prefixed=True) if text.startswith(of, end)), "")
    if of and word.owner in ("", "his", "her") and (named := by_start.get(end + len(of))):
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
    """Each kin term in small letters -> its meanings."""
    meanings: dict[str, list[_Word]] = {}
    for code in kinship.STATING:
        for word, meaning in _words_of(code):
            meanings.setdefault(word.lower(), []).append(meaning)
    return meanings


def _words_of(code: str) -> Iterator[tuple[str, _Word]]:
    """The kin terms of a language with their meanings; of a word's meanings the first that fits a text counts."""
    is_subject = True if languages.language(code).has_cases else None
    types = kinship.types_of(code)
    for word, kind in types.items():
        yield from _dictionary_forms(code, word, _Word(kind, code, is_subject))
    for form, kind in kinship.inflected_forms(code).items():
        yield form, _Word(kind, code, False)
    for form, word in kinship.question_forms(code).items():
        yield form, _Word(types[word], code, is_subject, is_plural=form not in kinship.singulars(code))
    for part, owner in _OWNERS_OF_PARTS.items():
        for form, kind in kinship.types_of(code, part).items():
            yield form, _Word(kind, code, owner=owner)


def _dictionary_forms(code: str, word: str, meaning: _Word) -> Iterator[tuple[str, _Word]]:
    """A kin term as a dictionary has it, with and without hyphens, and its plurals."""
    for form in dict.fromkeys((word, word.replace("-", " "))):
        yield form, meaning
    for form in kinship.plurals(code, word):
        yield form, meaning._replace(is_plural=True)


@functools.cache
def _owners() -> Mapping[str, tuple[str, bool | None]]:
    """Possessive word -> its owner, and whether it is a nominative; None if it is the same in all cases."""
    owners: dict[str, tuple[str, bool | None]] = {}
    for code in kinship.STATING:
        oblique = kinship.owners(code, "oblique_owners")
        in_all_cases = ("his", "her") if oblique else ("writer", "reader", "his", "her", "own")
        owners |= {
            word: (owner, None if owner in in_all_cases else True) for word, owner in kinship.owners(code).items()
        }
        owners |= {word: (owner, False) for word, owner in oblique.items()}
    return owners


def _codes(*, owner_behind: bool) -> list[str]:
    """The languages in which a word for the owner follows the word for the relative, or precedes it."""
    return [code for code in kinship.STATING if bool(languages.language(code).prefixes) is owner_behind]


def _alternatives(words: Iterable[str]) -> str:
    return "|".join(re.escape(word) for word in sorted(words, key=len, reverse=True)) or "(?!)"


@functools.lru_cache(1)  # a text is searched for strangers, for relationships and for facts
def _kin_terms(text: str) -> tuple[tuple[int, int, str], ...]:
    """Start, end and word of each kin term, prefixed letters included; the longest match wins."""
    lower_text = lower(text)
    terms: list[tuple[int, int, str]] = []
    hits = sorted(_automaton().find_matches_as_indexes(lower_text, overlapping=True), key=lambda hit: (hit[1], -hit[2]))
    for _, start, end in hits:
        begin = _word_begin(lower_text, start)
        if begin is not None and not _IN_WORD.match(lower_text, end) and (not terms or start >= terms[-1][1]):
            terms.append((begin, end, lower_text[start:end]))
    return tuple(terms)


def _word_begin(text: str, start: int) -> int | None:
    """Start of the word that contains the term, prefixed letters included; None if the term is inside another word."""
    begin = start
    while begin and start - begin <= _MAX_PREFIX_LETTERS and _IN_WORD.match(text, begin - 1):
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
