"""How well comparison by meaning tells an answer from its rivals: `python -m tuning.rivals.measure`, a minute."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from relrag_pipelines.embedders import e5
from relrag_pipelines.stores.vectors.protocol import Vectors


@dataclass(frozen=True)
class RivalQuestion:
    """A question with the passages of its group, and whether each answers."""

    text: str
    language: str
    passages: tuple[str, ...]
    answers: tuple[bool, ...]


def questions(folder: Path = Path(__file__).parent) -> Iterator[RivalQuestion]:
    """The questions of all groups."""
    for file in sorted(folder.glob("*.jsonl")):
        for line in file.read_text(encoding="utf-8").splitlines():
            group = json.loads(line)
            passages = tuple(f"{one['subject']}\n{one['text']}" for one in group["passages"])
            for one in group["questions"]:
                answers = tuple(place in one["answers"] for place in range(len(passages)))
                yield RivalQuestion(one["q"], one["lang"], passages, answers)


def main() -> None:
    """Prints the share of answerable questions whose nearest passage answers, and how well nearness tells them."""
    model = e5.E5(e5.weights())
    asked = list(questions())
    near = [_near(model, one) for one in asked]
    for language in ("", *sorted({one.language for one in asked})):
        some = [(one, found) for one, found in zip(asked, near, strict=True) if language in ("", one.language)]
        first = [one.answers[int(np.argmax(found))] for one, found in some if any(one.answers)]
        best = {yes: [found.max() for one, found in some if any(one.answers) == yes] for yes in (True, False)}
        print(
            f"{language or 'all'}: {len(some)} questions, {len(first)} answerable; the nearest passage answers "
            f"{np.mean(first):.3f}, an answerable one is nearer than a near miss {_above(best[True], best[False]):.3f}"
        )


def _near(model: e5.E5, one: RivalQuestion) -> Vectors:
    """How near each passage is, token by token, as an answer's sentences are compared."""
    return model.compare(one.text, one.passages)[1][:, 0]


def _above(high: list[float], low: list[float]) -> float:
    """The share of pairs in which the first is greater (the area under the ROC curve)."""
    return float(np.mean([[one > other for other in low] for one in high])) if high and low else float("nan")


if __name__ == "__main__":
    main()
