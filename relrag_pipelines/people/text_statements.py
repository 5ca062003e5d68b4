"""Reads relationships and facts from the texts of a month, by patterns, signatures and titles of chats."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import date
from typing import NamedTuple

from relrag_pipelines.identity import signatures
from relrag_pipelines.identity.kin_phrases import End
from relrag_pipelines.identity.kinship import StatedRelation, stated_relations
from relrag_pipelines.identity.mentions import Mention, MentionFinder, certain_person
from relrag_pipelines.identity.resolve import Resolution
from relrag_pipelines.identity.text_facts import stated_facts, stated_roles
from relrag_pipelines.records import TextFact, TextRelationship
from relrag_pipelines.sources.kind import RecordType
from relrag_pipelines.text import fact_phrases, kinship
from relrag_pipelines.text.names.personal_name import WrittenName, parse

STATED_CONFIDENCE = 0.8
"""confidence in a statement that a pattern matches in a text"""
_CHANGING = frozenset({"lives_in", "works_at", "phone"})
"""predicates whose value changes over time: a value counts from the day of the record that states it"""


class Text(NamedTuple):
    """A record's text."""

    asset_id: str
    text: str
    type: RecordType
    day: date | None
    """in the owner's time zone"""
    client_id: str | None
    thread_id: str | None
    subject: str | None
    signature: str = ""
    """the signature below the text of a mail"""
    bulk: bool = False
    """a mail to many, or by a program: it states nothing about its sender"""
    ts: int | None = None
    """Unix seconds"""

    @property
    def end(self) -> str:
        """The text with its signature."""
        return f"{self.text}\n{self.signature}"


class RecordPeople(NamedTuple):
    """The people of the records."""

    present: Mapping[str, Collection[int]]
    """asset_id -> its participants"""
    writers: Mapping[str, int]
    """asset_id -> its writer"""
    owner: int | None


class Speakers(NamedTuple):
    """The writer and reader of a text."""

    writer: int | None
    reader: int | None
    """None if there are several"""
    participants: Collection[int]

    def who(self, end: End, *, is_name: bool = False) -> int | None:
        """The person at an end of a relation; None if not certain. `is_name`: no common word can be there."""
        if not isinstance(end, Mention):
            return self.writer if end == "writer" else self.reader
        return certain_person(end._replace(is_word=end.is_word and not is_name), self.participants)


def read(
    finder: MentionFinder, lake_month: str, texts: Iterable[Text], people: RecordPeople, resolution: Resolution
) -> tuple[list[TextRelationship], list[TextFact]]:
    """The rows of text_relationships and text_facts; statements whose people are not certain are left out.

    The texts must not contain what mails quote or forward: that is not written by their senders.
    """
    relations: dict[tuple[str, int, int, str, str], TextRelationship] = {}
    facts: dict[tuple[str, str, int, str, str], TextFact] = {}
    texts = [text for text in texts if not text.bulk]
    partners = _partners(texts, people, resolution)
    for text in filter(_may_tell, texts):
        mentions = finder.find(text.text)
        related = stated_relations(text.text, mentions)
        speakers = _speakers(text, people, partners)
        for from_id, to_id, type_, quote in _relations(text, mentions, related, speakers, people, resolution):
            key = (lake_month, from_id, to_id, type_, text.asset_id)
            relations.setdefault(key, TextRelationship(*key, quote, text.client_id))
        for person_id, predicate, value, quote in _facts(text, mentions, related, speakers, resolution):
            since = text.day.isoformat() if text.day and predicate in _CHANGING else None
            fact = TextFact(lake_month, person_id, predicate, value, STATED_CONFIDENCE, text.asset_id, quote, since)
            facts.setdefault((lake_month, text.asset_id, person_id, predicate, value), fact)
    for from_id, to_id, type_, text in _titles(texts, people):
        key = (lake_month, from_id, to_id, type_, text.asset_id)
        relations.setdefault(key, TextRelationship(*key, text.subject or "", text.client_id))
    return list(relations.values()), list(facts.values())


def _may_tell(text: Text) -> bool:
    """Whether a text may state something: most contain no kin term and no word of a pattern."""
    return text.type.mail or kinship.may_name(text.text) or fact_phrases.may_state(text.text)


