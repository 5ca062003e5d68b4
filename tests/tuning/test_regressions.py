"""The regressions, fitted to few rows, and the threshold from which an answer is sure."""

from __future__ import annotations

import numpy as np
import pytest

from tuning import fit, regressions


def test_a_conditional_logit_tells_what_answers_from_its_rivals_only() -> None:
    """What all candidates of a question share says nothing, however much it differs between questions."""
    rows = np.array([[1, 5], [0, 5], [0, 5], [1, 0], [0, 0], [0, 0]], np.float32)
    found = regressions.conditional(rows, np.array([1.0, 0, 0, 1, 0, 0]), [3, 3])
    assert found.weights[0] > 0.3
    assert found.weights[1] == pytest.approx(0, abs=1e-6)


def test_a_conditional_logit_of_many_candidates_stays_finite() -> None:
    """Whole steps of Newton's method go so far that the right shares vanish."""
    chance = np.random.default_rng(7)
    rows = chance.normal(size=(200, 3)).astype(np.float32) * np.float32([1, 1, 1])
    rows[::100] += np.float32([9, 0, 0])
    right = (np.arange(200) % 100 == 0).astype(float)
    found = regressions.conditional(rows, right, [100, 100])
    assert np.isfinite(found.weights).all()
    assert [int(np.argmax(found.score(rows[start : start + 100]))) for start in (0, 100)] == [0, 0]


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
    assert fit._least(likely, wrong, few, np.ones(50)) == likely[42], "40 of 43 are 93 %, of 44 they are 91 %"
