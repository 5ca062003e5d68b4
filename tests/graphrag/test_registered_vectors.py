"""Indexes that lie elsewhere are searched by meaning, too, and leave no vector when their name is taken back."""

from pathlib import Path
from unittest.mock import Mock

import pandas as pd
import pytest

from relrag_pipelines.journal import journal, registered_indexes
from relrag_pipelines.journal.entry_kinds import GraphRAGIndex
from relrag_pipelines.maintenance.verify import verify_home
from relrag_pipelines.settings import Collection, Settings
from relrag_pipelines.stores import vector_cache
from relrag_pipelines.stores.lock import LockedByOther
from relrag_pipelines.workspace import Workspace
from relrag_query.cli.commands import graphrag
from relrag_query.cli.commands.sync import sync
from relrag_query.graphrag import collections, registered_vectors, service
from relrag_query.graphrag.answer import NOTHING
from relrag_query.graphrag.index import open_index
from tests import archive

SAID = {
    "Dr. Novak": (
        "A physician who treats the heart of the owner.",
        "Dr. Novak told him to walk more and eat less salt.",
    ),
    "Skoda": ("A vehicle that was bought second-hand.", "The Skoda has done ninety thousand kilometres."),
    "Lake house": ("A cottage where summers are spent.", "At the Lake house they swim until the evening."),
}
QUESTION = "Which cardiologist gave medical advice?"
"""shares no word with the index"""


def write(folder: Path, said: dict[str, tuple[str, str]] = SAID) -> Path:
    """An index in the columns of 3.x: an entity a text unit."""
    folder.mkdir(exist_ok=True)
    rows = range(len(said))
    units = [[f"u{row}"] for row in rows]
    tables = {
        "documents": {"id": ["d"], "title": ["diary.txt"], "text": [""]},
        "text_units": {"id": [f"u{row}" for row in rows], "text": [text for _, text in said.values()]},
        "entities": {"id": [f"e{row}" for row in rows], "human_readable_id": rows, "title": list(said)},
        "relationships": {"id": ["r"], "human_readable_id": [0], "source": ["Skoda"], "target": ["Lake house"]},
        "communities": {"community": [0], "entity_ids": [["e0"]], "relationship_ids": [["r"]]},
        "community_reports": {"community": [0], "title": ["All"], "full_content": ["All"]},
    }
    tables["text_units"] |= {"document_id": ["d"] * len(said)}
    tables["entities"] |= {"description": [of for of, _ in said.values()], "text_unit_ids": units}
    tables["relationships"] |= {"text_unit_ids": [["u1"]], "weight": [1.0]}
    tables["communities"] |= {"text_unit_ids": [["u0"]]}
    for name, columns in tables.items():
        pd.DataFrame(columns).to_parquet(folder / f"{name}.parquet")
    return folder


