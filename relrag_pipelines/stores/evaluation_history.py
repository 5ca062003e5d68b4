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
        """The figure that is compared, with its name."""
        name = next(one for one in HEADLINES if one in self.figures)
        return name, self.figures[name]


def load(home: Path) -> list[Evaluation]:
    """All that are kept, in the order in which they were made; none where the file is damaged."""
    try:
        return [Evaluation(**one) for one in sealed_json.read(home / NAME)["evaluations"]]
    except (FileNotFoundError, sealed_json.DamagedFile):
        return []


def keep(home: Path, made: Evaluation) -> None:
    """Adds one, in place of an earlier one of that generation and set. The caller holds the writer's lock."""
    same = (made.generation, made.questions)
    others = [one for one in load(home) if (one.generation, one.questions) != same]
    rows = [asdict(one) for one in [*others, made][-_KEPT:]]
    write_text(home / NAME, sealed_json.seal({"schema_version": SCHEMA_VERSION, "evaluations": rows}))


def previous_evaluation(home: Path, made: Evaluation) -> Evaluation | None:
    """That of the generation before, of the same questions by the same figure; None where there is none."""
    same = [one for one in load(home) if (one.questions, one.headline[0]) == (made.questions, made.headline[0])]
    earlier = [one for one in same if one.generation < made.generation]
    return max(earlier, key=lambda one: one.generation, default=None)
