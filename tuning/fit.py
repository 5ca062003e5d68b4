"""Logistic regressions over figures of candidates, each question judged by one that has not seen its archive."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from relrag_pipelines.stores.dense_vectors import Vectors
from relrag_query.answering import closest, confidence, evidence
from relrag_query.answering.confidence import Judgement, Regression
from tuning.dataset import Asked, embed

_PENALTY, _PENALTY_OF_SHARES = 10.0, 3.0
_STEPS = 60
_KEPT = 0.98
"""share of answerable questions for which something is shown"""
_RIGHT = 0.87
"""share of sure answers to answerable questions that were right, at least"""
_THINNED = 4
_FEWEST = 20
"""sure answers of which a share is taken"""


def regression(rows: Vectors, right: Vectors) -> Regression:
    """Fits a logistic regression by Newton's method, with a penalty on weights of standardised figures."""
    mean, spread = rows.mean(axis=0), rows.std(axis=0)
    spread[spread < 1e-6] = np.inf  # what is the same everywhere says nothing
    table = np.c_[(rows - mean) / spread, np.ones(len(rows))].astype(np.float64)
    penalty = np.append(np.full(rows.shape[1], _PENALTY), 0.0)
    weights = np.zeros(table.shape[1])
    for _ in range(_STEPS):
        guess = 1 / (1 + np.exp(-table @ weights))
        slope = table.T @ (right - guess) - penalty * weights
        bend = (table * (guess * (1 - guess))[:, None]).T @ table + np.diag(penalty + 1e-9)
        step = np.linalg.solve(bend, slope)
        weights += step
        if np.abs(step).max() < 1e-6:
            break
    own = weights[:-1] / spread
    return Regression(own.astype(np.float32), float(weights[-1] - (own * mean).sum()))


def conditional(rows: Vectors, right: Vectors, sizes: Sequence[int]) -> Regression:
    """Fits a conditional logit by Newton's method: a question's candidates share 1, the right ones as much as can be.

    `sizes` are the numbers of candidates of the questions, each with a right one among them.
    """
    spread = rows.std(axis=0)
    spread[spread < 1e-6] = np.inf
    table = ((rows - rows.mean(axis=0)) / spread).astype(np.float64)
    starts, owner = np.cumsum([0, *sizes[:-1]]), np.repeat(np.arange(len(sizes)), sizes)
    weights = np.zeros(table.shape[1])
    for _ in range(_STEPS):
        scores = table @ weights
        raised = np.exp(scores - np.maximum.reduceat(scores, starts)[owner])
        shares = raised / np.add.reduceat(raised, starts)[owner]
        wanted = shares * right / np.add.reduceat(shares * right, starts)[owner]
        slope = table.T @ (wanted - shares) - _PENALTY_OF_SHARES * weights
        means = np.add.reduceat(shares[:, None] * table, starts, axis=0)
        bend = (table * shares[:, None]).T @ table - means.T @ means + _PENALTY_OF_SHARES * np.eye(len(weights))
        step = np.linalg.solve(bend, slope)
        weights += step
        if np.abs(step).max() < 1e-4:
            break
    return Regression((weights / spread).astype(np.float32), 0.0)


def model(asked: Sequence[Asked], *, by_meaning: bool) -> dict[str, Any]:
    """What `confidence.json` says of archives with dense vectors, or of those without, and how well it did."""
    held = [one for one in asked if one.candidates]
    archives = np.array([one.archive for one in held])
    first, scores = _out_of_fold(held, archives, [np.arange(len(one.right)) for one in held], _some)
    places = [confidence.best_of_passages(one.candidates, row) for one, row in zip(held, scores, strict=True)]
    if by_meaning:
        embed(held, places)
    second, scores = _out_of_fold(held, archives, [np.asarray(some) for some in places], _those_with_a_right_one)
    quoted = [np.asarray(one.right)[some] for one, some in zip(held, places, strict=True)]
    rows = np.array([_best(*one) for one in zip(held, places, scores, strict=True)])
    right = np.array([_right(*one) for one in zip(held, places, scores, strict=True)])
    likely = np.zeros(len(held))
    for name in sorted(set(archives)):
        apart = regression(rows[archives != name], right[archives != name].astype(float))
        likely[archives == name] = apart.probability(rows[archives == name])
    answerable = np.array([one.question.answerable for one in held])
    sure = _least(likely[answerable], right[answerable])
    unsure = float(np.quantile(likely[answerable], 1 - _KEPT))
    return {
        "first": _written(first, evidence.FEATURES),
        "second": _written(second, evidence.FEATURES),
        "best": _written(regression(rows, right.astype(float)), confidence.BEST),
        "sure": round(sure, 4),
        "unsure": round(unsure, 4),
        "measured": _measured(held, scores, quoted, likely, right, sure, unsure),
    }


