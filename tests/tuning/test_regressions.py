"""The regressions, fitted to few rows, and the threshold from which an answer is sure."""

from __future__ import annotations

import numpy as np
import pytest

from tuning import fit, regressions


def test_a_conditional_logit_tells_what_answers_from_its_rivals_only() -> None:
    """What all candidates of a question share says nothing, however much it differs between questions."""
    rows = np.array([[1, 5], [0, 5], [0, 5], [1, 0], [0, 0], [0, 0]], np.float32)
    found = regressions.conditional(rows, np.array([1.0, 0, 0, 1, 0, 0]), [3, 3])
    assert found.weights[0] == pytest.approx(0.272, abs=0.001)  # kept small by the penalty: two questions tell little
    assert found.weights[1] == pytest.approx(0, abs=1e-6)


def test_a_conditional_logit_ends_at_the_top_where_figures_have_long_tails() -> None:
    """Whole steps of Newton's method go too far here, and end at a quarter of this weight."""
    chance = np.random.default_rng(8)
    rows = chance.standard_t(1, size=(600, 3)).astype(np.float32)
    right = (np.arange(600) % 100 < 2).astype(float)
    rows[::100, 0] += np.float32(3)
    found = regressions.conditional(rows, right, [100] * 6)
    assert found.weights[2] == pytest.approx(0.01576, rel=0.01)  # as climbing by the gradient finds it


def test_a_row_counts_as_often_as_is_said() -> None:
    rows, right = np.array([[0.0], [1], [1]], np.float32), np.array([0.0, 1, 0])
    twice = regressions.regression(rows[[0, 1, 1, 2]], right[[0, 1, 1, 2]], np.ones(4)).probability(rows[1:2])
    once = regressions.regression(rows, right, np.array([1.0, 1, 1])).probability(rows[1:2])
    counted = regressions.regression(rows, right, np.array([1.0, 2, 1])).probability(rows[1:2])
    assert once[0] < counted[0]
    assert counted[0] == pytest.approx(float(twice[0]), abs=0.05)


def test_sure_begins_where_both_shares_are_met() -> None:
    """Of 40 answerable questions the last four are wrong; the tenth of 10 others lies among those."""
    likely = np.linspace(1, 0.02, 50)
    answerable = np.array([place % 5 != 4 for place in range(50)])
    right = answerable.copy()
    least = fit._least(likely, right, answerable, np.ones(50))
    assert least == 1.0, "before 20 are sure, two of the others are"
    few = np.r_[np.ones(45, bool), np.zeros(5, bool)]
    assert fit._least(likely, few, few, np.ones(50)) == likely[44]
    wrong = few & (np.arange(50) < 40)
    assert fit._least(likely, wrong, few, np.ones(50)) == likely[41], "40 of 42 are 95 %, of 43 they are 93 %"
