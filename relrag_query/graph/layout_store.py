"""Caches the positions of a graph's nodes by the hash of the graph, so that a graph is laid out once.

The files hold numbers only and go with their generation. They are a cache: any of them may be deleted.
"""

from __future__ import annotations

import hashlib
from contextlib import suppress
from pathlib import Path

import numpy as np
import orjson

from relrag_pipelines.files.atomic import replace_file
from relrag_pipelines.stores import generations
from relrag_pipelines.stores.generations import Generation
from relrag_query.graph.full_graph import FullGraph
from relrag_query.graph.layout import VERSION, Place, layout

_MAX_LAYOUTS = 4


def places(home: Path, generation: Generation, graph: FullGraph) -> list[Place]:
    """The position of each node, in their order; read from the cache if this graph was laid out before."""
    path = generations.layouts(home, generation.number) / f"{fingerprint(generation, graph)}.f4"
    with suppress(OSError, ValueError):
        stored = np.frombuffer(path.read_bytes(), "<f4").reshape(-1, 2)
        if len(stored) == len(graph.nodes):
            return [(round(x, 4), round(y, 4)) for x, y in stored.tolist()]
    positions = layout(graph)
    with suppress(OSError):  # the cache is optional: the disk may be full, or the home read-only
        if generation.path.is_dir():
            _store(path, positions)
    return positions


def fingerprint(generation: Generation, graph: FullGraph) -> str:
    """Hash of a graph's nodes and edges and of the layout's version.

    It includes the hashes of the generation's files, so that nobody without the generation can guess the nodes.
    """
    nodes = [(node.id, node.type) for node in graph.nodes]
    edges = [(edge.source, edge.target) for edge in graph.edges]
    parts = [VERSION, generation.manifest["files"], nodes, edges]
    return hashlib.sha256(orjson.dumps(parts)).hexdigest()


def _store(path: Path, positions: list[Place]) -> None:
    with replace_file(path) as temporary:
        temporary.write_bytes(np.array(positions, "<f4").reshape(-1, 2).tobytes())
    newest = sorted(path.parent.glob("*.f4"), key=lambda layout_path: layout_path.stat().st_mtime, reverse=True)
    for old in newest[_MAX_LAYOUTS:]:
        old.unlink(missing_ok=True)
