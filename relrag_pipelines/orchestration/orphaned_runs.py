"""Ends runs whose process has died; Dagster would show them as queued or running for ever."""

import os
from collections.abc import Iterator
from pathlib import Path

import dagster as dg

from relrag_pipelines.stores import daemon_lock, dagster_runs

PROCESS = ".dagster/relrag_process"
"""Tag of a run of the command line: the number of its process. The UI hides tags of that prefix"""
_UNFINISHED = [dg.DagsterRunStatus(status) for status in dagster_runs.UNFINISHED]
_FOR_THE_DAEMON = {dg.DagsterRunStatus.QUEUED, dg.DagsterRunStatus.NOT_STARTED}
_NEVER_STARTED = "The UI was stopped before this run could start. `relrag sync` does what it was to do."
_CUT_SHORT = "Its process ended before the run did. The next sync goes on from there."


def end_orphaned_runs(shared: dg.DagsterInstance, home: Path) -> None:
    """Ends each such run, with a message that says why; the caller holds the writer's lock.

    A sync holds that lock as long as its runs go on, so none does. A run that was launched otherwise may be waiting
    for the lock, and names its process in its events. One that has named none may be about to start, if the daemon
    that starts it is alive.
    """
    with daemon_lock.dead(home) as dead:
        for run in shared.get_runs(dg.RunsFilter(statuses=_UNFINISHED)):
            if PROCESS not in run.tags and _is_running(shared, run, dead):
                continue
            if run.status == dg.DagsterRunStatus.CANCELING:
                shared.report_run_canceled(run, "It was being canceled when its process ended.")
            elif run.status in _FOR_THE_DAEMON and PROCESS not in run.tags:
                shared.report_run_canceled(run, _NEVER_STARTED)
            else:
                shared.report_run_failed(run, _CUT_SHORT)


def _is_running(shared: dg.DagsterInstance, run: dg.DagsterRun, dead: bool) -> bool:
    processes = list(_processes(shared, run.run_id))
    return any(map(_alive, processes)) if processes else not dead


def _processes(shared: dg.DagsterInstance, run_id: str) -> Iterator[int]:
    """The processes that a run names in its events."""
    for entry in shared.all_logs(run_id, of_type=dg.DagsterEventType.ENGINE_EVENT):
        if entry.dagster_event and (data := entry.dagster_event.engine_event_data) and "pid" in data.metadata:
            yield int(str(data.metadata["pid"].value))


def _alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
