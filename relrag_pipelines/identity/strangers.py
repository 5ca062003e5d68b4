"""Names of people whom nobody knows, where a text can name nobody else: behind `my brother`, before `, my landlord`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

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
        *("english", "german", "french", "spanish", "czech", "hebrew", "russian", "arabic"),
    }
)
_BEHIND = re.compile(
    r"\s*(?:[.,;!)\n]|$)|['’]s\b| (?:is|was|has|had|will|can|could|would|comes?|came|says?|said|sends?|works?|lives?"
    r"|wants?|knows?|and|je|byla?|bude|má|může|chce|říkal?a?|přijede|pošle|pracuje|bydlí|a)\b"
)
"""what stands behind a name, where it is no given name that is known: else it may be any word with a capital"""
_LONGEST = 60
"""characters before a phrase that may be a name"""


def with_strangers(text: str, mentions: Sequence[Mention]) -> list[Mention]:
    """The names in a text with those of strangers, who have no `person_ids`, in order."""
    if not kinship.may_name(text):
        return list(mentions)
    found: dict[int, Mention] = {}
    for phrase in kin_phrases(text, mentions):
        for one in _adjacent_names(text, phrase):
            if all(one.end <= other.start or one.start >= other.end for other in (*mentions, *found.values())):
                found[one.start] = one
    return sorted([*mentions, *found.values()])


def _adjacent_names(text: str, phrase: KinPhrase) -> Iterator[Mention]:
    """The names that stand beside a phrase, where somebody's name may stand."""
    for joint in (APPOSITION, COPULA):
        place = joint.match(text, phrase.end)
        while place and (one := name_at(text, place.end(), capital=bool(phrase.owner) and place.re is not COPULA)):
            yield one
            place = LIST_JOINT.match(text, one.end) if phrase.is_plural else None
    for of in (" of ", " של "):
        if text.startswith(of, phrase.end) and (one := name_at(text, phrase.end + len(of), capital=False)):
            yield one
    for pattern in (_BEFORE, _POSSESSIVE):
        before = pattern.search(text, max(0, phrase.start - _LONGEST), phrase.start)
        if before and is_given(before["name"]):
            yield Mention(before.start("name"), before.end("name"), (), False)


def name_at(text: str, start: int, *, capital: bool) -> Mention | None:
    """The name that begins there: a given name, or with `capital` any other word that is written with one."""
    match = _NAME.match(text, start)
    if match is None or match[0][0].islower():
        return None
    first = match[0].split(" ")[0]
    certain = capital and first.istitle() and _is_no_other_word(first)
    if is_given(first) or first in nominatives() or (certain and (" " in match[0] or _BEHIND.match(text, match.end()))):
        return Mention(start, start + _length(match[0]), (), False, first not in nominatives())
    return None


def _length(name: str) -> int:
    """Of a name without a word behind it that is none: `Šárka Malá Vám`."""
    words = name.split(" ")
    while len(words) > 1 and not _is_no_other_word(words[-1]) and not is_given(words[-1]):
        words.pop()
    return len(" ".join(words))


def base_name(text: str, mention: Mention) -> str:
    """The name of a stranger as it is given: of Barboru Malou it is Barbora Malá."""
    first, *more = text[mention.start : mention.end].split(" ")
    if first in nominatives() and gender_of(nominatives()[first]) == "f":
        more = [re.sub("(?:ou|é)$", "á", one) for one in more]
    return " ".join([nominatives().get(first, first), *more])


def is_given(name: str) -> bool:
    """Whether a name begins with a given name that is no other word."""
    first = name.split(" ")[0].split("-")[0]
    return (not first[0].islower()) and first not in tables.common() and tables.plain(first) in tables.given_names()


def _is_no_other_word(word: str) -> bool:
    known = (stopwords.function_words(), _NO_NAMES, kinship.types_of_names())
    return (
        word.replace("-", "").isalpha()
        and not PREFIXED_LETTER.match(word)
        and all(tables.plain(word) not in words for words in known)
    )
