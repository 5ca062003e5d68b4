"""Explore the archive: people, what they are to one another, and the records that a question is about.

Passages and relationships are searched side by side. A relationship that is found is an edge, both its ends are nodes.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from relrag_pipelines.identity import stated
from relrag_pipelines.people import profiles
from relrag_pipelines.records import PersonRelationship
from relrag_pipelines.stores import vector_cache
from relrag_query.archive import Archive
from relrag_query.people import questions, relationship_search
from relrag_query.people.kin_words import kin_words
from relrag_query.people.people import People
from relrag_query.people.relations import FAMILY
from relrag_query.people.relationship_search import MOST, RelationshipSearchResult, entity_key
from relrag_query.retrieval.question import redact_question
from relrag_query.retrieval.term_coverage import query_terms

DESCRIPTION = (
    "Explore the knowledge graph using semantic search and text matching. "
    "Finds relevant entities (People, Concepts, Entities, Sources) and relationships. "
    "Expands the graph to show connections. Use for broad investigation when you need "
    "to discover what the user knows about a topic, person, or relationship."
)
"""what a tool of that name says of itself"""
_WORDS, _MEANING = 0.5, 0.5
"""what words and meaning count where relationships are ranked by both"""
_NEAR = 0.6
"""share of the best one's rank below which a relationship is about something else"""
_LEAST = 0.3
"""rank of the best below which no relationship is found: it shares neither word nor meaning with the question"""


@dataclass
class GraphNode:
    """A person or a record."""

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


def relationship_vector_search(
    archive: Archive,
    query: str,
    threshold: float = 0.0,
    user_id: str = "",
    relationship_types: Collection[str] | None = None,
) -> list[RelationshipSearchResult]:
    """The relationships whose meaning is nearest to a query, at most 20, none below the threshold, nearest first.

    `user_id` is a client, who sees what its own records say; empty: the owner. Of `relationship_types` (mentor, spouse)
    those are left whose type or description has one. Nothing where the archive is searched by words only.
    """
    with archive.people() as people:
        rows = _rows(archive, people, user_id, relationship_types)
        found = zip(rows, _similarities(archive, query, rows), strict=True)
    kept = [(row, similarity) for row, similarity in found if similarity is not None and similarity >= threshold]
    kept.sort(key=lambda one: (-one[1], stated.key_of(one[0])))
    return [relationship_search.result(row, similarity) for row, similarity in kept[:MOST]]


def find_nodes_via_relationship_search(
    archive: Archive,
    query: str,
    threshold: float = 0.0,
    user_id: str = "",
    relationship_types: Collection[str] | None = None,
) -> Exploration:
    """The relationships that are nearest, and each person whom they relate, once, with all that is known."""
    found = relationship_vector_search(archive, query, threshold, user_id, relationship_types)
    with archive.people() as people:
        return Exploration(_endpoints(archive, people, found, user_id), found)


def explore(
    archive: Archive,
    query: str,
    *,
    search_relationships: bool = True,
    user_id: str = "",
    person: str = "",
    limit: int = 5,
) -> Exploration:
    """People, records and relationships that a query is about; relationships by meaning and by words, fused.

    With a `person` those that have to do with that person; PeopleError where it is not certain who is meant.
    A client (`user_id`) sees relationships that its own records state, and no record of the archive's owner.
    """
    if user_id and person:  # whom a name may mean would tell of records of others
        raise ValueError("a client is not told who somebody is; leave `person` out")
    with ThreadPoolExecutor(2) as threads:
        searched = threads.submit(_sources, archive, query, person, limit) if not user_id else None
        related = threads.submit(_related, archive, query, user_id, person, limit) if search_relationships else None
        sources = searched.result() if searched else []
        edges = related.result() if related else []
    with archive.people() as people:
        named = [] if user_id else _named(people, query)
        nodes = [*_endpoints(archive, people, edges, user_id), *named, *sources]
    return Exploration(list({node.entity_key: node for node in reversed(nodes)}.values())[::-1], edges)


