"""What is said of a Qdrant server that is down, refuses the key, is busy, too old, or no Qdrant at all."""

from __future__ import annotations

import json
import socket
from pathlib import Path

import pytest

from bench.retrieval import batches
from relrag_pipelines.stores import vector_store
from relrag_pipelines.stores.vectors import server_connection, server_index
from relrag_pipelines.stores.vectors.collection_ref import CollectionRef
from relrag_pipelines.stores.vectors.protocol import StoreError
from tests.cases import cases
from tests.stores.qdrant import answering
from tests.stores.test_vector_store import rows

SECRET = "a-very-secret-key"
ROOT = (200, json.dumps({"title": "qdrant - vector search engine", "version": "1.20.0"}))
NONE = (200, json.dumps({"result": {"collections": []}, "status": "ok", "time": 0.0}))


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    """A key that no message may repeat, and no waiting."""
    monkeypatch.setenv("QDRANT_API_KEY", SECRET)
    monkeypatch.setattr(server_connection, "PAUSES", (0.0, 0.0))
    monkeypatch.setattr(server_index, "PAUSES", (0.0, 0.0))


def said_of(url: str) -> str:
    with pytest.raises(StoreError) as raised:
        vector_store.server_info(url, 2)
    assert SECRET not in str(raised.value)
    assert url in str(raised.value)
    assert raised.value.__cause__ is None
    return str(raised.value).replace(url, "URL")


def test_a_server_that_answers() -> None:
    """The version without a key, the collections with it."""
    with answering({"/": ROOT, "/collections": NONE}) as (url, asked):
        assert vector_store.server_info(url) == ("1.20.0", [])
    assert asked[0] == f"GET / {SECRET}"


def test_a_server_that_is_down() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}"
    assert said_of(url) == (
        "Qdrant at URL could not be reached (ConnectError); check that it runs; what is published is still there, "
        "and the next `relrag sync` begins again"
    )


def test_a_server_that_never_answers() -> None:
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        assert "could not be reached (ReadTimeout)" in said_of(f"http://127.0.0.1:{silent.getsockname()[1]}")


@pytest.mark.parametrize(*cases(__file__, "what_is_refused"))
def test_what_is_refused(status: int, words: str) -> None:
    refused = (status, json.dumps({"status": {"error": "this may quote a passage"}}))
    with answering({"/": ROOT, "/collections": refused}) as (url, _):
        said = said_of(url)
    assert words in said
    assert "quote a passage" not in said


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        ((200, json.dumps({"title": "qdrant", "version": "1.9.7"})), "is version 1.9.7; relrag needs 1.10 or newer"),
        ((200, json.dumps({"title": "qdrant", "version": "dev"})), "is version dev; relrag needs 1.10 or newer"),
        ((200, "<html>It works!</html>"), "URL does not answer as Qdrant; check qdrant_url"),
        ((200, "{}"), "URL does not answer as Qdrant; check qdrant_url"),
    ],
)
def test_another_server_or_version(answer: tuple[int, str], words: str) -> None:
    with answering({"/": answer, "/collections": NONE}) as (url, _):
        assert words in said_of(url)


def test_writes_are_tried_again_and_reads_are_not(tmp_path: Path) -> None:
    """A server that is busy gets three chances; then the folder still says what would have to be removed."""
    busy, made = (503, "{}"), (200, json.dumps({"result": True, "status": "ok", "time": 0.0}))
    given = {"/": ROOT, "/collections": NONE, "/collections/c": made, "/collections/c/index": busy}
    with answering(given) as (url, asked):
        with pytest.raises(StoreError, match=r"failed \(503\)"):
            vector_store.build(tmp_path / "v", batches(rows()), collection=CollectionRef(url, "c", 1))
        assert [one.split()[1].partition("?")[0] for one in asked].count("/collections/c/index") == 3
        place = vector_store.collection(tmp_path / "v")
        assert place == CollectionRef(url, "c", 1)
        assert place is not None
        assert place.points is None
    with answering({}, status=503) as (url, asked):
        with pytest.raises(StoreError):
            server_index.missing_parts(CollectionRef(url, "c", 1))
        assert len(asked) == 1
