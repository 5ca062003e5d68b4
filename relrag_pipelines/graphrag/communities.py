"""Communities of entities: hierarchical Leiden, as Microsoft GraphRAG clusters, over all components of the graph."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from graspologic_native import hierarchical_leiden

SEED = 0xDEADBEEF
"""any fixed number: equal graphs get equal communities"""


_FINE = 1024
"""parts of a bit that weights are told apart by"""


class Community(NamedTuple):
    """One cluster of one level."""

    level: int
    """0: the whole graph is divided; 1: communities of level 0 that are too large are divided again; ..."""
    parent: int
    """number of the community that it divides; -1 at level 0"""
    members: list[int]
    """entities, in order"""


def communities(edges: Sequence[tuple[int, int, float]], max_size: int) -> list[Community]:
    """The communities of a weighted graph in the order of their numbers; `edges` are sorted and different.

    A community of more than `max_size` entities is divided again, where that can be done. Every entity with an edge is
    in one community of level 0.
    """
    if not edges:
        return []
    # of weights that are no whole numbers the library adds up roundings, by which it can move entities forever
    named = [(str(source), str(target), float(max(1, round(weight * _FINE)))) for source, target, weight in edges]
    found = hierarchical_leiden(
        named,
        starting_communities=None,
        resolution=1.0,
        randomness=0.001,
        iterations=1,
        use_modularity=True,
        max_cluster_size=max_size,
        seed=SEED,
    )
    members: dict[int, list[int]] = {}
    places: dict[int, tuple[int, int]] = {}
    for one in found:
        members.setdefault(one.cluster, []).append(int(one.node))
        places[one.cluster] = one.level, -1 if one.parent_cluster is None else one.parent_cluster
    numbers = {number: place for place, number in enumerate(sorted(members))} | {-1: -1}
    return [
        Community(places[number][0], numbers[places[number][1]], sorted(members[number])) for number in sorted(members)
    ]
