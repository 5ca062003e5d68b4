"""Measures answers against labelled questions: quoted evidence, confidence, and quoted decoys.

A set is JSON Lines: `question`, `answerable`, `evidence` and `decoys` (each a list of `source`, `file`, and `text`, a
quote from that file), and optionally `answer_has` (an answer must contain one of these texts), `superseded` (values
that are no longer valid), `language` and `kind`.
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
"""share of the words of evidence that a text must contain to count as quoting it"""
_INTERVAL_DEVIATIONS = 1.96
"""standard deviations on either side of a share that contain 95 % of cases"""


@dataclass(frozen=True)
class Place:
    """A quote from a file: evidence, or a decoy that only looks like it."""

    source: str
    file: str
    text: str


@dataclass(frozen=True)
class LabelledQuestion:
    """A question with its evidence and decoys."""

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
    """The result of one question."""

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
    """The questions of a set. Raises ArchiveError with the number of an invalid line."""
    questions = []
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise ArchiveError(f"{path} cannot be read: {type(error).__name__}") from None
    for number, line in enumerate(lines, 1):
        if line.strip():
            try:
                questions.append(_question(json.loads(line)))
            except (ValueError, KeyError, TypeError):
                expected = (
                    "expected question, answerable, evidence and decoys, each of these with source, file and text"
                )
                raise ArchiveError(f"{path.name}, line {number}: {expected}") from None
    if not questions:
        raise ArchiveError(f"{path.name} holds no questions")
    return questions


def _question(fields: Mapping[str, Any]) -> LabelledQuestion:
    evidence, decoys = (
        tuple(Place(**place_fields) for place_fields in fields.get(part) or ()) for part in ("evidence", "decoys")
    )
    return LabelledQuestion(
        str(fields["question"]),
        bool(fields["answerable"]),
        evidence,
        decoys,
        tuple(fields.get("answer_has") or ()),
        str(fields.get("language", "")),
        str(fields.get("kind", "")),
        tuple(fields.get("superseded") or ()),
    )


@functools.lru_cache(maxsize=65536)
def words(text: str) -> frozenset[str]:
    """The words of a text. Evidence is compared by words, since the index lays out tables in another way."""
    return frozenset(re.findall(r"\w+", text.casefold()))


def measure_answers(archive: Archive, questions: Sequence[LabelledQuestion]) -> dict[str, Any]:
    """Shares of questions with their intervals (95 %), by language and by kind, and milliseconds a question.

    `outcomes` says of each question that has an answer whether it was shown: 1 or 0.
    """
    archive.ask(questions[0].question)  # warms up what is loaded once
    outcomes, times = [], []
    for question in questions:
        started = time.perf_counter()
        answer = archive.ask(question.question)
        times.append(time.perf_counter() - started)
        outcomes.append(outcome(question, answer))
    measured: dict[str, Any] = {"questions": len(questions), **shares(outcomes)}
    for part in ("language", "kind"):
        names = sorted({getattr(question, part) for question in questions} - {""})
        groups = {name: [result for result in outcomes if getattr(result.question, part) == name] for name in names}
        measured[f"by_{part}"] = {name: shares(group) for name, group in groups.items()}
    shown = [float(result.shown) for result in outcomes if result.question.answerable]
    return {**measured, "latency_ms": percentiles(times), "outcomes": shown}


def outcome(question: LabelledQuestion, answer: Answer) -> Outcome:
    """Compares an answer with the evidence and decoys of its question."""
    by_number = {source.number: source for source in answer.sources}
    quoted = [
        (
            f"{quote.sender or ''} {quote.text}",
            [by_number[source_number] for source_number in quote.sources if source_number in by_number],
        )
        for quote in answer.quotes
    ]

    def says(passage: Place, text: str, sources: Iterable[CitedSource]) -> bool:
        text_words, place_words = words(text), words(passage.text)
        return any(_is_from(passage, source) for source in sources) and len(text_words & place_words) >= SAME * len(
            place_words
        )

    has_text = [
        not question.answer_has or any(words(expected) <= words(text) for expected in question.answer_has)
        for text, _ in quoted
    ]
    is_right = [
        fits and any(says(passage, text, sources) for passage in question.evidence)
        for fits, (text, sources) in zip(has_text, quoted, strict=True)
    ]
    return Outcome(
        question,
        answer.confidence,
        any(is_right),
        is_right[:1] == [True],
        any(_is_from(passage, source) for passage in question.evidence for source in answer.sources),
        any(says(passage, text, sources) for passage in question.decoys for text, sources in quoted),
    )


def _is_from(passage: Place, source: CitedSource) -> bool:
    locations = [*source.locations, source.hit.chunk.source_uri or ""]
    return source.hit.chunk.source == passage.source and any(passage.file in location for location in locations)


def shares(outcomes: Sequence[Outcome]) -> dict[str, dict[str, float]]:
    """Each share with its total and its confidence interval; shares of nothing are left out."""
    answerable = [result for result in outcomes if result.question.answerable]
    others = [result for result in outcomes if not result.question.answerable]
    sure = [result for result in answerable if result.confidence == "sure"]
    counted: dict[str, tuple[Sequence[Outcome], Callable[[Outcome], bool]]] = {
        "shown": (answerable, lambda result: result.shown),
        "first": (answerable, lambda result: result.first),
        "source_shown": (answerable, lambda result: result.source),
        "sure": (answerable, lambda result: result.confidence == "sure"),
        "sure_and_right": (sure, lambda result: result.shown),
        "wrongly_none": (answerable, lambda result: result.confidence == "none"),
        "decoy_when_sure": (
            [result for result in outcomes if result.confidence == "sure"],
            lambda result: result.decoy,
        ),
        "unanswerable_not_sure": (others, lambda result: result.confidence != "sure"),
    }
    return {name: _share(sum(map(test, group)), len(group)) for name, (group, test) in counted.items() if group}


def _share(count: int, total: int) -> dict[str, float]:
    """A share with Wilson's score interval (https://en.wikipedia.org/wiki/Binomial_proportion_confidence_interval)."""
    share, z = count / total, _INTERVAL_DEVIATIONS
    middle = (share + z * z / (2 * total)) / (1 + z * z / total)
    reach = z / (1 + z * z / total) * math.sqrt(share * (1 - share) / total + z * z / (4 * total * total))
    return {"share": round(share, 4), "from": round(middle - reach, 4), "to": round(middle + reach, 4), "of": total}
