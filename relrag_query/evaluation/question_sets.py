"""Measures question sets of any format and stores the figures for each generation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from relrag_pipelines.settings import now
from relrag_pipelines.stores import evaluation_history, lock
from relrag_pipelines.stores.evaluation_history import Evaluation
from relrag_query.archive import Archive
from relrag_query.evaluation import answer_sets, metrics


def measure(archive: Archive, path: Path, depths: Sequence[int] = metrics.DEPTHS) -> dict[str, Any]:
    """Measures a set of any format, with recall at these depths. Raises ArchiveError if it is invalid."""
    if answer_sets.is_answer_set(path):
        return answer_sets.measure_answers(archive, answer_sets.labelled_questions(path))
    if metrics.is_source_set(path):
        return metrics.measure_sources(archive, metrics.source_questions(path))
    return metrics.measure_corpus(archive, metrics.corpus_questions(path), depths)


def keep(archive: Archive, path: Path, measured: Mapping[str, Any]) -> Evaluation | None:
    """Stores the figures of the archive's generation and returns them; None if they lack a headline figure.

    None too for an archive without keys. Takes the writer's lock briefly; raises Busy if another process holds it.
    """
    settings = archive.settings
    if not settings.key_store.exists() or not any(name in measured for name in evaluation_history.HEADLINES):
        return None
    file_hash = settings.key_store.load().content_hash(path.read_bytes())
    model = str(archive.generation.manifest.get("embedder", ""))
    at = now().isoformat("T", "seconds")
    generation = archive.generation.number
    evaluation = Evaluation(generation, at, model, file_hash, figures(measured), measured["outcomes"])
    with lock.writing(settings.home_path, "relrag eval"):
        evaluation_history.keep(settings.home_path, evaluation)
    return evaluation


def figures(measured: Mapping[str, Any]) -> dict[str, float]:
    """The measured numbers, flattened (`latency_ms_p50`); texts and lists are left out."""
    flat = {name: value["share"] if _is_share(value) else value for name, value in measured.items()}
    flat |= {f"latency_ms_{name}": value for name, value in flat.pop("latency_ms", {}).items()}
    return {name: value for name, value in flat.items() if isinstance(value, int | float)}


def _is_share(value: Any) -> bool:
    return isinstance(value, dict) and "share" in value


def question_count(path: Path) -> int:
    """The number of questions in a set of any format. Raises ArchiveError if it is invalid."""
    if answer_sets.is_answer_set(path):
        return len(answer_sets.labelled_questions(path))
    return len(metrics.source_questions(path) if metrics.is_source_set(path) else metrics.corpus_questions(path))
