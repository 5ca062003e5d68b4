"""Computes the positions of a graph's nodes: equal graphs get equal positions.

People, and records that belong to nobody, repel each other and are pulled together by edges (Fruchterman and Reingold,
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
"""raised whenever the positions of a graph change"""
_MAX_FREE_NODES = 1200
"""largest number of nodes laid out by forces; more are placed on a spiral, in their order"""
_STEPS = 80
_REPULSION_DISTANCE = 2.5
"""distance within which nodes repel each other"""
_CENTERING_SHARE = 0.08
"""share of its distance to the centre by which a node is pulled there, so that no node drifts away"""
_GOLDEN_ANGLE = math.pi * (3 - math.sqrt(5))
_RECORD_DISTANCE = 0.35
"""distance of the first record from its person; people are about 1 apart"""

Place = tuple[float, float]


def layout(graph: FullGraph) -> list[Place]:
    """The position of each node, in their order; neighbours are about 1 apart."""
    owners = _owners(graph)
    free = [node.id for node in graph.nodes if node.id not in owners]
    places = _by_forces(free, [(edge.source, edge.target) for edge in graph.edges])
    petals: dict[tuple[str, ...], int] = defaultdict(int)
    for node in graph.nodes:
        if node.id not in owners:
            continue
        person_ids = tuple(sorted(set(owners[node.id])))
        petals[person_ids] += 1
        angle = petals[person_ids] * _GOLDEN_ANGLE
        distance = _RECORD_DISTANCE * math.sqrt(petals[person_ids]) / (1 if len(person_ids) == 1 else 3)
        x, y = (sum(places[person_id][axis] for person_id in person_ids) / len(person_ids) for axis in (0, 1))
        places[node.id] = round(x + distance * math.cos(angle), 4), round(y + distance * math.sin(angle), 4)
    return [places[node.id] for node in graph.nodes]


def _owners(graph: FullGraph) -> dict[str, list[str]]:
    """Id of each record with people -> their ids."""
    people = {node.id for node in graph.nodes if node.type == "person"}
    owners: dict[str, list[str]] = defaultdict(list)
    for edge in graph.edges:
        if edge.source in people and edge.target not in people:
            owners[edge.target].append(edge.source)
    return owners


def _by_forces(ids: list[str], edges: list[tuple[str, str]]) -> dict[str, Place]:
    index = {node_id: number for number, node_id in enumerate(ids)}
    pairs = np.array([(index[a], index[b]) for a, b in edges if a in index and b in index], np.int64).reshape(-1, 2)
    turns = np.arange(len(ids)) * _GOLDEN_ANGLE
    positions = (np.sqrt(np.arange(len(ids)) + 0.5)[:, None] * np.stack([np.cos(turns), np.sin(turns)], 1)).astype(
        np.float32
    )
    if 1 < len(ids) <= _MAX_FREE_NODES:
        positions = _relaxed(positions, pairs)
    return {node_id: (round(float(x), 4), round(float(y), 4)) for node_id, (x, y) in zip(ids, positions, strict=True)}


def _relaxed(positions: np.ndarray, pairs: np.ndarray) -> np.ndarray:
    """Positions after the forces have acted; each step moves a node at most by its temperature."""
    for step in range(_STEPS):
        cancellation.check()
        distances = [np.subtract.outer(axis, axis) for axis in positions.T]
        squared = distances[0] ** 2 + distances[1] ** 2 + np.float32(1e-3)
        # nodes beyond this distance do not repel each other
        push = np.where(squared < _REPULSION_DISTANCE**2, 1 / squared, np.float32(0))
        force = np.stack([(difference * push).sum(1) for difference in distances], 1) - _CENTERING_SHARE * positions
        offsets = positions[pairs[:, 0]] - positions[pairs[:, 1]]
        pull = offsets * np.linalg.norm(offsets, axis=1, keepdims=True)
        np.subtract.at(force, pairs[:, 0], pull)
        np.add.at(force, pairs[:, 1], pull)
        length = np.linalg.norm(force, axis=1, keepdims=True) + 1e-9
        positions = positions + force / length * np.minimum(length, 1.5 * (1 - step / _STEPS))
    return positions
