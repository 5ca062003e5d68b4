"""What a question is about, from passages, people and relationships together."""

from __future__ import annotations

import contextvars
from collections.abc import Collection
from concurrent.futures import ThreadPoolExecutor

from relrag_query.archive import Archive
from relrag_query.exploration.nodes import Exploration, endpoint_nodes, named_nodes, source_nodes
from relrag_query.exploration.relationship_search import related_to, relationship_vector_search
from relrag_query.retrieval.question_length import shorten

DESCRIPTION = (
    "Explore the knowledge graph using semantic search and text matching. "
    "Finds relevant entities (People, Concepts, Entities, Sources) and relationships. "
    "Expands the graph to show connections. Use for broad investigation when you need "
    "to discover what the user knows about a topic, person, or relationship."
)
"""what a tool of that name says of itself"""


def find_nodes_via_relationship_search(
    archive: Archive,
    query: str,
    threshold: float = 0.0,
    user_id: str = "",
    relationship_types: Collection[str] | None = None,
) -> Exploration:
    """The relationships that are nearest, and each person whom they relate, once, with all that is known."""
    found = relationship_vector_search(archive, shorten(query), threshold, user_id, relationship_types)
    with archive.people() as people:
        return Exploration(endpoint_nodes(archive, people, found, user_id), found)


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

    With a `person` those that have to do with that person; PeopleError where it is not certain who is meant,
    WrongQuestion where the query is too long.
    A client (`user_id`) sees relationships that its own records state, and no record of the archive's owner.
    """
    if user_id and person:  # whom a name may mean would tell of records of others
        raise ValueError("a client is not told who somebody is; leave `person` out")
    query = shorten(query)
    with ThreadPoolExecutor(2) as threads:
        # in the context of the caller: what is given up there is given up here
        run = [contextvars.copy_context().run for _ in range(2)]
        searched = threads.submit(run[0], source_nodes, archive, query, person, limit) if not user_id else None
        related = (
            threads.submit(run[1], related_to, archive, query, user_id, person, limit) if search_relationships else None
        )
        sources = searched.result() if searched else []
        edges = related.result() if related else []
    with archive.people() as people:
        named = [] if user_id else named_nodes(people, query)
        nodes = [*endpoint_nodes(archive, people, edges, user_id), *named, *sources]
    return Exploration(list({node.entity_key: node for node in reversed(nodes)}.values())[::-1], edges)
