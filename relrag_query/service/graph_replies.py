"""A graph as it is sent, and how much of it may be asked for."""

from __future__ import annotations

from dataclasses import dataclass

from relrag_query.graph.full_graph import FullGraph


@dataclass(frozen=True)
class GraphLimits:
    """How much of a graph is wanted; see `get_full_graph_data`."""

    limit_persons: int = 100
    limit_assets_per_person: int = 10
    include_asset_edges: bool = True
    records: int = 0


class GraphReply(FullGraph):
    """A graph, and the generation that it is of."""

    generation: int
