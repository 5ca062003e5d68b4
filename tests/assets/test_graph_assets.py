"""GraphRAG indexes in Dagster: lineage behind the published generation, figures, checks, and who asks for them."""

from pathlib import Path

import dagster as dg
import pytest

from relrag_pipelines.definitions import build_defs, follow_up
from relrag_pipelines.graphrag import parquet
from relrag_pipelines.graphrag.schema import ALL
from relrag_pipelines.orchestration import runner
from relrag_pipelines.stores import generations, graph_indexes
from relrag_query.cli.commands import plan as plan_command
from relrag_query.cli.commands import sync as commands
from tests import archive

TABLES = ("documents", "text_units", "entities", "relationships", "communities", "community_reports")


@pytest.fixture
def config(tmp_path: Path) -> Path:
    made = archive.make(tmp_path)
    made.write_text(made.read_text() + '\n[graphrag]\nmethod = "fast"\n')
    return made


def test_the_tables_follow_from_what_is_published(config: Path) -> None:
    graph = build_defs(archive.workspace(config)).get_repository_def().asset_graph
    parents = {
        name: {"/".join(one.path) for one in graph.get(dg.AssetKey(["graphrag", "archive", name])).parent_keys}
        for name in TABLES
    }
    assert parents == {
        "documents": {"published_generation"},
        "text_units": {"graphrag/archive/documents"},
        "entities": {"graphrag/archive/text_units"},
        "relationships": {"graphrag/archive/text_units", "graphrag/archive/entities"},
        "communities": {"graphrag/archive/entities", "graphrag/archive/relationships"},
        "community_reports": {"graphrag/archive/communities", "graphrag/archive/text_units"},
    }


def test_a_sync_publishes_first_and_then_makes_the_index(config: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert commands.sync(config) == 0
    assert "make the GraphRAG index archive (new)" in capsys.readouterr().out
    home = archive.workspace(config).home
    with runner.instance(home) as shared:
        events = {
            name: shared.get_latest_materialization_event(dg.AssetKey(["graphrag", "archive", name])) for name in TABLES
        }
        published = shared.get_latest_materialization_event(dg.AssetKey("published_generation"))
        runs = {one.job_name for one in shared.get_runs()}
    assert runs == {"sync", "publish", "graphrag"}
    assert published
    for event in events.values():
        assert event
        assert event.timestamp > published.timestamp
        assert event.asset_materialization
        assert {"dagster/row_count", "hash", "passages", "reports_drafted", "seconds"} <= set(
            event.asset_materialization.metadata
        )
    assert plan_command.plan(config) == 0
    assert capsys.readouterr().out.startswith("Nothing to do")


def test_the_sensor_asks_for_an_index_once_a_generation_is_published(config: Path) -> None:
    made = archive.first_sync(config)
    graph_indexes.drop(made.home)
    (request,) = follow_up(made)
    assert isinstance(request, dg.RunRequest)
    assert request.job_name == "graphrag"
    assert request.asset_selection is not None
    assert {"/".join(key.path) for key in request.asset_selection} == {f"graphrag/archive/{name}" for name in TABLES}


def test_the_checks_fail_when_what_they_check_is_wrong(config: Path) -> None:
    made = archive.first_sync(config)
    assert generations.current_number(made.home) == 1
    place = graph_indexes.current_folder(made.home, "archive")
    assert place
    checks = dict.fromkeys(("nothing_dangling", "no_unredacted_value", "manifest_true"), True)
    assert _checked(made.settings.folder / "relrag.toml") == checks
    units = parquet.read(place, "text_units")
    assert units is not None
    units.loc[0, "document_id"] = "nowhere"
    units.loc[1, "text"] = "Call me on 052-123-4567"
    tables = {name: table for name in ALL if (table := parquet.read(place, name)) is not None}
    parquet.write(tables | {"text_units": units}, place)
    assert _checked(config) == dict.fromkeys(checks, False)


def _checked(config: Path) -> dict[str, bool]:
    defs = build_defs(archive.workspace(config))
    result = dg.materialize(
        [*defs.assets, *defs.asset_checks],  # type: ignore[list-item]
        selection=dg.AssetSelection.checks_for_assets(dg.AssetKey(["graphrag", "archive", "community_reports"])),
    )
    return {one.check_name: one.passed for one in result.get_asset_check_evaluations()}
