"""Weights of relations, and communities of them."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from relrag_pipelines.graphrag.communities import communities
from relrag_pipelines.graphrag.cooccurrence import pairs, relate


def rows(named: dict[int, list[int]]) -> tuple[np.ndarray, np.ndarray]:  # type: ignore[type-arg]
    found = np.array([(unit, one) for unit, of in named.items() for one in of], np.int64).reshape(-1, 2)
    return found[:, 0], found[:, 1]


def test_weights_are_those_of_the_formula() -> None:
    """Of 16 text units 2 name 0 and 1, one 1 and 2; alone 2, 4 and 2: 2 log2(2 * 16 / 8) = 4, log2(16 / 8) = 1 bits."""
    found = relate(*rows({0: [0, 1], 1: [0, 1], 2: [1], 3: [1, 2], 4: [2]}), 16, 0)
    assert list(zip(found.source.tolist(), found.target.tolist(), strict=True)) == [(0, 1), (1, 2)]
    assert found.weight.tolist() == pytest.approx([4.0, 1.0])
    assert [of.tolist() for of in found.units] == [[0, 1], [3]]


def test_what_chance_would_bring_together_is_no_relation() -> None:
    everywhere = {unit: [0, 1] for unit in range(4)}
    assert len(relate(*rows(everywhere), 4, 0).weight) == 0


def test_the_weakest_are_left_out() -> None:
    named = {0: [0, 1, 2, 3], 1: [0, 1], 2: [0, 1], 3: [0, 2]}
    every, fewer = relate(*rows(named), 20, 0), relate(*rows(named), 20, 40)
    assert len(every.weight) == 6
    assert set(fewer.weight) == {one for one in every.weight if one >= np.percentile(every.weight, 40)}


@given(st.dictionaries(st.integers(0, 20), st.sets(st.integers(0, 9), max_size=6).map(sorted), max_size=8))
def test_pairs_are_all_pairs_of_a_text_unit(named: dict[int, list[int]]) -> None:
    named = dict(sorted(named.items()))
    first, second, within = pairs(*rows(named))
    expected = sorted((unit, *two) for unit, of in named.items() for two in combinations(of, 2))
    assert sorted(zip(within.tolist(), first.tolist(), second.tolist(), strict=True)) == expected


def cliques(*sizes: int) -> list[tuple[int, int, float]]:
    edges, begin = [], 0
    for size in sizes:
        edges += [(one, other, 4.0) for one, other in combinations(range(begin, begin + size), 2)]
        begin += size
    return edges


def test_groups_become_communities() -> None:
    edges = sorted([*cliques(4, 4), (3, 4, 0.5)])
    found = communities(edges, max_size=10)
    assert sorted((one.level, one.parent, one.members) for one in found) == [
        (0, -1, [0, 1, 2, 3]),
        (0, -1, [4, 5, 6, 7]),
    ]


def test_large_communities_are_divided_again() -> None:
    groups = 6
    bridges = [(5 * one, 5 * other, 2.0) for one, other in combinations(range(groups), 2)]
    found = communities(sorted([*cliques(*[5] * groups), *bridges]), max_size=8)
    for number, one in enumerate(found):
        if one.parent >= 0:
            above = found[one.parent]
            assert above.level == one.level - 1
            assert set(one.members) < set(above.members)
            assert one.parent < number
    assert sorted(member for one in found if one.level == 0 for member in one.members) == list(range(30))


def test_equal_graphs_have_equal_communities() -> None:
    rng = np.random.default_rng(7)
    edges = sorted({(int(a), int(b)) for a, b in rng.integers(0, 200, (900, 2)) if a < b})
    weighted = [(one, other, float(1 + (one * other) % 5)) for one, other in edges]
    found = communities(weighted, 10)
    assert found == communities(list(weighted), 10)
    assert max(one.level for one in found) > 0
    assert communities([], 10) == []
