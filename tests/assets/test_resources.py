"""Resources show what the definitions work with, no secret, and can be swapped."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import dagster as dg
import numpy as np
import pytest

from relrag_pipelines.assets import resources
from relrag_pipelines.assets.resources import DuckDBResource, EmbedderResource, LakeResource, QdrantResource
from relrag_pipelines.definitions import build_defs
from relrag_pipelines.embedders import Embedder
from relrag_pipelines.settings import Settings, SettingsError
from relrag_pipelines.stores import catalog, lake
from tests import archive

SECRET = "sk-of-nobody"


def test_each_part_is_a_configurable_resource(tmp_path: Path) -> None:
    made = build_defs(archive.workspace(archive.make(tmp_path))).resources or {}
    assert sorted(made) == ["archive_keys", "duckdb", "embedder", "lake", "qdrant"]
    assert all(isinstance(part, dg.ConfigurableResource) for part in made.values())


@pytest.mark.parametrize(
    ("extra", "variable", "name"),
    [
        ('embedder = "openai"', "OPENAI_API_KEY", "embedder"),
        ('embedder = "cohere"', "COHERE_API_KEY", "embedder"),
        ('qdrant_url = "https://qdrant.example.org"', "QDRANT_API_KEY", "qdrant"),
    ],
)
def test_dagster_shows_the_name_of_a_secrets_variable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, extra: str, variable: str, name: str
) -> None:
    monkeypatch.setenv(variable, SECRET)
    found = build_defs(archive.workspace(archive.make(tmp_path, extra))).get_repository_def()
    shown = repr(found.get_env_vars_by_top_level_resource())
    assert variable in shown
    snapshot = found.get_top_level_resources()[name]
    assert SECRET not in repr(snapshot.config_schema.default_value if snapshot.config_schema else "")


def test_no_resource_shows_where_the_archive_lies(tmp_path: Path) -> None:
    made = build_defs(archive.workspace(archive.make(tmp_path))).resources or {}
    assert str(tmp_path) not in repr(made)


def test_the_lake_can_be_swapped(tmp_path: Path) -> None:
    workspace = archive.workspace(archive.make(tmp_path))
    defs = build_defs(workspace, resource_overrides={"lake": LakeResource(folder="elsewhere")})
    job = defs.resolve_job_def("sync")
    assert job.execute_in_process(asset_selection=[dg.AssetKey(["chat", "export"])]).success
    assert not lake.manifest(workspace.home, "private_records", "chat")
    assert len(lake.manifest(tmp_path / "elsewhere", "private_records", "chat")) == 3


class OnesEmbedder(EmbedderResource):
    """An embedder for tests, whose vectors are ones."""

    def load(self, settings: Settings) -> Embedder:
        class Ones:
            def documents(self, texts: list[str]) -> tuple[np.ndarray[Any, Any], int]:
                return np.ones((len(texts), 384), dtype=np.float32), len(texts)

        return Ones()  # type: ignore[return-value]


def test_the_embedder_can_be_swapped(tmp_path: Path) -> None:
    workspace = archive.first_sync(archive.make(tmp_path))
    defs = build_defs(workspace, resource_overrides={"embedder": OnesEmbedder(name="e5")})
    result = defs.resolve_job_def("sync").execute_in_process(
        asset_selection=[dg.AssetKey(["notes", "embeddings"])], partition_key="2024-02"
    )
    assert result.success
    assert set(lake.read(workspace.home, "embeddings", "notes", "2024-02")["vector"][0].as_py()) == {1.0}


def test_a_key_of_an_override_reaches_the_library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("QDRANT_API_KEY", raising=False)
    override = QdrantResource(url="https://qdrant.example.org", api_key=SECRET)
    build_defs(archive.workspace(archive.make(tmp_path)), resource_overrides={"qdrant": override})
    import os

    assert os.environ.pop("QDRANT_API_KEY") == SECRET


def test_duckdb_uses_as_many_threads_as_it_is_told(tmp_path: Path) -> None:
    workspace = archive.workspace(archive.make(tmp_path))
    threads = []
    for part in (DuckDBResource(threads=1), DuckDBResource()):
        resources.with_resources(workspace, {"duckdb": part})
        with catalog.connect() as connection:
            threads.append(connection.execute("SELECT current_setting('threads')").fetchall()[0][0])
    assert threads[0] == 1 < threads[1]


def test_a_value_that_is_none_of_the_setting_is_refused(tmp_path: Path) -> None:
    workspace = archive.workspace(archive.make(tmp_path))
    with pytest.raises((SettingsError, ValueError), match="keys_store"):
        resources.with_resources(workspace, {"archive_keys": resources.KeysResource(store="under the mat")})


def test_without_overrides_the_workspace_stays_the_same(tmp_path: Path) -> None:
    workspace = archive.workspace(archive.make(tmp_path))
    assert resources.with_resources(workspace, resources.resources(workspace.settings)) is workspace
