"""Relates entities that occur in the same text units more often than by chance.

A relation weighs its text units times their pointwise mutual information: p(x, y) log2(p(x, y) / (p(x) p(y))), as in
Microsoft's fast method (graphs/edge_weights.py), here as counts instead of shares so that the number can be read.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

Numbers = np.ndarray[Any, np.dtype[np.int64]]
Reals = np.ndarray[Any, np.dtype[np.float64]]


@dataclass(frozen=True)
class Relations:
    """Pairs of entities, sorted; `source` < `target`."""

    source: Numbers
    target: Numbers
    weight: Reals
    """in bits, above 0"""
    units: list[Numbers]
    """the text units that name both entities of each pair, in order"""


def relate(units: Numbers, entities: Numbers, count: int, min_weight_percentile: float) -> Relations:
    """The relations between entities, from rows (text unit, entity) that are sorted and distinct.

    `count` is the number of text units. The weakest `min_weight_percentile` percent of all relations are left out.
    """
    first, second, within = pairs(units, entities)
    entity_count = int(entities.max(initial=0)) + 1
    order = np.lexsort((within, second, first))
    codes = (first * entity_count + second)[order]
    pair_codes, starts, pair_counts = np.unique(codes, return_index=True, return_counts=True)
    frequency = np.bincount(entities, minlength=entity_count)
    source, target = pair_codes // entity_count, pair_codes % entity_count
    weight = pair_counts * np.log2(pair_counts * count / (frequency[source] * frequency[target]).astype(np.float64))
    selected = weight > 1e-9
    if selected.any():
        selected &= weight >= np.percentile(weight[selected], min_weight_percentile)
    within = within[order]
    pair_units = [
        within[start : start + length] for start, length in zip(starts[selected], pair_counts[selected], strict=True)
    ]
    return Relations(source[selected], target[selected], weight[selected], pair_units)


def pairs(units: Numbers, entities: Numbers) -> tuple[Numbers, Numbers, Numbers]:
    """All pairs of entities within a text unit, and that unit; text units with equally many entities at once."""
    _, starts, counts = np.unique(units, return_index=True, return_counts=True)
    first, second, within = [], [], []
    for size in np.unique(counts[counts > 1]):
        rows = starts[counts == size][:, None] + np.arange(size)
        members = entities[rows]
        left, right = np.triu_indices(size, 1)
        first.append(members[:, left].ravel())
        second.append(members[:, right].ravel())
        within.append(np.repeat(units[rows[:, 0]], len(left)))
    empty = [np.empty(0, np.int64)]
    return np.concatenate(first or empty), np.concatenate(second or empty), np.concatenate(within or empty)
