"""What Dagster's UI is told of runs, by its own GraphQL schema, and how runs end that nobody works on."""

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import dagster as dg
import pytest
from dagster._core.definitions.job_base import InMemoryJob
from dagster._core.events import EngineEventData
from dagster._core.execution.api import execute_run
from dagster._core.remote_origin import InProcessCodeLocationOrigin
from dagster._core.types.loadable_target_origin import LoadableTargetOrigin
from dagster._core.workspace.context import WorkspaceProcessContext
from dagster._core.workspace.load_target import InProcessWorkspaceLoadTarget
from dagster._daemon.types import DaemonHeartbeat
from dagster_graphql.cli import execute_query

from relrag_pipelines.assets import orphaned_runs, run_tags
from relrag_pipelines.definitions import build_defs
from relrag_pipelines.orchestration import runner
from relrag_pipelines.stores import daemon_lock, process_identity
from relrag_query.cli.commands import sync as commands
from tests import archive

LOCATION = "relrag_pipelines.definitions"
TIMELINE = """
query ($filter: RunsFilter!) {
  runsOrError(filter: $filter, limit: 100) {
    ... on Runs {
      results {
        pipelineName status startTime tags { key value }
        repositoryOrigin { repositoryName repositoryLocationName }
      }
    }
  }
}
"""
JOB = """
query ($selector: PipelineSelector!) {
  pipelineOrError(params: $selector) {
    ... on Pipeline { description runs(limit: 100) { parentPipelineSnapshotId } pipelineSnapshotId }
  }
}
"""
GONE = 2**22 + 1
"""no process has this number"""


@pytest.fixture
def config(tmp_path: Path) -> Path:
    return archive.make(tmp_path)


@pytest.fixture
def shared(tmp_path: Path) -> Iterator[dg.DagsterInstance]:
    with dg.DagsterInstance.from_config(str(runner.instance_folder(archive.home(tmp_path)))) as opened:
        yield opened


def asked(config: Path, shared: dg.DagsterInstance, query: str, variables: dict[str, Any]) -> dict[str, Any]:
    """What Dagster's web server would answer."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RELRAG_CONFIG", str(config))
        origin = InProcessCodeLocationOrigin(LoadableTargetOrigin(module_name=LOCATION), location_name=LOCATION)
        with WorkspaceProcessContext(shared, InProcessWorkspaceLoadTarget(origin)) as context:
            data: dict[str, Any] = execute_query(context, query, variables)["data"]
    return data


def own_tags(tags: dict[str, str]) -> dict[str, str]:
    """The tags that are this project's."""
    return {key.removeprefix("relrag/"): value for key, value in tags.items() if key.startswith("relrag/")}


def test_a_sync_of_the_command_line_stands_on_the_timeline_and_on_the_pages_of_its_jobs(
    config: Path, shared: dg.DagsterInstance
) -> None:
    assert commands.sync(config) == 0
    data = asked(config, shared, TIMELINE, {"filter": {"statuses": ["SUCCESS"], "updatedAfter": 0.0}})
    runs = data["runsOrError"]["results"][::-1]
    # the UI's timeline leaves out what has no origin or did not start
    origin = {"repositoryName": "__repository__", "repositoryLocationName": LOCATION}
    assert all(one["repositoryOrigin"] == origin and one["startTime"] for one in runs)
    shown = [(one["pipelineName"], {tag["key"]: tag["value"] for tag in one["tags"]}) for one in runs]
    by = {"launched_by": "command line"}
    assert [(name, own_tags(tags)) for name, tags in shown] == [
        ("sync", {"source": "chat, papers, notes", "months": "2023-12..2024-02", **by}),
        ("sync", {"source": "chat", "months": "2023-12..2024-02", **by}),
        ("sync", {"source": "papers", "months": "2024-01", **by}),
        ("sync", {"source": "notes", "months": "2024-02", **by}),
        # the tables of the whole archive
        ("sync", {"source": "chat, papers, notes", "months": "2023-12..2024-02", **by}),
        ("publish", {"source": "chat, papers, notes", "months": "2023-12..2024-02", **by}),
    ]
    assert {tags["user"] for _, tags in shown} == {"command line"}
    assert len({tags["sync_id"] for _, tags in shown}) == 1
    assert not any("process" in key for _, tags in shown for key in tags)

    for name, count in (("sync", 5), ("publish", 1), ("backfill", 0)):
        selector = {"repositoryName": "__repository__", "repositoryLocationName": LOCATION, "pipelineName": name}
        job = asked(config, shared, JOB, {"selector": selector})["pipelineOrError"]
        assert job["description"]
        # the UI warns of runs whose job was another one than the code location's
        assert [one["parentPipelineSnapshotId"] for one in job["runs"]] == [job["pipelineSnapshotId"]] * count


