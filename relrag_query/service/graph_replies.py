"""The graph as a reply, and the limits on how much of it may be asked for."""

from __future__ import annotations

import threading
from dataclasses import asdict, dataclass

from relrag_query.archive import Archive
from relrag_query.graph.full_graph import FullGraph
from relrag_query.graph.layout_store import places


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


class PlacedGraph:
    """The graph of a generation with the place of each node, as long as that generation is read."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._held: tuple[GraphLimits, GraphReply] | None = None

    def of(self, archive: Archive, limits: GraphLimits) -> GraphReply:
        """The graph of what is open; laid out once, however many ask at once."""
        number = archive.generation.number
        with self._lock:
            held = self._held
            if held is None or (held[0], held[1].generation) != (limits, number):
                graph = archive.full_graph(**asdict(limits))
                found = places(archive.settings.home_path, archive.generation, graph)
                for node, (x, y) in zip(graph.nodes, found, strict=True):
                    node.x, node.y = x, y
                held = self._held = limits, GraphReply(generation=number, **dict(graph))
            return held[1]

    def drop(self) -> None:
        """Forgets it."""
        self._held = None

    def drop_other(self, generation: int | None) -> None:
        """Forgets it if a request made it that outlived its generation."""
        held = self._held
        if held and held[1].generation != generation:
            self._held = None