def _partners(texts: Sequence[Text], people: RecordPeople, resolution: Resolution) -> dict[str, int]:
    """thread_id -> the owner's partner in a chat with one person that has that person's name as its title."""
    chats: defaultdict[str, set[int]] = defaultdict(set)
    titles: dict[str, str] = {}
    for text in texts:
        writer = people.writers.get(text.asset_id)
        if text.type.chat and text.thread_id and writer is not None:
            titles[text.thread_id] = text.subject or ""
            chats[text.thread_id] |= {writer} - {people.owner}
    alone = {thread: next(iter(writers)) for thread, writers in chats.items() if len(writers) == 1}
    return {
        thread: partner
        for thread, partner in alone.items()
        if _is_title_of(titles[thread], resolution.people[partner].names)
    }


def _is_title_of(title: str, names: Sequence[WrittenName]) -> bool:
    title_words = set(parse(title).words)
    return any(name.words and set(name.words) == title_words for name in names)


def _speakers(text: Text, people: RecordPeople, partners: Mapping[str, int]) -> Speakers:
    """The writer of a text, and its only reader in a chat of two or a mail."""
    writer, present = people.writers.get(text.asset_id), people.present.get(text.asset_id, ())
    pair: Collection[int | None] = ()
    if text.thread_id in partners:
        pair = (partners[text.thread_id or ""], people.owner)
    elif text.type.mail and writer is not None:
        pair = present
    readers = {person for person in pair if person is not None and person != writer}
    return Speakers(writer, next(iter(readers)) if len(readers) == 1 else None, present)


def _relations(
    text: Text,
    mentions: Sequence[Mention],
    related: list[StatedRelation],
    speakers: Speakers,
    people: RecordPeople,
    resolution: Resolution,
) -> Iterator[tuple[int, int, str, str]]:
    roles = stated_roles(text.text, mentions)
    for relation, is_name in [*((kin, True) for kin in related), *((role, False) for role in roles)]:
        owner, other = speakers.who(relation.owner), speakers.who(relation.other, is_name=is_name)
        if owner is not None and other is not None and owner != other:
            yield owner, other, relation.relationship_type, text.text[relation.start : relation.end]
    if people.owner is not None:
        yield from _signed_relation(text, speakers, resolution)


def _signed_relation(text: Text, speakers: Speakers, resolution: Resolution) -> Iterator[tuple[int, int, str, str]]:
    """What the writer of a mail is to its reader, by how it is signed."""
    if not text.type.mail or speakers.writer is None or speakers.reader is None:
        return
    if signed := signatures.relative(text.end, resolution.people[speakers.writer].names):
        yield speakers.reader, speakers.writer, signed.value, signed.quote


def _facts(
    text: Text, mentions: Sequence[Mention], related: list[StatedRelation], speakers: Speakers, resolution: Resolution
) -> Iterator[tuple[int, str, str, str]]:
    for fact in stated_facts(text.text, mentions, text.day):
        person = speakers.who(fact.owner)
        if person is not None:
            yield person, fact.predicate, fact.value, text.text[fact.start : fact.end]
    for relation in related:
        person, other = speakers.who(relation.owner), relation.other
        several = isinstance(other, Mention) and len(other.person_ids) > 1 and speakers.who(other) is None
        if person is not None and several and isinstance(other, Mention):
            value = text.text[other.start : other.end]  # one of several who bear the name
            yield person, relation.relationship_type, value, text.text[relation.start : relation.end]
    yield from _signed_facts(text, speakers, resolution)


def _signed_facts(text: Text, speakers: Speakers, resolution: Resolution) -> Iterator[tuple[int, str, str, str]]:
    """What the signature of a mail states of its writer."""
    if text.type.mail and speakers.writer is not None:
        for signed in signatures.facts(text.end, resolution.people[speakers.writer].names):
            yield speakers.writer, signed.predicate, signed.value, signed.quote


def _chat_partners(texts: Iterable[Text], people: RecordPeople) -> Mapping[str, dict[int, Text]]:
    """Chat -> the people who write in it, without the owner, and a text of each."""
    chats: defaultdict[str, dict[int, Text]] = defaultdict(dict)
    for text in texts:
        writer = people.writers.get(text.asset_id)
        if text.type.chat and text.thread_id and writer is not None and writer != people.owner:
            chats[text.thread_id].setdefault(writer, text)
    return chats


def _titles(texts: Sequence[Text], people: RecordPeople) -> Iterator[tuple[int, int, str, Text]]:
    """Relatives whom the owner names by the title of a chat with one person: `Máma`."""
    for writers in _chat_partners(texts, people).values():
        if len(writers) == 1 and people.owner is not None:
            ((writer, text),) = writers.items()
            type_ = kinship.type_in_name(parse(text.subject or "").words)
            if type_ and type_ not in kinship.ROLES:
                yield people.owner, writer, type_, text
