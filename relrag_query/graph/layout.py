"""Where the nodes of a graph are drawn: the same for the same graph, so that it looks alike whenever it is loaded.

People, and records that belong to nobody, repel each other and are drawn together by edges (Fruchterman and Reingold,
Graph drawing by force-directed placement, 1991). The other records lie around their person like the seeds of a
sunflower; one of several people lies between them. So the time grows with the square of the people only.
"""

from __future__ import annotations

import math
from collections import defaultdict

import numpy as np

from relrag_pipelines.workers import cancellation
from relrag_query.graph.full_graph import FullGraph

VERSION = 2
"""raised whenever the places of a graph change"""
_MOST_FREE = 1200
"""nodes that are laid out by forces; more lie on a spiral, in order of their edges"""
_STEPS = 80
_REACH = 2.5
"""distance within which nodes repel each other"""
_MIDDLE = 0.08
"""share of its way to the middle by which a node is drawn there, so that nothing drifts off"""
_GOLDEN = math.pi * (3 - math.sqrt(5))
_PETAL = 0.35
"""distance of the first record from its person, where people are about 1 apart"""

Place = tuple[float, float]


def layout(graph: FullGraph) -> list[Place]:
    """The place of each node, in their order; neighbours by forces are about 1 apart."""
    people = {node.id for node in graph.nodes if node.type == "person"}
    owners: dict[str, list[str]] = defaultdict(list)
    for edge in graph.edges:
        if edge.source in people and edge.target not in people:
            owners[edge.target].append(edge.source)
    free = [node.id for node in graph.nodes if node.id not in owners]
    places = _by_forces(free, [(edge.source, edge.target) for edge in graph.edges])
    petals: dict[tuple[str, ...], int] = defaultdict(int)
    for node in graph.nodes:
        if node.id not in owners:
            continue
        around = tuple(sorted(set(owners[node.id])))
        petals[around] += 1
        turn, far = petals[around] * _GOLDEN, _PETAL * math.sqrt(petals[around]) / (1 if len(around) == 1 else 3)
        x, y = (sum(places[one][axis] for one in around) / len(around) for axis in (0, 1))
        places[node.id] = round(x + far * math.cos(turn), 4), round(y + far * math.sin(turn), 4)
    return [places[node.id] for node in graph.nodes]


def _by_forces(ids: list[str], edges: list[tuple[str, str]]) -> dict[str, Place]:
    index = {one: number for number, one in enumerate(ids)}
    pairs = np.array([(index[a], index[b]) for a, b in edges if a in index and b in index], np.int64).reshape(-1, 2)
    turns = np.arange(len(ids)) * _GOLDEN
    at = (np.sqrt(np.arange(len(ids)) + 0.5)[:, None] * np.stack([np.cos(turns), np.sin(turns)], 1)).astype(np.float32)
    if 1 < len(ids) <= _MOST_FREE:
        at = _settled(at, pairs)
    return {one: (round(float(x), 4), round(float(y), 4)) for one, (x, y) in zip(ids, at, strict=True)}


def _settled(at: np.ndarray, pairs: np.ndarray) -> np.ndarray:
    """Places after the forces have acted; each step moves nothing further than its temperature."""
    for step in range(_STEPS):
        cancellation.check()
        apart = [np.subtract.outer(axis, axis) for axis in at.T]
        squared = apart[0] ** 2 + apart[1] ** 2 + np.float32(1e-3)
        # what is far apart need not be driven further
        push = np.where(squared < _REACH**2, 1 / squared, np.float32(0))
        force = np.stack([(one * push).sum(1) for one in apart], 1) - _MIDDLE * at
        along = at[pairs[:, 0]] - at[pairs[:, 1]]
        pull = along * np.linalg.norm(along, axis=1, keepdims=True)
        np.subtract.at(force, pairs[:, 0], pull)
        np.add.at(force, pairs[:, 1], pull)
        length = np.linalg.norm(force, axis=1, keepdims=True) + 1e-9
        at = at + force / length * np.minimum(length, 1.5 * (1 - step / _STEPS))
    return at
