"""How well questions are answered whose answers somebody has labelled: what is shown, how sure, and what is not.

A set is JSON Lines: `question`, `answerable`, `evidence` and `decoys` (each a list of `source`, `file`, and `text` that
stands in that file), and where wanted `answer_has` (an answer must hold one of these texts), `superseded` (values that
no longer hold), `language` and `kind`.
"""

from __future__ import annotations

import functools
import json
import math
import re
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from relrag_query.archive import Archive, ArchiveError
from relrag_query.evaluation.metrics import percentiles
from relrag_query.results import Answer, CitedSource

SAME = 0.75
"""share of the words of evidence that a text must hold to say it"""
_SURE_OF_INTERVAL = 1.96
"""standard deviations on either side of a share that hold 95 % of cases"""


@dataclass(frozen=True)
class Place:
    """Words of a file that answer, or that only look as if they did."""

    source: str
    file: str
    text: str


@dataclass(frozen=True)
class LabelledQuestion:
    """A question, and what answers it."""

    question: str
    answerable: bool
    evidence: tuple[Place, ...]
    decoys: tuple[Place, ...]
    answer_has: tuple[str, ...] = ()
    language: str = ""
    kind: str = ""
    superseded: tuple[str, ...] = ()
    """values that were right before"""


@dataclass(frozen=True)
class Outcome:
    """What became of one question."""

    question: LabelledQuestion
    confidence: str
    shown: bool
    """the evidence is quoted"""
    first: bool
    """it is quoted first"""
    source: bool
    """its file is among the sources"""
    decoy: bool
    """a decoy is quoted"""


def is_answer_set(path: Path) -> bool:
    """Whether the first line of a file is a labelled question."""
    try:
        with path.open(encoding="utf-8-sig") as lines:
            first = json.loads(next((line for line in lines if line.strip()), ""))
    except (OSError, ValueError):
        return False
    return isinstance(first, dict) and "answerable" in first


def labelled_questions(path: Path) -> list[LabelledQuestion]:
    """The questions of a set; ArchiveError names the line that is none."""
    found = []
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise ArchiveError(f"{path} cannot be read: {type(error).__name__}") from None
    for number, line in enumerate(lines, 1):
        if line.strip():
            try:
                found.append(_question(json.loads(line)))
            except (ValueError, KeyError, TypeError):
                said = "expected question, answerable, evidence and decoys, each of these with source, file and text"
                raise ArchiveError(f"{path.name}, line {number}: {said}") from None
    if not found:
        raise ArchiveError(f"{path.name} holds no questions")
    return found


def _question(item: Mapping[str, Any]) -> LabelledQuestion:
    evidence, decoys = (tuple(Place(**place) for place in item.get(part) or ()) for part in ("evidence", "decoys"))
    return LabelledQuestion(
        str(item["question"]),
        bool(item["answerable"]),
        evidence,
        decoys,
        tuple(item.get("answer_has") or ()),
        str(item.get("language", "")),
        str(item.get("kind", "")),
        tuple(item.get("superseded") or ()),
    )


@functools.lru_cache(maxsize=65536)
def words(text: str) -> frozenset[str]:
    """The words of a text, by which evidence is compared: a table is indexed in other words than it is written."""
    return frozenset(re.findall(r"\w+", text.casefold()))


def measure_answers(archive: Archive, asked: Sequence[LabelledQuestion]) -> dict[str, Any]:
    """Shares of questions with their intervals (95 %), by language and by kind, and milliseconds a question.

    `outcomes` says of each question that has an answer whether it was shown: 1 or 0.
    """
    archive.ask(asked[0].question)  # what is loaded once is not part of an answer
    outcomes, times = [], []
    for one in asked:
        begun = time.perf_counter()
        answer = archive.ask(one.question)
        times.append(time.perf_counter() - begun)
        outcomes.append(outcome(one, answer))
    measured: dict[str, Any] = {"questions": len(asked), **shares(outcomes)}
    for part in ("language", "kind"):
        names = sorted({getattr(one, part) for one in asked} - {""})
        by = {name: [one for one in outcomes if getattr(one.question, part) == name] for name in names}
        measured[f"by_{part}"] = {name: shares(some) for name, some in by.items()}
    shown = [float(one.shown) for one in outcomes if one.question.answerable]
    return {**measured, "latency_ms": percentiles(times), "outcomes": shown}


def outcome(asked: LabelledQuestion, answer: Answer) -> Outcome:
    """What an answer shows of what it must and must not."""
    by_number = {source.number: source for source in answer.sources}
    quoted = [
        (f"{one.sender or ''} {one.text}", [by_number[number] for number in one.sources if number in by_number])
        for one in answer.quotes
    ]

    def says(place: Place, text: str, sources: Iterable[CitedSource]) -> bool:
        said, wanted = words(text), words(place.text)
        return any(_is_of(place, source) for source in sources) and len(said & wanted) >= SAME * len(wanted)

    has = [not asked.answer_has or any(words(one) <= words(text) for one in asked.answer_has) for text, _ in quoted]
    right = [
        fits and any(says(place, text, sources) for place in asked.evidence)
        for fits, (text, sources) in zip(has, quoted, strict=True)
    ]
    return Outcome(
        asked,
        answer.confidence,
        any(right),
        right[:1] == [True],
        any(_is_of(place, source) for place in asked.evidence for source in answer.sources),
        any(says(place, text, sources) for place in asked.decoys for text, sources in quoted),
    )


def _is_of(place: Place, source: CitedSource) -> bool:
    where = [*source.locations, source.hit.chunk.source_uri or ""]
    return source.hit.chunk.source == place.source and any(place.file in one for one in where)


def shares(outcomes: Sequence[Outcome]) -> dict[str, dict[str, float]]:
    """Each share with the number that it is of and its interval; without those that are of nothing."""
    answerable = [one for one in outcomes if one.question.answerable]
    others = [one for one in outcomes if not one.question.answerable]
    sure = [one for one in answerable if one.confidence == "sure"]
    counted: dict[str, tuple[Sequence[Outcome], Callable[[Outcome], bool]]] = {
        "shown": (answerable, lambda one: one.shown),
        "first": (answerable, lambda one: one.first),
        "source_shown": (answerable, lambda one: one.source),
        "sure": (answerable, lambda one: one.confidence == "sure"),
        "sure_and_right": (sure, lambda one: one.shown),
        "wrongly_none": (answerable, lambda one: one.confidence == "none"),
        "decoy_when_sure": ([one for one in outcomes if one.confidence == "sure"], lambda one: one.decoy),
        "unanswerable_not_sure": (others, lambda one: one.confidence != "sure"),
    }
    return {name: _share(sum(map(holds, some)), len(some)) for name, (some, holds) in counted.items() if some}


def _share(count: int, of: int) -> dict[str, float]:
    """A share with Wilson's score interval (https://en.wikipedia.org/wiki/Binomial_proportion_confidence_interval)."""
    share, z = count / of, _SURE_OF_INTERVAL
    middle = (share + z * z / (2 * of)) / (1 + z * z / of)
    reach = z / (1 + z * z / of) * math.sqrt(share * (1 - share) / of + z * z / (4 * of * of))
    return {"share": round(share, 4), "from": round(middle - reach, 4), "to": round(middle + reach, 4), "of": of}
