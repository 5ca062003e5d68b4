"""Tags of a run for Dagster's UI: its sources and months, and its launcher.

Runs of the command line, the schedule or a sensor are created with these tags. A run launched by the UI is not, so the
executor adds missing tags at the start, and an export's months at the end.
"""

import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import dagster as dg

from relrag_pipelines.stores import lake, process_identity
from relrag_pipelines.workspace import Workspace

if TYPE_CHECKING:
    from dagster._core.execution.context.system import PlanOrchestrationContext
    from dagster._core.execution.plan.plan import ExecutionPlan
    from dagster._core.execution.retries import RetryMode

COMMAND_LINE, SCHEDULE, SENSOR, UI = "command line", "schedule", "sensor", "UI"
BACKFILL, MATERIALIZE, LAUNCH = "UI backfill", "dagster asset materialize", "dg launch"
SOURCE, MONTHS, LAUNCHED_BY = "relrag/source", "relrag/months", "relrag/launched_by"
PROCESS = ".dagster/relrag_process"
"""which process works on a run, as stores/process_identity.py writes it. The UI hides tags of that prefix"""
SYNC = "sync_id"
"""joins the runs of one command"""
USER = "user"
"""Dagster's own; its UI shows a run without schedule, sensor or user as "Manually launched" """
_RANGE = ("dagster/asset_partition_range_start", "dagster/asset_partition_range_end")
_PARTITION = "dagster/partition"
_AFTER_OTHERS = {"dagster/priority": "-1"}
"""in the queue, what a sensor has found to do waits for what somebody has asked for"""
_MONTH = re.compile(r"\d{4}-\d\d")
"""other partitions are the channels of an older system's points"""
_LAUNCHERS = {"dagster/schedule_name": SCHEDULE, "dagster/sensor_name": SENSOR, "dagster/backfill": BACKFILL}
_PROGRAMS = {("dagster", "materialize"): MATERIALIZE, ("dg", "launch"): LAUNCH}
"""program and subcommand -> value of the tag that names the launcher"""


def partition_range(first: str, last: str) -> dict[str, str]:
    """Tags of a run over all partitions from first to last."""
    return dict(zip(_RANGE, (first, last), strict=True))


def describe_run(
    workspace: Workspace, keys: Iterable[dg.AssetKey], tags: Mapping[str, str], launched_by: str | None = None
) -> dict[str, str]:
    """The tags of a run that materialises these assets: the given ones, with missing ones added.

    An export's months are left out, because they are known only after it has run.
    """
    configured = [source.name for source in workspace.settings.sources]
    sources = dict.fromkeys(key.path[0] for key in keys if len(key.path) == 2)
    months = [tags[tag] for tag in (*_RANGE, _PARTITION) if _MONTH.fullmatch(tags.get(tag, ""))]
    if not sources:  # a generation is built from all sources
        months = [month for source in configured for month in lake.manifest(workspace.home, "records", source)]
    computed = {SOURCE: ", ".join(sources or configured), LAUNCHED_BY: launched_by or _launcher(tags)}
    if launched_by == SENSOR:
        computed |= _AFTER_OTHERS
    return computed | ({MONTHS: _span(months)} if months else {}) | dict(tags)


def _launcher(tags: Mapping[str, str]) -> str:
    """Who launched a run with these tags that this process executes."""
    if named := next((launcher for tag, launcher in _LAUNCHERS.items() if tag in tags), None):
        return named
    program = Path(sys.argv[0]).name
    return next((name for (tool, word), name in _PROGRAMS.items() if tool == program and word in sys.argv), UI)


def _span(months: Iterable[str]) -> str:
    ordered = sorted(set(months))
    return f"{ordered[0]}..{ordered[-1]}" if len(ordered) > 1 else "".join(ordered) or "none"


def executor(workspace: Workspace) -> dg.ExecutorDefinition:
    """Dagster's executor in one process, which also gives every run its tags."""

    usual = dg.in_process_executor
    create = usual.executor_creation_fn
    assert create
    return dg.ExecutorDefinition(
        name=usual.name,
        config_schema=usual.config_schema.as_field(),
        executor_creation_fn=lambda context: _AttributedRun(workspace, create(context)),
        description=usual.description,
    )


class _AttributedRun(dg.Executor):
    """Another executor, and the tags of the run."""

    def __init__(self, workspace: Workspace, inner: dg.Executor) -> None:
        self._workspace, self._inner = workspace, inner

    @property
    def retries(self) -> "RetryMode":
        return self._inner.retries

    def execute(
        self, plan_context: "PlanOrchestrationContext", execution_plan: "ExecutionPlan"
    ) -> Iterator["dg.DagsterEvent"]:
        run, shared = plan_context.dagster_run, plan_context.instance
        tags = {
            PROCESS: process_identity.identify(),
            **describe_run(self._workspace, _assets(plan_context), run.tags),
        }
        if lacking := {name: value for name, value in tags.items() if name not in run.tags}:
            shared.add_run_tags(run.run_id, lacking)
        months = []
        for event in self._inner.execute(plan_context, execution_plan):
            if event.is_step_materialization and event.partition and _MONTH.fullmatch(event.partition):
                months.append(event.partition)
            yield event
        if MONTHS not in tags:
            shared.add_run_tags(run.run_id, {MONTHS: _span(months)})


def _assets(plan_context: "PlanOrchestrationContext") -> set[dg.AssetKey]:
    """The assets that a run materialises or checks."""
    run = plan_context.dagster_run
    chosen = {*(run.asset_selection or ()), *(check.asset_key for check in run.asset_check_selection or ())}
    return chosen or set(plan_context.job.get_definition().asset_layer.selected_asset_keys)
