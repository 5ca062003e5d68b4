"""Ends runs whose process has died; Dagster would show them as queued or running for ever."""

import time
from collections.abc import Iterator
from pathlib import Path

import dagster as dg

from relrag_pipelines.assets.run_tags import COMMAND_LINE, PROCESS, USER
from relrag_pipelines.stores import daemon_lock, dagster_runs, process_identity
from relrag_pipelines.stores.process_identity import Life

_UNFINISHED = [dg.DagsterRunStatus(status) for status in dagster_runs.UNFINISHED]
_FOR_THE_DAEMON = {dg.DagsterRunStatus.QUEUED, dg.DagsterRunStatus.NOT_STARTED}
_NEVER_STARTED = "The UI was stopped before this run could start. `relrag sync` does what it was to do."
_CUT_SHORT = "Its process ended before the run did. The next sync goes on from there."
_HEARTBEAT_SECONDS = 90
"""a daemon writes a heartbeat every 30 seconds"""


def end_orphaned_runs(
    shared: dg.DagsterInstance, home: Path, *, is_only_writer: bool = True, daemon_follows: bool = False
) -> int:
    """Ends each such run, with a message that says why; returns their number.

    `is_only_writer`: the caller holds the writer's lock. A sync of the command line holds that lock as long as its runs
    go on, so none does. `daemon_follows`: a daemon is about to start, and goes on with what is queued.

    A run says of which process it is, and is left alone if that is on another machine or in another container, unless
    that is the container of the last `relrag ui`, which is no longer there. One that has not said so yet may be about
    to start, if a daemon is alive that may start it: that of `relrag ui`, or any other by its heartbeats.
    """
    runs = shared.get_runs(dg.RunsFilter(statuses=_UNFINISHED))
    if not runs:
        return 0
    with daemon_lock.dead(home) as dead:
        daemon = _Daemon(dead and not _has_heartbeat(shared), daemon_lock.namespace(home), daemon_follows)
        daemon.former_namespace = daemon_lock.namespace(home) if dead else ""
        orphans = [run for run in runs if _is_orphan(shared, run, daemon, is_only_writer)]
        for run in orphans:
            _end(shared, run)
    return len(orphans)


class _Daemon:
    """What is known of the daemon that starts runs."""

    def __init__(self, is_dead: bool, namespace: str, follows: bool) -> None:
        self.is_dead, self.follows = is_dead, follows
        self.is_visible = is_dead or namespace == process_identity.namespace()
        """its processes have numbers here"""
        self.former_namespace = ""
        """namespace in which the last `relrag ui` and its processes ran, if it has ended"""


def _has_heartbeat(shared: dg.DagsterInstance) -> bool:
    newest = max((beat.timestamp for beat in shared.get_daemon_heartbeats().values()), default=0.0)
    return time.time() - newest < _HEARTBEAT_SECONDS


def _is_orphan(shared: dg.DagsterInstance, run: dg.DagsterRun, daemon: _Daemon, is_only_writer: bool) -> bool:
    if run.tags.get(USER) == COMMAND_LINE and is_only_writer:
        return True
    if PROCESS in run.tags:
        life = process_identity.life(run.tags[PROCESS])
        namespace = process_identity.namespace_of(run.tags[PROCESS])
        return life is Life.ENDED or (life is Life.ELSEWHERE and namespace == daemon.former_namespace != "")
    if not daemon.is_visible:
        return False
    if numbers := list(_process_numbers(shared, run.run_id)):
        return not any(map(process_identity.is_running, numbers))
    if run.status == dg.DagsterRunStatus.QUEUED and daemon.follows:
        return False
    return daemon.is_dead


def _end(shared: dg.DagsterInstance, run: dg.DagsterRun) -> None:
    if run.status == dg.DagsterRunStatus.CANCELING:
        shared.report_run_canceled(run, "It was being canceled when its process ended.")
    elif run.status in _FOR_THE_DAEMON and PROCESS not in run.tags:
        shared.report_run_canceled(run, _NEVER_STARTED)
    else:
        shared.report_run_failed(run, _CUT_SHORT)


def _process_numbers(shared: dg.DagsterInstance, run_id: str) -> Iterator[int]:
    """The processes that a run names in its events."""
    for entry in shared.all_logs(run_id, of_type=dg.DagsterEventType.ENGINE_EVENT):
        if entry.dagster_event and (data := entry.dagster_event.engine_event_data) and "pid" in data.metadata:
            yield int(str(data.metadata["pid"].value))
