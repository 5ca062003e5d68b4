"""An archive that is embedded and asked: by meaning where the model knows the language, else by words."""

from __future__ import annotations

import json
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from relrag_pipelines import embedders
from relrag_pipelines.embedders import EmbeddingError
from relrag_query.archive import Archive
from relrag_query.cli.commands import plan
from relrag_query.cli.commands import sync as commands
from relrag_query.cli.commands.status import status
from tests import archive as archives

NOTES = [
    {"id": "leak", "text": "Water keeps dripping onto the floor below the kitchen sink.", "from": "Ota"},
    {"id": "trip", "text": "The train to Vienna leaves at nine in the morning.", "from": "Ota"},
    {"id": "code", "text": "Ticket INV-1187 is closed.", "from": "Eva"},
    {"id": "czech", "text": "Čerpadlo ve sklepě zase nefunguje.", "from": "Eva"},
]
CONFIG = """
archive = "test"
keys_file = "test.keys"
pii_redaction_enabled = true
embedder = "{embedder}"

[[sources]]
name = "notes"
kind = "jsonl"
path = "notes.jsonl"
"""


@pytest.fixture(scope="module")
def config(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("hybrid")
    (folder / "notes.jsonl").write_text("".join(json.dumps(note) + "\n" for note in NOTES))
    (folder / "relrag.toml").write_text(CONFIG.format(embedder="minilm"))
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("RELRAG_CONFIG", raising=False)
        archives.sync(folder / "relrag.toml")
    return folder / "relrag.toml"


@pytest.fixture
def archive(config: Path) -> Iterator[Archive]:
    with Archive.open(config) as opened:
        yield opened


def search(archive: Archive, question: str) -> list[str]:
    return [hit.chunk.source_id or "" for hit in archive.search(question).hits]


def test_what_shares_no_word_with_the_question_is_found_by_its_meaning(archive: Archive) -> None:
    results = archive.search("plumbing problem")
    assert results.hits[0].chunk.source_id == "leak"
    assert results.trace[1].endswith("rank - by words, 1 by meaning")
    assert archive.generation.manifest["embedder"] == "all-MiniLM-L6-v2:8199be6f"


def test_a_code_is_found_by_its_letters(archive: Archive) -> None:
    assert search(archive, "INV-1187")[0] == "code"
    assert "rank 1 by words" in archive.search("INV-1187").trace[1]


def test_another_language_is_searched_by_words(archive: Archive) -> None:
    results = archive.search("Kdy přestalo fungovat čerpadlo?")
    assert [hit.chunk.source_id for hit in results.hits] == ["czech"]
    assert "by words only: all-MiniLM-L6-v2:8199be6f does not know the language of the question" in results.trace[0]


def test_filters_hold_for_what_is_found_by_meaning(archive: Archive) -> None:
    assert archive.search("plumbing problem", since="2024").hits == []


def test_until_another_embedder_has_embedded_the_built_in_one_serves(
    config: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RELRAG_EMBEDDER", "openai")
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with Archive.open(config) as archive:
        assert search(archive, "plumbing problem")[0] == "leak"
        # vectors of a service that is no longer named cannot be asked
        archive.generation.manifest["embedder"] = "embed-v4.0:1536"
        del archive._questions._query_settings
        results = archive.search("INV-1187")
    assert [hit.chunk.source_id for hit in results.hits] == ["code"]
    assert "the generation holds no vectors of text-embedding-3-small:1536" in results.trace[0]


def test_without_the_embedders_package_the_archive_is_searched_by_words(
    config: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RELRAG_EMBEDDER", "fastembed")
    monkeypatch.setenv("RELRAG_EMBEDDING_MODEL", "BAAI/bge-small-en-v1.5")
    monkeypatch.setitem(sys.modules, "fastembed", None)
    with Archive.open(config) as archive:
        results = archive.search("INV-1187")
    assert [hit.chunk.source_id for hit in results.hits] == ["code"]
    assert 'by words only: embedder "fastembed" needs the package fastembed; install' in results.trace[0]


def test_the_plan_says_that_nothing_leaves_this_machine(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "notes.jsonl").write_text("".join(json.dumps(note) + "\n" for note in 900 * NOTES))
    (tmp_path / "relrag.toml").write_text(CONFIG.format(embedder="minilm"))
    assert plan.plan(tmp_path / "relrag.toml") == 0
    words = "of texts in en with all-MiniLM-L6-v2:8199be6f, on this machine; nothing leaves it (up to 13 s)"
    tokens = (tmp_path / "notes.jsonl").stat().st_size // 4
    assert f"embed up to {tokens:,} tokens {words}\n" in capsys.readouterr().out
    (tmp_path / "relrag.toml").write_text(CONFIG.format(embedder="none"))
    assert plan.plan(tmp_path / "relrag.toml") == 0
    assert "embed up to" not in capsys.readouterr().out


def test_a_first_generation_is_published_even_if_nothing_can_be_embedded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("RELRAG_CONFIG", raising=False)
    (tmp_path / "notes.jsonl").write_text("".join(json.dumps(note) + "\n" for note in NOTES))
    config = tmp_path / "relrag.toml"
    config.write_text(CONFIG.format(embedder="minilm"))
    with monkeypatch.context() as patch:
        patch.setattr("relrag_pipelines.embedders.minilm._MODEL_SHA256", "0" * 64)
        assert commands.sync(config) == 2
    said = capsys.readouterr().out
    assert "is not the file that was checked; it is not loaded" in said
    assert "; generation 1 is served." in said
    with Archive.open(config) as archive:
        assert search(archive, "INV-1187") == ["code"]
    assert commands.sync(config) == 0
    with Archive.open(config) as archive:
        assert (archive.generation.number, search(archive, "plumbing problem")[0]) == (2, "leak")


def test_a_long_first_sync_can_be_searched_by_words_before_it_is_embedded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("RELRAG_CONFIG", raising=False)
    (tmp_path / "notes.jsonl").write_text("".join(json.dumps(note) + "\n" for note in NOTES))
    config = tmp_path / "relrag.toml"
    config.write_text(CONFIG.format(embedder="minilm"))
    seen = []

    def look(embedder: object, texts: list[str]) -> None:
        with Archive.open(config) as archive:
            seen.append((archive.generation.number, search(archive, "INV-1187"), search(archive, "plumbing problem")))
        raise EmbeddingError("out of order")

    with monkeypatch.context() as patch:
        patch.setattr("relrag_pipelines.orchestration.runner._EMBEDDED_AT_ONCE", 3)
        patch.setattr("relrag_pipelines.embedders.minilm.MiniLM.documents", look)
        assert commands.sync(config) == 2
    assert seen == [(1, ["code"], [])]
    said = capsys.readouterr()
    assert "Generation 1 can be searched by words; its passages are being embedded" in said.err
    assert "Not finished after " in said.out
    assert status(config) == 0
    said_of = "It is searched by words; `relrag sync` adds the vectors of all-MiniLM-L6-v2:8199be6f.\n"
    assert said_of in capsys.readouterr().out
    assert commands.sync(config) == 0
    assert ": 4 records, 4 passages (3 found by meaning too), 4 relations; " in capsys.readouterr().out
    assert status(config) == 0
    assert "searched by words and by meaning (all-MiniLM-L6-v2:8199be6f, on this machine)" in capsys.readouterr().out
    with Archive.open(config) as archive:
        assert (archive.generation.number, search(archive, "plumbing problem")[0]) == (2, "leak")
    assert commands.sync(config) == 0
    with Archive.open(config) as archive:
        assert archive.generation.number == 2


@pytest.mark.slow
def test_threads_share_one_model_and_get_what_each_would_get_alone(
    config: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    questions = ["plumbing problem", "When does the train leave?", "INV-1187", "call 052-123-4567", "čerpadlo"]
    monkeypatch.setattr(time, "perf_counter", lambda: 0.0)
    loaded, load = [], embedders.load
    monkeypatch.setattr(embedders, "load", lambda settings: (loaded.append(settings), load(settings))[1])
    with Archive.open(config) as archive:
        alone = {one: (archive.search(one), archive.ask(one)) for one in questions}
    with Archive.open(config) as archive, ThreadPoolExecutor(16) as threads:
        together = threading.Barrier(16, timeout=60)

        def turn(first: int) -> dict[str, Any]:
            together.wait()
            start = first % len(questions)
            return {one: (archive.search(one), archive.ask(one)) for one in questions[start:] + questions[:start]}

        assert [found == alone for found in threads.map(turn, range(16))] == [True] * 16
    assert len(loaded) == 2  # one for each archive that was opened
