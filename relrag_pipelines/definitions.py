"""Everything Dagster loads: the assets of every configured source, their checks, a schedule and three sensors.

What has to be done is decided by `relrag_pipelines.stages.plan` and nowhere else: the schedule and the folder sensor
start ingestion, and the follow-up sensor asks the plan which months are stale and whether to publish. It looks at the
state of the archive, not at events, so a lost tick or a failed run is made good by the next one.
"""

import os
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from importlib import metadata
from itertools import chain
from pathlib import Path
from typing import Any

import dagster as dg

from relrag_pipelines import settings as settings_module
from relrag_pipelines.assets import (
    health_checks,
    lake_fetch,
    orphaned_runs,
    reconciliation,
    resources,
    run_retention,
    run_tags,
)
from relrag_pipelines.assets.archive_assets import archive_stage, completion_check, tables_true
from relrag_pipelines.assets.error_boundary import seal_errors
from relrag_pipelines.assets.graph_assets import graph_assets, graph_checks, key
from relrag_pipelines.assets.legacy_assets import BACKFILL, legacy_backfill
from relrag_pipelines.assets.publication import publishing_assets, publishing_checks
from relrag_pipelines.assets.run_tags import partition_range
from relrag_pipelines.assets.source_assets import manifest_true, no_unredacted_value, source_assets
from relrag_pipelines.files import access
from relrag_pipelines.legacy import source_collections
from relrag_pipelines.onboarding import alerts
from relrag_pipelines.publishing import lake_bucket
from relrag_pipelines.records import SCHEMA_VERSION
from relrag_pipelines.settings import Settings
from relrag_pipelines.stages import graph_index_plan, whole_archive
from relrag_pipelines.stages import plan as plans
from relrag_pipelines.stages.month_stages import STAGES
from relrag_pipelines.stores import archive_tables, dagster_runs, lock
from relrag_pipelines.stores.fingerprint import fingerprint
from relrag_pipelines.workspace import Workspace

# BackfillPolicy is declared beta; a line of warning an asset hides what matters
warnings.filterwarnings("ignore", category=dg.BetaWarning)

UnresolvedJob = Any
"""what define_asset_job gives; Dagster does not export its type"""

Requests = Iterator[dg.RunRequest | dg.SkipReason]

_RECENT_BACKFILLS = 20
_GOING_ON = [dg.DagsterRunStatus(status) for status in dagster_runs.UNFINISHED]
_HOUSEKEEPING_SECONDS = 60
_EACH_HOUR = ":%Y-%m-%dT%H"
_UP_TO_DATE = "everything is up to date"
PUBLISHING = ("duckdb_catalog", "qdrant_points", "published_generation")


def build_defs(workspace: Workspace, resource_overrides: Mapping[str, Any] | None = None) -> dg.Definitions:
    """All definitions of one archive; `resource_overrides` replaces resources of assets/resources.py by their names."""
    parts = resources.resources(workspace.settings) | dict(resource_overrides or {})
    workspace = resources.with_resources(workspace, parts)
    sources, graphs = workspace.settings.sources, list(workspace.settings.graphrag.own_collections)
    checks = _checks(workspace)
    health = health_checks.nightly_keys(key for check in checks for key in check.check_keys)
    jobs = _jobs(workspace, dg.AssetSelection.checks(*health))
    return dg.Definitions(
        assets=[
            *chain.from_iterable(source_assets(workspace, source) for source in sources),
            *(archive_stage(workspace, stage) for stage in whole_archive.stages(workspace.settings)),
            *publishing_assets(workspace),
            health_checks.archive_home(workspace),
            *([lake_fetch.fetched_lake(workspace)] if workspace.settings.home_lake else []),
            *(graph_assets(workspace, collection) for collection in graphs),
            *(legacy_backfill(workspace, source) for source in source_collections.sources(workspace)),
        ],
        asset_checks=checks,
        jobs=list(jobs.values()),
        schedules=_schedules(workspace, jobs, health),
        sensors=_sensors(workspace, jobs) if sources else [],
        resources=parts,
        executor=run_tags.executor(workspace),
        metadata=_location_metadata(workspace),
    )


def _location_metadata(workspace: Workspace) -> dict[str, Any]:
    """What the page of the code location shows: versions and counts, no names of the archive's contents."""
    return {
        "version": metadata.version("relrag"),
        "schema_version": SCHEMA_VERSION,
        "sources": len(workspace.settings.sources),
        "first_month": workspace.settings.first_month,
        "redaction": workspace.settings.pii_redaction_enabled,
        "docs": "docs/dagster.md",
    }


