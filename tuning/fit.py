"""Logistic regressions over figures of candidates, each question judged by one that has not seen its archive."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from relrag_pipelines.stores.dense_vectors import Vectors
from relrag_query.answering import confidence, evidence
from relrag_query.answering.confidence import Regression
from tuning.dataset import Asked, embed

_PENALTY = 10.0
_STEPS = 40
_COMPARED = [name for name in evidence.FEATURES if name.startswith("sentence_")]
"""figures that are there only where sentences were compared by meaning"""
_KEPT = 0.97
"""share of answerable questions for which something is shown"""


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


def model(asked: Sequence[Asked], *, by_meaning: bool) -> dict[str, Any]:
    """What `confidence.json` says of archives with dense vectors, or of those without, and how well it did."""
    hidden = [list(evidence.FEATURES).index(name) for name in _COMPARED]
    first, likely = _out_of_fold(
        asked, lambda one: _without(one.rows, hidden), lambda one: np.ones(len(one.right), bool)
    )
    second = first
    if by_meaning:
        embed(asked, [np.argsort(-row, kind="stable") for row in likely], confidence.COMPARED)
        known = list(evidence.FEATURES).index("sentence_known")
        second, likely = _out_of_fold(asked, lambda one: one.rows, lambda one: one.rows[:, known] > 0)
    best_rows = [confidence.best_row(row, one.rows) for row, one in zip(likely, asked, strict=True) if len(row)]
    tops = np.array([one.right[int(np.argmax(row))] for row, one in zip(likely, asked, strict=True) if len(row)])
    held = [one for one, row in zip(asked, likely, strict=True) if len(row)]
    best, right = _folds(best_rows, tops, [one.archive for one in held])
    answerable = np.array([one.question.answerable for one in held])
    unsure = float(np.quantile(right[answerable], 1 - _KEPT))
    return {
        "first": _written(first, list(evidence.FEATURES)),
        "second": _written(second, list(evidence.FEATURES)),
        "best": _written(best, confidence.BEST),
        "unsure": round(unsure, 4),
        "measured": _measured(held, likely, right, tops, answerable, unsure),
    }


def _out_of_fold(
    asked: Sequence[Asked], rows: Callable[[Asked], Vectors], used: Callable[[Asked], Vectors]
) -> tuple[Regression, list[Vectors]]:
    """A regression over all archives, and what those without each archive say of its candidates; 0 where not used."""
    groups = [one.archive for one in asked for _ in range(int(used(one).sum()))]
    table = np.concatenate([rows(one)[used(one)] for one in asked])
    right = np.concatenate([np.asarray(one.right)[used(one)] for one in asked]).astype(float)
    names = np.asarray(groups)
    apart = {name: regression(table[names != name], right[names != name]) for name in sorted(set(groups))}
    likely = []
    for one in asked:
        found = np.zeros(len(one.right), np.float32)
        found[used(one)] = apart[one.archive].probability(rows(one)[used(one)])
        likely.append(found)
    return regression(table, right), likely


def _folds(rows: Sequence[Vectors], right: Vectors, archives: Sequence[str]) -> tuple[Regression, Vectors]:
    table, names = np.asarray(rows), np.asarray(archives)
    found = np.zeros(len(table))
    for name in sorted(set(archives)):
        apart = regression(table[names != name], right[names != name].astype(float))
        found[names == name] = apart.probability(table[names == name])
    return regression(table, right.astype(float)), found


def _without(rows: Vectors, hidden: Sequence[int]) -> Vectors:
    shown = rows.copy()
    shown[:, hidden] = 0
    return shown


def _measured(
    asked: Sequence[Asked],
    likely: Sequence[Vectors],
    right: Vectors,
    tops: Vectors,
    answerable: Vectors,
    unsure: float,
) -> dict[str, Any]:
    rows = [row for row in likely if len(row)]
    among = {
        f"right_in_{depth}": float(
            np.mean(
                [
                    any(one.right[place] for place in np.argsort(-row, kind="stable")[:depth])
                    for one, row in zip(asked, rows, strict=True)
                    if one.question.answerable
                ]
            )
        )
        for depth in (1, 3, 8)
    }
    edges = np.quantile(right, np.linspace(0, 1, 9))
    bins = np.clip(np.searchsorted(edges, right, side="right") - 1, 0, 7)
    return {
        "questions": len(asked),
        "answerable": int(answerable.sum()),
        **{name: round(value, 3) for name, value in among.items()},
        "none_of_answerable": round(float((right < unsure)[answerable].mean()), 3),
        "calibration": [
            [round(float(right[bins == one].mean()), 3), round(float(tops[bins == one].mean()), 3)]
            for one in range(8)
            if (bins == one).any()
        ],
    }


def _written(found: Regression, names: Sequence[str]) -> dict[str, Any]:
    pairs = zip(names, found.weights, strict=True)
    return {"weights": {name: round(float(weight), 5) for name, weight in pairs}, "bias": round(found.bias, 5)}
