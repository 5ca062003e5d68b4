"""Searches relationships by their meaning and by their words."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager

from relrag_pipelines.records import PersonRelationship
from relrag_query.archive import Archive
from relrag_query.exploration.nodes import names_in_records
from relrag_query.people import questions, relationship_search
from relrag_query.people.people import People
from relrag_query.people.question_words import QuestionWords
from relrag_query.people.relations import FAMILY
from relrag_query.people.relationship_search import RelationshipSearch, RelationshipSearchResult
from relrag_query.retrieval.term_coverage import query_terms
from relrag_query.understanding.phrases import load_phrases


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
    with _searching(archive, query, user_id, relationship_types) as search:
        return search.nearest(threshold)


def related_to(
    archive: Archive,
    query: str,
    threshold: float = 0.0,
    user_id: str = "",
    relationship_types: Collection[str] | None = None,
    person: str = "",
    limit: int = relationship_search.MAX_RESULTS,
) -> list[RelationshipSearchResult]:
    """The results of `relationship_vector_search` and those that share words with the query, ranked by both.

    Those of the types that the query names, or are given, are all related; of others those that rank near the best.
    With a `person` one end is that person. Raises PeopleError if it is unclear who is meant.
    """
    with archive.people() as people:
        types, ends = _of_question(people, query, user_id)
        ends = [people.find_one(person).person_id] if person else ends
    terms = query_terms(query, archive.term_frequencies())
    with _searching(archive, query, user_id, relationship_types or types, ends) as search:
        return search.best(terms, _names(archive, search.people, user_id), limit, threshold)


@contextmanager
def _searching(
    archive: Archive,
    query: str,
    user_id: str,
    types: Collection[str] | None,
    ends: Collection[int] | None = None,
) -> Iterator[RelationshipSearch]:
    with archive.people() as people:
        yield archive.relationship_search(people, query, user_id, types, ends)


def _of_question(people: People, query: str, user_id: str) -> tuple[Collection[str] | None, Collection[int] | None]:
    """The relationship types that a question names, and the people about whose family it is; None if it leaves it open.

    Only a question that names a family is read as one about people, which takes longer than the search.
    """
    words = QuestionWords(query, people)
    is_family = not user_id and load_phrases().intent.family.search(words.plain)
    request = questions.read(words) if is_family else None
    if request and request.asks == "family":
        return FAMILY, request.people
    return {word.type for word in words.kin_words} or None, None


def _names(
    archive: Archive, people: People, user_id: str
) -> Callable[[Sequence[PersonRelationship]], Mapping[int, str]]:
    """The names of the people of relationships; for a client as its own records write them."""

    def of_client(rows: Sequence[PersonRelationship]) -> Mapping[int, str]:
        return names_in_records(archive, [relationship_search.result(row, 0.0) for row in rows])

    def of_owner(rows: Sequence[PersonRelationship]) -> Mapping[int, str]:
        ends = {person_id for row in rows for person_id in (row.from_person_id, row.to_person_id)}
        return {person_id: person.name for person_id, person in people.by_id(ends).items()}

    return of_client if user_id else of_owner
