"""Checks of the whole archive beside those of its generation: for Dagster's checks and `relrag status`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from relrag_pipelines.onboarding import environment
from relrag_pipelines.publishing import disk_space
from relrag_pipelines.stages.source_health import Verdict
from relrag_pipelines.stores import catalog, lake
from relrag_pipelines.workspace import Workspace

_MIN_LETTERS = 40
"""of a text that is no greeting: that two people write it in the same second is unlikely"""
_MAX_DUPLICATE_SHARE = 0.02
_DUPLICATES = """
    SELECT coalesce(sum(copies - 1), 0) FROM (
        SELECT count(DISTINCT asset_id) AS copies FROM read_parquet(?)
        WHERE ts IS NOT NULL AND length(text) >= ? GROUP BY ts, text HAVING copies > 1
    )"""


@dataclass(frozen=True)
class ArchiveCheck:
    """One check of the archive."""

    name: str
    meaning: str
    run: Callable[[Workspace], Verdict]
    reads_every_month: bool = False
    """as in `source_health.SourceCheck`"""


def suspected_duplicates(workspace: Workspace) -> Verdict:
    """Records of equal text and time under several ids: probably one item that two exports hold."""
    files, records = [], 0
    for source in workspace.settings.sources:
        files += [str(path) for path in lake.month_files(workspace.home, "records", source.name).values()]
        records += sum(entry.rows for entry in lake.manifest(workspace.home, "records", source.name).values())
    if not files:
        return Verdict(True, {"duplicates": 0})
    with catalog.scratch() as connection:
        row = connection.execute(_DUPLICATES, [files, _MIN_LETTERS]).fetchone()
    duplicates = int(row[0]) if row else 0
    figures = {"duplicates": duplicates, "share": round(duplicates / records, 4)}
    if duplicates <= _MAX_DUPLICATE_SHARE * records:
        return Verdict(True, figures)
    return Verdict(False, figures, f"{duplicates} of {records} records have the text and time of another record")


def free_disk(workspace: Workspace) -> Verdict:
    """Whether there is room for the next sync."""
    free = environment.free_bytes(workspace.home)
    required = disk_space.required_bytes(workspace.settings)
    figures = {"free_bytes": free, "required_bytes": required}
    if free >= required:
        return Verdict(True, figures)
    return Verdict(False, figures, f"a sync may need {required / 1e6:,.0f} MB, and {free / 1e6:,.0f} MB are free")


CHECKS = (
    ArchiveCheck(
        "suspected_duplicates", "Few records have the text and time of another record.", suspected_duplicates, True
    ),
    ArchiveCheck("free_disk", "There is room for the next sync.", free_disk),
)


def warnings(workspace: Workspace) -> Iterator[str]:
    """A sentence for each check that the archive does not pass, of those that do not read every month."""
    quick = (check for check in CHECKS if not check.reads_every_month)
    yield from (sentence for check in quick if (sentence := check.run(workspace).sentence))