def test_a_backfill_is_named_so(config: Path, shared: dg.DagsterInstance) -> None:
    archive.sync(config)
    assert commands.backfill("chat", "2023-12", "2024-01", config) == 0
    (made,) = [one for one in shared.get_runs() if one.job_name == "backfill"]
    assert own_tags(dict(made.tags)) == {"source": "chat", "months": "2023-12..2024-01", "launched_by": "command line"}


def test_a_run_that_was_launched_without_tags_has_them_in_the_end(config: Path, shared: dg.DagsterInstance) -> None:
    """As by the UI's Materialize button, whose runs belong to Dagster's own job of all assets."""
    job = build_defs(archive.workspace(config)).resolve_job_def("sync")
    assert launch(job, shared, ["notes", "export"], {}) == ("notes", "2024-02", "UI")
    assert launch(job, shared, ["notes", "export"], {}) == ("notes", "none", "UI")  # nothing has changed
    month = {"dagster/partition": "2024-02"}
    assert launch(job, shared, ["notes", "redacted"], {"dagster/backfill": "a", **month}) == (
        "notes",
        "2024-02",
        "UI backfill",
    )
    by = {"dagster/schedule_name": "nightly"}
    assert launch(job, shared, ["chat", "export"], by) == ("chat", "2023-12..2024-02", "schedule")
    by = {"dagster/sensor_name": "source_folders", "relrag/months": "as given"}
    assert launch(job, shared, ["chat", "export"], by) == ("chat", "as given", "sensor")


def launch(job: dg.JobDefinition, shared: dg.DagsterInstance, key: list[str], tags: dict[str, str]) -> tuple[str, ...]:
    """Runs one asset with the job's own executor, as a process does that Dagster launches; what the run then says."""
    made = shared.create_run_for_job(job, tags=tags, asset_selection={dg.AssetKey(key)})
    assert execute_run(InMemoryJob(job), made, shared).success
    ended = shared.get_run_by_id(made.run_id)
    assert ended
    return tuple(ended.tags[f"relrag/{name}"] for name in ("source", "months", "launched_by"))


ENDINGS = [
    # status, process that the run names, status after a sync while the daemon is alive, and after one when it is not
    ("QUEUED", None, "QUEUED", "CANCELED"),
    ("NOT_STARTED", None, "NOT_STARTED", "CANCELED"),
    ("STARTING", None, "STARTING", "FAILURE"),  # its process may be about to name itself
    ("STARTING", GONE, "FAILURE", "FAILURE"),
    ("STARTED", GONE, "FAILURE", "FAILURE"),
    ("STARTED", os.getpid(), "STARTED", "STARTED"),  # may be waiting for the writer's lock
    ("CANCELING", GONE, "CANCELED", "CANCELED"),
    ("CANCELING", os.getpid(), "CANCELING", "CANCELING"),
]


def test_a_run_of_the_ui_ends_when_nobody_can_go_on_with_it(config: Path, shared: dg.DagsterInstance) -> None:
    archive.sync(config)  # so that a sync of the command line has nothing to do but this
    left = [left_behind(config, shared, status, process) for status, process, _, _ in ENDINGS]
    with daemon_lock.alive(archive.home(config.parent)):
        assert commands.sync(config) == 0
        assert [status_of(shared, one) for one in left] == [alive for _, _, alive, _ in ENDINGS]
    assert commands.sync(config) == 0
    assert [status_of(shared, one) for one in left] == [dead for _, _, _, dead in ENDINGS]
    said = [{entry.dagster_event.message for entry in shared.all_logs(one) if entry.dagster_event} for one in left]
    assert "The UI was stopped before this run could start. `relrag sync` does what it was to do." in said[0]
    assert "Its process ended before the run did. The next sync goes on from there." in said[4]


def test_a_run_of_the_command_line_is_over_when_another_sync_holds_the_lock(
    config: Path, shared: dg.DagsterInstance
) -> None:
    """Even where its process number has been given to another process."""
    archive.sync(config)
    own = {run_tags.PROCESS: process_identity.identify(), run_tags.USER: run_tags.COMMAND_LINE}
    left = [
        left_behind(config, shared, "NOT_STARTED", None, own),
        left_behind(config, shared, "STARTED", os.getpid(), own),
    ]
    with daemon_lock.alive(archive.home(config.parent)):
        assert commands.sync(config) == 0
    assert [status_of(shared, one) for one in left] == ["FAILURE", "FAILURE"]


