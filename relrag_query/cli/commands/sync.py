"""`relrag sync` and `backfill`: bring the archive up to date."""

from __future__ import annotations

import gc
import json
import re
import sqlite3
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from relrag_pipelines.files import access
from relrag_pipelines.stores import lock
from relrag_query.cli import dispatch
from relrag_query.cli.exit_codes import COULD_NOT, DONE, WITH_FAILURES
from relrag_query.cli.options import Config, Json, Strict, Wait
from relrag_query.display.amounts import number, size

if TYPE_CHECKING:
    from relrag_pipelines.orchestration.runner import RunOutcome
    from relrag_pipelines.settings import Settings
    from relrag_pipelines.stages.plan_model import Plan
    from relrag_pipelines.workspace import Workspace

app = typer.Typer()


@app.command("sync", epilog="Example: relrag sync --wait 60")
def sync_command(
    full: Annotated[bool, typer.Option("--full", help="Read everything again, not only what changed.")] = False,
    accept_deletions: Annotated[
        bool, typer.Option("--accept-deletions", help="Continue even if much of a source has disappeared.")
    ] = False,
    strict: Strict = False,
    wait: Wait = 0,
    as_json: Json = False,
    config: Config = None,
) -> None:
    """Bring the index up to date with the sources."""
    dispatch.run(sync, config, full=full, accept_deletions=accept_deletions, strict=strict, wait=wait, as_json=as_json)


_WORKER_MODULES = ("relrag_pipelines.stages.month_stages", "relrag_pipelines.stores.vector_store")
"""modules that the worker processes import while this process plans"""


def sync(
    config: Path | None = None,
    *,
    full: bool = False,
    accept_deletions: bool = False,
    strict: bool = False,
    wait: float = 0,
    as_json: bool = False,
) -> int:
    """Brings the index up to date with the sources; returns the exit code.

    Failures that the last sync reported do not count, unless `strict`. With `as_json` the result is an object on
    standard output, and all other output goes to standard error.
    """
    from relrag_pipelines import settings as settings_module

    if not as_json:
        return _sync(config, full=full, accept_deletions=accept_deletions, strict=strict, wait=wait)
    with redirect_stdout(sys.stderr):
        code = _sync(config, full=full, accept_deletions=accept_deletions, strict=strict, wait=wait)
    print(json.dumps(_result(settings_module.load(config), code), indent=1, ensure_ascii=False))
    return code


def _result(settings: Settings, code: int) -> dict[str, Any]:
    """The result of a sync: every failure, and every file that no source reads."""
    from relrag_pipelines.ingest import unread_files
    from relrag_pipelines.sources import NOT_READ
    from relrag_pipelines.stores import generations, unit_state

    failures = [
        failure
        for source in settings.sources
        for failure in unit_state.load_failures(settings.home_path, source.name)
        if failure.fault != NOT_READ
    ]
    unread = unread_files.find_unread(settings).files()
    return {
        "exit_code": code,
        "generation": generations.current_number(settings.home_path),
        "failures": [asdict(failure) for failure in failures],
        "unread_files": [asdict(file) for file in unread],
    }


def _sync(config: Path | None, *, full: bool, accept_deletions: bool, strict: bool, wait: float) -> int:
    from relrag_pipelines import settings as settings_module
    from relrag_pipelines.stages import plan as plans
    from relrag_pipelines.stores import generations
    from relrag_pipelines.workspace import Workspace
    from relrag_query.cli.commands.plan import (
        cost_ahead,
        print_graphs,
        print_plan,
        print_servers,
        reading_ahead,
        require_sources,
        scope_note,
    )
    from relrag_query.cli.failure_report import report_failures

    workspace = Workspace(settings_module.load(config), listings={})
    require_sources(workspace)
    start = time.monotonic()
    with _explain_full_disk(workspace), lock.writing(workspace.home, "relrag sync", wait):
        _clean_up(workspace)
        _remove_leftovers(workspace, accept_deletions)
        todo = plans.build_plan(workspace)
        if todo.empty and not todo.servers and not full:
            _finish_earlier(workspace)
            current = generations.current_number(workspace.home)
            print(f"Nothing to do: generation {current} is up to date{scope_note(todo)}.")
            return report_failures(workspace, todo, strict)
        cost = cost_ahead(workspace, todo)
        print_servers(todo, workspace.settings)
        print_plan(todo, cost, workspace.settings, reading_ahead(workspace, todo))
        print_graphs(todo, workspace.settings)
        _require_services(workspace.settings, remote_embedder=bool(cost and cost.host))
        if not workspace.settings.pii_redaction_enabled:
            print("warning: redaction is off, so personal data is indexed as it is (pii_redaction_enabled)")
        outcome = _run(workspace, todo, full=full, accept_deletions=accept_deletions)
        if not outcome.errors:
            return _finish(workspace, todo, outcome, start, strict)
    if _needs_deletion_consent(outcome):
        return _sync(config, full=full, accept_deletions=True, strict=strict, wait=wait)
    return _report_unfinished(workspace, outcome, start)


