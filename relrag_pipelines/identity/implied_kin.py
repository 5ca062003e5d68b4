"""Who may be what to whom, where a chat speaks of a relative and then of somebody by name, and does not say it is he.

`my brother is coming`, and in reply `Rob?`; `how's Fiona?`, and in reply `my wife is fine`; `teta Hana přijede`, of
whoever writes or reads. It is likely and no more: what comes of it is offered, never taken for certain.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from relrag_pipelines.identity.kin_phrases import End, KinPhrase, is_possessive, kin_phrases
from relrag_pipelines.identity.kinship import APPOSITION, COPULA, is_quoted, sentence_begin, vocative
from relrag_pipelines.identity.mentions import Mention
from relrag_pipelines.identity.strangers import name_at
from relrag_pipelines.text import kinship
from relrag_pipelines.text.names import tables
from relrag_pipelines.text.names.forms import gender_of, nominatives

LONGEST = 300
"""characters of a message that is looked at"""
_TITLES = frozenset({"aunt_or_uncle", "grandparent", "cousin"})
"""what whole families call somebody: `teta Hana` may be of whoever reads as well"""
_ELDERS = _TITLES | {"parent", "sibling"}
"""whom a parent calls as the child does: a mother's `אבא` is the reader's father"""
_WORD = re.compile(r"[^\W\d_]+")
_TITLED = re.compile(r"(?:Dr|Mr|Mrs|Ms|Miss|MUDr|[Pp]an|[Pp]aní|[Dd]oktork?a?)\.? ([A-ZÁČĎÉĚÍŇÓŘŠŤÚŮÝŽ][^\W\d_]+)")
_ASSENT = re.compile(r"(?:(?:yes|yeah|yep|no|ano|jo|ne|כן|לא)\b[,.!]? )?", re.IGNORECASE)
_TOO = re.compile(r"(?<!\w)(?:too|also|either|taky|také|gam|גם)(?!\w)", re.IGNORECASE)
_I_AM = re.compile(r"(?:\b(?:jsem|I am|I['’]m|je|is)|(?<!\w)אני) $", re.IGNORECASE)
_SENTENCE_END = re.compile(r"[.!?\n,] *$|^$")


class ImpliedRelation(NamedTuple):
    """`other` may be the `relationship_type` of `owner`."""

    owner: End
    """writer and reader are those of the text that holds the word for the relative"""
    relationship_type: str
    other: Mention
    quote: str


def in_text(
    text: str, mentions: Sequence[Mention], *, by_parent: bool = False, is_chat: bool = True
) -> Iterator[ImpliedRelation]:
    """What one text implies; `by_parent`: its writer is a parent of whom it is written to.

    Of what is no chat only names beside words for relatives count.
    """
    if (is_chat and len(text) > LONGEST) or not kinship.may_name(text):
        return
    people = people_named(text, mentions)
    for phrase in _phrases(text, mentions):
        beside = _beside(text, phrase, people)
        other = beside
        if is_chat and beside is None:
            other = _begins_next(text, phrase, people) or _begins_before(text, phrase, people)
        is_stated = beside and (phrase.owner or not beside.is_subject or _I_AM.search(text, 0, phrase.start))
        is_title = phrase.type in kinship.ROLES and not phrase.owner  # `trenér Kříž`
        if other is not None and not is_stated and not is_title:
            for owner in _owners(phrase, text, named=beside is not None, by_parent=by_parent):
                yield ImpliedRelation(owner, phrase.type, other, text[phrase.start : phrase.end])


def in_reply(
    text: str, mentions: Sequence[Mention], reply: str, named: Sequence[Mention], *, by_parent: bool = False
) -> Iterator[ImpliedRelation]:
    """What is implied by a text that speaks of a relative and a reply that begins with a name, of the reply."""
    if max(len(text), len(reply)) > LONGEST or not kinship.may_name(text):
        return
    phrases = [one for one in _phrases(text, mentions) if _beside(text, one, people_named(text, mentions)) is None]
    phrases = [one for one in phrases if one.owner] or phrases
    others = [one for one in people_named(reply, named) if _is_told_of(reply, one)]
    if len(phrases) != 1 or not others or _TOO.search(reply) or kinship.may_name(reply[: others[0].start]):
        return
    phrase, (other, *more) = phrases[0], others
    alike = any(may_be(text, phrase, reply, one) for one in more) or _named_alike(
        text, phrase, people_named(text, mentions)
    )
    if may_be(text, phrase, reply, other) and not alike:
        for owner in _owners(phrase, text, named=False, by_parent=by_parent):
            yield ImpliedRelation(
                owner, phrase.type, other, f"{text[phrase.start : phrase.end]} ... {_clause(reply, other)}"
            )


def in_answer(
    question: str, named: Sequence[Mention], text: str, mentions: Sequence[Mention]
) -> Iterator[ImpliedRelation]:
    """What is implied by a question that names one person and an answer that begins with a word for a relative."""
    if max(len(text), len(question)) > LONGEST or "?" not in question or not kinship.may_name(text):
        return
    others, phrase = people_named(question, named), next(_phrases(text, mentions), None)
    begin = _ASSENT.match(text)
    if len(others) != 1 or phrase is None or begin is None or phrase.start != begin.end() or kinship.may_name(question):
        return
    if _beside(text, phrase, people_named(text, mentions)) is None and may_be(text, phrase, question, others[0]):
        for owner in _owners(phrase, text, named=False, by_parent=False):
            quote = f"{_clause(question, others[0])} ... {text[phrase.start : phrase.end]}"
            yield ImpliedRelation(owner, phrase.type, others[0], quote)


def shared_child(text: str, mentions: Sequence[Mention]) -> str | None:
    """The words for a child that a text calls `our daughter` to somebody who knows her name: he is a parent too."""
    if len(text) > LONGEST or not kinship.may_name(text):
        return None
    people = people_named(text, mentions)
    said = (one for one in _phrases(text, mentions) if one.type == "child" and _beside(text, one, people) is None)
    return next((words for one in said if _is_shared(words := text[one.start : one.end])), None)


def _is_shared(said: str) -> bool:
    return any(word in kinship.shared_words() for word in _WORD.findall(said.lower()))


def base_name(text: str, mention: Mention) -> str:
    """A name as it is given."""
    first, *more = text[mention.start : mention.end].split(" ")
    return " ".join([nominatives().get(first, first), *more])


def _phrases(text: str, mentions: Sequence[Mention]) -> Iterator[KinPhrase]:
    """The words for one relative that are neither quoted nor of somebody who is `his` or `hers`."""
    for phrase in kin_phrases(text, mentions):
        begin = sentence_begin(text, phrase.start)
        others = phrase.owner in ("his", "her") or (not phrase.owner and is_of_stranger(text, phrase))
        aside = (not phrase.owner and vocative(text, phrase)) or is_quoted(text, begin, phrase.end)
        if not (phrase.is_plural or others or aside):
            yield phrase


def is_of_stranger(text: str, phrase: KinPhrase) -> bool:
    """Whether a possessive stands before a word for a relative, of somebody whom nobody knows: `Milenin syn`."""
    before = re.search(r"(?<!\w)(?=\w)(\w+(?:['’]s)?) $", text[max(0, phrase.start - LONGEST) : phrase.start])
    if before is None or not before[1][0].isupper():
        return False
    word = Mention(before.start(1), before.end(1), (), False, False)
    return before[1].endswith(("'s", "’s")) or (is_possessive(before.string, word) and before[1] not in nominatives())


def _owners(phrase: KinPhrase, text: str, *, named: bool, by_parent: bool) -> Iterator[End]:
    if isinstance(phrase.owner, Mention) or phrase.owner == "reader":
        yield phrase.owner if isinstance(phrase.owner, Mention) else "reader"
    elif phrase.owner == "writer":
        yield "writer"
    elif named or means_own(phrase, text):
        by_reader = phrase.type in (_ELDERS if by_parent else _TITLES if named else ())
        if not (by_parent and by_reader):
            yield "writer"
        if by_reader:
            yield "reader"


def means_own(phrase: KinPhrase, text: str) -> bool:
    """Whether who writes such words, without saying whose, mostly means his own: `Mum rang`, `máma volala`, `אמא`."""
    return text[phrase.start].isupper() or not text[phrase.start].isascii() or phrase.is_subject is not None


def people_named(text: str, mentions: Sequence[Mention]) -> list[Mention]:
    """Who is named: the people whom somebody knows, given names, and family names behind a title."""
    found = {one.start: one for one in mentions}
    taken = [(one.start, one.end) for one in mentions]
    for match in _TITLED.finditer(text):
        if all(match.end() <= start or match.start() >= end for start, end in taken):
            found[match.start()] = Mention(match.start(), match.end(), (), False)
            taken.append(match.span())
    for match in _WORD.finditer(text):
        if any(match.end() > start and match.start() < end for start, end in taken):
            continue
        if one := name_at(text, match.start(), capital=False) or _inflected(match) or _asked_back(match):
            found[one.start] = one
            taken.append((one.start, one.end))
    return [found[start] for start in sorted(found)]


def _inflected(word: re.Match[str]) -> Mention | None:
    return Mention(*word.span(), (), False, False) if word[0] in nominatives() else None


def _asked_back(word: re.Match[str]) -> Mention | None:
    """A name that is a word too, where it is all that is asked: `Rob? super`."""
    alone = word.start() == 0 and word[0].istitle() and word.string.startswith("?", word.end())
    return Mention(*word.span(), (), False) if alone and tables.plain(word[0]) in tables.given_names() else None


def _beside(text: str, phrase: KinPhrase, people: Iterable[Mention]) -> Mention | None:
    """Who is named right behind a word for a relative."""
    begins = {one.start: one for one in people}
    for joint in (APPOSITION, COPULA):
        if (match := joint.match(text, phrase.end)) and (one := begins.get(match.end())):
            return one
    return None


def _begins_next(text: str, phrase: KinPhrase, people: Sequence[Mention]) -> Mention | None:
    """Whom the next sentence or clause begins with, where nobody else is named."""
    behind = [one for one in people if one.start >= phrase.end]
    if len(behind) != 1 or not may_be(text, phrase, text, behind[0]) or _named_alike(text, phrase, people, behind[0]):
        return None
    (one,) = behind
    begins = _SENTENCE_END.search(text[phrase.end : one.start]) is not None and one.start > phrase.end + 2
    return one if begins and one.is_subject and not _TOO.search(text, one.end) else None


def _begins_before(text: str, phrase: KinPhrase, people: Sequence[Mention]) -> Mention | None:
    """Whom the sentence before begins with, where nobody else is named: `Liz never rings. You ask your sister.`"""
    begin = sentence_begin(text, phrase.start)
    if len(people) != 1 or not phrase.owner or isinstance(phrase.owner, Mention) or not begin:
        return None
    (one,) = people
    told = one.end < begin and one.start == sentence_begin(text, max(0, begin - 2)) and one.is_subject
    return one if told and may_be(text, phrase, text, one) else None


def _is_told_of(text: str, one: Mention) -> bool:
    """Whether a reply speaks of somebody, and does not ask after somebody else."""
    begin = sentence_begin(text, one.start)
    rest = re.match(r"(?:(?! [:;]-?[)D])[^.!?\n])*(.?)", text[one.end :])
    return text[begin : one.start].strip() == "" or rest is None or rest[1] != "?"


def may_be(text: str, phrase: KinPhrase, other_text: str, other: Mention) -> bool:
    """Whether somebody may be called by that word: a woman no brother, and for a dentist a name with a title."""
    words = _WORD.findall(text[phrase.start : phrase.end])
    sex = next((found for word in reversed(words) if (found := kinship.gender(word))), "")
    first = base_name(other_text, other).split(" ")[0]
    if phrase.type in kinship.ROLES:
        return any(one.end() == other.end for one in _TITLED.finditer(other_text))
    return (bool(sex) and gender_of(first) in ("", sex)) or (phrase.type == "child" and not sex)


def _named_alike(text: str, phrase: KinPhrase, people: Iterable[Mention], but: Mention | None = None) -> bool:
    """Whether a text names somebody else who might be meant."""
    return any(
        one != but and one != phrase.owner and one.is_subject and may_be(text, phrase, text, one) for one in people
    )


def _clause(text: str, one: Mention) -> str:
    """The sentence in which somebody is named."""
    begin = sentence_begin(text, one.start)
    rest = re.match(r"[^.!?\n]*[.!?]?", text[one.end :])
    return text[begin : one.end].lstrip() + (rest[0] if rest else "")
