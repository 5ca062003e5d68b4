"""Who may be what to whom by how chats speak of people, as facts of little confidence: they are offered, never sure."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, NamedTuple

from relrag_pipelines.identity import implied_kin
from relrag_pipelines.identity.implied_kin import ImpliedRelation
from relrag_pipelines.identity.mentions import Mention, MentionFinder, certain_person
from relrag_pipelines.identity.resolve import Resolution
from relrag_pipelines.records import TextFact
from relrag_pipelines.text import kinship
from relrag_pipelines.text.names.personal_name import parse

if TYPE_CHECKING:
    from relrag_pipelines.people.text_statements import Speakers, Text

IMPLIED_CONFIDENCE = 0.5
"""confidence in what is likely and nowhere stated"""
_LATEST = 6 * 3600
"""seconds after which a message is no reply to the one before"""
_BOTH = "spouse"


class Said(NamedTuple):
    """A message of a chat, between whom it passes, and who is named in it."""

    text: Text
    speakers: Speakers
    mentions: tuple[Mention, ...]


def read(
    finder: MentionFinder,
    lake_month: str,
    texts: Iterable[Text],
    speakers_of: Callable[[Text], Speakers],
    found: Resolution,
    owner: int | None,
) -> Iterator[TextFact]:
    """The rows of text_facts that texts imply, in any order, each of whose writer is known; `owner`: whose archive."""
    ordered = sorted(texts, key=lambda one: (one.thread_id or "", one.ts or 0))

    @functools.cache
    def speech(place: int) -> Said:
        one = ordered[place]
        return Said(one, speakers_of(one), finder.find(one.text))

    # few texts speak of a relative; of the others only those beside them are looked at
    for place in [place for place, one in enumerate(ordered) if kinship.may_name(one.text)]:
        one = speech(place)
        for implied in implied_kin.in_text(
            one.text.text, one.mentions, by_parent=_is_by_parent(one, owner), is_chat=one.text.type.chat
        ):
            yield from _fact(lake_month, implied, one, one, found)
        words = implied_kin.shared_child(one.text.text, one.mentions) if one.text.type.chat else None
        if words and one.speakers.reader is not None:
            yield from _parents(lake_month, one, words, found)
        if place and _is_reply(before := speech(place - 1), one):
            for implied in implied_kin.in_answer(before.text.text, before.mentions, one.text.text, one.mentions):
                yield from _fact(lake_month, implied, one, before, found)
        if place + 1 < len(ordered) and _is_reply(one, behind := speech(place + 1)):
            texts_of_both = (one.text.text, one.mentions, behind.text.text, behind.mentions)
            for implied in implied_kin.in_reply(*texts_of_both, by_parent=_is_by_parent(one, owner)):
                yield from _fact(lake_month, implied, one, behind, found)


def _parents(lake_month: str, one: Said, words: str, found: Resolution) -> Iterator[TextFact]:
    """That the two of a chat who have a child are spouses."""
    ends = (one.speakers.writer, one.speakers.reader)
    for person, other in (ends, ends[::-1]):
        if person is not None and other is not None:
            yield _made(lake_month, person, _BOTH, found.people[other].name, one.text.asset_id, words)


def _is_reply(first: Said, second: Said) -> bool:
    """Whether the other of two answers soon."""
    of_two = (
        first.text.type.chat
        and first.text.thread_id == second.text.thread_id
        and first.speakers.writer == second.speakers.reader
    )
    soon = (second.text.ts or 0) - (first.text.ts or 0) <= _LATEST
    return of_two and soon and first.speakers.writer != second.speakers.writer


def _is_by_parent(one: Said, owner: int | None) -> bool:
    """Whether it is written by whom a chat is with that is called `Mum`."""
    title = kinship.type_in_name(parse(one.text.subject or "").words)
    return title == "parent" and one.speakers.writer != owner


def _fact(
    lake_month: str, implied: ImpliedRelation, of_kin: Said, of_name: Said, found: Resolution
) -> Iterator[TextFact]:
    person = of_kin.speakers.who(implied.owner)
    known = certain_person(implied.other._replace(is_word=False), of_name.speakers.participants)
    speakers = (of_kin.speakers.writer, of_kin.speakers.reader)
    if person is None or known == person or (known is not None and known in speakers):
        return
    name = implied_kin.base_name(of_name.text.text, implied.other) if known is None else found.people[known].name
    yield _made(lake_month, person, implied.relationship_type, name, of_name.text.asset_id, implied.quote)


def _made(lake_month: str, person: int, type_: str, name: str, ref: str, quote: str) -> TextFact:
    return TextFact(lake_month, person, type_, name, IMPLIED_CONFIDENCE, ref, quote)