def _run(workspace: Workspace, todo: Plan, *, full: bool, accept_deletions: bool) -> RunOutcome:
    """Carries out the plan, and shows progress on the terminal."""
    from relrag_query.cli.progress import show_progress

    with _worker_pools(workspace, todo.large or full) as computing:
        # imported only now: checking an unchanged archive takes less time than this import
        from relrag_pipelines.orchestration.runner import sync as run

        with _reduced_gc(), show_progress(workspace.home) as show:
            run_workspace = replace(computing, progress=show)
            return run(run_workspace, todo, full=full, accept_deletions=accept_deletions)


def _pull_lake(workspace: Workspace) -> None:
    """Takes over what another machine wrote into the bucket of the lake, if there is one, and what it forgot."""
    from relrag_pipelines.publishing import lake_bucket

    pulled = lake_bucket.pull(workspace)
    if pulled.private_files:
        print(f"{pulled.private_files:,} private files were fetched from {workspace.settings.home_lake}.")
    if pulled.files:
        print(f"{pulled.files:,} files of the lake were fetched from {workspace.settings.home_lake}.")
    if pulled.rules:
        print(
            f"Forgotten on another machine, and now here too: {number(pulled.rules, 'rule')} (`relrag forget --list`)."
        )


def _finish_earlier(workspace: Workspace) -> None:
    """Where there is nothing else to do, finishes what an earlier sync was killed over: its runs, and its uploads."""
    from relrag_pipelines.publishing import lake_bucket

    _end_orphans(workspace)
    lake_bucket.commit(workspace)


def _clean_up(workspace: Workspace) -> None:
    """Finishes or removes what earlier runs left behind."""
    from relrag_pipelines.journal import journal, registered_indexes
    from relrag_pipelines.stores import archive_tables, generations, graph_indexes, lake
    from relrag_pipelines.workers import ray_tasks

    access.restrict_folder(workspace.home)
    _pull_lake(workspace)
    _resume_forgetting(workspace)
    journal.take_over(workspace.home)
    registered_indexes.sweep(workspace.home)
    generations.sweep(workspace.home, workspace.settings.keep_generations)
    lake.sweep(workspace.home)
    archive_tables.sweep(workspace.home)
    ray_tasks.sweep(workspace.home)
    graph_indexes.sweep(workspace.home, workspace.settings.graphrag.own_collections)


def _require_services(settings: Settings, *, remote_embedder: bool) -> None:
    """Raises for a server that is down, or a missing key or package, before any work is done."""
    from relrag_pipelines import embedders
    from relrag_pipelines.stores import vector_store

    if settings.qdrant_url:
        vector_store.server_info(settings.qdrant_url)
    if remote_embedder:
        embedders.load(settings)


def _resume_forgetting(workspace: Workspace) -> None:
    """Completes a `forget` that was killed."""
    from relrag_pipelines.erasure import rule_file

    if rule_file.load(workspace.home).unfinished:
        from relrag_pipelines.erasure import purge

        purge.resume(workspace)


@contextmanager
def _explain_full_disk(workspace: Workspace) -> Iterator[None]:
    """Replaces any error about a full disk by an error that says how much space is needed."""
    from relrag_pipelines.files import disk_full

    try:
        yield
    except Exception as error:
        if not disk_full.is_disk_full_error(error):
            raise
        disk_error = disk_full.DiskFull(f"{disk_full.FULL}: {_space_needed(workspace)}")
    else:
        return
    raise disk_error


def _space_needed(workspace: Workspace) -> str:
    from relrag_pipelines.onboarding import environment
    from relrag_pipelines.publishing import disk_space

    settings = workspace.settings
    return (
        f"a sync needs up to {size(disk_space.required_bytes(settings))} in {settings.home_path}, where "
        f"{size(environment.free_bytes(settings.home_path))} are free; make room there or set `home` to another disk; "
        "what is published is still served, and the next sync goes on from here"
    )


def _end_orphans(workspace: Workspace) -> None:
    """Ends runs that Dagster shows as queued or running although no process works on them."""
    from relrag_pipelines.stores import dagster_runs

    try:
        count = dagster_runs.count_unfinished(workspace.home)
    except sqlite3.Error:  # `relrag doctor` gives advice; the archive itself is up to date
        return
    if count:
        from relrag_pipelines.orchestration.runner import end_orphans

        end_orphans(workspace)


@contextmanager
def _worker_pools(workspace: Workspace, is_large: bool) -> Iterator[Workspace]:
    """The workspace with processes of this machine or of Ray for a large plan; with a joined cluster for any plan."""
    from relrag_pipelines.workers import pool as workers

    computing = workspace.with_cluster() if is_large or workspace.settings.ray_address else workspace
    count = 1 if computing.cluster else None  # for the job with state alone: see dedicated_worker
    pool = workers.start_pool(count, _WORKER_MODULES) if is_large else None
    try:
        yield replace(computing, pool=pool)
    finally:
        workers.stop_pool(pool)
        if computing.cluster:
            computing.cluster.stop()


