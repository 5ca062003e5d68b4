"""Finds names of unknown people next to kin terms and roles: behind `my brother`, before `, my landlord`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from relrag_pipelines import languages
from relrag_pipelines.identity.kin_phrases import KinPhrase, kin_phrases
from relrag_pipelines.identity.kinship import APPOSITION, COPULA, LIST_JOINT
from relrag_pipelines.identity.mentions import Mention
from relrag_pipelines.text import fact_phrases, kinship, stopwords
from relrag_pipelines.text.analyzer import PREFIXED_LETTER
from relrag_pipelines.text.names import tables
from relrag_pipelines.text.names.forms import gender_of, nominatives

_CAPITAL = "[A-ZÁČĎÉĚÍŇÓŘŠŤÚŮÝŽ]"
_NAME = re.compile(rf"[^\W\d_]+(?:[-'’]{_CAPITAL}[^\W\d_]+)?(?: {_CAPITAL}[^\W\d_]+(?:-[^\W\d_]+)?){{0,2}}(?!\w)")
_BEFORE = re.compile(rf"(?<!\w)(?P<name>{_CAPITAL}[^\W\d_]+(?: {_CAPITAL}[^\W\d_]+)?)(?:, | is | je | \()$")
_POSSESSIVE = re.compile(rf"(?<!\w)(?P<name>{_CAPITAL}[^\W\d_]+)['’]s $")
_NO_NAMES = frozenset(
    {
        *fact_phrases.months(),
        *("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"),
        *("christmas", "easter", "hanukkah", "facebook", "google", "zoom", "mr", "mrs", "ms", "miss", "dr"),
        *(language.name for language in languages.languages()),
    }
)
_AFTER_NAME = re.compile(
    r"\s*(?:[.,;!)\n]|$)|['’]s\b| (?:is|was|has|had|will|can|could|would|comes?|came|says?|said|sends?|works?|lives?"
    r"|wants?|knows?|and|je|byla?|bude|má|může|chce|říkal?a?|přijede|pošle|pracuje|bydlí|a)\b"
)
"""text behind a name that is no known given name: else it may be any word with a capital letter"""
_MAX_NAME_CHARS = 60
"""characters before a phrase that may be a name"""


def with_strangers(text: str, mentions: Sequence[Mention]) -> list[Mention]:
    """The names in a text with those of strangers, who have no `person_ids`, in order."""
    if not kinship.may_name(text):
        return list(mentions)
    strangers: dict[int, Mention] = {}
    for phrase in kin_phrases(text, mentions):
        for name in _adjacent_names(text, phrase):
            if all(name.end <= other.start or name.start >= other.end for other in (*mentions, *strangers.values())):
                strangers[name.start] = name
    return sorted([*mentions, *strangers.values()])


def _adjacent_names(text: str, phrase: KinPhrase) -> Iterator[Mention]:
    """The names next to a phrase."""
    for joint in (APPOSITION, COPULA):
        yield from _names_after(text, phrase, joint)
    for of in languages.words_for_of():
        if text.startswith(of, phrase.end) and (name := name_at(text, phrase.end + len(of), capital=False)):
            yield name
    for pattern in (_BEFORE, _POSSESSIVE):
        before = pattern.search(text, max(0, phrase.start - _MAX_NAME_CHARS), phrase.start)
        if before and is_given(before["name"]):
            yield Mention(before.start("name"), before.end("name"), (), False)


def _names_after(text: str, phrase: KinPhrase, joint: re.Pattern[str]) -> Iterator[Mention]:
    """The name that a joint connects with a phrase; behind a plural the whole list of names."""
    match = joint.match(text, phrase.end)
    while match and (name := name_at(text, match.end(), capital=bool(phrase.owner) and match.re is not COPULA)):
        yield name
        match = LIST_JOINT.match(text, name.end) if phrase.is_plural else None


def name_at(text: str, start: int, *, capital: bool) -> Mention | None:
    """The name that begins there: a given name, or with `capital` any other word with a capital letter."""
    match = _NAME.match(text, start)
    if match is None or match[0][0].islower():
        return None
    first = match[0].split(" ")[0]
    is_name = is_given(first) or first in nominatives()
    if not is_name and capital and first.istitle() and _is_no_other_word(first):
        is_name = " " in match[0] or _AFTER_NAME.match(text, match.end()) is not None
    return Mention(start, start + _length(match[0]), (), False, first not in nominatives()) if is_name else None


def _length(name: str) -> int:
    """Length of the name without trailing words that are no names: `Šárka Malá Vám`."""
    words = name.split(" ")
    while len(words) > 1 and not _is_no_other_word(words[-1]) and not is_given(words[-1]):
        words.pop()
    return len(" ".join(words))


def base_name(text: str, mention: Mention) -> str:
    """The name of a stranger in the nominative: of Barboru Malou it is Barbora Malá."""
    first, *more = text[mention.start : mention.end].split(" ")
    if first in nominatives() and gender_of(nominatives()[first]) == "f":
        more = [re.sub("(?:ou|é)$", "á", word) for word in more]
    return " ".join([nominatives().get(first, first), *more])


def is_given(name: str) -> bool:
    """Whether a name begins with a given name that is no other word."""
    first = name.split(" ")[0].split("-")[0]
    return (not first[0].islower()) and first not in tables.common() and tables.plain(first) in tables.given_names()


def _is_no_other_word(word: str) -> bool:
    if not word.replace("-", "").isalpha() or PREFIXED_LETTER.match(word):
        return False
    other_words = (stopwords.function_words(), _NO_NAMES, kinship.types_of_names())
    return all(tables.plain(word) not in words for words in other_words)
