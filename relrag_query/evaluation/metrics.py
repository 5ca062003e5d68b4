"""How well an archive finds what answers a question, measured against sets of questions with known answers.

Corpus questions name the records that hold the answer: JSON Lines of `question` and `gold`, a list of native ids.
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
_MOST = 100
_SPARE = 3
"""so many times the records wanted are looked up as passages, since a record may have several"""


@dataclass(frozen=True)
class CorpusQuestion:
    """A question and the records that answer it."""

    question: str
    gold: frozenset[str]
    """native ids"""


def is_source_set(path: Path) -> bool:
    """Whether a file is one JSON object with questions, and not one question a line."""
    try:
        found = json.loads(_text(path))
    except ValueError:
        return False
    return isinstance(found, dict) and "questions" in found


def corpus_questions(path: Path) -> list[CorpusQuestion]:
    """The questions of a JSON Lines file; ArchiveError names the line that is none."""
    found = []
    for number, line in enumerate(_text(path).splitlines(), 1):
        if not line.strip():
            continue
        try:
            item = json.loads(line)
            found.append(CorpusQuestion(item["question"], frozenset(map(str, item["gold"]))))
        except (ValueError, KeyError, TypeError):
            raise ArchiveError(
                f"{path.name}, line {number}: expected an object with question and gold, a list of ids"
            ) from None
    if not found:
        raise ArchiveError(f"{path.name} holds no questions")
    return found


def measure_corpus(archive: Archive, asked: Sequence[CorpusQuestion], depths: Sequence[int]) -> dict[str, Any]:
    """Mean recall at each depth, the share of questions with all gold in the first 8, and milliseconds a search.

    `outcomes` are the recall of each question at the depth that generations are compared by, 5.
    """
    limit = min(_MOST, _SPARE * max(*depths, ALL_GOLD_DEPTH))
    gold = [frozenset(map(archive.stored_id, one.gold)) for one in asked]
    archive.search(asked[0].question, limit=limit)  # what is loaded once is not part of a search
    found, times = [], []
    for one in asked:
        begun = time.perf_counter()
        hits = archive.search(one.question, limit=limit).hits
        times.append(time.perf_counter() - begun)
        found.append(records(hits))
    return {
        "questions": len(asked),
        "gold_not_in_archive": len({name for names in gold for name in names if not archive.knows(name)}),
        **{f"recall@{depth}": round(statistics.fmean(map(recall_at(depth), found, gold)), 4) for depth in depths},
        f"all_gold@{ALL_GOLD_DEPTH}": round(statistics.fmean(map(all_gold, found, gold)), 4),
        "latency_ms": percentiles(times),
        "outcomes": [round(one, 4) for one in map(recall_at(COMPARED_DEPTH), found, gold)],
    }


def records(hits: Iterable[Hit]) -> list[frozenset[str]]:
    """The names of each record found, best first, each record once; a chat window stands for its messages."""
    seen: dict[str, frozenset[str]] = {}
    for hit in hits:
        shown = [hit.messages[place].asset_id for place in hit.matching] if hit.messages else [hit.chunk.asset_id]
        for asset_id in shown:
            seen.setdefault(asset_id, native_names(asset_id))
    return list(seen.values())


def native_names(asset_id: str) -> frozenset[str]:
    """`jsonl:notes:n1` is known as itself, as `notes:n1`, and as `n1`."""
    parts = asset_id.split(":")
    return frozenset(":".join(parts[start:]) for start in range(len(parts)))


def recall_at(depth: int) -> Callable[[Sequence[frozenset[str]], frozenset[str]], float]:
    """The share of the gold among the first so many records."""

    def recall(found: Sequence[frozenset[str]], gold: frozenset[str]) -> float:
        return len(gold.intersection(*[frozenset().union(*found[:depth])])) / len(gold) if gold else 0.0

    return recall


def all_gold(found: Sequence[frozenset[str]], gold: frozenset[str]) -> bool:
    """Whether all gold is among the first 8 records."""
    return recall_at(ALL_GOLD_DEPTH)(found, gold) == 1.0


def percentiles(seconds: Sequence[float]) -> dict[str, float]:
    """Nearest-rank percentiles, in milliseconds."""
    ordered = sorted(seconds)
    return {
        f"p{share}": round(1000 * ordered[math.ceil(share / 100 * len(ordered)) - 1], 2) for share in (50, 90, 95, 99)
    }


def source_questions(path: Path) -> list[dict[str, Any]]:
    """The questions of a source set; ArchiveError where the file is none."""
    try:
        questions: list[dict[str, Any]] = json.loads(_text(path))["questions"]
        fits = bool(questions) and all(isinstance(one["question"], str) and _names_sources(one) for one in questions)
    except (ValueError, KeyError, TypeError):
        fits = False
    if not fits:
        found = "expected questions, each with question and sources, each of these with `source` and `id` or `file`"
        raise ArchiveError(f"{path.name}: {found}")
    return questions


def _names_sources(one: Mapping[str, Any]) -> bool:
    named = [*one["sources"], *one.get("allowed", []), *one.get("not_shown", [])]
    return isinstance(one["sources"], list) and all("source" in ref and ("id" in ref or "file" in ref) for ref in named)


def measure_sources(archive: Archive, asked: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """For each question what its answer showed of what it must, may and must not; and the means over all.

    `outcomes` are the shares of what it must.
    """
    rows, times = [], []
    archive.ask(asked[0]["question"])
    for one in asked:
        begun = time.perf_counter()
        answer = archive.ask(one["question"])
        times.append(time.perf_counter() - begun)
        rows.append(_judged(one, answer))
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


def is_source(source: CitedSource, wanted: Mapping[str, str]) -> bool:
    """Whether a source that is shown is the one that the set names."""
    chunk = source.hit.chunk
    if chunk.source != wanted["source"]:
        return False
    if "id" in wanted:
        return wanted["id"] in native_names(chunk.asset_id)
    return any(wanted["file"] in place for place in [*source.locations, chunk.source_uri or ""])


def _judged(one: Mapping[str, Any], answer: Answer) -> dict[str, Any]:
    def are_shown(wanted: Iterable[Mapping[str, str]]) -> list[bool]:
        return [any(is_source(source, each) for source in answer.sources) for each in wanted]

    fine = [*one["sources"], *one.get("allowed", [])]
    fitting = [any(is_source(source, each) for each in fine) for source in answer.sources]
    return {
        "name": str(one.get("name", one["question"])),
        "source_recall": _share(are_shown(one["sources"])),
        "source_precision": _share(fitting),
        "wrong_sources_shown": sum(are_shown(one.get("not_shown", []))),
        "answer_has": _share([text in answer.text for text in one.get("answer_has", [])]),
    }


def _share(held: Sequence[bool]) -> float:
    """1 where there is nothing to hold."""
    return round(sum(held) / len(held), 4) if held else 1.0


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise ArchiveError(f"{path} cannot be read: {type(error).__name__}") from None