def elsewhere(word: int) -> str:
    """The identity of this process with another machine (2), boot (3) or namespace (4)."""
    words = process_identity.identify().split(" ")
    words[word] = "other"
    return " ".join(words)


def ended() -> str:
    """The identity of a process that has ended."""
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as process:
        return process_identity.identify(process.pid)


def test_a_run_of_another_machine_or_container_is_left_alone(config: Path, shared: dg.DagsterInstance) -> None:
    home = archive.home(config.parent)
    processes = [elsewhere(2), elsewhere(4), elsewhere(3), ended(), process_identity.identify(), "1234"]
    left = [left_behind(config, shared, "STARTED", None, {run_tags.PROCESS: process}) for process in processes]
    assert orphaned_runs.end_orphaned_runs(shared, home, is_only_writer=False) == 2
    assert [status_of(shared, one) for one in left] == [
        "STARTED",  # another machine
        "STARTED",  # another container of this boot
        "FAILURE",  # before the machine was started again
        "FAILURE",
        "STARTED",
        "STARTED",  # of an earlier version
    ]


def test_a_run_of_the_container_before_ends_with_the_ui_that_was_in_it(
    config: Path, shared: dg.DagsterInstance
) -> None:
    home = archive.home(config.parent)
    former, other = elsewhere(4), elsewhere(2)
    left = [left_behind(config, shared, "STARTED", None, {run_tags.PROCESS: process}) for process in (former, other)]
    (home / "dagster" / "daemon.lock").write_text(process_identity.namespace_of(former))
    runner.tidy_before_ui(archive.workspace(config))
    assert [status_of(shared, one) for one in left] == ["FAILURE", "STARTED"]


def test_a_run_that_another_daemon_has_queued_is_left_alone(config: Path, shared: dg.DagsterInstance) -> None:
    """It locks no file of ours, and writes heartbeats."""
    home = archive.home(config.parent)
    left = [left_behind(config, shared, status, None) for status in ("QUEUED", "NOT_STARTED", "STARTING")]
    beat = DaemonHeartbeat(time.time() - 20, "SENSOR", "another", [])
    shared.add_daemon_heartbeat(beat)
    assert orphaned_runs.end_orphaned_runs(shared, home) == 0
    shared.add_daemon_heartbeat(beat._replace(timestamp=time.time() - 600))
    assert orphaned_runs.end_orphaned_runs(shared, home) == 3
    assert [status_of(shared, one) for one in left] == ["CANCELED", "CANCELED", "FAILURE"]


def test_what_is_queued_goes_on_when_the_ui_starts_again(config: Path, shared: dg.DagsterInstance) -> None:
    left = [
        left_behind(config, shared, "QUEUED", None),
        left_behind(config, shared, "STARTED", None, {run_tags.PROCESS: ended()}),
    ]
    runner.tidy_before_ui(archive.workspace(config))
    assert [status_of(shared, one) for one in left] == ["QUEUED", "FAILURE"]


def left_behind(
    config: Path,
    shared: dg.DagsterInstance,
    status: str,
    process: int | None,
    tags: dict[str, str] | None = None,
) -> str:
    """A run as a stopped or killed process leaves it; its id."""
    job = build_defs(archive.workspace(config)).resolve_job_def("publish")
    origin = runner.LOCATION.get_job_origin(job.name)
    made = shared.create_run_for_job(job, status=dg.DagsterRunStatus(status), tags=tags, remote_job_origin=origin)
    if process:
        shared.report_engine_event("Started process for run", made, EngineEventData.in_process(process))
    return str(made.run_id)


def status_of(shared: dg.DagsterInstance, run_id: str) -> str:
    found = shared.get_run_by_id(run_id)
    assert found
    return found.status.value


def test_the_daemon_counts_as_alive_until_its_process_ends(tmp_path: Path) -> None:
    """Whoever started it may be gone, and what it has started itself may go on."""
    (tmp_path / "dagster").mkdir()
    with daemon_lock.alive(tmp_path) as file:
        code = (
            "import subprocess, sys, time; subprocess.Popen(['sleep', '20']); print('up', flush=True); time.sleep(60)"
        )
        process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, pass_fds=(file,))
    assert process.stdout and process.stdout.readline() == b"up\n"
    with daemon_lock.dead(tmp_path) as dead:
        assert not dead
    process.kill()
    process.wait()
    with daemon_lock.dead(tmp_path) as dead:
        assert dead
