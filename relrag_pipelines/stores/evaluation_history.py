"""How well each generation answered questions whose answers are known: published/evaluations.json, figures only.

No question and no name stands there, so nothing that is deleted or forgotten stays in it. A set of questions is known
by a keyed hash of its file: figures of different questions are never compared.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from relrag_pipelines.files import sealed_json
from relrag_pipelines.files.atomic import write_text
from relrag_pipelines.records import SCHEMA_VERSION

NAME = "published/evaluations.json"
HEADLINES = ("recall@5", "source_recall", "shown")
"""what is compared: of questions that name records, of those that name what an answer shows, of labelled ones"""
_KEPT = 1_000
"""the newest"""


@dataclass(frozen=True)
class Evaluation:
    """What one generation answered of one set of questions."""

    generation: int
    at: str
    """ISO 8601, UTC"""
    embedder: str
    """model of its vectors; empty: by words only"""
    questions: str
    """keyed hash of the file of questions"""
    figures: Mapping[str, float]
    """shares from 0 to 1, counts, and milliseconds"""
    outcomes: Sequence[float] = ()
    """of each question that the headline is a mean of, in the order of the file, 0 to 1; empty where none were kept"""

    @property
    def headline(self) -> tuple[str, float]:
        """The name and value of the figure that is compared."""
        name = next(headline for headline in HEADLINES if headline in self.figures)
        return name, self.figures[name]


def load(home: Path) -> list[Evaluation]:
    """All stored evaluations, oldest first; none if the file is damaged."""
    try:
        return [Evaluation(**row) for row in sealed_json.read(home / NAME)["evaluations"]]
    except (FileNotFoundError, sealed_json.DamagedFile):
        return []


def keep(home: Path, evaluation: Evaluation) -> None:
    """Stores an evaluation, replacing one of the same generation and questions. The caller holds the writer's lock."""
    same = (evaluation.generation, evaluation.questions)
    others = [evaluation_ for evaluation_ in load(home) if (evaluation_.generation, evaluation_.questions) != same]
    rows = [asdict(evaluation_) for evaluation_ in [*others, evaluation][-_KEPT:]]
    write_text(home / NAME, sealed_json.seal({"schema_version": SCHEMA_VERSION, "evaluations": rows}))


def previous_evaluation(home: Path, evaluation: Evaluation) -> Evaluation | None:
    """The latest evaluation of an earlier generation with the same questions and headline; None without one."""
    same = [
        other
        for other in load(home)
        if (other.questions, other.headline[0]) == (evaluation.questions, evaluation.headline[0])
    ]
    earlier = [other for other in same if other.generation < evaluation.generation]
    return max(earlier, key=lambda other: other.generation, default=None)
