"""What is stale is made and published without Dagster; an error is told without any text, and nothing is published."""

from __future__ import annotations

from pathlib import Path

import pytest

from relrag_pipelines.publishing.rebuild import rebuild
from relrag_pipelines.stages import month_stages, redaction_check
from relrag_pipelines.stages import plan as plans
from relrag_pipelines.stores import archive_tables, generations, lake
from relrag_pipelines.workspace import Workspace
from tests import archive


@pytest.fixture
def stale(tmp_path: Path) -> Workspace:
    """An archive that lacks what is made of two months, and all tables of the whole archive."""
    workspace = archive.first_sync(archive.make(tmp_path))
    for source, month in (("chat", "2023-12"), ("notes", "2024-02")):
        lake.drop_derived(workspace.home, source, [month])
    archive_tables.drop(workspace.home)
    return archive.workspace(tmp_path / "relrag.toml")


def test_months_far_apart_and_what_is_made_of_them_are_those_of_a_sync(tmp_path: Path, stale: Workspace) -> None:
    (tmp_path / "other").mkdir()
    synced = archive.first_sync(archive.make(tmp_path / "other"))
    assert len(plans.build_plan(stale).stale) >= 8
    assert rebuild(stale) == []
    assert plans.build_plan(archive.workspace(stale.settings.folder / "relrag.toml")).empty
    for source, months in (("chat", {"2023-12", "2024-01", "2024-02"}), ("notes", {"2024-02"})):
        for table in ("records", "identifiers", "chunks", "asset_asset_edges"):
            made, known = (lake.manifest(one.home, table, source) for one in (stale, synced))
            assert made.keys() == known.keys() == months
            assert {month: entry.rows for month, entry in made.items()} == {
                month: entry.rows for month, entry in known.items()
            }
    assert archive_tables.read(stale.home, "persons").num_rows == archive_tables.read(synced.home, "persons").num_rows


def test_nothing_is_published_where_a_month_cannot_be_made(stale: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    before, run = generations.current_number(stale.home), month_stages.run

    def failing(workspace: Workspace, source: object, stage: month_stages.Stage, months: list[str]) -> object:
        if stage.name == "chunks" and months == ["2024-02"]:
            raise ValueError("The plumber quoted 7,980")
        return run(workspace, source, stage, months)  # type: ignore[arg-type]

    monkeypatch.setattr(month_stages, "run", failing)
    (said,) = rebuild(stale)
    assert said.startswith("notes__chunks: ValueError in test_rebuild.py:")
    assert "7,980" not in said
    assert generations.current_number(stale.home) == before
    assert lake.read(stale.home, "chunks", "chat", "2023-12").num_rows, "another source is made all the same"


def test_nothing_is_made_of_a_month_that_still_holds_personal_data(
    stale: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = generations.current_number(stale.home)
    monkeypatch.setattr(
        redaction_check,
        "find_unredacted",
        lambda _, source: {"2024-02": 3} if source.name == "notes" else {},
    )
    (said,) = rebuild(stale)
    assert said.startswith("notes__redaction_check: notes: 3 of what was redacted still held personal data, in 2024-02")
    assert "2024-02" not in lake.manifest(stale.home, "chunks", "notes")
    assert generations.current_number(stale.home) == before
