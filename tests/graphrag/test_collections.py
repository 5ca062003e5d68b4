"""Indexes by name: the archive's own and those that lie elsewhere."""

import json
from pathlib import Path

import pytest

from relrag_pipelines.settings import Settings
from relrag_query.cli.commands import graphrag
from relrag_query.graphrag import collections, service
from relrag_query.graphrag.collections import CollectionError
from relrag_query.graphrag.index import IndexMissing
from tests import agile_index, archive


@pytest.fixture
def config(tmp_path: Path) -> Path:
    made = archive.make(tmp_path)
    made.write_text(made.read_text() + '\n[graphrag]\nmethod = "fast"\n')
    archive.first_sync(made)
    return made


@pytest.fixture
def settings(config: Path) -> Settings:
    return archive.workspace(config).settings


def test_an_index_that_lies_elsewhere_gets_a_name(settings: Settings, tmp_path: Path) -> None:
    elsewhere = agile_index.write(tmp_path / "agile")
    collections.add(settings, "agile", elsewhere)
    assert [(one.name, one.own) for one in collections.list_indexes(settings)] == [("archive", True), ("agile", False)]
    found, index = collections.load(settings, "agile")
    assert (found.folder, index.layout) == (elsewhere.resolve(), "3.x")
    collections.remove(settings, "agile")
    with pytest.raises(CollectionError, match='no index is named "agile"; indexes: archive'):
        collections.find(settings, "agile")
    assert elsewhere.exists()


@pytest.mark.parametrize(
    ("name", "said"),
    [("Agile", '"Agile" cannot be a name'), ("archive", '"archive" is the name of an index of this archive')],
)
def test_names_that_cannot_be_given(settings: Settings, tmp_path: Path, name: str, said: str) -> None:
    with pytest.raises(CollectionError, match=said):
        collections.add(settings, name, agile_index.write(tmp_path / "agile"))


def test_what_is_no_index_gets_no_name(settings: Settings, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(IndexMissing):
        collections.add(settings, "empty", tmp_path / "empty")
    assert len(collections.list_indexes(settings)) == 1


def test_an_index_that_is_not_made_says_what_to_do(tmp_path: Path) -> None:
    plain = archive.workspace(archive.make(tmp_path)).settings
    with pytest.raises(CollectionError, match=r"write \[graphrag\]"):
        collections.find(plain, "archive")


@pytest.mark.requirement("S1-16")
def test_an_answer_with_its_sources_as_other_programs_take_it(settings: Settings) -> None:
    found = service.global_query(settings, "archive", "What was discussed most?", include_sources=True)
    assert json.loads(json.dumps(found)) == found
    assert found["sources"][0].keys() == {"document", "page_number", "chunk_count", "quote"}
    assert "[Data: " in found["answer"]
    assert {"lease 2024-01-05.md"} & {one["document"] for one in found["sources"]}
    assert service.global_query(settings, "archive", "What was discussed most?")["sources"] == []


@pytest.mark.requirement("S1-1", "S1-15", "S1-18")
def test_the_commands(config: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert graphrag.query("archive", "Who has the key of the cabin?", config, method="basic", show_sources=True) == 0
    said = capsys.readouterr().out
    assert said.startswith("Dana Levi: Who has the key of the cabin? [Data: Sources (")
    assert "GraphRAG Source References:\n  • Sources: " in said
    assert "Source Documents (" in said
    assert "Hiking" in said
    assert graphrag.add("agile", agile_index.write(tmp_path / "agile"), config) == 0
    assert graphrag.listing(config) == 0
    assert capsys.readouterr().out.splitlines()[-2:] == [
        "archive  of this archive",
        f"agile  {(tmp_path / 'agile').resolve()}",
    ]
    assert graphrag.status("agile", config) == 0
    said = capsys.readouterr().out
    assert said.startswith(f"agile: GraphRAG 3.x\n  index path: {(tmp_path / 'agile').resolve()}\n")
    (tmp_path / "agile" / "communities.parquet").unlink()
    assert graphrag.status("agile", config) == 1
    assert "problem: communities.parquet is missing" in capsys.readouterr().out
