"""People, facts and relationships as models that serialise to JSON, for pages, API and MCP."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict
from typing import Any
from zoneinfo import ZoneInfo

from pydantic import BaseModel, Field

from relrag_pipelines.settings import now
from relrag_query.people.ages import age
from relrag_query.people.indexed_person import IndexedPerson
from relrag_query.people.page import Moment, PersonPage
from relrag_query.people.traffic import Traffic
from relrag_query.retrieval.excerpts import plain
from relrag_query.service.replies import local_time
from relrag_query.understanding.people_question import Relation


class AliasReply(BaseModel):
    """What a person is called or reached by."""

    alias: str
    kind: str = Field(description="name, phone, email or whatsapp")


class FactReply(BaseModel):
    """What is known of a person, and who says so."""

    predicate: str
    value: str
    years: int | None = Field(description="of a birthday: how old the person is today")
    confidence: float
    source_ref: str
    source_quote: str | None
    valid_from: str | None
    valid_to: str | None


class RelationshipReply(BaseModel):
    """What another person is to this one."""

    other_id: int
    other: str
    relationship_type: str
    description: str | None
    attitude: int | None = Field(description="1 (very negative) to 5 (very positive)")
    proximity: int | None = Field(description="1 (distant) to 5 (very close)")
    notes: list[str]
    confidence: float
    source_ref: str
    source_quote: str | None
    valid_from: str | None
    valid_to: str | None


class ChannelReply(BaseModel):
    """How much a person wrote, received or took part in, by one type of records."""

    rag_source_type: str
    records: int
    first: str | None
    last: str | None


class YearReply(BaseModel):
    """How much a person wrote, received or took part in during a year, UTC."""

    year: int
    records: int


class TrafficReply(BaseModel):
    """What passes between a person and another by one type of records: counted, not stated."""

    other_id: int
    other: str
    rag_source_type: str
    written: int = Field(description="mails to the other, and messages in a chat of the two")
    received: int = Field(description="those of the other to the person")
    together: int = Field(description="calls, meetings and others in which both take part")
    groups: int = Field(description="chats of more than two in which both write")
    first: str | None
    last: str | None


class LatestReply(BaseModel):
    """One of the latest records of a person."""

    ref: str
    rag_source_type: str
    role: str
    time: str | None
    title: str
    preview: str


class PersonReply(BaseModel):
    """The page about a person."""

    person_id: int
    generation: int
    name: str
    is_owner: bool
    aliases: list[AliasReply]
    facts: list[FactReply]
    relationships: list[RelationshipReply]
    records: int = Field(description="that the person wrote, received or took part in; as in the list of people")
    mentions: int = Field(description="records that name the person, beside these")
    first_contact: str | None
    last_contact: str | None
    channels: list[ChannelReply]
    years: list[YearReply] = Field(description="those with any, the oldest first")
    traffic: list[TrafficReply] = Field(description="with whom there is most of it first")
    latest: list[LatestReply]


class PersonBrief(BaseModel):
    """One line of a list of people."""

    person_id: int
    name: str
    is_owner: bool
    records: int


class PersonChoice(PersonBrief):
    """One of several people whom a name may mean."""

    latest: str | None = Field(description="when the newest record of that person is from")


class PeopleReply(BaseModel):
    """The people of an archive, those of most records first."""

    generation: int
    people: list[PersonBrief]
    next_cursor: str | None = None


class ExploredNode(BaseModel):
    """A person or record that a question is about."""

    entity_key: str
    kind: str = Field(description="person or source")
    name: str
    similarity: float
    data: dict[str, Any] = Field(description="of a person the aliases and facts, of a record its text and header")


class ExploredRelationship(BaseModel):
    """A relationship that a question is about."""

    from_entity_key: str
    to_entity_key: str
    relationship_type: str
    description: str | None
    attitude: int | None
    proximity: int | None
    similarity: float
    properties: dict[str, Any]


class ExploreReply(BaseModel):
    """What a question is about, best first: people and records, and relationships between people."""

    generation: int
    nodes: list[ExploredNode]
    edges: list[ExploredRelationship]


def person_reply(page: PersonPage, zone: ZoneInfo, generation: int) -> PersonReply:
    """The reply for the page about a person."""
    person = page.person
    aliases = dict.fromkeys((alias["alias"], alias["kind"]) for alias in person.aliases)
    return PersonReply(
        person_id=person.person_id,
        generation=generation,
        name=person.name,
        is_owner=person.is_owner,
        aliases=[AliasReply(alias=alias, kind=kind) for alias, kind in aliases],
        facts=[_fact(asdict(fact), zone) for fact in page.facts],
        relationships=[_relationship(relation, page.others) for relation in page.relations],
        records=page.records,
        mentions=page.mentions,
        first_contact=_time(page.first_contact, zone),
        last_contact=_time(page.last_contact, zone),
        channels=[
            ChannelReply(
                rag_source_type=count["asset_type"],
                records=count["records"],
                first=local_time(count["first"], zone, count["asset_type"], count["first_quality"]),
                last=local_time(count["last"], zone, count["asset_type"], count["last_quality"]),
            )
            for count in page.traffic
        ],
        years=[YearReply(**year) for year in page.years],
        traffic=[traffic_reply(pair, page.others, zone) for pair in page.pairs],
        latest=[_latest(record, zone) for record in page.latest],
    )


def person_briefs(people: Iterable[IndexedPerson], records: Mapping[int, int]) -> list[PersonBrief]:
    """One row per person, those with most records first; `records` holds the counts by person_id."""
    briefs = [
        PersonBrief(
            person_id=person.person_id,
            name=person.name,
            is_owner=person.is_owner,
            records=records.get(person.person_id, 0),
        )
        for person in people
    ]
    return sorted(briefs, key=lambda brief: (-brief.records, brief.person_id))


def traffic_reply(traffic: Traffic, others: dict[int, IndexedPerson], zone: ZoneInfo) -> TrafficReply:
    """The reply for the traffic between two people."""
    return TrafficReply(
        other_id=traffic.other_id,
        other=others[traffic.other_id].name if traffic.other_id in others else "",
        rag_source_type=traffic.asset_type,
        written=traffic.written,
        received=traffic.received,
        together=traffic.together,
        groups=traffic.groups,
        first=local_time(traffic.first, zone, traffic.asset_type),
        last=local_time(traffic.last, zone, traffic.asset_type),
    )


def _time(moment: Moment, zone: ZoneInfo) -> str | None:
    return local_time(moment.ts, zone, moment.rag_source_type, moment.date_quality)


def _fact(fact: dict[str, Any], zone: ZoneInfo) -> FactReply:
    is_birthday = fact["predicate"] == "birthday"
    years = age(fact["value"], now().astimezone(zone).date()) if is_birthday else None
    return FactReply(**{name: fact[name] for name in FactReply.model_fields if name in fact}, years=years)


def _relationship(relation: Relation, others: dict[int, IndexedPerson]) -> RelationshipReply:
    row = asdict(relation.row)
    fields = {name: row[name] for name in RelationshipReply.model_fields if name in row}
    other = {"other_id": relation.other_id, "other": others[relation.other_id].name}
    return RelationshipReply(**fields | other | {"relationship_type": relation.type})


def _latest(record: dict[str, Any], zone: ZoneInfo) -> LatestReply:
    return LatestReply(
        ref=record["asset_ref"],
        rag_source_type=record["asset_type"],
        role=record["role"],
        time=local_time(record["ts"], zone, record["asset_type"], record["date_quality"]),
        title=record["subject"] or "",
        preview=" ".join(plain(record["text"] or "", record["asset_type"]).split())[:240],
    )
