"""The stages over the whole archive in Dagster: what each table is drawn below."""

from pathlib import Path

import dagster as dg

from relrag_pipelines.definitions import build_defs
from relrag_pipelines.stages.whole_archive import stage_named
from relrag_pipelines.stores import archive_tables
from tests import archive


def test_each_table_of_a_stage_follows_from_all_that_the_stage_reads(tmp_path: Path) -> None:
    workspace = archive.workspace(archive.make(tmp_path))
    graph = build_defs(workspace).get_repository_def().asset_graph
    sources = ("chat", "notes", "papers")
    people = {f"{source}/{name}" for source in sources for name in ("redacted", "identifiers")} | {"passage_statements"}
    expected = {
        **dict.fromkeys(stage_named("people", workspace.settings).tables, people),
        "passage_statements": set(),  # no setting asks a language model
        "relationship_embeddings": {"person_relationships"} | {f"{name}/embeddings" for name in sources},
    }
    parents = {name: {"/".join(key.path) for key in graph.get(dg.AssetKey(name)).parent_keys} for name in expected}
    assert parents == expected


def test_a_check_tells_of_each_table_whether_its_file_is_as_it_was_written(tmp_path: Path) -> None:
    workspace = archive.first_sync(archive.make(tmp_path), dagster=True)
    archive_tables.path(workspace.home, "persons").write_bytes(b"something else")
    archive_tables.path(workspace.home, "person_names").unlink()
    tables = [dg.AssetKey(name) for name in ("persons", "person_names", "month_words")]
    defs = build_defs(workspace)
    result = dg.materialize(
        [*defs.assets, *defs.asset_checks],  # type: ignore[list-item]
        selection=dg.AssetSelection.checks_for_assets(*tables),
    )
    passed = {one.asset_key.to_user_string(): one.passed for one in result.get_asset_check_evaluations()}
    assert passed == {"persons": False, "person_names": False, "month_words": True}
