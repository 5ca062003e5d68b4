"""Rebuilds the stale tables of the lake and publishes them, in this process and without Dagster.

`relrag forget` uses it: forgotten records make scattered months stale, and a Dagster run for each range of months
took longer than the work itself. No decision depends on Dagster's events; the next sync writes new ones.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial

from relrag_pipelines.privacy.error_descriptions import describe_error
from relrag_pipelines.privacy.output_guard import suppress_library_output
from relrag_pipelines.publishing import publish
from relrag_pipelines.stages import graph_build, month_stages, redaction_check, whole_archive
from relrag_pipelines.stages import plan as plans
from relrag_pipelines.workspace import Workspace


def rebuild(workspace: Workspace) -> list[str]:
    """Rebuilds the stale months, the tables of the whole archive, a generation and its GraphRAG indexes.

    It reads no source; the caller holds the writer's lock. Returns the errors, without text of the archive; if there
    are any, nothing is published.
    """
    workspace = replace(workspace, listings=workspace.listings or {})
    errors: list[str] = []
    for phase in (_rebuild_months, _rebuild_archive, _publish, _build_graphs):
        if not errors:
            phase(workspace, errors)
    return errors


def _attempt(errors: list[str], step: str, work: Callable[[], object]) -> bool:
    """Runs a step; whether it succeeded. An error is added to `errors`."""
    try:
        with suppress_library_output():
            work()
    except Exception as error:  # noqa: BLE001  its message may quote private text
        errors.append(f"{step}: {describe_error(error).message}")
        return False
    return True


def _rebuild_months(workspace: Workspace, errors: list[str]) -> None:
    """Rebuilds the stale months of each source, up to the first failure: each stage reads the output of the last."""
    for name, months in _stale_months(workspace).items():
        steps = _month_steps(workspace, name, months)
        all(_attempt(errors, step, work) for step, work in steps)


def _rebuild_archive(workspace: Workspace, errors: list[str]) -> None:
    """Rebuilds the stale tables of the whole archive."""
    for stage in [outdated.stage for outdated in plans.build_plan(workspace).archive]:
        archive_stage = whole_archive.stage_named(stage, workspace.settings)
        _attempt(errors, stage, partial(whole_archive.run, workspace, archive_stage))


def _publish(workspace: Workspace, errors: list[str]) -> None:
    """Publishes a generation, if the current one is outdated."""
    if not plans.required_for_publish(workspace, plans.build_plan(workspace)).outdated:
        return
    if _attempt(errors, "catalog_and_points", partial(publish.build_searched, workspace)):
        _attempt(errors, "published_generation", partial(publish.publish, workspace))


def _build_graphs(workspace: Workspace, errors: list[str]) -> None:
    """Builds the stale GraphRAG indexes, if there are any."""
    if not workspace.settings.graphrag.own_collections:
        return
    for index in plans.build_plan(workspace).graphs:
        _attempt(errors, index.collection, partial(graph_build.run, workspace, index.collection))


def _stale_months(workspace: Workspace) -> dict[str, dict[str, list[str]]]:
    """Source -> stage -> months."""
    months_by_stage: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for stale in plans.build_plan(workspace).stale:
        months_by_stage[stale.source][stale.stage].append(stale.month)
    return months_by_stage


def _month_steps(
    workspace: Workspace, name: str, months: dict[str, list[str]]
) -> Iterator[tuple[str, Callable[[], object]]]:
    """Yields the stages of a source's stale months, in order, with their names in Dagster.

    After redaction, the check raises RedactionIncomplete if personal data is left; later stages do not run then.
    """
    source = workspace.settings.source(name)
    for stage in month_stages.STAGES:
        if stage.name in months:
            step = partial(month_stages.run, workspace, source, stage, sorted(months[stage.name]))
            yield f"{name}__{stage.name}", step
        if stage.table == "records":
            yield f"{name}__redaction_check", partial(redaction_check.require_checked, workspace)
