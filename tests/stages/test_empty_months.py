"""Months without records: one answer for status, pages, checks and metadata."""

import pytest

from relrag_pipelines.stages import empty_months
from relrag_pipelines.stores.lake import ManifestEntry
from tests.cases import cases


def manifest(**rows: int) -> dict[str, ManifestEntry]:
    """A manifest with so many rows in months such as m2024_01."""
    return {
        name[1:].replace("_", "-"): ManifestEntry("", 1, "", "hash" if count else "", count, count)
        for name, count in rows.items()
    }


@pytest.mark.parametrize(*cases(__file__, "gaps_lie_between_full_months"))
def test_gaps_lie_between_full_months(months: dict[str, int], expected: list[str]) -> None:
    assert empty_months.spans(manifest(**months), "2000-01") == expected


def test_a_month_is_empty_without_entry_or_without_rows() -> None:
    entries = manifest(m2024_01=0, m2024_02=1)
    assert [empty_months.is_empty(entries.get(month)) for month in ("2023-12", "2024-01", "2024-02")] == [
        True,
        True,
        False,
    ]
    assert empty_months.full_months(entries) == ["2024-02"]
