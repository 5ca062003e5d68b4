"""Makes what is stale in the lake and publishes it, in this process and without Dagster.

`relrag forget` needs it: forgotten records leave months far apart stale, and a run of Dagster for each range of months
took more time than all the work. No decision rests on Dagster's events; the next sync writes new ones.
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
    """Makes the stale months, the tables of the whole archive, a generation and its GraphRAG indexes.

    It reads no source; whoever calls it holds the writer's lock. Returns what went wrong, without any text of the
    archive: nothing is published then.
    """
    workspace = replace(workspace, listings=workspace.listings or {})
    errors: list[str] = []

    def attempt(step: str, work: Callable[[], object]) -> bool:
        try:
            with suppress_library_output():
                work()
        except Exception as error:  # noqa: BLE001  its message may quote what was being read
            errors.append(f"{step}: {describe_error(error).message}")
            return False
        return True

    for name, months in _stale_months(workspace).items():
        steps = _month_steps(workspace, name, months)
        all(attempt(step, work) for step, work in steps)  # a stage reads what the one before it has made
    for stage in [] if errors else [one.stage for one in plans.build_plan(workspace).archive]:
        archive_stage = whole_archive.stage_named(stage, workspace.settings)
        attempt(stage, partial(whole_archive.run, workspace, archive_stage))
    if not errors and plans.required_for_publish(workspace, plans.build_plan(workspace)).outdated:
        attempt("catalog_and_points", partial(publish.build_searched, workspace))
        if not errors:
            attempt("published_generation", partial(publish.publish, workspace))
    if not errors and workspace.settings.graphrag.own_collections:
        for index in plans.build_plan(workspace).graphs:
            attempt(index.collection, partial(graph_build.run, workspace, index.collection))
    return errors


def _stale_months(workspace: Workspace) -> dict[str, dict[str, list[str]]]:
    """Source -> stage -> months."""
    found: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for month in plans.build_plan(workspace).stale:
        found[month.source][month.stage].append(month.month)
    return found


def _month_steps(
    workspace: Workspace, name: str, months: dict[str, list[str]]
) -> Iterator[tuple[str, Callable[[], object]]]:
    """The stages of a source's stale months, in order, by their names in Dagster.

    After redaction the check raises RedactionIncomplete where personal data is left: nothing is made of it.
    """
    source = workspace.settings.source(name)
    for stage in month_stages.STAGES:
        if stage.name in months:
            step = partial(month_stages.run, workspace, source, stage, sorted(months[stage.name]))
            yield f"{name}__{stage.name}", step
        if stage.table == "records":
            yield f"{name}__redaction_check", partial(redaction_check.require_checked, workspace)
