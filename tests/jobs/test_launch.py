"""Commands that the pages start: one at a time, cancelled like Ctrl-C, and known to the next server."""

import json
import time
from pathlib import Path

import pytest

from relrag_pipelines.journal import journal
from relrag_pipelines.journal.entry_kinds import PageAction
from relrag_pipelines.stores import dagster_runs, generations, process_identity
from relrag_query import jobs
from relrag_query.jobs import JobRuns, JobState
from relrag_query.jobs import job as job_files
from tests import archive


def wait(home: Path, seconds: float = 60) -> JobState:
    """The state in which the command ended."""
    until = time.monotonic() + seconds
    while (job := jobs.load(home)) and job.is_running and time.monotonic() < until:
        time.sleep(0.05)
    assert job
    return job.state


def test_a_sync_runs_on_its_own_and_stands_in_dagster(tmp_path: Path) -> None:
    config = archive.make(tmp_path)
    workspace = archive.workspace(config)
    _ = workspace.keys
    jobs.start(workspace.home, config, "sync", ["sync"])
    with pytest.raises(JobRuns, match="sync is at work already"):
        jobs.start(workspace.home, config, "forget", ["forget", "--yes", "x"])
    assert wait(workspace.home) is JobState.DONE
    assert generations.current_number(workspace.home) == 1
    assert any(line.startswith("Generation 1: 8 records") for line in job_files.output(workspace.home))
    assert (workspace.home / "dagster" / "history").exists()
    assert dagster_runs.count_unfinished(workspace.home) == 0
    assert journal.statements(workspace.home, PageAction) == [PageAction("sync", "")]
    modes = {path.name: path.stat().st_mode & 0o077 for path in (workspace.home / "private").glob("job.*")}
    assert modes == {"job.json": 0, "job.log": 0}


def test_a_command_that_fails_says_so(tmp_path: Path) -> None:
    config = archive.make(tmp_path)
    home = archive.workspace(config).home
    _ = archive.workspace(config).keys
    jobs.start(home, config, "forget", ["forget", "--yes", "jsonl:notes:none"])
    assert wait(home) is JobState.FAILED
    assert job_files.output(home)[-1].startswith("relrag: ")


def test_a_forget_leaves_nothing_of_the_record_in_what_the_pages_store(tmp_path: Path) -> None:
    config = archive.make(tmp_path)
    home = archive.first_sync(config).home
    jobs.start(home, config, "forget", ["forget", "--yes", "--", "jsonl:notes:n1"], "1 record")
    assert wait(home) is JobState.DONE
    assert job_files.output(home)[0].startswith("Forgotten: 1 record")
    private = b"".join(path.read_bytes() for path in (home / "private").rglob("*") if path.is_file())
    assert b"plumber quoted" not in private
    assert b"jsonl:notes:n1" not in private


@pytest.mark.parametrize("at_work", [True, False], ids=["at work", "just started"])
def test_cancel_interrupts_and_is_noted(tmp_path: Path, at_work: bool) -> None:
    config = archive.make(tmp_path)
    home = archive.workspace(config).home
    _ = archive.workspace(config).keys
    job = jobs.start(home, config, "sync", ["sync", "--full"])
    until = time.monotonic() + 30
    while at_work and not (home / "private" / "progress.json").exists() and time.monotonic() < until:
        time.sleep(0.02)
    assert jobs.cancel(home) == job
    assert wait(home) is JobState.CANCELLED
    until = time.monotonic() + 10
    while len(noted := journal.statements(home, PageAction)) < 2 and time.monotonic() < until:
        time.sleep(0.05)
    assert noted == [PageAction("sync", ""), PageAction("cancel", "sync")]
    assert generations.current_number(home) is None


def test_a_command_whose_process_was_killed_is_not_running(tmp_path: Path) -> None:
    dead = process_identity.identify(2**22 - 1)
    job_files.save(tmp_path, jobs.Job("sync", "", dead, "2024-03-01T08:00:00+00:00"))
    job = jobs.load(tmp_path)
    assert job
    assert job.state is JobState.STOPPED
    assert jobs.cancel(tmp_path) == job


@pytest.mark.parametrize("text", ["", "[]", "{}", json.dumps({"operation": "sync"})])
def test_a_torn_state_is_none(tmp_path: Path, text: str) -> None:
    file = tmp_path / job_files.STATE
    file.parent.mkdir()
    file.write_text(text)
    assert jobs.load(tmp_path) is None
