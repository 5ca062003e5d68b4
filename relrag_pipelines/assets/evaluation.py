"""The golden set: asked after each publish, its figures kept; a check warns where fewer are answered than before.

Figures only: no question reaches Dagster. This is the one place where the pipeline asks what it has published, and so
imports relrag_query.
"""

import dagster as dg

from relrag_pipelines.assets.error_boundary import seal_errors
from relrag_pipelines.stores import evaluation_history, generations
from relrag_pipelines.workspace import Workspace

_ROUNDING = 1e-6
"""figures are kept with four digits"""


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
        description="The golden set is answered as well as by the generation before, or nearly (golden_margin).",
    )
    @seal_errors
    def _check() -> dg.AssetCheckResult:
        home, margin = workspace.home, workspace.settings.golden_margin
        asked = (generations.current_number(home), _questions(workspace))
        made = next((one for one in evaluation_history.load(home) if (one.generation, one.questions) == asked), None)
        if made is None:
            return _warning("the golden set could not be asked; `relrag eval` says why", {})
        name, share = made.headline
        before = evaluation_history.previous_evaluation(home, made)
        metadata = {name: share} | ({f"{name} before": before.headline[1]} if before else {})
        fall = before.headline[1] - share if before else 0.0
        if before and fall > margin + _ROUNDING:
            said = f"{name} fell from {before.headline[1]:.4f} (generation {before.generation}) to {share:.4f}"
            return _warning(f"{said}, by more than golden_margin ({margin:g})", metadata)
        return dg.AssetCheckResult(passed=True, metadata=metadata)

    return _check


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
