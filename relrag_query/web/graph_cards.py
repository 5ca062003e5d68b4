"""People of a graph as cards, for browsers that cannot draw the graph."""

from __future__ import annotations

from dataclasses import dataclass

from relrag_query.graph.full_graph import FullGraph, FullGraphNode

MAX_CARDS, _MAX_ENTRIES = 60, 6
"""maximum number of cards, and of entries on a card"""


@dataclass(frozen=True)
class Card:
    """A person, the first related nodes, and the number of further ones."""

    person: FullGraphNode
    entries: list[tuple[str, FullGraphNode]]
    """relation and related node: people first, then the newest records"""
    more: int


def cards(graph: FullGraph) -> list[Card]:
    """A card per person, in the order of the graph."""
    nodes = {node.id: node for node in graph.nodes}
    related: dict[str, dict[str, str]] = {node.id: {} for node in graph.nodes if node.type == "person"}
    for edge in graph.edges:
        for node_id, other in ((edge.source, edge.target), (edge.target, edge.source)):
            if node_id in related:
                related[node_id].setdefault(other, edge.type)
    person_cards = []
    for person, others in list(related.items())[:MAX_CARDS]:
        node_ids = sorted(others, key=lambda node_id: nodes[node_id].timestamp or "", reverse=True)
        node_ids.sort(key=lambda node_id: nodes[node_id].type != "person")
        entries = [(others[node_id], nodes[node_id]) for node_id in node_ids[:_MAX_ENTRIES]]
        person_cards.append(Card(nodes[person], entries, len(node_ids) - len(entries)))
    return person_cards
