"""Materialises a plan in this process, on the Dagster instance that the UI shows.

One process and no step start-up: the assets, their events and their checks are the same as in a run that the UI, the
schedule or a sensor launches.
"""

import sqlite3
import uuid
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import dagster as dg
from dagster._core.definitions.job_base import InMemoryJob
from dagster._core.definitions.repository_definition import SINGLETON_REPOSITORY_NAME
from dagster._core.execution.api import create_execution_plan, execute_run
from dagster._core.remote_origin import ManagedGrpcPythonEnvCodeLocationOrigin, RemoteRepositoryOrigin
from dagster._core.snap import snapshot_from_execution_plan
from dagster._core.types.loadable_target_origin import LoadableTargetOrigin

from relrag_pipelines import definitions, embedders
from relrag_pipelines.assets import health_checks, orphaned_runs, reconciliation, run_tags
from relrag_pipelines.assets.error_boundary import REPORT
from relrag_pipelines.assets.graph_assets import key
from relrag_pipelines.assets.legacy_assets import BACKFILL
from relrag_pipelines.assets.run_tags import partition_range
from relrag_pipelines.definitions import PUBLISHING, build_defs
from relrag_pipelines.ingest import regions
from relrag_pipelines.orchestration import postgres, sqlite_storage
from relrag_pipelines.orchestration.instance import DEFAULT_TICK_DAYS, instance_folder
from relrag_pipelines.privacy import fault_report
from relrag_pipelines.sources.legacy.payload import CHANNELS
from relrag_pipelines.stages import graph_index_plan, whole_archive
from relrag_pipelines.stages import plan as plans
from relrag_pipelines.stages.month_stages import STAGES
from relrag_pipelines.stages.plan_model import Plan
from relrag_pipelines.stores import (
    archive_tables,
    generations,
    graph_indexes,
    lake,
    lake_damage,
    lock,
    process_identity,
)
from relrag_pipelines.workspace import Workspace

