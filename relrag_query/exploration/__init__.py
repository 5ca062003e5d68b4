"""Explore the archive: people, their relationships, and the records that a question is about.

Passages and relationships are searched side by side. A relationship that is found is an edge, both its ends are nodes.
"""

from relrag_query.exploration.nodes import Exploration, GraphNode
from relrag_query.exploration.relationship_search import relationship_vector_search
from relrag_query.exploration.search import DESCRIPTION, explore, find_nodes_via_relationship_search

__all__ = [
    "DESCRIPTION",
    "Exploration",
    "GraphNode",
    "explore",
    "find_nodes_via_relationship_search",
    "relationship_vector_search",
]
