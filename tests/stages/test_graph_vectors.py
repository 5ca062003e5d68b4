"""Vectors of an index's entities and relationships: made once a text, found by, and gone with what they tell of."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from relrag_pipelines.graphrag.embedded_texts import embedded_texts
from relrag_pipelines.stages import graph_build
from relrag_pipelines.stages import plan as plans
from relrag_pipelines.stores import graph_indexes, vector_cache
from relrag_pipelines.workspace import Workspace
from relrag_query.cli.commands.forget import forget
from relrag_query.forgetting import ForgetRequest
from relrag_query.graphrag.service import query
from tests import archive
from tests.embedders.service import Service, serve, vector

NOTES = [
    {"id": "g1", "text": "The greenhouse roof leaks, the glazier asks for scaffolding."},
    {"id": "g2", "text": "The glazier mends the greenhouse roof on Tuesday."},
    {"id": "g3", "text": "The greenhouse roof is mended, the glazier forgot one pane."},
    {"id": "o1", "text": "The beekeeper sells honey from the orchard."},
    {"id": "o2", "text": "Honey of the beekeeper: the orchard gave forty jars."},
]


@pytest.fixture(scope="module")
def service() -> Iterator[Service]:
    with pytest.MonkeyPatch.context() as patch, serve() as opened:
        patch.setenv("OPENAI_API_KEY", "key")
        yield opened


@pytest.fixture(scope="module")
def archive_config(tmp_path_factory: pytest.TempPathFactory, service: Service) -> Path:
    folder = tmp_path_factory.mktemp("synced")
    made = archive.many_notes(folder)
    asked = f'embedder = "openai"\nembedding_url = "{service.url}/v1"\n[graphrag]\nmethod = "fast"\n'
    made.write_text(made.read_text().replace(archive.WORDS_ONLY, asked))
    write(folder, NOTES)
    archive.sync(made)
    return made


@pytest.fixture
def config(archive_config: Path, tmp_path: Path) -> Path:
    """A copy, to be changed."""
    archive.clone(archive_config.parent, tmp_path / "copy")
    return tmp_path / "copy" / archive_config.name


def write(folder: Path, notes: list[dict[str, str]]) -> None:
    rows = (json.dumps({**one, "timestamp": "2024-03-01T08:00:00Z"}) + "\n" for one in notes)
    (folder / "notes.jsonl").write_text("".join(rows))


def sent(service: Service) -> list[str]:
    return [text for one in service.asked for text in one["input"]]


def tables(workspace: Workspace) -> dict[str, Any]:
    return graph_build._tables(workspace, "archive")


def cached(workspace: Workspace) -> set[str]:
    with vector_cache.open(workspace.home) as cache:
        return {key for (key,) in cache.execute("SELECT text_hash FROM vectors")}


@pytest.mark.requirement("S2-2")
def test_every_entity_and_relationship_has_the_vector_of_its_text(archive_config: Path) -> None:
    made = archive.workspace(archive_config)
    found = tables(made)
    assert graph_build.broken_invariants(made, "archive") == []
    texts = dict(embedded_texts(found))
    assert any(text.endswith(" related acquainted") for text in texts.values())
    hashes = dict(zip(found["record_texts"]["record_id"], found["record_texts"]["text_hash"], strict=True))
    vectors = dict(zip(found["text_vectors"]["text_hash"], found["text_vectors"]["vector"], strict=True))
    assert hashes.keys() == texts.keys()
    assert len(texts) > 5
    for record, text in texts.items():
        np.testing.assert_array_equal(vectors[hashes[record]], vector(text, 1536))
    known = graph_indexes.current_info(made.home, "archive")
    assert known
    assert known.figures["embedded"] == len(set(texts.values()))


def test_what_has_not_changed_is_not_embedded_again(config: Path, service: Service) -> None:
    asked = len(sent(service))
    write(config.parent, [*NOTES, {"id": "p1", "text": "The pond froze."}])
    archive.sync(config)
    assert sent(service)[asked:]
    assert [text for text in sent(service)[asked:] if "pond" not in text] == []


def test_what_is_deleted_takes_its_vectors_along_and_nothing_else(config: Path, service: Service) -> None:
    made = archive.workspace(config)
    found = tables(made)
    texts = dict(embedded_texts(found))
    hashes = dict(zip(found["record_texts"]["record_id"], found["record_texts"]["text_hash"], strict=True))
    gone = {hashes[record] for record, text in texts.items() if "honey" in text.lower()}
    kept = {hashes[record] for record, text in texts.items() if "greenhouse" in text}
    assert gone
    assert kept
    asked = len(sent(service))
    write(config.parent, NOTES[:3])
    assert not cached(archive.sync(config)) & gone
    assert cached(made) >= kept
    assert sent(service)[asked:] == []


def test_another_embedder_makes_an_index_stale(config: Path) -> None:
    config.write_text(config.read_text().replace('embedder = "openai"', 'embedder = "none"'))
    (stale,) = plans.build_plan(archive.workspace(config)).graphs
    assert stale.reason


def test_a_local_question_finds_entities_by_their_vectors(
    archive_config: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = archive.workspace(archive_config)
    (roof,) = (text for text in dict(embedded_texts(tables(made))).values() if text.startswith("greenhouse roof:"))
    asked = "Quid tecto factum est?"
    # a model that gives a Latin question the vector of the roof
    monkeypatch.setattr(
        "tests.embedders.service.vector", lambda text, size: vector(roof if text == asked else text, size)
    )
    found = query(made.settings, "archive", asked, "local")
    titles = found.index.tables["entities"]["title"]
    assert titles.iat[found.answer.records.entities[0]] == "greenhouse roof"
    assert query(made.settings, "archive", asked, "basic").answer.records.entities == ()


@pytest.mark.usefixtures("without_dagster")
def test_what_is_forgotten_is_in_no_vector_and_no_table(config: Path) -> None:
    made = archive.workspace(config)
    found = tables(made)
    texts = dict(embedded_texts(found))
    hashes = dict(zip(found["record_texts"]["record_id"], found["record_texts"]["text_hash"], strict=True))
    gone = {hashes[record] for record, text in texts.items() if "honey" in text.lower()}
    assert forget(ForgetRequest(refs=["jsonl:notes:o1", "jsonl:notes:o2"]), config, yes=True) == 0
    assert gone
    assert not cached(made) & gone
    left = tables(made)
    assert not {*left["record_texts"]["text_hash"]} & gone
    assert not [text for text in dict(embedded_texts(left)).values() if "honey" in text.lower()]
    assert cached(made) >= {*left["record_texts"]["text_hash"]}


def test_forget_deletes_vectors_although_nothing_is_published(
    config: Path, service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = archive.workspace(config)
    found = tables(made)
    texts = dict(embedded_texts(found))
    hashes = dict(zip(found["record_texts"]["record_id"], found["record_texts"]["text_hash"], strict=True))
    gone = {hashes[record] for record, text in texts.items() if "honey" in text.lower()}
    assert cached(made) >= gone
    monkeypatch.setattr("relrag_query.cli.commands.forget._follow_up", lambda _: ["the disk is full"])
    assert forget(ForgetRequest(refs=["jsonl:notes:o1", "jsonl:notes:o2"]), config, yes=True) != 0
    assert gone
    assert not cached(made) & gone
