"""People and records as the nodes of an exploration."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from relrag_query.archive import Archive
from relrag_query.people.people import People
from relrag_query.people.relationship_vectors import RelationshipSearchResult, entity_key
from relrag_query.retrieval.excerpts import plain


@dataclass
class GraphNode:
    """A person, a record, or an entity or concept of a GraphRAG index."""

    entity_key: str
    kind: str
    """person or source; entity or concept where a GraphRAG index has them"""
    name: str
    similarity: float
    data: dict[str, Any] = field(default_factory=dict)
    """of a person the aliases and facts, of a record its text and header"""


@dataclass
class Exploration:
    """What was found, best first."""

    nodes: list[GraphNode]
    edges: list[RelationshipSearchResult]


def endpoint_nodes(
    archive: Archive, people: People, found: Sequence[RelationshipSearchResult], user_id: str
) -> list[GraphNode]:
    """Both people of each relationship, once, with the similarity of the nearest; whom it leads to first.

    A client gets no aliases and facts, which are from records of all sources, and names as its own records say them.
    """
    nearest: dict[int, float] = {}
    for one in found:
        for person_id in reversed(one.ends):
            nearest.setdefault(person_id, one.similarity)
    if user_id:
        names = names_in_records(archive, found)
        return [
            GraphNode(entity_key(one), "person", names.get(one, entity_key(one)), near, {"person_id": one})
            for one, near in nearest.items()
        ]
    return _nodes(people, nearest)


def names_in_records(archive: Archive, found: Sequence[RelationshipSearchResult]) -> dict[int, str]:
    """What the records that state relationships call both people."""
    names: dict[int, str] = {}
    for one in found:
        for ref in (one.properties["source_ref"], *one.properties["further_source_refs"]):
            record = archive.record(ref)
            told = record.extra.get("relationship") if record else None
            for person_id, which in zip(one.ends, ("from_name", "to_name"), strict=True):
                if isinstance(told, dict) and isinstance(name := told.get(which), str):
                    names.setdefault(person_id, name)
    return names


def named_nodes(people: People, query: str) -> list[GraphNode]:
    """The people whom a query names, in the order of their ids."""
    return _nodes(people, dict.fromkeys(sorted(people.finder(query).people(query)), 1.0))


def _nodes(people: People, similarity: dict[int, float]) -> list[GraphNode]:
    known_people, facts = people.by_id(similarity), people.facts(list(similarity)) if similarity else []
    found = []
    for person_id, near in similarity.items():
        person = known_people.get(person_id)
        if person is not None:
            aliases = list(dict.fromkeys(one["alias"] for one in person.aliases if one["kind"] == "name"))
            told = [asdict(one) for one in facts if one.person_id == person_id]
            data = {"person_id": person_id, "aliases": aliases, "facts": told, "is_owner": person.is_owner}
            found.append(GraphNode(entity_key(person_id), "person", person.name, near, data))
    return found


def source_nodes(archive: Archive, query: str, person: str, limit: int) -> list[GraphNode]:
    """The records that a search finds, each once, best first."""
    found: dict[str, GraphNode] = {}
    for hit in archive.search(query, person=person, limit=limit).hits:
        chunk = hit.chunk
        text = plain(hit.text, chunk.rag_source_type)
        data = {"type": chunk.rag_source_type, "from": chunk.from_, "timestamp": chunk.timestamp, "text": text}
        name = chunk.subject or chunk.file_name or chunk.asset_id
        found.setdefault(chunk.asset_id, GraphNode(chunk.asset_id, "source", name, round(hit.display_score, 4), data))
    return list(found.values())