def _jobs(workspace: Workspace, health: dg.AssetSelection) -> dict[str, UnresolvedJob]:
    """By name; those alone that have something to do. The checks of health are part of the nightly one only."""
    sources, settings = workspace.settings.sources, workspace.settings.graphrag
    exports = dg.AssetSelection.assets(*([source.name, "export"] for source in sources))
    months = dg.AssetSelection.assets(*([source.name, stage.name] for source in sources for stage in STAGES))
    archive = dg.AssetSelection.assets(*archive_tables.NAMES)
    tables = graph_index_plan.tables(settings)
    graphs = [key(collection, table.name) for collection in settings.own_collections for table in tables]
    older = [[source.name, BACKFILL] for source in source_collections.sources(workspace)]
    fetched = lake_fetch.keys(workspace)
    selections = {
        "sync": (
            (exports | months | archive) - health if sources else None,
            "Reads what has changed in the sources, and makes the months it touches and what is made of them.",
        ),
        "nightly": (
            exports | health | dg.AssetSelection.assets(*fetched) if sources else None,
            "Reads what has changed in the sources, and checks that they are as usual.",
        ),
        "fetch": (dg.AssetSelection.assets(*fetched) if fetched else None, "Fetches what other machines wrote."),
        "backfill": (
            months - health if sources else None,
            "Makes months again, from redaction to edges, whether or not they are stale.",
        ),
        "publish": (
            dg.AssetSelection.assets(*PUBLISHING) - health,
            "Publishes a generation of what all sources hold, which is what queries then read.",
        ),
        "graphrag": (
            dg.AssetSelection.assets(*graphs) if graphs else None,
            "Makes GraphRAG indexes of what is published.",
        ),
        "legacy_backfill": (
            dg.AssetSelection.assets(*older) if older else None,
            "Writes relrag's fields into the collections of older systems.",
        ),
    }
    return {
        name: dg.define_asset_job(name, assets, description=meaning)
        for name, (assets, meaning) in selections.items()
        if assets is not None
    }


def _checks(workspace: Workspace) -> list[dg.AssetChecksDefinition]:
    sources, graphs = workspace.settings.sources, workspace.settings.graphrag.own_collections
    of_source = (no_unredacted_value, manifest_true, health_checks.source_checks)
    return [
        *(check(workspace, source) for source in sources for check in of_source),
        tables_true(workspace),
        *(completion_check(stage, workspace) for stage in whole_archive.STAGES if stage.unfinished),
        *publishing_checks(workspace),
        health_checks.archive_checks(workspace),
        *chain.from_iterable(graph_checks(workspace, collection) for collection in graphs),
    ]


def _schedules(
    workspace: Workspace, jobs: Mapping[str, UnresolvedJob], checks: list[dg.AssetCheckKey]
) -> list[dg.ScheduleDefinition]:
    if not workspace.settings.sources or not workspace.settings.is_scheduled:
        return []
    return [_nightly(workspace, jobs["nightly"], checks)]


def _nightly(workspace: Workspace, job: UnresolvedJob, checks: list[dg.AssetCheckKey]) -> dg.ScheduleDefinition:
    settings = workspace.settings
    hour, minute = settings.nightly_time.split(":")

    @dg.schedule(
        name="nightly",
        job=job,
        cron_schedule=f"{int(minute)} {int(hour)} * * *",
        execution_timezone=settings.timezone,
        description="Reads and checks every source once a night; the follow-up sensor does the rest.",
        default_status=dg.DefaultScheduleStatus.RUNNING,
    )
    def _schedule() -> dg.RunRequest:
        keys = [*lake_fetch.keys(workspace), *(dg.AssetKey([source.name, "export"]) for source in settings.sources)]
        tags = run_tags.describe_run(workspace, keys, {}, run_tags.SCHEDULE)
        return dg.RunRequest(asset_selection=keys, asset_check_keys=checks, tags=tags)

    return _schedule


def _sensors(workspace: Workspace, jobs: dict[str, UnresolvedJob]) -> list[dg.SensorDefinition]:
    followed = [jobs[name] for name in ("fetch", "sync", "publish", "graphrag") if name in jobs]
    sensors = [_source_folders(workspace, jobs["sync"]), _follow_up(workspace, followed), _housekeeping(workspace)]
    return [*sensors, *([_failed_runs(workspace)] if workspace.settings.alert_urls else [])]


