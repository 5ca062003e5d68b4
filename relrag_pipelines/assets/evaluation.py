"""The golden set: asked after each publish, its figures kept; a check warns where significantly fewer are answered.

Figures only: no question reaches Dagster. This is the one place where the pipeline asks what it has published, and so
imports relrag_query.
"""

import math
from collections.abc import Sequence

import dagster as dg

from relrag_pipelines.assets.error_boundary import seal_errors
from relrag_pipelines.stores import evaluation_history, generations
from relrag_pipelines.workspace import Workspace


def ask_golden_set(workspace: Workspace) -> dict[str, float]:
    """What the current generation answers of the golden set; empty where none is set, or it cannot be read."""
    path = workspace.settings.golden_set_path
    if path is None:
        return {}
    # imported only where something is asked: most archives have no golden set
    from relrag_query.archive import Archive, ArchiveError
    from relrag_query.evaluation import question_sets

    try:
        # the set measures what is found, and no passage leaves the machine for it
        with Archive.of(workspace.settings.model_copy(update={"answerer": "extractive"})) as archive:
            kept = question_sets.keep(archive, path, question_sets.measure(archive, path))
    except (ArchiveError, OSError):  # what is published stays so; the check tells
        return {}
    return dict(kept.figures) if kept else {}


def golden_set(workspace: Workspace) -> dg.AssetChecksDefinition:
    """The check of what is published."""

    @dg.asset_check(
        asset="published_generation",
        name="golden_set",
        description="The golden set is answered no worse than by the generation before (golden_significance).",
    )
    @seal_errors
    def _check() -> dg.AssetCheckResult:
        home = workspace.home
        asked = (generations.current_number(home), _questions(workspace))
        made = next((one for one in evaluation_history.load(home) if (one.generation, one.questions) == asked), None)
        if made is None:
            return _warning("the golden set could not be asked; `relrag eval` says why", {})
        name, share = made.headline
        before = evaluation_history.previous_evaluation(home, made)
        metadata = {name: share} | ({f"{name} before": before.headline[1]} if before else {})
        worse, better = changes(before.outcomes, made.outcomes) if before else (0, 0)
        if before and (chance := probability_by_chance(worse, better)) <= workspace.settings.golden_significance:
            said = f"{name} went from {before.headline[1]:.4f} (generation {before.generation}) to {share:.4f}"
            return _warning(f"{said}: {worse} questions fare worse and {better} better (p = {chance:.2g})", metadata)
        return dg.AssetCheckResult(passed=True, metadata=metadata)

    return _check


def changes(before: Sequence[float], after: Sequence[float]) -> tuple[int, int]:
    """How many questions fare worse, and how many better; none where not as many were kept before."""
    pairs = list(zip(before, after, strict=True)) if len(before) == len(after) else []
    return sum(now < then for then, now in pairs), sum(now > then for then, now in pairs)


def probability_by_chance(worse: int, better: int) -> float:
    """That so many or more of the questions that changed fare worse, were either as likely: 0 to 1.

    The exact sign test; of questions that are answered or not it is McNemar's.
    """
    changed = worse + better
    return math.fsum(math.comb(changed, count) / 2**changed for count in range(worse, changed + 1))


def _questions(workspace: Workspace) -> str:
    """What the golden set is known by; empty where it cannot be read."""
    path = workspace.settings.golden_set_path
    try:
        return workspace.keys.content_hash(path.read_bytes()) if path else ""
    except OSError:
        return ""


def _warning(said: str, metadata: dict[str, float]) -> dg.AssetCheckResult:
    return dg.AssetCheckResult(
        passed=False, severity=dg.AssetCheckSeverity.WARN, description=said, metadata=dict(metadata)
    )
