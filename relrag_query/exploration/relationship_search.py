"""Relationships that a question is about, by their meaning and by their words."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from relrag_pipelines.identity import statement_overlay
from relrag_pipelines.people import profiles
from relrag_pipelines.records import PersonRelationship
from relrag_pipelines.stores import vector_cache
from relrag_query.archive import Archive
from relrag_query.exploration.nodes import names_in_records
from relrag_query.people import questions, relationship_vectors
from relrag_query.people.kin_words import kin_words
from relrag_query.people.people import People
from relrag_query.people.relations import FAMILY
from relrag_query.people.relationship_vectors import MOST, RelationshipSearchResult
from relrag_query.retrieval.question import redact_question
from relrag_query.retrieval.term_coverage import query_terms

_WORDS, _MEANING = 0.5, 0.5
"""what words and meaning count where relationships are ranked by both"""
_NEAR = 0.6
"""share of the best one's rank below which a relationship is about something else"""
_LEAST = 0.3
"""rank of the best below which no relationship is found: it shares neither word nor meaning with the question"""


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
    kept.sort(key=lambda one: (-one[1], statement_overlay.key_of(one[0])))
    return [relationship_vectors.result(row, similarity) for row, similarity in kept[:MOST]]


def related_to(archive: Archive, query: str, user_id: str, person: str, limit: int) -> list[RelationshipSearchResult]:
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
        names = {one: person.name for one, person in people.by_id(_ends(rows)).items()} if not user_id else None
    if not rows:
        return []
    if names is None:
        names = names_in_records(archive, [relationship_vectors.result(row, 0.0) for row in rows])
    similar = [max(0.0, one or 0.0) for one in _similarities(archive, query, rows)]
    shares = relationship_vectors.share_of_words(rows, names, query_terms(query, archive.term_frequencies()))
    ranks = [_WORDS * share + _MEANING * near for share, near in zip(shares, similar, strict=True)]
    best = max(ranks)
    if types is None and best < _LEAST:
        return []
    order = sorted(range(len(rows)), key=lambda place: (-ranks[place], statement_overlay.key_of(rows[place])))
    kept = [place for place in order if types is not None or ranks[place] >= _NEAR * best][:limit]
    return [relationship_vectors.result(rows[place], similar[place] or shares[place]) for place in kept]


def _rows(archive: Archive, people: People, user_id: str, types: Collection[str] | None) -> list[PersonRelationship]:
    """The relationships that a user may see; those of which something was said since with the hash of their text."""
    store = archive.settings.key_store
    rows = [one.row for one in people.relationships()]
    if people.statements.entries and store.exists():
        keyed = store.load().content_hash
        rows = [replace(row, text_hash=profiles.text_hash(keyed, row)) for row in rows]
    return relationship_vectors.visible(rows, user_id, types)


def _similarities(archive: Archive, query: str, rows: Sequence[PersonRelationship]) -> list[float | None]:
    meaning, _ = archive.meaning(redact_question(query, archive.settings))
    if meaning is None:
        return [None] * len(rows)
    vectors = archive.relationship_vectors()
    hashes = [row.text_hash for row in rows]
    said_since = [row.text_hash for row in rows if row.source_ref.startswith(statement_overlay.JOURNAL) or row.notes]
    further = {}
    if said_since and vector_cache.path(archive.settings.home_path).exists():
        with vector_cache.open(archive.settings.home_path) as cache:
            further = vector_cache.find(cache, str(archive.generation.manifest["embedder"]), said_since)
    return vectors.similarities(meaning, hashes, further)


def _ends(rows: Sequence[PersonRelationship]) -> set[int]:
    return {one for row in rows for one in (row.from_person_id, row.to_person_id)}
