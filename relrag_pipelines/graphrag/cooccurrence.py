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
Flags = np.ndarray[Any, np.dtype[np.bool_]]


@dataclass(frozen=True)
class Relations:
    """Pairs of entities, sorted; `source` < `target`."""

    source: Numbers
    target: Numbers
    weight: Reals
    """in bits, above 0"""
    units: list[Numbers]
    """of each pair the text units that name both, in order"""


def relate(units: Numbers, entities: Numbers, count: int, min_weight_percentile: float) -> Relations:
    """The relations between entities, from rows (text unit, entity) that are sorted and different.

    `count` is how many text units there are. Of all relations the weakest `min_weight_percentile` percent are left out.
    """
    first, second, within = pairs(units, entities)
    most = int(entities.max(initial=0)) + 1
    order = np.lexsort((within, second, first))
    codes = (first * most + second)[order]
    different, starts, together = np.unique(codes, return_index=True, return_counts=True)
    frequency = np.bincount(entities, minlength=most)
    source, target = different // most, different % most
    weight = together * np.log2(together * count / (frequency[source] * frequency[target]).astype(np.float64))
    kept = weight > 1e-9
    if kept.any():
        kept &= weight >= np.percentile(weight[kept], min_weight_percentile)
    within = within[order]
    named = [within[start : start + length] for start, length in zip(starts[kept], together[kept], strict=True)]
    return Relations(source[kept], target[kept], weight[kept], named)


def pairs(units: Numbers, entities: Numbers) -> tuple[Numbers, Numbers, Numbers]:
    """Every two entities of a text unit, and that unit; text units of equally many entities at once."""
    _, starts, counts = np.unique(units, return_index=True, return_counts=True)
    first, second, within = [], [], []
    for size in np.unique(counts[counts > 1]):
        places = starts[counts == size][:, None] + np.arange(size)
        members = entities[places]
        one, other = np.triu_indices(size, 1)
        first.append(members[:, one].ravel())
        second.append(members[:, other].ravel())
        within.append(np.repeat(units[places[:, 0]], len(one)))
    none = [np.empty(0, np.int64)]
    return np.concatenate(first or none), np.concatenate(second or none), np.concatenate(within or none)
