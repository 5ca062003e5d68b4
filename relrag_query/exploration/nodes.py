"""People and records as the nodes of an exploration."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from relrag_query.archive import Archive
from relrag_query.people.people import People
from relrag_query.people.relationship_search import RelationshipSearchResult, entity_key
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
    """aliases and facts of a person; text and header of a record"""


@dataclass
class Exploration:
    """Nodes and edges, best first."""

    nodes: list[GraphNode]
    edges: list[RelationshipSearchResult]


def endpoint_nodes(
    archive: Archive, people: People, relationships: Sequence[RelationshipSearchResult], user_id: str
) -> list[GraphNode]:
    """Both people of each relationship, once, with the highest similarity; the target of a relationship comes first.

    A client gets no aliases and facts, which come from all sources, and names as its own records write them.
    """
    nearest: dict[int, float] = {}
    for relationship in relationships:
        for person_id in reversed(relationship.ends):
            nearest.setdefault(person_id, relationship.similarity)
    if user_id:
        names = names_in_records(archive, relationships)
        return [
            GraphNode(
                entity_key(person_id),
                "person",
                names.get(person_id, entity_key(person_id)),
                score,
                {"person_id": person_id},
            )
            for person_id, score in nearest.items()
        ]
    return _nodes(people, nearest)


def names_in_records(archive: Archive, relationships: Sequence[RelationshipSearchResult]) -> dict[int, str]:
    """Names of both people in the records that state the relationships, by person_id."""
    names: dict[int, str] = {}
    for relationship in relationships:
        for ref in (relationship.properties["source_ref"], *relationship.properties["further_source_refs"]):
            record = archive.record(ref)
            stated = record.extra.get("relationship") if record else None
            for person_id, field_name in zip(relationship.ends, ("from_name", "to_name"), strict=True):
                if isinstance(stated, dict) and isinstance(name := stated.get(field_name), str):
                    names.setdefault(person_id, name)
    return names


def named_nodes(people: People, query: str) -> list[GraphNode]:
    """The people named in a query, in the order of their ids."""
    return _nodes(people, dict.fromkeys(sorted(people.finder(query).people(query)), 1.0))


def _nodes(people: People, similarity: dict[int, float]) -> list[GraphNode]:
    known_people, facts = people.by_id(similarity), people.facts(list(similarity)) if similarity else []
    nodes = []
    for person_id, score in similarity.items():
        person = known_people.get(person_id)
        if person is not None:
            aliases = list(dict.fromkeys(alias["alias"] for alias in person.aliases if alias["kind"] == "name"))
            person_facts = [asdict(fact) for fact in facts if fact.person_id == person_id]
            data = {"person_id": person_id, "aliases": aliases, "facts": person_facts, "is_owner": person.is_owner}
            nodes.append(GraphNode(entity_key(person_id), "person", person.name, score, data))
    return nodes


def source_nodes(archive: Archive, query: str, person: str, limit: int) -> list[GraphNode]:
    """The records of a search, each once, best first."""
    nodes: dict[str, GraphNode] = {}
    for hit in archive.search(query, person=person, limit=limit).hits:
        chunk = hit.chunk
        text = plain(hit.text, chunk.rag_source_type)
        data = {"type": chunk.rag_source_type, "from": chunk.from_, "timestamp": chunk.timestamp, "text": text}
        name = chunk.subject or chunk.file_name or chunk.asset_id
        nodes.setdefault(chunk.asset_id, GraphNode(chunk.asset_id, "source", name, round(hit.display_score, 4), data))
    return list(nodes.values())
