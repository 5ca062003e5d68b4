"""Evaluates the golden set after each publish; a check warns if significantly fewer questions are answered.

Only figures reach Dagster, no questions. This is the only module of the pipeline that queries a generation, and so
imports relrag_query.
"""

import math
from collections.abc import Sequence

import dagster as dg

from relrag_pipelines.assets.error_boundary import seal_errors
from relrag_pipelines.stores import evaluation_history, generations
from relrag_pipelines.workspace import Workspace


def ask_golden_set(workspace: Workspace) -> dict[str, float]:
    """The golden set's figures for the current generation; empty if none is set, or it cannot be read."""
    path = workspace.settings.golden_set_path
    if path is None:
        return {}
    # imported only when needed: most archives have no golden set
    from relrag_query.archive import Archive, ArchiveError
    from relrag_query.evaluation import question_sets

    try:
        # the set measures retrieval; no passage leaves the machine
        with Archive.of(workspace.settings.model_copy(update={"answerer": "extractive"})) as archive:
            evaluation = question_sets.keep(archive, path, question_sets.measure(archive, path))
    except (ArchiveError, OSError):  # the generation stays published; the check warns
        return {}
    return dict(evaluation.figures) if evaluation else {}


def golden_set(workspace: Workspace) -> dg.AssetChecksDefinition:
    """The check that the golden set is answered no worse than before."""

    @dg.asset_check(
        asset="published_generation",
        name="golden_set",
        description="The golden set is answered no worse than by the generation before (golden_significance).",
    )
    @seal_errors
    def _check() -> dg.AssetCheckResult:
        home = workspace.home
        current = (generations.current_number(home), _questions(workspace))
        evaluation = next(
            (
                candidate
                for candidate in evaluation_history.load(home)
                if (candidate.generation, candidate.questions) == current
            ),
            None,
        )
        if evaluation is None:
            return _warning("the golden set could not be asked; `relrag eval` says why", {})
        name, share = evaluation.headline
        former = evaluation_history.previous_evaluation(home, evaluation)
        metadata = {name: share} | ({f"{name} before": former.headline[1]} if former else {})
        worse, better = changes(former.outcomes, evaluation.outcomes) if former else (0, 0)
        if former and (chance := probability_by_chance(worse, better)) <= workspace.settings.golden_significance:
            change = f"{name} went from {former.headline[1]:.4f} (generation {former.generation}) to {share:.4f}"
            return _warning(f"{change}: {worse} questions fare worse and {better} better (p = {chance:.2g})", metadata)
        return dg.AssetCheckResult(passed=True, metadata=metadata)

    return _check


def changes(former: Sequence[float], current: Sequence[float]) -> tuple[int, int]:
    """The numbers of questions that fare worse and better; (0, 0) if the question counts differ."""
    pairs = list(zip(former, current, strict=True)) if len(former) == len(current) else []
    return sum(new_score < old_score for old_score, new_score in pairs), sum(
        new_score > old_score for old_score, new_score in pairs
    )


def probability_by_chance(worse: int, better: int) -> float:
    """The probability that at least `worse` of the changed questions fare worse by chance: 0 to 1.

    This is the exact sign test; for questions that are answered or not, McNemar's test.
    """
    changed = worse + better
    return math.fsum(math.comb(changed, count) / 2**changed for count in range(worse, changed + 1))


def _questions(workspace: Workspace) -> str:
    """The hash of the golden set; empty if it cannot be read."""
    path = workspace.settings.golden_set_path
    try:
        return workspace.keys.content_hash(path.read_bytes()) if path else ""
    except OSError:
        return ""


def _warning(description: str, metadata: dict[str, float]) -> dg.AssetCheckResult:
    return dg.AssetCheckResult(
        passed=False, severity=dg.AssetCheckSeverity.WARN, description=description, metadata=dict(metadata)
    )
