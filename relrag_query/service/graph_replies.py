"""The graph of an archive as a reply, its size limits, and a cache of the laid-out graph."""

from __future__ import annotations

import threading
from dataclasses import asdict, dataclass

from relrag_query.archive import Archive
from relrag_query.graph.full_graph import FullGraph
from relrag_query.graph.layout_store import places


@dataclass(frozen=True)
class GraphLimits:
    """The size limits of a graph; see `get_full_graph_data`."""

    limit_persons: int = 100
    limit_assets_per_person: int = 10
    include_asset_edges: bool = True
    records: int = 0


class GraphReply(FullGraph):
    """A graph and its generation."""

    generation: int


class GraphReplyCache:
    """Caches the graph of the open generation with the position of each node."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._cached: tuple[GraphLimits, GraphReply] | None = None

    def reply(self, archive: Archive, limits: GraphLimits) -> GraphReply:
        """The graph of the open archive; concurrent requests share one layout."""
        number = archive.generation.number
        with self._lock:
            cached = self._cached
            if cached is None or (cached[0], cached[1].generation) != (limits, number):
                graph = archive.full_graph(**asdict(limits))
                positions = places(archive.settings.home_path, archive.generation, graph)
                for node, (x, y) in zip(graph.nodes, positions, strict=True):
                    node.x, node.y = x, y
                cached = self._cached = limits, GraphReply(generation=number, **dict(graph))
            return cached[1]

    def drop(self) -> None:
        """Empties the cache."""
        self._cached = None

    def drop_other(self, generation: int | None) -> None:
        """Empties the cache if it holds the graph of another generation, made by a late request."""
        cached = self._cached
        if cached and cached[1].generation != generation:
            self._cached = None
