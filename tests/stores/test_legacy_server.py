"""A collection of an older system on a server, asked over HTTP."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from qdrant_client import QdrantClient

from relrag_pipelines.legacy import source_collections
from relrag_pipelines.legacy.backfill import backfill
from relrag_pipelines.sources.legacy_collection import CollectionError
from tests import archive
from tests import legacy_collection as older
from tests.stores import qdrant

KEPT = len(older.POINTS) - 1


@pytest.fixture
def config(tmp_path: Path) -> Path:
    """An archive of such a collection in a folder, not yet synced."""
    older.make(tmp_path / "qdrant", old_vectors=True)
    path = tmp_path / "relrag.toml"
    path.write_text(f'{older.CONFIG}path = "qdrant/collection"\n')
    return path


@pytest.fixture
def server() -> Iterator[tuple[QdrantClient, str, list[tuple[str, bytes]]]]:
    """A collection behind HTTP, as a server has it, and what the server is asked."""
    client, asked = qdrant.local(), list[tuple[str, bytes]]()
    older.fill(client, old_vectors=True)
    with qdrant.over_http(client, asked) as url:
        yield client, url, asked


def serve(config: Path, url: str, collection: str = older.NAME) -> None:
    config.write_text(f'{older.CONFIG}path = "older.json"\nurl = "{url}"\ncollection = "{collection}"\n')


def test_a_server_gets_the_same_as_a_folder(
    config: Path, server: tuple[QdrantClient, str, list[tuple[str, bytes]]]
) -> None:
    client, url, asked = server
    archive.sync(config)
    backfill(*older.archived(config))
    wanted, relations = older.payloads(config.parent / "qdrant"), older.edges(config)
    serve(config, url)
    assert source_collections.note_state(*older.archived(config))
    noted = json.loads((config.parent / "older.json").read_text())
    assert {**noted, "hash": "..."} == {
        "url": url, "collection": "memory", "points": KEPT + 1, "hash": "..."
    }  # fmt: skip
    archive.sync(config)
    asked.clear()
    report = backfill(*older.archived(config))
    assert (report.new, report.vectors, report.snapshots) == (KEPT, KEPT, ["memory-0.snapshot"])
    first_write = next(place for place, (what, _) in enumerate(asked) if "batch" in what)
    assert "snapshots" in asked[first_write - 1][0], "the copy is there before anything is written"
    # over HTTP the client leaves out what is null
    assert older.of(client) == {
        number: {name: value for name, value in payload.items() if value is not None}
        for number, payload in wanted.items()
    }
    assert older.edges(config) == relations
    assert client.scroll(older.NAME, limit=1, with_vectors=True)[0][0].vector == {"dense": pytest.approx([0.6, 0.8])}
    assert backfill(*older.archived(config)).changed == 0
    assert not source_collections.note_state(*older.archived(config)), "what the points say is as it was"
    client.set_payload(older.NAME, {"message": "Agreed, the fourth of June."}, [8])
    assert source_collections.note_state(*older.archived(config))


def test_a_collection_that_a_server_does_not_have(
    config: Path, server: tuple[QdrantClient, str, list[tuple[str, bytes]]]
) -> None:
    _, url, _ = server
    serve(config, url, "memories")
    with pytest.raises(CollectionError) as missing:
        backfill(*older.archived(config))
    assert str(missing.value) == f"Qdrant at {url} has no collection memories; it has: memory"


@pytest.mark.parametrize(("own", "given"), [("", ""), ("its-own", "its-own")])
def test_the_archives_own_key_goes_to_no_older_system(
    own: str, given: str, config: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The other server has a key of its own, and an error says which variable holds it."""
    monkeypatch.setenv("QDRANT_API_KEY", "of-the-archive")
    monkeypatch.setenv("QDRANT_SOURCE_API_KEY", own)
    with qdrant.answering({"/collections": (401, "{}")}) as (url, asked):
        serve(config, url)
        with pytest.raises(CollectionError, match=r"\(401\); check QDRANT_SOURCE_API_KEY"):
            backfill(*older.archived(config))
    assert {line.removeprefix("GET /collections").strip() for line in asked} == {given}


def test_a_server_that_does_not_answer(config: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("relrag_pipelines.stores.vectors.server_connection.PAUSES", ())
    serve(config, "http://127.0.0.1:9")
    with pytest.raises(CollectionError, match="could not be reached"):
        backfill(*older.archived(config))
