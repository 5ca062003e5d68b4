"""Communities of entities: hierarchical Leiden, as Microsoft GraphRAG clusters, over all components of the graph."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from graspologic_native import hierarchical_leiden

SEED = 0xDEADBEEF
"""any fixed number: equal graphs get equal communities"""


_FINE = 1024
"""precision of weights, parts of a bit"""


class Community(NamedTuple):
    """One cluster of one level."""

    level: int
    """0: a division of the whole graph; 1: of a community of level 0 that is too large; ..."""
    parent: int
    """number of the community that it divides; -1 at level 0"""
    members: list[int]
    """entities, in order"""


def communities(edges: Sequence[tuple[int, int, float]], max_size: int) -> list[Community]:
    """The communities of a weighted graph in the order of their numbers; `edges` are sorted and distinct.

    A community of more than `max_size` entities is subdivided if possible. Every entity with an edge is in one
    community of level 0.
    """
    if not edges:
        return []
    # the library accumulates rounding errors of fractional weights, by which it can move entities forever
    scaled = [(str(source), str(target), float(max(1, round(weight * _FINE)))) for source, target, weight in edges]
    assignments = hierarchical_leiden(
        scaled,
        starting_communities=None,
        resolution=1.0,
        randomness=0.001,
        iterations=1,
        use_modularity=True,
        max_cluster_size=max_size,
        seed=SEED,
    )
    members: dict[int, list[int]] = {}
    positions: dict[int, tuple[int, int]] = {}
    for assignment in assignments:
        parent = -1 if assignment.parent_cluster is None else assignment.parent_cluster
        members.setdefault(assignment.cluster, []).append(int(assignment.node))
        positions[assignment.cluster] = assignment.level, parent
    numbers = {cluster: number for number, cluster in enumerate(sorted(members))} | {-1: -1}
    ordered = []
    for cluster in sorted(members):
        level, parent = positions[cluster]
        ordered.append(Community(level, numbers[parent], sorted(members[cluster])))
    return ordered
