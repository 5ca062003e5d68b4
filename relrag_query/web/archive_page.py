"""The page of the archive: contents, pending work, failures and evaluation results."""

from __future__ import annotations

from collections import Counter
from typing import Any

from relrag_pipelines.onboarding import environment
from relrag_pipelines.settings import Settings
from relrag_pipelines.sources import LEFT_OUT
from relrag_pipelines.stores import evaluation_history, lake
from relrag_pipelines.ui.guard import USUAL_PORT, address
from relrag_pipelines.workspace import Workspace
from relrag_query.display.amounts import size
from relrag_query.owner.work import failure_key
from relrag_query.service import Service
from relrag_query.service.archive_status import Status, load_failures, redacted_failures

_MAX_FAILURES = 200
"""maximum rows of the list"""
_MAX_EVALUATIONS = 40
"""number of evaluations on the page, newest ones"""


def template_context(service: Service) -> dict[str, Any]:
    """The context of the template. Raises NotServed if the service is limited to clients."""
    settings = service.settings
    status = service.status()
    failures = list(zip(redacted_failures(settings), failure_keys(settings), strict=True))
    return {
        "calendar": calendar(settings),
        "paused": {source.name for source in settings.sources if source.paused},
        "disk": _disk(status, settings),
        "archive": status,
        "failures": failures[:_MAX_FAILURES],
        "more": len(failures) - _MAX_FAILURES,
        "zone": service.zone,
        "evaluations": evaluation_history.load(settings.home_path)[-_MAX_EVALUATIONS:],
        "ui": _ui(settings),
    }


def calendar(settings: Settings) -> dict[str, list[int]]:
    """Year -> records in each of its twelve months, from the first year with any to the last."""
    counts: Counter[str] = Counter()
    for source in settings.sources:
        manifest = lake.manifest(settings.home_path, "records", source.name)
        counts.update({month: entry.rows for month, entry in manifest.items() if month > settings.first_month})
    years = sorted({month[:4] for month, count in counts.items() if count})
    if not years:
        return {}
    every_year = map(str, range(int(years[0]), int(years[-1]) + 1))
    return {year: [counts[f"{year}-{month:02}"] for month in range(1, 13)] for year in every_year}


def failure_keys(settings: Settings) -> list[str]:
    """The key by which the page has each failure read again, in the order of `redacted_failures`."""
    failures = [failure for source in settings.sources for failure in load_failures(settings.home_path, source.name)]
    if not failures or not settings.key_store.exists():
        return [""] * len(failures)
    workspace = Workspace(settings)
    return [
        failure_key(workspace, failure) if failure.unit and failure.fault not in LEFT_OUT else ""
        for failure in failures
    ]


def _disk(status: Status, settings: Settings) -> dict[str, str]:
    """How much the archive takes on the disk, and how much is free there."""
    stored = sum(source.stored_bytes for source in status.sources)
    published = status.generation["bytes"] if status.generation else 0
    return {"used": size(stored + published), "free": size(environment.free_bytes(settings.home_path))}


def _ui(settings: Settings) -> str:
    """Address of Dagster's UI; empty behind a proxy, since its users cannot reach ports of this machine."""
    return settings.ui_public_url or ("" if settings.web_public_url else address("127.0.0.1", USUAL_PORT))
