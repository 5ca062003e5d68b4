"""Fits what each figure of a name counts: `python -m tuning.people.fit [relatives|introductions]`.

A logistic regression over the names near words for relatives (`passage_candidates`), or over whoever may have brought
somebody and the owner together (`introduction_candidates`), in the archives whose questions may be looked at: whether a
name is one that the answer has to have. Each weight is drawn to 0 (a prior of the width `reach`), since the questions
are few. Prints what `_WEIGHTS` of that module has to be, and of the names above a score how many are right.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Collection, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any
from unittest import mock

import numpy as np
import numpy.typing as npt

from relrag_pipelines.text.fact_phrases import INTRODUCER
from relrag_query.people import introduction_candidates, passage_candidates
from relrag_query.people.people import People
from relrag_query.people.relations import Relation
from tuning.people.measure import NOBODY, Question, opened, questions

Rows = npt.NDArray[np.float64]
_STEPS = 50
_SCORES: dict[str, tuple[ModuleType, str, tuple[str, ...]]] = {
    "relatives": (passage_candidates, "every_name", ("kin_owner", "kin_third", "role")),
    "introductions": (introduction_candidates, "introducers", ("introduction",)),
}
"""module, its function that finds the names, and the kinds of questions"""


def rows(asked: list[Question], work: Path, module: ModuleType, name: str) -> Iterator[tuple[dict[str, float], bool]]:
    """The figures of each name that a question is about, and whether it is right."""
    seen: list[tuple[str, dict[str, float]]] = []
    every = getattr(module, name)

    def listen(*given: Any) -> Iterator[Any]:
        people = next(one for one in given if isinstance(one, People))
        for one in every(*given):
            person_id = getattr(one, "person_id", None)
            called = people.by_id([person_id])[person_id].name if person_id is not None else ""
            seen.append((f"{one.name} {called}".casefold(), one.figures))
            yield one

    for archive in sorted({one.archive for one in asked}):
        with opened(archive, work) as found, mock.patch.object(module, name, listen):
            for one in (one for one in asked if one.archive == archive):
                seen.clear()
                found.ask(one.question)
                right = [name.casefold() for some in one.right if some != NOBODY for name in some.split("|")]
                yield from ((figures, any(name in said for name in right)) for said, figures in seen)


def _unstated(people: People, ids: Collection[int], types: Collection[str] | None = None) -> list[Relation]:
    """Relationships without introductions, so that passages are read for those that are stated too."""
    return [one for one in _RELATIONSHIPS(people, ids, types) if one.type != INTRODUCER]


_RELATIONSHIPS = People.relationships


def fit(table: Rows, right: Rows, reach: float) -> Rows:
    """Weights that tell right rows from others, each within about `reach` of 0: Newton's method."""
    weights = np.zeros(table.shape[1])
    for _ in range(_STEPS):
        chance = 1 / (1 + np.exp(-table @ weights))
        slope = table.T @ (chance - right) + weights / reach**2
        curve = (table.T * (chance * (1 - chance))) @ table + np.eye(len(weights)) / reach**2
        weights = weights - np.linalg.solve(curve, slope)
    return weights


def main() -> None:
    """Prints the weights."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("score", choices=_SCORES, nargs="?", default="relatives")
    parser.add_argument("--reach", type=float, default=1.0)
    parser.add_argument("--work", type=Path)
    given = parser.parse_args()
    module, name, kinds = _SCORES[given.score]
    asked = [one for one in questions() if one.half == "looked_at" and one.kind in kinds]
    with tempfile.TemporaryDirectory() as folder, mock.patch.object(People, "relationships", _unstated):
        made = [*rows(asked, given.work or Path(folder), module, name)]
    table = np.asarray([[figures.get(one, 0.0) for one in module._WEIGHTS] for figures, _ in made])
    right = np.asarray([float(one) for _, one in made])
    weights = fit(table, right, given.reach)
    print(f"{len(made)} names, {int(right.sum())} right")
    for one, weight in zip(module._WEIGHTS, weights, strict=True):
        print(f'    "{one}": {weight:.2f},')
    chance = 1 / (1 + np.exp(-table @ weights))
    for least in (0.1, 0.15, 0.2, 0.25, 0.3, 0.4):
        print(f"from {least}: {int((chance >= least).sum())} names, {int(right[chance >= least].sum())} right")


if __name__ == "__main__":
    main()
