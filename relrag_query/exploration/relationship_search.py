"""Searches relationships by their meaning and by their words."""

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
from relrag_query.people.people import People
from relrag_query.people.question_words import QuestionWords
from relrag_query.people.relations import FAMILY
from relrag_query.people.relationship_vectors import MAX_RESULTS, RelationshipSearchResult
from relrag_query.retrieval.question_reader import redact_question
from relrag_query.retrieval.term_coverage import query_terms

_WORD_WEIGHT, _MEANING_WEIGHT = 0.5, 0.5
"""weights of words and meaning in the rank of a relationship"""
_MIN_SHARE_OF_BEST = 0.6
"""share of the best rank below which a relationship is left out as unrelated"""
_MIN_RANK = 0.3
"""if the best rank is below this, no relationship is returned: none shares words or meaning with the question"""


def relationship_vector_search(
    archive: Archive,
    query: str,
    threshold: float = 0.0,
    user_id: str = "",
    relationship_types: Collection[str] | None = None,
) -> list[RelationshipSearchResult]:
    """At most 20 relationships with the highest similarity to a query, none below the threshold, best first.

    `user_id` is a client, who sees relationships stated in its own records; empty: the owner. `relationship_types`
    (mentor, spouse) keeps those whose type or description contains one. Empty if the archive has no vectors.
    """
    with archive.people() as people:
        rows = _rows(archive, people, user_id, relationship_types)
        scored = zip(rows, _similarities(archive, query, rows), strict=True)
    near = [(row, similarity) for row, similarity in scored if similarity is not None and similarity >= threshold]
    near.sort(key=lambda pair: (-pair[1], statement_overlay.key_of(pair[0])))
    return [relationship_vectors.result(row, similarity) for row, similarity in near[:MAX_RESULTS]]


def related_to(archive: Archive, query: str, user_id: str, person: str, limit: int) -> list[RelationshipSearchResult]:
    """The relationships with the best ranks by words and meaning, of the types that the question names, if any."""
    with archive.people() as people:
        types, rows = _rows_in_question(archive, people, query, user_id)
        if person:
            rows = _with_end_in(rows, [people.find_one(person).person_id])
        names: dict[int, str] = {}
        if not user_id:
            names = {person_id: end.name for person_id, end in people.by_id(_ends(rows)).items()}
    if not rows:
        return []
    if user_id:
        names = names_in_records(archive, [relationship_vectors.result(row, 0.0) for row in rows])
    similarities = [max(0.0, similarity or 0.0) for similarity in _similarities(archive, query, rows)]
    shares = relationship_vectors.share_of_words(rows, names, query_terms(query, archive.term_frequencies()))
    ranks = [
        _WORD_WEIGHT * share + _MEANING_WEIGHT * similarity
        for share, similarity in zip(shares, similarities, strict=True)
    ]
    positions = _best_positions(rows, ranks, of_type=types is not None)[:limit]
    return [relationship_vectors.result(rows[row], similarities[row] or shares[row]) for row in positions]


def _rows_in_question(
    archive: Archive, people: People, query: str, user_id: str
) -> tuple[Collection[str] | None, list[PersonRelationship]]:
    """The relationship types that a question names, None if it names none, and the relationships of these types."""
    words = QuestionWords(query, people)
    request = None if user_id else questions.read(words)
    if request and request.asks == "family":
        return FAMILY, _with_end_in(_rows(archive, people, user_id, FAMILY), request.people)
    types = {word.type for word in words.kin_words} or None
    return types, _rows(archive, people, user_id, types)


def _with_end_in(rows: Sequence[PersonRelationship], person_ids: Collection[int]) -> list[PersonRelationship]:
    """The relationships of any of these people."""
    return [row for row in rows if not {row.from_person_id, row.to_person_id}.isdisjoint(person_ids)]


def _best_positions(rows: Sequence[PersonRelationship], ranks: Sequence[float], *, of_type: bool) -> list[int]:
    """Positions of the relationships to return, the best first; all of them if the question names their type."""
    best = max(ranks)
    if not of_type and best < _MIN_RANK:
        return []
    order = sorted(range(len(rows)), key=lambda position: (-ranks[position], statement_overlay.key_of(rows[position])))
    return [position for position in order if of_type or ranks[position] >= _MIN_SHARE_OF_BEST * best]


def _rows(archive: Archive, people: People, user_id: str, types: Collection[str] | None) -> list[PersonRelationship]:
    """The relationships visible to a user; their text hashes are recomputed if the journal has new statements."""
    store = archive.settings.key_store
    rows = [relation.row for relation in people.relationships()]
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
    new_hashes = [row.text_hash for row in rows if row.source_ref.startswith(statement_overlay.JOURNAL) or row.notes]
    further = {}
    if new_hashes and vector_cache.path(archive.settings.home_path).exists():
        with vector_cache.open(archive.settings.home_path) as cache:
            further = vector_cache.find(cache, str(archive.generation.manifest["embedder"]), new_hashes)
    return vectors.similarities(meaning, hashes, further)


def _ends(rows: Sequence[PersonRelationship]) -> set[int]:
    return {person_id for row in rows for person_id in (row.from_person_id, row.to_person_id)}
