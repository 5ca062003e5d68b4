"""Months without records, decided in this one place: for `relrag status`, the pages, Dagster's checks and metadata."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping

from relrag_pipelines.stages.month_range import month_range
from relrag_pipelines.stores.lake import ManifestEntry


def is_empty(entry: ManifestEntry | None) -> bool:
    """Whether a month holds no rows; it then has an entry without rows, or none."""
    return entry is None or not entry.rows


def full_months(manifest: Mapping[str, ManifestEntry]) -> list[str]:
    """The months that hold rows, in order."""
    return sorted(month for month, entry in manifest.items() if not is_empty(entry))


def gaps(manifest: Mapping[str, ManifestEntry], first_month: str) -> list[list[str]]:
    """Runs of empty months between full ones, in order.

    The first partition does not count as full: records without a date lie there.
    """
    dated = [month for month in full_months(manifest) if month > first_month]
    return list(_between(dated))


def spans(manifest: Mapping[str, ManifestEntry], first_month: str) -> list[str]:
    """The gaps in words, such as "2024-02 to 2024-05"."""
    return [" to ".join(dict.fromkeys((gap[0], gap[-1]))) for gap in gaps(manifest, first_month)]


def _between(months: list[str]) -> Iterator[list[str]]:
    for start, end in itertools.pairwise(months):
        if missing := month_range(start, end)[1:-1]:
            yield missing
