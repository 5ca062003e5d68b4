"""Measures search and answers against sets of questions with known sources.

Corpus questions name the records that contain the answer: JSON Lines of `question` and `gold`, a list of native ids.
Recall at k is the share of these among the first k records found, averaged over the questions. Source sets name what an
answer must show and must not: a JSON object whose `questions` have `question`, `sources`, and where wanted `allowed`,
`not_shown` (each an object of `source` and `id` or `file`) and `answer_has` (texts).
"""

from __future__ import annotations

import json
import math
import statistics
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from relrag_query.archive import Archive, ArchiveError
from relrag_query.results import Answer, CitedSource
from relrag_query.retrieval.hit import Hit

ALL_GOLD_DEPTH = 8
DEPTHS = (2, 5, 10)
COMPARED_DEPTH = 5
_MAX_RESULTS = 100
_OVERFETCH_FACTOR = 3
"""passages fetched, as a multiple of the records measured, since a record may have several"""


@dataclass(frozen=True)
class CorpusQuestion:
    """A question and the records that answer it."""

    question: str
    gold: frozenset[str]
    """native ids"""


def is_source_set(path: Path) -> bool:
    """Whether a file is one JSON object with questions, rather than one question per line."""
    try:
        content = json.loads(_text(path))
    except ValueError:
        return False
    return isinstance(content, dict) and "questions" in content


def corpus_questions(path: Path) -> list[CorpusQuestion]:
    """The questions of a JSON Lines file. Raises ArchiveError with the number of an invalid line."""
    questions = []
    for number, line in enumerate(_text(path).splitlines(), 1):
        if not line.strip():
            continue
        try:
            fields = json.loads(line)
            questions.append(CorpusQuestion(fields["question"], frozenset(map(str, fields["gold"]))))
        except (ValueError, KeyError, TypeError):
            raise ArchiveError(
                f"{path.name}, line {number}: expected an object with question and gold, a list of ids"
            ) from None
    if not questions:
        raise ArchiveError(f"{path.name} holds no questions")
    return questions


def measure_corpus(archive: Archive, questions: Sequence[CorpusQuestion], depths: Sequence[int]) -> dict[str, Any]:
    """Mean recall at each depth, the share of questions with all gold in the first 8, and milliseconds a search.

    `outcomes` are the recall of each question at the depth that generations are compared by, 5.
    """
    limit = min(_MAX_RESULTS, _OVERFETCH_FACTOR * max(*depths, ALL_GOLD_DEPTH))
    gold = [frozenset(map(archive.stored_id, question.gold)) for question in questions]
    archive.search(questions[0].question, limit=limit)  # warms up what is loaded once
    found_records, times = [], []
    for question in questions:
        started = time.perf_counter()
        hits = archive.search(question.question, limit=limit).hits
        times.append(time.perf_counter() - started)
        found_records.append(records(hits))
    return {
        "questions": len(questions),
        "gold_not_in_archive": len({name for names in gold for name in names if not archive.knows(name)}),
        **{
            f"recall@{depth}": round(statistics.fmean(map(recall_at(depth), found_records, gold)), 4)
            for depth in depths
        },
        f"all_gold@{ALL_GOLD_DEPTH}": round(statistics.fmean(map(all_gold, found_records, gold)), 4),
        "latency_ms": percentiles(times),
        "outcomes": [round(value, 4) for value in map(recall_at(COMPARED_DEPTH), found_records, gold)],
    }


def records(hits: Iterable[Hit]) -> list[frozenset[str]]:
    """The names of each record, best first, each record once; a chat window counts as its messages."""
    seen: dict[str, frozenset[str]] = {}
    for hit in hits:
        shown = [hit.messages[position].asset_id for position in hit.matching] if hit.messages else [hit.chunk.asset_id]
        for asset_id in shown:
            seen.setdefault(asset_id, native_names(asset_id))
    return list(seen.values())


def native_names(asset_id: str) -> frozenset[str]:
    """The names by which a set may give a record: `jsonl:notes:n1` also as `notes:n1` and `n1`."""
    parts = asset_id.split(":")
    return frozenset(":".join(parts[start:]) for start in range(len(parts)))


