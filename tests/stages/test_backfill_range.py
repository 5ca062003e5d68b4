"""The months of a backfill, compared with those of the source's records: 2023-12 to 2024-02."""

from pathlib import Path

import pytest

from relrag_pipelines.settings import SettingsError
from relrag_pipelines.stages import backfill_range
from relrag_pipelines.workspace import Workspace
from tests import archive


@pytest.fixture
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Workspace:
    monkeypatch.setenv("RELRAG_NOW", "2025-01-20T12:00:00+00:00")
    return archive.first_sync(archive.make(tmp_path))


@pytest.mark.parametrize(
    ("first", "last", "made"),
    [
        ("2024-01", "2024-01", ("2024-01", "2024-01")),
        ("2023-11", "2024-03", ("2023-11", "2024-03")),
        ("1990-01", "2024-01", ("2000-01", "2024-01")),  # the first partition
        ("2024-02", "2031-12", ("2024-02", "2025-01")),  # the current month
    ],
)
def test_the_part_of_a_range_that_has_partitions_is_made(
    workspace: Workspace, first: str, last: str, made: tuple[str, str]
) -> None:
    assert backfill_range.require_inside(workspace, workspace.settings.source("chat"), first, last) == made


@pytest.mark.parametrize(
    ("first", "last"),
    [("1990-01", "1990-05"), ("2001-01", "2023-11"), ("2024-03", "2024-12"), ("2031-01", "2031-02")],
)
def test_a_range_without_records_is_refused_with_the_months_that_have_some(
    workspace: Workspace, first: str, last: str
) -> None:
    with pytest.raises(SettingsError) as refused:
        backfill_range.require_inside(workspace, workspace.settings.source("chat"), first, last)
    assert str(refused.value) == f"chat has records from 2023-12 to 2024-02, and none from {first} to {last}"


def test_a_run_of_months_outside_says_so(workspace: Workspace) -> None:
    chat = workspace.settings.source("chat")
    assert backfill_range.outside(workspace, chat, ["2023-11", "2023-12"]) == ""
    assert backfill_range.outside(workspace, chat, ["2010-01", "2010-02"]) == (
        "chat has records from 2023-12 to 2024-02, and none from 2010-01 to 2010-02"
    )
