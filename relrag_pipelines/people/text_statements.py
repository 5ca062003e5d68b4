"""What the texts of a month state of people: relationships and facts, by patterns, signatures and titles of chats."""

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
"""confidence in what a text states in words that a pattern knows"""
_CHANGING = frozenset({"lives_in", "works_at", "phone"})
"""predicates whose value is another one later: it is known to hold from the day on which it was said"""


class Text(NamedTuple):
    """A record's text."""

    asset_id: str
    text: str
    type: RecordType
    day: date | None
    """of the owner's time zone"""
    client_id: str | None
    thread_id: str | None
    subject: str | None
    signature: str = ""
    """what stands apart below the text of a mail"""
    bulk: bool = False
    """a mail that was sent to many, or by a program: it states nothing of its sender"""
    ts: int | None = None
    """Unix seconds"""

    @property
    def end(self) -> str:
        """The text with its signature."""
        return f"{self.text}\n{self.signature}"


class RecordPeople(NamedTuple):
    """Who has to do with the records."""

    present: Mapping[str, Collection[int]]
    """asset_id -> who takes part"""
    writers: Mapping[str, int]
    """asset_id -> who wrote it"""
    owner: int | None


class Speakers(NamedTuple):
    """Between whom a text passes."""

    writer: int | None
    reader: int | None
    """None where it is for several"""
    participants: Collection[int]
    """who takes part"""

    def who(self, end: End, *, is_name: bool = False) -> int | None:
        """Who that is; None where it is not certain. `is_name`: it stands where a common word cannot stand."""
        if not isinstance(end, Mention):
            return self.writer if end == "writer" else self.reader
        return certain_person(end._replace(is_word=end.is_word and not is_name), self.participants)


def read(
    finder: MentionFinder, lake_month: str, texts: Iterable[Text], people: RecordPeople, found: Resolution
) -> tuple[list[TextRelationship], list[TextFact]]:
    """The rows of text_relationships and text_facts.

    Where it is not certain who is meant nothing is said. What a mail quotes or forwards is not of its sender, and does
    not belong into its text.
    """
    relations: dict[tuple[str, int, int, str, str], TextRelationship] = {}
    facts: dict[tuple[str, str, int, str, str], TextFact] = {}
    texts = [one for one in texts if not one.bulk]
    partners = _partners(texts, people, found)
    for one in filter(_may_tell, texts):
        mentions = finder.find(one.text)
        related = stated_relations(one.text, mentions)
        speakers = _speakers(one, people, partners)
        for from_id, to_id, type_, quote in _relations(one, mentions, related, speakers, people, found):
            key = (lake_month, from_id, to_id, type_, one.asset_id)
            relations.setdefault(key, TextRelationship(*key, quote, one.client_id))
        for person_id, predicate, value, quote in _facts(one, mentions, related, speakers, found):
            since = one.day.isoformat() if one.day and predicate in _CHANGING else None
            made = TextFact(lake_month, person_id, predicate, value, STATED_CONFIDENCE, one.asset_id, quote, since)
            facts.setdefault((lake_month, one.asset_id, person_id, predicate, value), made)
    for from_id, to_id, type_, one in _titles(texts, people):
        key = (lake_month, from_id, to_id, type_, one.asset_id)
        relations.setdefault(key, TextRelationship(*key, one.subject or "", one.client_id))
    return list(relations.values()), list(facts.values())


def _may_tell(one: Text) -> bool:
    """Whether a text may state something: most hold no word of a relative and no piece of a pattern."""
    return one.type.mail or kinship.may_name(one.text) or fact_phrases.may_state(one.text)


def _partners(texts: Sequence[Text], people: RecordPeople, found: Resolution) -> dict[str, int]:
    """thread_id -> with whom the owner chats there, where it is one person, by whose name the chat is called."""
    chats: defaultdict[str, set[int]] = defaultdict(set)
    titles: dict[str, str] = {}
    for one in texts:
        writer = people.writers.get(one.asset_id)
        if one.type.chat and one.thread_id and writer is not None:
            titles[one.thread_id] = one.subject or ""
            chats[one.thread_id] |= {writer} - {people.owner}
    alone = {thread: next(iter(writers)) for thread, writers in chats.items() if len(writers) == 1}
    return {thread: one for thread, one in alone.items() if _is_title_of(titles[thread], found.people[one].names)}


def _is_title_of(title: str, names: Sequence[WrittenName]) -> bool:
    said = set(parse(title).words)
    return any(name.words and set(name.words) == said for name in names)


def _speakers(one: Text, people: RecordPeople, partners: Mapping[str, int]) -> Speakers:
    """Who writes a text and to whom alone, by a chat of two or a mail."""
    writer, here = people.writers.get(one.asset_id), people.present.get(one.asset_id, ())
    others = {other for other in here if other != writer} if one.type.mail and writer is not None else set()
    if one.thread_id in partners:
        both = (partners[one.thread_id or ""], people.owner)
        others = {other for other in both if other is not None and other != writer}
    return Speakers(writer, next(iter(others)) if len(others) == 1 else None, here)


def _relations(
    one: Text,
    mentions: Sequence[Mention],
    related: list[StatedRelation],
    speakers: Speakers,
    people: RecordPeople,
    found: Resolution,
) -> Iterator[tuple[int, int, str, str]]:
    writer = speakers.writer
    roles = stated_roles(one.text, mentions)
    for said, is_name in [*((kin, True) for kin in related), *((role, False) for role in roles)]:
        owner, other = speakers.who(said.owner), speakers.who(said.other, is_name=is_name)
        if owner is not None and other is not None and owner != other:
            yield owner, other, said.relationship_type, one.text[said.start : said.end]
    if one.type.mail and writer is not None and people.owner is not None:
        signed = signatures.relative(one.end, found.people[writer].names)
        if signed and speakers.reader is not None:
            yield speakers.reader, writer, signed.value, signed.quote


def _facts(
    one: Text, mentions: Sequence[Mention], related: list[StatedRelation], speakers: Speakers, found: Resolution
) -> Iterator[tuple[int, str, str, str]]:
    for said in stated_facts(one.text, mentions, one.day):
        person = speakers.who(said.owner)
        if person is not None:
            yield person, said.predicate, said.value, one.text[said.start : said.end]
    for relation in related:
        person, other = speakers.who(relation.owner), relation.other
        several = isinstance(other, Mention) and len(other.person_ids) > 1 and speakers.who(other) is None
        if person is not None and several and isinstance(other, Mention):
            value = one.text[other.start : other.end]  # one of several who bear the name
            yield person, relation.relationship_type, value, one.text[relation.start : relation.end]
    if one.type.mail and speakers.writer is not None:
        for signed in signatures.facts(one.end, found.people[speakers.writer].names):
            yield speakers.writer, signed.predicate, signed.value, signed.quote


def _titles(texts: Sequence[Text], people: RecordPeople) -> Iterator[tuple[int, int, str, Text]]:
    """Whom the owner calls `Máma` by the title of a chat with that one person."""
    chats: defaultdict[str, dict[int, Text]] = defaultdict(dict)
    for one in texts:
        writer = people.writers.get(one.asset_id)
        if one.type.chat and one.thread_id and writer is not None and writer != people.owner:
            chats[one.thread_id].setdefault(writer, one)
    for writers in chats.values():
        if len(writers) == 1 and people.owner is not None:
            ((writer, one),) = writers.items()
            type_ = kinship.type_in_name(parse(one.subject or "").words)
            if type_ and type_ not in kinship.ROLES:
                yield people.owner, writer, type_, one
