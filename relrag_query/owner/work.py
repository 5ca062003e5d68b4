"""Commands that the owner starts on the pages, and how far whoever writes is."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass

from pydantic import BaseModel, Field

from relrag_pipelines.ingest import failure_retry
from relrag_pipelines.records import Failure
from relrag_pipelines.settings import Settings, SettingsError
from relrag_pipelines.stores import lake, lock, progress_file
from relrag_pipelines.stores.progress_file import Step
from relrag_pipelines.workspace import Workspace
from relrag_query import jobs
from relrag_query.archive import ArchiveError
from relrag_query.forgetting import ForgetRequest, preview_of, rule_of
from relrag_query.jobs import Job
from relrag_query.jobs.job import output
from relrag_query.owner import sources
from relrag_query.owner.switch import changing, require_writes
from relrag_query.service import Service
from relrag_query.service.archive_status import load_failures
from relrag_query.service.record_replies import BriefReply

_MAX_LINES = 12
_MAX_SHOWN = 20
"""records that a preview of forgetting shows"""
_ACCEPT = "--accept-deletions"


class JobReply(BaseModel):
    """A command that the pages started."""

    operation: str
    state: str = Field(description="running, done, with failures, cancelled, failed or stopped")


class ForgetPreviewReply(BaseModel):
    """What would be forgotten."""

    records: int
    months: list[str] = Field(description="a line a source: its name, how many records, and when")
    quoting: int = Field(description="mails that stay although they quote a record that goes")
    shown: list[BriefReply] = Field(description="the first of the records that are named, as they are published")


@dataclass(frozen=True)
class Activity:
    """What is going on, and how the last command of the pages ended."""

    job: Job | None
    writer: str | None
    """who holds the writer's lock, in words"""
    steps: Sequence[Step]
    lines: Sequence[str]
    """what the last command of the pages said about its end"""
    refused_deletions: bool
    """whether that command stopped because too many records would go"""

    @property
    def is_running(self) -> bool:
        """Whether somebody writes."""
        return bool(self.writer) or bool(self.job and self.job.is_running)


def activity(settings: Settings) -> Activity:
    """What is going on in an archive."""
    home = settings.home_path
    job, progress = jobs.load(home), progress_file.load(home)
    lines = output(home) if job else []
    shown = lines[-_MAX_LINES:]
    refused = any(_ACCEPT in line for line in shown)
    return Activity(job, lock.holder(home), progress.steps if progress else (), shown, refused)


def sync(service: Service, accept_deletions: bool = False) -> JobReply:
    """Starts a sync. Raises JobRuns or LockedByOther if something is at work already."""
    config = require_writes(service)
    if not service.settings.sources:
        raise SettingsError("there are no sources yet; add one first", code="no_sources")
    arguments = ["sync", *([_ACCEPT] if accept_deletions else [])]
    return _reply(jobs.start(service.settings.home_path, config, "sync", arguments))


def cancel(service: Service) -> JobReply:
    """Interrupts the command that the pages started; what it finished stays. Raises SettingsError if none runs."""
    require_writes(service)
    job = jobs.cancel(service.settings.home_path)
    if job is None:
        raise SettingsError("the pages have started nothing", code="nothing_started")
    return _reply(job)


def retry(service: Service, source: str, failure: str = "") -> JobReply:
    """Reads again what could not be read: one failure by its `failure_key`, or all of a source.

    Raises SettingsError for an unknown source, and if nothing of that key failed.
    """
    config = require_writes(service)
    settings = service.settings
    workspace, named = Workspace(settings), settings.source(source)
    failures = load_failures(settings.home_path, source)
    units = {row.unit for row in failures if not failure or failure_key(workspace, row) == failure}
    if not units:
        raise SettingsError("that has been read, or is gone", code="read_already")
    with changing(service, "retry", source):
        for unit in sorted(units):
            failure_retry.mark(workspace, named, unit)
    return _reply(jobs.start(settings.home_path, config, "sync", ["sync"], source))


def failure_key(workspace: Workspace, failure: Failure) -> str:
    """Names the unit of a failure on a page, which does not show its path."""
    return workspace.keys.id_hash(f"{failure.source}\0{failure.unit}")


def preview_forget(service: Service, refs: Sequence[str] = (), source: str = "") -> ForgetPreviewReply:
    """What `forget` would remove. Raises ForgettingError for an unknown id."""
    config = require_writes(service)
    workspace = Workspace(service.settings)
    request = ForgetRequest(refs=list(refs), source=source or None)
    preview = preview_of(rule_of(request, [], workspace, config), workspace)
    selection = preview.selection
    lines = [
        f"{name}: {selection.count(name):,} of {_stored(workspace, name):,}, {_span(months, workspace)}"
        for name, months in sorted(selection.months.items())
        if months
    ]
    records = sum(selection.count(name) for name in selection.months)
    named = sorted(selection.ids - selection.parts)[:_MAX_SHOWN]
    return ForgetPreviewReply(
        records=records, months=lines, quoting=len(preview.quoting), shown=_published(service, named)
    )


def _published(service: Service, refs: Sequence[str]) -> list[BriefReply]:
    """What the records are; nothing while nothing is published."""
    with suppress(ArchiveError):
        return service.briefs(refs)
    return []


def forget(service: Service, refs: Sequence[str] = (), source: str = "") -> JobReply:
    """Starts to forget records by their ids, or a whole source, whose table in relrag.toml goes too."""
    config = require_writes(service)
    home = service.settings.home_path
    preview_forget(service, refs, source)  # raises for what there is not
    if source and any(configured.name == source for configured in service.settings.sources):
        sources.remove(service, source)
    chosen = ["--source", source] if source else ["--", *refs]
    # no ids: the journal and the job would still hold what is forgotten
    about = source or str(len(refs))
    return _reply(jobs.start(home, config, "forget", ["forget", "--yes", *chosen], about))


def _span(months: Collection[str], workspace: Workspace) -> str:
    """The months from the first to the last; records without a date stand in the archive's first month."""
    dated = sorted(month for month in months if month > workspace.settings.first_month)
    if not dated:
        return "undated"
    return dated[0] if len(dated) == 1 else f"{dated[0]} to {dated[-1]}"


def _stored(workspace: Workspace, source: str) -> int:
    return sum(entry.rows for entry in lake.manifest(workspace.home, "private_records", source).values())


def _reply(job: Job) -> JobReply:
    return JobReply(operation=job.operation, state=job.state.value)
