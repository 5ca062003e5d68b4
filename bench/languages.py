"""Questions in Czech and Hebrew against near records, through the product's own sync and eval.

`python -m bench.languages` prints for each embedder and each set, near records of one sentence and of several, R@1 and
R@5 of both languages, in percent. Give embedders as arguments for others than `none`.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from relrag_query.archive import Archive
from relrag_query.evaluation.metrics import corpus_questions, measure_corpus
from tests.end_to_end.test_languages import sync
from tests.retrieval import distractors

_SETS = {"one sentence": (1,), "several": distractors.SEVERAL}


def measure(embedder: str, sentences: tuple[int, ...]) -> dict[str, dict[str, float]]:
    """R@1 and R@5 of each language, and milliseconds a search (median)."""
    found = {}
    with tempfile.TemporaryDirectory() as folder, Archive.open(sync(Path(folder), sentences, embedder)) as archive:
        for language in distractors.LANGUAGES:
            asked = corpus_questions(distractors.HERE / language / "questions.jsonl")
            measured = measure_corpus(archive, asked, [1, 5])
            shares = {f"R@{depth}": round(100 * measured[f"recall@{depth}"], 1) for depth in (1, 5)}
            found[language] = shares | {"p50_ms": measured["latency_ms"]["p50"]}
    return found


if __name__ == "__main__":
    for embedder in sys.argv[1:] or ["none"]:
        for name, sentences in _SETS.items():
            print(embedder, name, measure(embedder, sentences))