def recall_at(depth: int) -> Callable[[Sequence[frozenset[str]], frozenset[str]], float]:
    """A function: the share of the gold among the first `depth` records."""

    def recall(ranked: Sequence[frozenset[str]], gold: frozenset[str]) -> float:
        return len(gold.intersection(*[frozenset().union(*ranked[:depth])])) / len(gold) if gold else 0.0

    return recall


def all_gold(ranked: Sequence[frozenset[str]], gold: frozenset[str]) -> bool:
    """Whether all gold is among the first 8 records."""
    return recall_at(ALL_GOLD_DEPTH)(ranked, gold) == 1.0


def percentiles(seconds: Sequence[float]) -> dict[str, float]:
    """Nearest-rank percentiles, in milliseconds."""
    ordered = sorted(seconds)
    return {
        f"p{share}": round(1000 * ordered[math.ceil(share / 100 * len(ordered)) - 1], 2) for share in (50, 90, 95, 99)
    }


def source_questions(path: Path) -> list[dict[str, Any]]:
    """The questions of a source set. Raises ArchiveError if the file is invalid."""
    try:
        questions: list[dict[str, Any]] = json.loads(_text(path))["questions"]
        fits = bool(questions) and all(
            isinstance(question["question"], str) and _names_sources(question) for question in questions
        )
    except (ValueError, KeyError, TypeError):
        fits = False
    if not fits:
        expected = "expected questions, each with question and sources, each of these with `source` and `id` or `file`"
        raise ArchiveError(f"{path.name}: {expected}")
    return questions


def _names_sources(question: Mapping[str, Any]) -> bool:
    refs = [*question["sources"], *question.get("allowed", []), *question.get("not_shown", [])]
    return isinstance(question["sources"], list) and all(
        "source" in ref and ("id" in ref or "file" in ref) for ref in refs
    )


def measure_sources(archive: Archive, questions: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Recall, precision and wrong sources of each answer, and the means over all.

    `outcomes` are the recalls.
    """
    rows, times = [], []
    archive.ask(questions[0]["question"])
    for question in questions:
        started = time.perf_counter()
        answer = archive.ask(question["question"])
        times.append(time.perf_counter() - started)
        rows.append(_measure_answer(question, answer))
    return {
        "questions": len(rows),
        "source_recall": round(statistics.fmean(row["source_recall"] for row in rows), 4),
        "source_precision": round(statistics.fmean(row["source_precision"] for row in rows), 4),
        "wrong_sources_shown": sum(row["wrong_sources_shown"] for row in rows),
        "answer_has": round(statistics.fmean(row["answer_has"] for row in rows), 4),
        "latency_ms": percentiles(times),
        "each": rows,
        "outcomes": [row["source_recall"] for row in rows],
    }


def is_source(source: CitedSource, ref: Mapping[str, str]) -> bool:
    """Whether a cited source is the one that the set names."""
    chunk = source.hit.chunk
    if chunk.source != ref["source"]:
        return False
    if "id" in ref:
        return ref["id"] in native_names(chunk.asset_id)
    return any(ref["file"] in location for location in [*source.locations, chunk.source_uri or ""])


def _measure_answer(question: Mapping[str, Any], answer: Answer) -> dict[str, Any]:
    def are_shown(refs: Iterable[Mapping[str, str]]) -> list[bool]:
        return [any(is_source(source, ref) for source in answer.sources) for ref in refs]

    allowed = [*question["sources"], *question.get("allowed", [])]
    fitting = [any(is_source(source, ref) for ref in allowed) for source in answer.sources]
    return {
        "name": str(question.get("name", question["question"])),
        "source_recall": _share(are_shown(question["sources"])),
        "source_precision": _share(fitting),
        "wrong_sources_shown": sum(are_shown(question.get("not_shown", []))),
        "answer_has": _share([text in answer.text for text in question.get("answer_has", [])]),
    }


def _share(results: Sequence[bool]) -> float:
    """Share of true results; 1 without any."""
    return round(sum(results) / len(results), 4) if results else 1.0


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise ArchiveError(f"{path} cannot be read: {type(error).__name__}") from None
