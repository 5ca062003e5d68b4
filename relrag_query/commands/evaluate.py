"""`relrag eval`: how well the archive finds what is known to answer a set of questions."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from relrag_query import evaluation
from relrag_query.archive import Archive, ArchiveError

_DEEPEST = 33


def evaluate(
    corpus: Path | None, sources: Path | None, k: str = "2,5,10", config: Path | None = None, *, as_json: bool = False
) -> int:
    """Prints recall, or what answers show, and times; returns the exit code."""
    if (corpus is None) == (sources is None):
        raise ArchiveError("give one of --corpus-questions FILE and --sources FILE")
    depths = _depths(k)
    with Archive.open(config) as archive:
        if corpus is not None:
            measured = evaluation.measure_corpus(archive, evaluation.corpus_questions(corpus), depths)
        elif sources is not None:
            measured = evaluation.measure_sources(archive, evaluation.source_questions(sources))
        about = {"generation": archive.generation.number, "embedder": archive.settings.embedder}
    if as_json:
        print(json.dumps({**measured, **about}, indent=1, ensure_ascii=False))
    else:
        _print({**measured, **about})
    return 0


def _depths(k: str) -> list[int]:
    if not re.fullmatch(r"\d+(,\d+)*", k) or not all(1 <= int(part) <= _DEEPEST for part in k.split(",")):
        raise ArchiveError(f'--k is "{k}"; write depths from 1 to {_DEEPEST} with commas, such as 2,5,10')
    return sorted(set(map(int, k.split(","))))


def _print(measured: dict[str, Any]) -> None:
    each = measured.pop("each", [])
    for row in each:
        print(
            f"{row['name']}: sources {row['source_recall']:.0%}, of those shown {row['source_precision']:.0%} right, "
            f"{row['wrong_sources_shown']} that must not be; answer {row['answer_has']:.0%}"
        )
    for name, value in measured.items():
        said = ", ".join(f"{part} {number:g}" for part, number in value.items()) if isinstance(value, dict) else value
        print(f"{name.replace('_', ' ')}: {said}")