def _failed_runs(workspace: Workspace) -> dg.SensorDefinition:
    @dg.run_failure_sensor(
        name="failed_runs",
        default_status=dg.DefaultSensorStatus.RUNNING,
        description="Says by alert_urls that a run failed; its messages stay here, since they may quote a text.",
    )
    def _sensor(context: dg.RunFailureSensorContext) -> None:
        run = context.dagster_run
        steps = len(context.get_step_failure_events())
        about = run.tags.get(run_tags.SOURCE, "the archive")
        seal_errors(alerts.send)(
            workspace.settings, f"{run.job_name} failed", f"{steps} steps failed, of {about}; `relrag ui` shows why."
        )

    return _sensor


def _housekeeping(workspace: Workspace) -> dg.SensorDefinition:
    @dg.sensor(
        name="housekeeping",
        minimum_interval_seconds=_HOUSEKEEPING_SECONDS,
        default_status=dg.DefaultSensorStatus.RUNNING,
        description="Ends runs whose process has died, shows what the lake holds, and deletes old runs.",
    )
    def _sensor(context: dg.SensorEvaluationContext) -> dg.SkipReason:
        message = seal_errors(lambda: _keep_house(workspace, context.instance))()
        today = f"{settings_module.now():%Y-%m-%d}"
        if context.cursor != today:  # once a day
            days = workspace.settings.run_retention_days
            message += f"; {run_retention.delete_old_runs(context.instance, days)} old runs deleted"
            context.update_cursor(today)
        return dg.SkipReason(message)

    return _sensor


def _keep_house(workspace: Workspace, shared: dg.DagsterInstance) -> str:
    ended = orphaned_runs.end_orphaned_runs(shared, workspace.home, is_only_writer=False)
    if busy := lock.holder(workspace.home):
        return f"{ended} runs ended; {busy} is writing"
    return f"{ended} runs ended; {reconciliation.reconcile(shared, workspace)} months and tables corrected"


def _source_folders(workspace: Workspace, sync: UnresolvedJob) -> dg.SensorDefinition:
    @dg.sensor(
        name="source_folders",
        job=sync,
        minimum_interval_seconds=workspace.settings.sensor_seconds,
        default_status=dg.DefaultSensorStatus.RUNNING,
        description="Starts the export of a source when its files have changed.",
    )
    def _sensor(context: dg.SensorEvaluationContext) -> Requests:
        yield from _requests(workspace, changed_sources)

    return _sensor


def _follow_up(workspace: Workspace, jobs: list[UnresolvedJob]) -> dg.SensorDefinition:
    @dg.sensor(
        name="follow_up",
        jobs=jobs,
        minimum_interval_seconds=workspace.settings.sensor_seconds,
        default_status=dg.DefaultSensorStatus.RUNNING,
        description="Makes stale months again and then publishes, as the plan says.",
    )
    def _sensor(context: dg.SensorEvaluationContext) -> Requests:
        if reason := _occupied(context.instance):
            yield dg.SkipReason(reason)
            return
        for request in _requests(workspace, fetch_or_follow_up):
            if isinstance(request, dg.SkipReason) and request.skip_message == _UP_TO_DATE:
                reconciliation.confirm_generation(context.instance, workspace)
            yield request

    return _sensor


def _occupied(shared: dg.DagsterInstance) -> str:
    """Why nothing more is asked for now; empty if nothing is going on.

    Runs stand in a queue: what the plan says now may be another when its turn comes, and would be made twice or fail.
    """
    if any(backfill.status.name == "REQUESTED" for backfill in shared.get_backfills(limit=_RECENT_BACKFILLS)):
        return "a backfill is making months"
    count = shared.get_runs_count(dg.RunsFilter(statuses=_GOING_ON))
    return f"{count} runs are going on or stand in the queue" if count else ""


def _requests(workspace: Workspace, tick: Callable[[Workspace], Requests]) -> Requests:
    """What a tick asks for; nothing while somebody is writing."""
    if busy := lock.holder(workspace.home):
        yield dg.SkipReason(f"{busy} is writing")
    else:
        yield from seal_errors(lambda: list(tick(workspace)))()


