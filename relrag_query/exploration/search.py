"""Searches passages, people and relationships together."""

from __future__ import annotations

import contextvars
import functools
from collections.abc import Collection
from concurrent.futures import ThreadPoolExecutor

from relrag_query.archive import Archive
from relrag_query.exploration.nodes import Exploration, endpoint_nodes, named_nodes, source_nodes
from relrag_query.exploration.relationship_search import related_to, relationship_vector_search
from relrag_query.people.relationship_search import MAX_RESULTS
from relrag_query.retrieval.question_length import shorten

DESCRIPTION = (
    "Explore the knowledge graph using semantic search and text matching. "
    "Finds relevant entities (People, Concepts, Entities, Sources) and relationships. "
    "Expands the graph to show connections. Use for broad investigation when you need "
    "to discover what the user knows about a topic, person, or relationship."
)
"""description of the tool"""


def find_nodes_via_relationship_search(
    archive: Archive,
    query: str,
    threshold: float = 0.0,
    user_id: str = "",
    relationship_types: Collection[str] | None = None,
    *,
    by_words: bool = False,
    person: str = "",
    limit: int = MAX_RESULTS,
) -> Exploration:
    """The most similar relationships, and their people, each once, with aliases and facts.

    With `by_words`, relationships that share words with the query are among them, ranked by words and meaning. A
    `person` limits these to one person.
    """
    query = shorten(query)
    if by_words:
        relationships = related_to(archive, query, threshold, user_id, relationship_types, person, limit)
    else:
        relationships = relationship_vector_search(archive, query, threshold, user_id, relationship_types)[:limit]
    with archive.people() as people:
        return Exploration(endpoint_nodes(archive, people, relationships, user_id), relationships)


def explore(
    archive: Archive,
    query: str,
    *,
    search_relationships: bool = True,
    user_id: str = "",
    person: str = "",
    limit: int = 5,
) -> Exploration:
    """People, records and relationships for a query; relationships are ranked by meaning and words together.

    `person` limits the result to one person. Raises PeopleError if it is unclear who is meant, WrongQuestion if the
    query is too long.
    A client (`user_id`) sees relationships that its own records state, and no record of the archive's owner.
    """
    if user_id and person:  # resolving a name would reveal records of other users
        raise ValueError("a client is not told who somebody is; leave `person` out")
    query = shorten(query)
    via_relationships = functools.partial(
        find_nodes_via_relationship_search, archive, query, 0.0, user_id, by_words=True, person=person, limit=limit
    )
    with ThreadPoolExecutor(2) as threads:
        # run in the caller's context, so that cancelling the caller cancels these
        run = [contextvars.copy_context().run for _ in range(2)]
        searched = threads.submit(run[0], source_nodes, archive, query, person, limit) if not user_id else None
        related = threads.submit(run[1], via_relationships) if search_relationships else None
        sources = searched.result() if searched else []
        ends = related.result() if related else Exploration([], [])
    with archive.people() as people:
        named = [] if user_id else named_nodes(people, query)
    nodes = [*ends.nodes, *named, *sources]
    return Exploration(list({node.entity_key: node for node in reversed(nodes)}.values())[::-1], ends.edges)
