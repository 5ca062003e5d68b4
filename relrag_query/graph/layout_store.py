"""Places of the nodes of graphs that were laid out, by the hash of the graph: a graph is laid out once.

The files hold numbers only and go with their generation. They are a cache: any of them may be deleted.
"""

from __future__ import annotations

import hashlib
from contextlib import suppress
from pathlib import Path

import numpy as np
import orjson

from relrag_pipelines.files.atomic import replacing
from relrag_pipelines.stores import generations
from relrag_pipelines.stores.generations import Generation
from relrag_query.graph.full_graph import FullGraph
from relrag_query.graph.layout import VERSION, Place, layout

_KEPT = 4


def places(home: Path, generation: Generation, graph: FullGraph) -> list[Place]:
    """The place of each node, in their order; as it was stored where this graph was laid out before."""
    path = generations.layouts(home, generation.number) / f"{fingerprint(generation, graph)}.f4"
    with suppress(OSError, ValueError):
        stored = np.frombuffer(path.read_bytes(), "<f4").reshape(-1, 2)
        if len(stored) == len(graph.nodes):
            return [(round(x, 4), round(y, 4)) for x, y in stored.tolist()]
    found = layout(graph)
    with suppress(OSError):  # a full disk or a home that is read-only costs time only
        if generation.path.is_dir():
            _store(path, found)
    return found


def fingerprint(generation: Generation, graph: FullGraph) -> str:
    """What tells graphs apart that are laid out differently: nodes, edges, and how places are found.

    The hashes of the generation's files go into it, so that nobody without it can try out which nodes there were.
    """
    nodes = [(node.id, node.type) for node in graph.nodes]
    edges = [(one.source, one.target) for one in graph.edges]
    said = [VERSION, generation.manifest["files"], nodes, edges]
    return hashlib.sha256(orjson.dumps(said)).hexdigest()


def _store(path: Path, found: list[Place]) -> None:
    with replacing(path) as beside:
        beside.write_bytes(np.array(found, "<f4").reshape(-1, 2).tobytes())
    newest = sorted(path.parent.glob("*.f4"), key=lambda one: one.stat().st_mtime, reverse=True)
    for old in newest[_KEPT:]:
        old.unlink(missing_ok=True)
