"""People of a graph as cards, where a browser draws none."""

from __future__ import annotations

from dataclasses import dataclass

from relrag_query.graph.full_graph import FullGraph, FullGraphNode

MOST, _ENTRIES = 60, 6
"""cards, and entries on one"""


@dataclass(frozen=True)
class Card:
    """A person, what is related to them, and how much more there is."""

    person: FullGraphNode
    entries: list[tuple[str, FullGraphNode]]
    """relation and what is related: people first, then the newest records"""
    more: int


def cards(graph: FullGraph) -> list[Card]:
    """A card of each person, in the order of the graph."""
    nodes = {node.id: node for node in graph.nodes}
    related: dict[str, dict[str, str]] = {node.id: {} for node in graph.nodes if node.type == "person"}
    for edge in graph.edges:
        for one, other in ((edge.source, edge.target), (edge.target, edge.source)):
            if one in related:
                related[one].setdefault(other, edge.type)
    found = []
    for person, others in list(related.items())[:MOST]:
        listed = sorted(others, key=lambda one: nodes[one].timestamp or "", reverse=True)
        listed.sort(key=lambda one: nodes[one].type != "person")
        entries = [(others[one], nodes[one]) for one in listed[:_ENTRIES]]
        found.append(Card(nodes[person], entries, len(listed) - len(entries)))
    return found
