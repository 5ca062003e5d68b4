"""Backups that the owner makes on the pages, each a folder of its own in `backup_folder`."""

from __future__ import annotations

from relrag_pipelines.settings import now
from relrag_query import jobs
from relrag_query.owner.switch import require_writes
from relrag_query.owner.work import JobReply
from relrag_query.service import Service


def start(service: Service) -> JobReply:
    """Starts a backup of what cannot be rebuilt. Raises JobRuns or LockedByOther if something is at work already."""
    config = require_writes(service)
    folder = service.settings.backup_path / f"{service.settings.archive} {now():%Y-%m-%d %H.%M.%S}"
    job = jobs.start(service.settings.home_path, config, "backup", ["backup", str(folder)])
    return JobReply(operation=job.operation, state=job.state.value)
