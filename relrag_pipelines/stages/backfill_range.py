"""The months of a backfill, compared with those of which a source has records."""

from __future__ import annotations

from collections.abc import Sequence

from relrag_pipelines.settings import Settings, SettingsError, Source, now
from relrag_pipelines.stages import empty_months
from relrag_pipelines.stages.month_stages import STAGES
from relrag_pipelines.stores import lake
from relrag_pipelines.workspace import Workspace


def partitions(settings: Settings, first: str, last: str) -> tuple[str, str]:
    """The part of a range of months that can be made: not before `first_month`, and none in future."""
    return max(first, settings.first_month), min(last, now().strftime("%Y-%m"))


def outside(workspace: Workspace, source: Source, months: Sequence[str]) -> str:
    """A sentence if none of these months lies within those of the source's records; else nothing."""
    months_stored = _months_stored(workspace, source)
    if months_stored and any(months_stored[0] <= month <= months_stored[-1] for month in months):
        return ""
    asked = " to ".join(dict.fromkeys((months[0], months[-1])))
    return f"{source.name} has {_describe(months_stored)}, and none from {asked}"


def require_inside(workspace: Workspace, source: Source, first: str, last: str) -> tuple[str, str]:
    """The part of a range that can be made; SettingsError if the source has no records in it."""
    months_stored = _months_stored(workspace, source)
    start, end = partitions(workspace.settings, first, last)
    if not months_stored or start > end or end < months_stored[0] or start > months_stored[-1]:
        raise SettingsError(f"{source.name} has {_describe(months_stored)}, and none from {first} to {last}")
    return start, end


def _months_stored(workspace: Workspace, source: Source) -> list[str]:
    """Months with records, or with what was made of former ones, in order."""
    tables = ("private_records", *(stage.table for stage in STAGES))
    manifests = [lake.manifest(workspace.home, table, source.name) for table in tables]
    return sorted({month for manifest in manifests for month in empty_months.full_months(manifest)})


def _describe(months_stored: Sequence[str]) -> str:
    return f"records from {months_stored[0]} to {months_stored[-1]}" if months_stored else "no records"