@contextmanager
def _reduced_gc() -> Iterator[None]:
    from relrag_pipelines.workers import pool as workers

    threshold = gc.get_threshold()
    workers.reduce_gc()
    try:
        yield
    finally:
        gc.set_threshold(*threshold)
        gc.freeze()  # the process ends soon, and need not scan all its objects once more


def _needs_deletion_consent(outcome: RunOutcome) -> bool:
    """Whether deletions were refused and the user, asked on a terminal, accepts them."""
    refusals = [error for error in outcome.errors if "--accept-deletions" in error]
    if not refusals or not sys.stdin.isatty():
        return False
    print("\n".join(refusals))
    return input("Delete them? [y/N] ").strip().lower() in {"y", "yes"}


def backfill(
    source: str, first: str, last: str, config: Path | None = None, *, strict: bool = False, wait: float = 0
) -> int:
    """Rebuilds a source's months from first to last, then publishes if anything changed; returns the exit code."""
    from relrag_pipelines import settings as settings_module
    from relrag_pipelines.settings import SettingsError
    from relrag_pipelines.stages import backfill_range
    from relrag_pipelines.stages.plan_model import Plan
    from relrag_pipelines.workspace import Workspace
    from relrag_query.cli.progress import show_progress

    workspace = Workspace(settings_module.load(config))
    workspace.settings.source(source)
    for month in (first, last):
        if not re.fullmatch(r"\d{4}-(0[1-9]|1[0-2])", month):
            raise SettingsError(f'"{month}" is not a month; write it as YYYY-MM')
    if first > last:
        raise SettingsError(f"--from {first} is later than --to {last}")
    start = time.monotonic()
    first, last = backfill_range.require_inside(workspace, workspace.settings.source(source), first, last)
    from relrag_pipelines.orchestration.runner import backfill as run

    with (
        _explain_full_disk(workspace),
        lock.writing(workspace.home, "relrag backfill", wait),
        show_progress(workspace.home) as show,
    ):
        outcome = run(Workspace(workspace.settings, show), source, first, last)
        if not outcome.errors:
            return _finish(workspace, Plan(), outcome, start, strict)
    return _report_unfinished(workspace, outcome, start)


def _remove_leftovers(workspace: Workspace, accept_deletions: bool) -> None:
    """Removes stored sources that are no longer in relrag.toml, if `accept_deletions`; else lists them."""
    from relrag_pipelines import settings as settings_module
    from relrag_pipelines.ingest import unread_files
    from relrag_pipelines.stores import lake

    for name in unread_files.unconfigured_sources(workspace.settings):
        if accept_deletions:
            lake.remove(workspace.home, name)
            print(f"{name}: no longer in {settings_module.CONFIG_NAME}; all its stored data was removed")
        else:
            print(unread_files.describe_unconfigured(name))


def _finish(workspace: Workspace, todo: Plan, outcome: RunOutcome, start: float, strict: bool) -> int:
    """Commits the lake to its bucket, and reports what a run did; returns the exit code."""
    from relrag_pipelines.publishing import lake_bucket
    from relrag_pipelines.stores import generations
    from relrag_query.cli.failure_report import report_failures

    lake_bucket.commit(workspace)  # the lake may have changed without a new generation, or this one has forgotten

    for warning in outcome.warnings:
        print(f"warning: {warning}")
    with generations.open_current(workspace.home) as current:
        counts = current.manifest["counts"]
        dense = f" ({_embedded_count(workspace)} found by meaning too)" if current.manifest.get("embedder") else ""
    print(
        f"Generation {outcome.generation}: {counts['records']} records, {counts['chunks']} passages{dense}, "
        f"{counts['asset_asset_edges']} relations; {time.monotonic() - start:.1f} s."
    )
    return max(report_failures(workspace, todo, strict), WITH_FAILURES if outcome.warnings else DONE)


def _report_unfinished(workspace: Workspace, outcome: RunOutcome, start: float) -> int:
    from relrag_pipelines.files import disk_full

    for warning in outcome.warnings:
        print(f"warning: {warning}")
    for error in outcome.errors:
        print(f"error: {error}")
    if any(disk_full.FULL in error for error in outcome.errors):
        print(f"error: {_space_needed(workspace)}")
    outcome_note = f"generation {outcome.generation} is served" if outcome.generation else "nothing is published yet"
    print(f"Not finished after {time.monotonic() - start:.1f} s; {outcome_note}.")
    return COULD_NOT


def _embedded_count(workspace: Workspace) -> int:
    """How many passages have a dense vector."""
    from relrag_pipelines.stores import lake

    months = [lake.manifest(workspace.home, "embeddings", source.name) for source in workspace.settings.sources]
    return sum(entry.rows for entries in months for entry in entries.values())