def _related(archive: Archive, query: str, user_id: str, person: str, limit: int) -> list[RelationshipSearchResult]:
    """The relationships that words and meaning find; of those that the question names by their type no others."""
    types: Collection[str] | None = {word.type for word in kin_words(query)} or None
    with archive.people() as people:
        asked = None if user_id else questions.read(query, people)
        if asked and asked.asks == "family":
            types = FAMILY
        rows = _rows(archive, people, user_id, types)
        if asked and asked.asks == "family":
            rows = [row for row in rows if not {row.from_person_id, row.to_person_id}.isdisjoint(asked.people)]
        if person:
            whose = people.one(person).person_id
            rows = [row for row in rows if whose in (row.from_person_id, row.to_person_id)]
        names = {one: person.name for one, person in people.known(_ends(rows)).items()} if not user_id else None
    if not rows:
        return []
    if names is None:
        names = _names_in_records(archive, [relationship_search.result(row, 0.0) for row in rows])
    similar = [max(0.0, one or 0.0) for one in _similarities(archive, query, rows)]
    shares = relationship_search.share_of_words(rows, names, query_terms(query, archive.term_frequencies()))
    ranks = [_WORDS * share + _MEANING * near for share, near in zip(shares, similar, strict=True)]
    best = max(ranks)
    if types is None and best < _LEAST:
        return []
    order = sorted(range(len(rows)), key=lambda place: (-ranks[place], stated.key_of(rows[place])))
    kept = [place for place in order if types is not None or ranks[place] >= _NEAR * best][:limit]
    return [relationship_search.result(rows[place], similar[place] or shares[place]) for place in kept]


def _rows(archive: Archive, people: People, user_id: str, types: Collection[str] | None) -> list[PersonRelationship]:
    """The relationships that a user may see; those of which something was said since with the hash of their text."""
    store = archive.settings.key_store
    rows = [one.row for one in people.relationships()]
    if people.pending.said and store.exists():
        keyed = store.load().content_hash
        rows = [replace(row, text_hash=profiles.text_hash(keyed, row)) for row in rows]
    return relationship_search.visible(rows, user_id, types)


def _similarities(archive: Archive, query: str, rows: Sequence[PersonRelationship]) -> list[float | None]:
    meaning, _ = archive.meaning(redact_question(query, archive.settings))
    if meaning is None:
        return [None] * len(rows)
    vectors = archive.relationship_vectors()
    hashes = [row.text_hash for row in rows]
    said_since = [row.text_hash for row in rows if row.source_ref.startswith(stated.JOURNAL) or row.notes]
    further = {}
    if said_since and vector_cache.path(archive.settings.home_path).exists():
        with vector_cache.open(archive.settings.home_path) as cache:
            further = vector_cache.find(cache, str(archive.generation.manifest["embedder"]), said_since)
    return vectors.similarities(meaning, hashes, further)


def _ends(rows: Sequence[PersonRelationship]) -> set[int]:
    return {one for row in rows for one in (row.from_person_id, row.to_person_id)}


def _endpoints(
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
        names = _names_in_records(archive, found)
        return [
            GraphNode(entity_key(one), "person", names.get(one, entity_key(one)), near, {"person_id": one})
            for one, near in nearest.items()
        ]
    return _nodes(people, nearest)


def _names_in_records(archive: Archive, found: Sequence[RelationshipSearchResult]) -> dict[int, str]:
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


def _named(people: People, query: str) -> list[GraphNode]:
    return _nodes(people, dict.fromkeys(sorted(people.finder(query).people(query)), 1.0))


def _nodes(people: People, similarity: dict[int, float]) -> list[GraphNode]:
    known_people, facts = people.known(similarity), people.facts(list(similarity)) if similarity else []
    found = []
    for person_id, near in similarity.items():
        person = known_people.get(person_id)
        if person is not None:
            aliases = list(dict.fromkeys(one["alias"] for one in person.aliases if one["kind"] == "name"))
            told = [asdict(one) for one in facts if one.person_id == person_id]
            data = {"person_id": person_id, "aliases": aliases, "facts": told, "is_owner": person.is_owner}
            found.append(GraphNode(entity_key(person_id), "person", person.name, near, data))
    return found


def _sources(archive: Archive, query: str, person: str, limit: int) -> list[GraphNode]:
    found: dict[str, GraphNode] = {}
    for hit in archive.search(query, person=person, limit=limit).hits:
        chunk = hit.chunk
        data = {"type": chunk.rag_source_type, "from": chunk.from_, "timestamp": chunk.timestamp, "text": chunk.text}
        name = chunk.subject or chunk.file_name or chunk.asset_id
        found.setdefault(chunk.asset_id, GraphNode(chunk.asset_id, "source", name, round(hit.display_score, 4), data))
    return list(found.values())