_EMBEDDED_AT_ONCE = 1_000
"""records; the built-in model embeds 40 to 90 passages a second"""
_EVENTS = "history/event_log.db"
"""under DAGSTER_HOME"""
LOCATION = RemoteRepositoryOrigin(
    ManagedGrpcPythonEnvCodeLocationOrigin(LoadableTargetOrigin(module_name=definitions.__name__)),
    SINGLETON_REPOSITORY_NAME,
)
"""The code location that `relrag ui` loads. The timeline and the pages of jobs leave out runs of no location"""
_INTERRUPTIONS = {"DagsterExecutionInterruptedError", "KeyboardInterrupt"}
_QUIET = {"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}}


@dataclass
class RunOutcome:
    """What a run did."""

    runs: int = 0
    errors: list[str] = field(default_factory=list)
    """what failed, in words; empty when all went well"""
    warnings: list[str] = field(default_factory=list)
    """checks that did not pass"""
    generation: int | None = None
    """the current generation afterwards"""
    counts: dict[str, dict[str, Any]] = field(default_factory=dict)
    """asset -> what it told of what it did, as it stands in Dagster"""

    def points_written(self, source: str) -> int:
        """How many points of its collections a backfill wrote."""
        return int(self.counts.get(f"{source}/{BACKFILL}", {}).get("points_written", 0))


@contextmanager
def instance(home: Path, storage: str = "sqlite", tick_days: int = DEFAULT_TICK_DAYS) -> Iterator[dg.DagsterInstance]:
    """The archive's own Dagster instance, made when it is new; SettingsError where its storage cannot be used."""
    folder = instance_folder(home, storage, tick_days)
    if storage == "postgres":
        postgres.check()
    _drop_unfinished(folder / _EVENTS)
    with (
        sqlite_storage.closing_connections(),
        sqlite_storage.few_events(archive_tables.NAMES),
        dg.DagsterInstance.from_config(str(folder)) as opened,
    ):
        yield opened


def _drop_unfinished(path: Path) -> None:
    """Removes a database of events that a process was killed over while it made it.

    Dagster takes any file for a whole database, and fails for lack of a table. The one of versions is made last.
    """
    if not path.exists():
        return
    try:
        with closing(sqlite3.connect(path)) as connection:
            is_complete = connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'alembic_version'").fetchone()
    except sqlite3.Error:  # damaged or in use; `relrag doctor` says what to do about it
        return
    if not is_complete:
        for leftover in path.parent.glob(f"{path.name}*"):
            leftover.unlink(missing_ok=True)


def _instance(workspace: Workspace) -> AbstractContextManager[dg.DagsterInstance]:
    settings = workspace.settings
    return instance(workspace.home, settings.dagster_storage, settings.tick_retention_days)


def sync(workspace: Workspace, todo: Plan, *, full: bool = False, accept_deletions: bool = False) -> RunOutcome:
    """Does what the plan says: exports, then the months that they make stale, then a new generation."""
    with lock.writing(workspace.home, "relrag sync"), _instance(workspace) as shared:
        _tidy(workspace, shared)
        session = _Session(workspace, shared)
        for stage in todo.unfinished:  # it is made again, and what is made of it
            tables = whole_archive.stage_named(stage, workspace.settings).tables
            archive_tables.drop(workspace.home, tables)
        sources = list(dict.fromkeys([*(export.source for export in todo.exports), *todo.servers, *todo.zips]))
        if full:
            sources = [source.name for source in workspace.settings.sources if not source.paused]
            for source in sources:
                lake_damage.drop_damaged(workspace.home, source)
            archive_tables.drop_damaged(workspace.home)
            graph_indexes.drop_damaged(workspace.home)
        if sources:
            op_config = {"config": {"full": full, "accept_deletions": accept_deletions}}
            config = {"ops": {f"{source}__export": op_config for source in sources}}
            session.materialize("sync", [dg.AssetKey([source, "export"]) for source in sources], config=config)
        return _follow_up(workspace, session)


def backfill(workspace: Workspace, source: str, first: str, last: str) -> RunOutcome:
    """Makes all stages of a source's months from first to last again, then publishes if anything changed."""
    workspace.settings.source(source)
    with lock.writing(workspace.home, "relrag backfill"), _instance(workspace) as shared:
        _tidy(workspace, shared)
        session = _Session(workspace, shared)
        keys = [dg.AssetKey([source, stage.name]) for stage in STAGES]
        session.materialize("backfill", keys, tags=partition_range(first, last))
        return _follow_up(workspace, session)


def backfill_legacy(workspace: Workspace, sources: list[str], limit: int | None) -> RunOutcome:
    """Writes relrag's fields into the collections of these sources, and reads what that changed of their files."""
    with lock.writing(workspace.home, "relrag backfill legacy"), _instance(workspace) as shared:
        _tidy(workspace, shared)
        session = _Session(workspace, shared)
        for source in sources:
            run_config_ = {"ops": {f"{source}__{BACKFILL}": {"config": {"limit": limit or 0}}}}
            tags = partition_range(CHANNELS[0], CHANNELS[-1])
            session.materialize("legacy_backfill", [dg.AssetKey([source, BACKFILL])], tags, run_config_)
        written = [source for source in sources if session.outcome.points_written(source)]
        if written:  # what was written changed their files
            session.materialize("sync", [dg.AssetKey([source, "export"]) for source in written])
        return _follow_up(workspace, session)


def follow_up(workspace: Workspace) -> RunOutcome:
    """Makes the months that are stale and publishes, without reading any source."""
    with lock.writing(workspace.home, "relrag"), _instance(workspace) as shared:
        _tidy(workspace, shared)
        return _follow_up(workspace, _Session(workspace, shared))


def _follow_up(workspace: Workspace, session: "_Session") -> RunOutcome:
    workspace = replace(workspace, listings=workspace.listings or {})  # no source is read from here on
    regions.refresh(workspace)
    if _is_long_embedding(workspace):
        _make_stale(session, lambda: plans.build_plan(workspace).drop_stage("embeddings"))
        if not plans.build_plan(workspace).drop_stage("embeddings").lake_is_stale:
            session.materialize("publish", [dg.AssetKey(name) for name in PUBLISHING])
            _report_lexical_generation(workspace)
    _make_stale(session, lambda: plans.build_plan(workspace))
    todo = plans.required_for_publish(workspace, plans.build_plan(workspace))
    if todo.outdated and not todo.lake_is_stale:
        session.materialize("publish", [dg.AssetKey(name) for name in PUBLISHING])
    session.outcome.generation = generations.current_number(workspace.home)
    _make_graphs(workspace, session)
    return session.outcome


def _make_graphs(workspace: Workspace, session: "_Session") -> None:
    """The GraphRAG indexes that are stale, each a run; the new generation is read meanwhile."""
    if not workspace.settings.graphrag.own_collections:
        return
    todo = plans.build_plan(workspace)
    tables = graph_index_plan.tables(workspace.settings.graphrag)
    for graph in [] if todo.lake_is_stale or todo.outdated else todo.graphs:
        session.materialize("graphrag", [key(graph.collection, table.name) for table in tables])


def _report_lexical_generation(workspace: Workspace) -> None:
    """Tells whoever waits that the archive can be asked already."""
    if number := generations.current_number(workspace.home):
        message = f"Generation {number} can be searched by words; its passages are being embedded"
        workspace.report(f"{message} (Ctrl-C stops that; the next sync goes on)", 0, 0)


def _make_stale(session: "_Session", planned: Callable[[], Plan]) -> None:
    """The months that are stale, and then what is made of all of them."""
    for first, last, stages in planned().runs():
        keys = [dg.AssetKey([*stage]) for stage in stages]
        session.materialize("sync", keys, tags=partition_range(first, last))
    if whole_archive.STAGES and (ready := planned().archive_assets()):
        session.materialize("sync", [dg.AssetKey(table) for table in ready])


def _is_long_embedding(workspace: Workspace) -> bool:
    """Whether a first generation has to wait long for its vectors: then one that is searched by words goes ahead."""
    if generations.current_number(workspace.home) is not None or embedders.model(workspace.settings) is None:
        return False
    manifests = [lake.manifest(workspace.home, "private_records", source.name) for source in workspace.settings.sources]
    return sum(entry.rows for entries in manifests for entry in entries.values()) > _EMBEDDED_AT_ONCE


class _Session:
    """Runs on one instance, one after another."""

    def __init__(self, workspace: Workspace, shared: dg.DagsterInstance) -> None:
        self._workspace, self._instance = workspace, shared
        self._defs = build_defs(workspace)
        self._common_tags = {
            run_tags.USER: run_tags.COMMAND_LINE,
            run_tags.PROCESS: process_identity.identify(),
            run_tags.SYNC: uuid.uuid4().hex[:8],
        }
        self.outcome = RunOutcome()

    def _note_counts(self, result: Any) -> None:
        """Notes what each asset of a run says that it made."""
        for event in result.get_asset_materialization_events():
            written = event.step_materialization_data.materialization
            counts: dict[str, Any] = {name: value.value for name, value in written.metadata.items()}
            self.outcome.counts[written.asset_key.to_user_string()] = counts

    def materialize(
        self,
        name: str,
        keys: list[dg.AssetKey],
        tags: dict[str, str] | None = None,
        config: dict[str, Any] | None = None,
    ) -> None:
        """Runs the job of that name on these of its assets, as a run of the code location that the UI shows."""
        job = self._defs.resolve_job_def(name)
        tags_ = run_tags.describe_run(self._workspace, keys, tags or {}, run_tags.COMMAND_LINE)
        run = self._create_run(job, set(keys), {**_QUIET, **(config or {})}, {**tags_, **self._common_tags})
        result = execute_run(InMemoryJob(job), run, self._instance)
        self.outcome.runs += 1
        failures = result.get_step_failure_events()
        errors = [event.step_failure_data.error for event in failures]
        if any(error and error.cls_name in _INTERRUPTIONS for error in errors):
            # Dagster makes a failure of Ctrl-C and SIGTERM, and returns: what follows would be made of half a run
            raise KeyboardInterrupt
        for event in failures:
            self.outcome.errors.append(f"{event.step_key}: {self._describe_failure(event)}")
        self._note_counts(result)
        for check in result.get_asset_check_evaluations():
            if not check.passed:
                self.outcome.warnings.append(_failed_check(check))

    def _create_run(
        self, job: dg.JobDefinition, assets: set[dg.AssetKey], config: dict[str, Any], tags: dict[str, str]
    ) -> dg.DagsterRun:
        """A run of these assets, as `create_run_for_job` makes it, which would add every check of each asset."""
        checks = health_checks.keys_of_run(self._defs, assets)
        subset = job.get_subset(asset_selection=assets, asset_check_selection=checks)
        plan = create_execution_plan(subset, config, instance_ref=self._instance.get_ref(), tags=tags)
        return self._instance.create_run(
            job_name=job.name,
            run_id=None,
            run_config=config,
            status=None,
            tags=tags,
            root_run_id=None,
            parent_run_id=None,
            step_keys_to_execute=plan.step_keys_to_execute,
            execution_plan_snapshot=snapshot_from_execution_plan(plan, subset.get_job_snapshot_id()),
            job_snapshot=subset.get_job_snapshot(),
            parent_job_snapshot=subset.get_parent_job_snapshot(),
            asset_selection=assets,
            asset_check_selection=checks,
            resolved_op_selection=None,
            op_selection=None,
            remote_job_origin=LOCATION.get_job_origin(job.name),
            job_code_origin=None,
            asset_graph=subset.asset_layer.asset_graph,
        )

    def _describe_failure(self, event: dg.DagsterEvent) -> str:
        """What is said of a failed step; of a fault of relrag also where its report lies and what to do."""
        failure = event.step_failure_data.user_failure_data
        if failure is None:
            error = event.step_failure_data.error
            return str(error and error.cls_name)
        report = failure.metadata.get(REPORT)
        if report is None:
            return str(failure.description)
        path = fault_report.write(self._workspace.home, str(report.value), str(event.step_key))
        return f"{failure.description}; {fault_report.advice(path)}"


def _tidy(workspace: Workspace, shared: dg.DagsterInstance) -> None:
    """Ends runs that nobody works on any more, and then shows what they did make."""
    if orphaned_runs.end_orphaned_runs(shared, workspace.home):
        reconciliation.reconcile(shared, workspace)


def tidy_before_ui(workspace: Workspace) -> None:
    """Ends runs whose process has died; those that are queued go on with the daemon that starts now."""
    with _instance(workspace) as shared:
        orphaned_runs.end_orphaned_runs(shared, workspace.home, is_only_writer=False, daemon_follows=True)


def end_orphans(workspace: Workspace) -> None:
    """Ends runs that nobody works on any more; for a sync that has nothing else to do."""
    with lock.writing(workspace.home, "relrag sync"), _instance(workspace) as shared:
        _tidy(workspace, shared)


def _failed_check(check: dg.AssetCheckEvaluation) -> str:
    reason = f": {check.description}" if check.description else " failed"
    return f"{check.asset_key.to_user_string()}: check {check.check_name}{reason}"