@pytest.fixture(scope="module")
def synced(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = archive.make(tmp_path_factory.mktemp("synced"))
    made.write_text(made.read_text().replace(archive.WORDS_ONLY, 'embedder = "e5"\n'))
    archive.first_sync(made)
    return made


@pytest.fixture
def settings(synced: Path, tmp_path: Path) -> Settings:
    archive.clone(synced.parent, tmp_path / "copy")
    return archive.workspace(tmp_path / "copy" / synced.name).settings


def vectors(settings: Settings) -> int:
    path = vector_cache.path_of_registered(settings.home_path, "diary")
    if not path.exists():
        return 0
    with vector_cache.open(settings.home_path, path) as cache:
        return int(cache.execute("SELECT count(*) FROM vectors").fetchone()[0])


def test_an_entity_is_found_by_what_is_meant(settings: Settings, tmp_path: Path) -> None:
    folder = write(tmp_path / "diary")
    files = {path: path.read_bytes() for path in folder.iterdir()}
    collections.add(settings, "diary", folder)
    found = service.query(settings, "diary", QUESTION)
    assert found.answer.text.splitlines()[0] == (
        "Dr. Novak told him to walk more and eat less salt. [Data: Entities (0); Sources (0); Reports (0)]"
    )
    assert found.answer.records.entities[0] == 0
    assert {path: path.read_bytes() for path in folder.iterdir()} == files
    words = settings.model_copy(update={"embedder": "none"})
    assert service.query(words, "diary", QUESTION).answer.text == NOTHING


def test_only_new_texts_are_embedded_and_vectors_go_with_the_name(
    settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = write(tmp_path / "diary")
    collections.add(settings, "diary", folder)
    assert vectors(settings) == 3
    changed = {"Skoda": SAID["Skoda"], "Boat": ("A vessel with one sail.", "The Boat leaks.")}
    write(folder, changed)
    workspace, asked = Workspace(settings), []
    made = workspace.embedder.documents
    monkeypatch.setattr(workspace.embedder, "documents", lambda texts: asked.extend(texts) or made(texts))
    _, index = collections.load(settings, "diary")
    assert len(index.tables["record_texts"]) == 1
    assert registered_vectors.embed(workspace, "diary", index) == 2
    assert asked == ["Boat: A vessel with one sail."]
    assert vectors(settings) == 2
    collections.remove(settings, "diary")
    assert not vector_cache.path_of_registered(settings.home_path, "diary").exists()
    assert folder.exists()


def test_what_is_embedded_is_redacted(settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    workspace = Workspace(settings.model_copy(update={"pii_redaction_enabled": True}))
    index = open_index(write(tmp_path / "diary", {"Rina": ("rina@example.org", "Rina writes.")}), whole=True)
    index = collections.redact_if_stale(workspace.settings, index)
    asked: list[str] = []
    made = workspace.embedder.documents
    monkeypatch.setattr(workspace.embedder, "documents", lambda texts: asked.extend(texts) or made(texts))
    registered_vectors.embed(workspace, "diary", index)
    assert asked == ["Rina: <EMAIL_ADDRESS>"]


def test_the_command_tells_how_many(settings: Settings, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert graphrag.add("diary", write(tmp_path / "diary"), tmp_path / "copy" / "relrag.toml") == 0
    assert "3 of 3 entities are found by meaning, too." in capsys.readouterr().out


@pytest.mark.usefixtures("without_dagster")
def test_vectors_whose_name_is_gone_are_swept(settings: Settings, tmp_path: Path) -> None:
    """A kill between two writes, or a name that was forgotten, leaves none behind."""
    collections.add(settings, "diary", write(tmp_path / "diary"))
    home = settings.home_path
    file = vector_cache.path_of_registered(home, "diary")
    left = file.with_name("old.db")
    for path in (left, left.with_name("old.db-journal")):
        path.write_bytes(file.read_bytes())
    registered_indexes.sweep(home)
    assert sorted(path.name for path in file.parent.iterdir()) == ["diary.db"]
    journal.append(home, [GraphRAGIndex("diary", "")])
    sync(tmp_path / "copy" / "relrag.toml")
    assert list(file.parent.iterdir()) == []


def test_a_registered_name_that_an_own_index_has_now_can_be_removed(settings: Settings, tmp_path: Path) -> None:
    collections.add(settings, "diary", write(tmp_path / "diary"))
    graphrag_settings = settings.graphrag.model_copy(update={"method": "fast", "collections": {"diary": Collection()}})
    own = settings.model_copy(update={"graphrag": graphrag_settings})
    assert [one.own for one in collections.list_indexes(own) if one.name == "diary"] == [True]
    collections.remove(own, "diary")
    assert vectors(settings) == 0
    with pytest.raises(collections.CollectionError, match="is built from this archive"):
        collections.remove(own, "diary")


def test_a_damaged_file_of_vectors_is_named_and_words_find_what_they_find(settings: Settings, tmp_path: Path) -> None:
    collections.add(settings, "diary", write(tmp_path / "diary"))
    file = vector_cache.path_of_registered(settings.home_path, "diary")
    file.write_bytes(b"no database" * 400)
    assert [finding.path for finding in verify_home(settings.home_path)] == ["private/graphrag_vectors/diary.db"]
    assert "Lake house" in service.query(settings, "diary", "Where do they swim at the Lake house?").answer.text


def test_while_another_writes_an_index_is_registered_and_searched_by_words(
    settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    refused = Mock(side_effect=LockedByOther("relrag sync is writing"))
    monkeypatch.setattr(registered_vectors, "embed", refused)
    assert graphrag.add("diary", write(tmp_path / "diary"), tmp_path / "copy" / "relrag.toml") == 1
    assert "It is searched by words only: relrag sync is writing. Add it again" in capsys.readouterr().out
    assert [one.name for one in collections.list_indexes(settings)] == ["diary"]
