"""What the owner starts on the pages, and what the pages say of it."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from relrag_pipelines import settings as settings_module
from relrag_pipelines.erasure.rule_file import ForgettingError
from relrag_pipelines.journal import journal
from relrag_pipelines.journal.entry_kinds import PageAction
from relrag_pipelines.settings import SettingsError
from relrag_pipelines.stages import plan as plans
from relrag_pipelines.stores import lock, progress_file
from relrag_query.jobs import Job
from relrag_query.jobs import job as job_files
from relrag_query.owner import work
from relrag_query.owner.switch import OnlyReads
from relrag_query.service import Service
from relrag_query.service.archive_status import load_failures
from tests import archive


@pytest.fixture(scope="module")
def synced(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of an archive with a file that cannot be read."""
    folder = tmp_path_factory.mktemp("work")
    config = archive.make(folder, "web_writes_enabled = true")
    for name in ("broken.pdf", "torn.pdf"):
        (folder / "papers" / name).write_bytes(f"%PDF-1.4 {name}".encode())
    archive.first_sync(config)
    return folder


@pytest.fixture
def service(synced: Path, tmp_path: Path) -> Iterator[Service]:
    with Service.open(archive.clone(synced, tmp_path / "copy") / "relrag.toml") as opened:
        yield opened


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, list[str]]]:
    """Operation and arguments of what was started, instead of processes."""
    calls: list[tuple[str, list[str]]] = []

    def start(home: Path, config: Path, operation: str, arguments: list[str], about: str = "") -> Job:
        calls.append((operation, [*arguments]))
        return Job(operation, about, "", "2024-03-01T08:00:00+00:00", exit_code=0)

    monkeypatch.setattr("relrag_query.jobs.start", start)
    return calls


def test_one_failure_or_all_of_a_source_are_read_again(service: Service, started: list[Any]) -> None:
    workspace = archive.workspace(service.settings.folder / "relrag.toml")
    failures = {failure.unit: failure for failure in load_failures(workspace.home, "papers")}
    key = work.failure_key(workspace, failures["broken.pdf"])
    assert "broken" not in key
    work.retry(service, "papers", key)
    (export,) = plans.build_plan(workspace).exports
    assert (export.source, export.changed) == ("papers", 1)
    work.retry(service, "papers")
    (export,) = plans.build_plan(workspace).exports
    assert export.changed == 2
    assert started == [("sync", ["sync"]), ("sync", ["sync"])], "no name of a file is an argument of a process"
    assert journal.statements(workspace.home, PageAction) == [PageAction("retry", "papers")] * 2
    with pytest.raises(SettingsError, match="has been read"):
        work.retry(service, "papers", "x")


def test_a_forget_is_previewed_and_a_source_leaves_the_file_too(service: Service, started: list[Any]) -> None:
    preview = work.preview_forget(service, ["jsonl:notes:n1"])
    assert (preview.records, preview.months) == (1, ["notes: 1 of 2, 2024-02"])
    (shown,) = preview.shown
    assert (shown.time, shown.sender, shown.preview) == (
        "2024-02-15T09:00:00+01:00",
        "Ota",
        "The plumber quoted 7,980 for the boiler.",
    )
    work.forget(service, ["jsonl:notes:n1"])
    assert work.preview_forget(service, source="chat").months == ["chat: 5 of 5, 2023-12 to 2024-02"]
    work.forget(service, source="chat")
    assert started == [
        ("forget", ["forget", "--yes", "--", "jsonl:notes:n1"]),
        ("forget", ["forget", "--yes", "--source", "chat"]),
    ]
    settings = settings_module.load(service.config, {})
    assert [source.name for source in settings.sources] == ["papers", "notes"]
    for refs, source in ((["--source"], ""), ([], "nobody"), ([], "")):
        with pytest.raises((ForgettingError, SettingsError)):
            work.forget(service, refs, source)


def test_what_goes_on_is_told_by_whoever_writes(service: Service) -> None:
    home = service.settings.home_path
    assert not work.activity(service.settings).is_running
    recorder = progress_file.Recorder(home)
    recorder("papers: export", 1, 4)
    job_files.save(home, Job("sync", "", "", "2024-03-01T08:00:00+00:00", exit_code=2))
    lines = "error: 5 of 5 records would go; --accept-deletions deletes them\n"
    (home / job_files.LOG).write_text(lines)
    with lock.writing(home, "relrag sync"):
        # a lock of this process counts as free for it
        activity = work.activity(service.settings)
    assert [(step.name, step.share) for step in activity.steps] == [("papers: export", 0.25)]
    assert activity.lines == ["error: 5 of 5 records would go; --accept-deletions deletes them"]
    assert activity.refused_deletions


def test_nothing_starts_where_the_pages_only_read(synced: Path, tmp_path: Path, started: list[Any]) -> None:
    folder = archive.clone(synced, tmp_path / "copy")
    archive.configure(folder)
    with Service.open(folder / "relrag.toml") as service:
        for operation in (work.sync, work.cancel, lambda one: work.retry(one, "papers"), lambda one: work.forget(one)):
            with pytest.raises(OnlyReads):
                operation(service)
    assert started == []


def test_without_sources_or_a_command_the_page_says_so(tmp_path: Path, started: list[Any]) -> None:
    config = tmp_path / "relrag.toml"
    config.write_text('archive = "test"\nkeys_file = "test.keys"\nweb_writes_enabled = true\n')
    with Service.open(config) as service:
        with pytest.raises(SettingsError, match="add one first"):
            work.sync(service)
        with pytest.raises(SettingsError, match="started nothing"):
            work.cancel(service)
    assert started == []