def changed_sources(workspace: Workspace) -> Requests:
    """A run of the export of each source whose files have changed."""
    surveys = [plans.inspect_source(workspace, source) for source in workspace.settings.sources]
    for survey in surveys:
        if survey.scan and (survey.scan.changed_units or survey.scan.missing_units):
            # keyed, because a path can be guessed; the hour lets a failed run, or a file that went twice, be tried
            changed = map(survey.scan.units.__getitem__, survey.scan.changed_units)
            units = [(unit.path, unit.mtime_ns, unit.version, unit.siblings_fingerprint) for unit in changed]
            state = f"{units} {survey.scan.missing_units} {settings_module.now():%Y-%m-%dT%H}"
            key = f"{survey.source}:{workspace.keys.id_hash(state)}"
            keys = [dg.AssetKey([survey.source, "export"])]
            tags = run_tags.describe_run(workspace, keys, {}, run_tags.SENSOR)
            yield dg.RunRequest(run_key=key, asset_selection=keys, tags=tags)


def fetch_or_follow_up(workspace: Workspace) -> Requests:
    """The runs of `follow_up`; in their place a fetch if another machine has changed the bucket of the lake.

    Without it their generation could not be published. What is fetched changes the plan, so the runs wait for it.
    """
    requests = list(follow_up(workspace))
    is_work = any(isinstance(request, dg.RunRequest) for request in requests)
    if is_work and (commit := lake_bucket.foreign_commit(workspace)):
        tags = run_tags.describe_run(workspace, [], {}, run_tags.SENSOR)
        key = f"fetch:{commit}{settings_module.now():{_EACH_HOUR}}"
        yield dg.RunRequest(run_key=key, job_name="fetch", tags=tags)
        return
    yield from requests


def follow_up(workspace: Workspace) -> Requests:
    """The runs that the plan asks for now, but for exports: stale months, what is made of all, publishing, graphs."""
    workspace = replace(workspace, listings={})
    surveys = [plans.inspect_source(workspace, source) for source in workspace.settings.sources]
    # the hour lets a failed run be tried again, but not at every tick
    inputs = plans.expected_inputs_hash(workspace, surveys) + settings_module.now().strftime(_EACH_HOUR)
    todo = plans.required_for_publish(workspace, plans.build_plan(workspace))
    for first, last, stages in todo.runs():
        keys = [dg.AssetKey([source, stage]) for source, stage in stages]
        yield dg.RunRequest(
            run_key=f"{first}:{last}:{fingerprint([stages, inputs])}",
            job_name="sync",
            asset_selection=keys,
            tags=run_tags.describe_run(workspace, keys, partition_range(first, last), run_tags.SENSOR),
        )
    if todo.stale:
        return
    if ready := todo.archive_assets():
        yield dg.RunRequest(
            run_key=f"archive:{fingerprint([ready, inputs])}",
            job_name="sync",
            asset_selection=[dg.AssetKey(table) for table in ready],
            tags=run_tags.describe_run(workspace, [], {}, run_tags.SENSOR),
        )
    elif todo.outdated:
        tags = run_tags.describe_run(workspace, [], {}, run_tags.SENSOR)
        yield dg.RunRequest(run_key=f"publish:{inputs}", job_name="publish", tags=tags)
    elif graphs := [index.collection for index in todo.graphs if not index.resumed]:
        yield dg.RunRequest(
            run_key=f"graphrag:{fingerprint([graphs, inputs])}",
            job_name="graphrag",
            asset_selection=[
                key(collection, table.name)
                for collection in graphs
                for table in graph_index_plan.tables(workspace.settings.graphrag)
            ],
            tags=run_tags.describe_run(workspace, [], {}, run_tags.SENSOR),
        )
    else:
        waiting = ", ".join(export.source for export in todo.exports)
        yield dg.SkipReason(f"waiting for the export of {waiting}" if waiting else _UP_TO_DATE)


def _settings() -> Settings:
    config = os.environ.get("RELRAG_CONFIG")
    return settings_module.load(Path(config) if config else None)


@dg.definitions
def defs() -> dg.Definitions:
    """The archive of the relrag.toml in charge."""
    access.owner_only()  # of a process of Dagster, which then writes the archive
    workspace = Workspace(_settings())
    # a cluster for each run alone would take longer to start than most runs
    return build_defs(workspace.with_cluster() if workspace.settings.ray_address else workspace)