_Table = tuple[Vectors, Vectors, list[int]]
"""figures of candidates, which are right, and how many each question has"""


def _some(table: _Table) -> Regression:
    """Of all right ones and one in four of the others: as good a rank in a fourth of the time."""
    rows, right, _ = table
    kept = (right > 0) | (np.arange(len(right)) % _THINNED == 0)
    return regression(rows[kept], right[kept])


def _those_with_a_right_one(table: _Table) -> Regression:
    rows, right, sizes = table
    ends = np.cumsum(sizes)
    kept = [place for place, end in enumerate(ends) if right[end - sizes[place] : end].any()]
    used = np.isin(np.repeat(np.arange(len(sizes)), sizes), kept)
    return conditional(rows[used], right[used], [sizes[place] for place in kept])


def _out_of_fold(
    asked: Sequence[Asked], archives: Any, places: Sequence[Any], fit: Callable[[_Table], Regression]
) -> tuple[Regression, list[Vectors]]:
    """What is fitted to these candidates of all archives, and the scores by what has not seen a candidate's archive."""
    pairs = [(one.rows[some], np.asarray(one.right)[some]) for one, some in zip(asked, places, strict=True)]

    def table(used: Sequence[int]) -> _Table:
        rows, right = (np.concatenate([pairs[place][part] for place in used]) for part in (0, 1))
        return rows, right.astype(float), [len(pairs[place][1]) for place in used]

    scores: list[Vectors] = [np.empty(0, np.float32)] * len(asked)
    for name in sorted(set(archives)):
        apart = fit(table(np.flatnonzero(archives != name).tolist()))
        for place in np.flatnonzero(archives == name).tolist():
            scores[place] = apart.score(pairs[place][0])
    return fit(table(range(len(asked)))), scores


def _best(one: Asked, places: list[int], scores: Vectors) -> Vectors:
    passage = one.candidates[places[int(np.argmax(scores))]].unit.hit.score
    return confidence.best_row(scores, one.rows[places], passage, one.missing)


def _right(one: Asked, places: list[int], scores: Vectors) -> bool:
    """Whether what would be quoted holds the answer."""
    shares = np.zeros(len(one.candidates), np.float32)
    shares[places] = confidence.share(scores)
    chosen = [id(quoted) for quoted, _ in closest.best(one.candidates, Judgement(shares))]
    return any(yes for candidate, yes in zip(one.candidates, one.right, strict=True) if id(candidate) in chosen)


def _least(likely: Any, right: Any) -> float:
    """The least probability from which so many are right as must be; 1 where they never are."""
    order = np.argsort(-likely)
    shares = np.cumsum(right[order]) / np.arange(1, len(order) + 1)
    enough = np.flatnonzero(shares >= _RIGHT)
    return float(likely[order][enough.max()]) if len(enough) and enough.max() + 1 >= _FEWEST else 1.0


def _measured(
    asked: Sequence[Asked],
    scores: Sequence[Vectors],
    quoted: Sequence[Any],
    likely: Any,
    right: Vectors,
    sure: float,
    unsure: float,
) -> dict[str, Any]:
    """How well archives did that were not learned from, for questions that are hard and for plain ones."""
    edges = np.quantile(likely, np.linspace(0, 1, 9))
    bins = np.clip(np.searchsorted(edges, likely, side="right") - 1, 0, 7)
    measured: dict[str, Any] = {}
    plain = np.array([one.question.kind == "plain" for one in asked])
    has = np.array([one.question.answerable for one in asked])
    for name, some in (("hard", ~plain), ("plain", plain)):
        can, not_ = some & has, some & ~has
        among = {
            f"right_in_{depth}": np.mean(
                [quoted[place][np.argsort(-scores[place])[:depth]].any() for place in np.flatnonzero(can).tolist()]
            )
            for depth in (1, 3, 8)
        }
        shares = {
            **among,
            "sure": (likely[can] >= sure).mean(),
            "sure_and_right": right[can & (likely >= sure)].mean(),
            "none": (likely[can] < unsure).mean(),
            "unanswerable_not_sure": (likely[not_] < sure).mean(),
        }
        rounded = {part: round(float(value), 3) for part, value in shares.items()}
        measured[name] = {"questions": int(some.sum()), "answerable": int(can.sum()), **rounded}
    measured["calibration"] = [
        [round(float(values[bins == one].mean()), 3) for values in (likely, right)]
        for one in range(8)
        if (bins == one).any()
    ]
    return measured


def _written(found: Regression, names: Sequence[str]) -> dict[str, Any]:
    pairs = zip(names, found.weights, strict=True)
    return {"weights": {name: round(float(weight), 5) for name, weight in pairs}, "bias": round(found.bias, 5)}
