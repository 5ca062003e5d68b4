"""One contract over every backend of the vector store: in process, the client's local mode, and a real server.

What is expected stands here as numbers that were worked out by hand or in process; each backend has to give the same.
The local mode of Qdrant's client runs the code of the server's backend without a server; behind HTTP also what goes
over the wire, held against the models of Qdrant's API. QDRANT_URL names a real server.
"""

from __future__ import annotations

import json
import os
import tempfile
import uuid
import warnings
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bench.retrieval import batches
from relrag_pipelines.stores import vector_store
from relrag_pipelines.stores.vectors import collection_ref
from relrag_pipelines.stores.vectors.collection_ref import CollectionRef
from relrag_pipelines.stores.vectors.protocol import ChunkFilter, Vectors
from tests.stores.qdrant import local, over_http, served_locally
from tests.stores.test_vector_store import name, rows

pytestmark = pytest.mark.usefixtures("payload_indexes")

ANGLES = (0, 10, 80, 60, None)
"""of each passage's dense vector in a plane, degrees; the last has none"""
Place = Callable[[int], CollectionRef | None]
"""the collection of a generation, or None in process"""


def at(degrees: float) -> list[float]:
    return [3 * float(np.cos(np.radians(degrees))), 3 * float(np.sin(np.radians(degrees)))]


MEANINGS = [None if angle is None else at(angle) for angle in ANGLES]


@pytest.fixture(params=["edge", "local", "http", "server"])
def place(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[Place]:
    """Where a backend keeps its vectors; removed afterwards."""
    own = f"relrag-contract-{uuid.uuid4().hex[:8]}"
    if request.param == "edge":
        yield lambda generation: None
    elif request.param == "local":
        with served_locally(monkeypatch, local()):
            yield lambda generation: CollectionRef("http://local:6333", own, generation)
    elif request.param == "http":
        with warnings.catch_warnings(), over_http(local()) as url:
            warnings.simplefilter("ignore")
            yield lambda generation: CollectionRef(url, own, generation)
    else:
        url = os.environ.get("QDRANT_URL", "")
        if not url:
            pytest.skip("QDRANT_URL names no Qdrant server")
        with cleared(url, own):
            yield lambda generation: CollectionRef(url, own, generation)


@contextmanager
def cleared(url: str, own: str) -> Iterator[None]:
    """Removes the collection of a test from a real server."""
    from relrag_pipelines.stores.vectors import server_index

    try:
        yield
    finally:
        server_index.delete_remote(CollectionRef(url, own, 1), [])


@pytest.fixture
def folder(tmp_path: Path, place: Place) -> Path:
    """A store of the five passages, three of them with a dense vector nearby."""
    path = tmp_path / "vectors"
    assert vector_store.build(path, batches(rows(), MEANINGS), dimension=2, collection=place(1)) == 5
    return path


def numbers(hits: list[Any]) -> list[int]:
    return [uuid.UUID(hit.chunk_id).int for hit in hits]


def test_the_nearest_span_of_each_passage_is_compared(tmp_path: Path, place: Place) -> None:
    """The first passage has spans at 20 and 70 degrees, the third one at 40; the others have none."""
    spans = [[*at(20), *at(70)], None, at(40), [], None]
    path = tmp_path / "vectors"
    vector_store.build(path, batches(rows(), MEANINGS, spans), dimension=2, spans=True, collection=place(1))
    with closing(vector_store.open(path)) as store:
        found = {
            uuid.UUID(hit.chunk_id).int: hit.score for hit in store.nearest_spans(vector(65), list(map(name, range(5))))
        }
        assert found == pytest.approx({0: np.cos(np.radians(5)), 2: np.cos(np.radians(25))}, abs=1e-3)
        assert [one.chunk_id for one in store.nearest_spans(vector(65), [name(2), name(3)])] == [name(2)]
        assert store.nearest_spans(vector(65), []) == []
        assert numbers(store.nearest(vector(4), 10)) == [0, 1, 3, 2], "the passages themselves are as they were"


def test_a_store_of_an_embedder_without_spans_has_none(folder: Path) -> None:
    with closing(vector_store.open(folder)) as store:
        assert store.nearest_spans(vector(4), [name(0)]) == []


@pytest.mark.requirement("S0-1")
@pytest.mark.requirement("S0-5")
@pytest.mark.requirement("S0-22")
def test_all_backends_answer_alike(folder: Path) -> None:
    """Hits, their order and scores, by words and by meaning; counts; and what filters leave."""
    with closing(vector_store.open(folder)) as store:
        assert store.count() == 5
        hits = store.search("INV-1187 invoice", 10)
        assert numbers(hits) == [1, 0, 2]
        assert [hit.score for hit in hits] == pytest.approx([12.3783, 4.2755, 1.4320], abs=1e-3)
        assert store.search("INV-1187 invoice", 1) == hits[:1]
        assert store.search("?!", 10) == []
        near = store.nearest(vector(4), 10)
        assert numbers(near) == [0, 1, 3, 2]
        assert [hit.score for hit in near] == pytest.approx(
            [np.cos(np.radians(turn)) for turn in (4, 6, 56, 76)], abs=1e-3
        )
        for where, expected in FILTERED:
            assert [uuid.UUID(one).int for one in store.fetch_ids(where, 10)] == expected
            assert store.count(where) == len(expected)
            assert sorted(numbers(store.nearest(vector(0), 10, where))) == [one for one in expected if one != 4]
        assert len(store.fetch_ids(ChunkFilter(), 2)) == 2


FILTERED = [
    (ChunkFilter(), [0, 1, 2, 3, 4]),
    (ChunkFilter(sources=("mail", "docs")), [1, 2, 3, 4]),
    (ChunkFilter(kinds=("whatsapp",)), [0]),
    (ChunkFilter(thread_ids=("mail:t",)), [1, 2]),
    (ChunkFilter(asset_ids=("gmail:1", "document:3")), [1, 3]),
    (ChunkFilter(parent_asset_ids=("gmail:1",)), [2]),
    (ChunkFilter(chunk_group_ids=("document:4",)), [4]),
    (ChunkFilter(ts_from=200, ts_to=300), [1, 2]),
    (ChunkFilter(ts_from=201, ts_to=299), []),
    (ChunkFilter(person_ids=(7,)), [0, 1, 2]),
    (ChunkFilter(person_ids=(9, 42)), [1]),
    (ChunkFilter(sources=("mail",), person_ids=(7,), ts_to=300), [1, 2]),
    (ChunkFilter(chunk_ids=(name(3), name(4))), [3, 4]),
]


def vector(degrees: float) -> Vectors:
    return np.array(at(degrees), np.float32)


def test_what_is_stored_holds_no_text(folder: Path) -> None:
    """Ids and numbers only; where the passage is another's point, its id too."""
    found = next(one for one in vector_store.payloads(folder) if one["asset_id"] == "gmail:1")
    assert found.pop("chunk_id", name(1)) == name(1)
    assert found == {
        "asset_id": "gmail:1",
        "thread_id": "mail:t",
        "chunk_group_id": "gmail:1",
        "source": "mail",
        "kind": "gmail",
        "person_ids": [7, 42],
        "mentioned_person_ids": [9],
        "ts": 200,
    }


def test_extend_leaves_the_earlier_generation_as_it_was(folder: Path, place: Place) -> None:
    """The new one has a passage more, one fewer, and one under another source; the old one answers as before."""
    new = folder.with_name("new")
    moved = [{**rows()[1], "source": "moved"}, {**rows()[0], "chunk_id": name(9), "text": "A ninth invoice"}]
    with closing(vector_store.open(folder)) as old:
        before = [old.search("invoice", 9), old.nearest(vector(4), 9), [old.count(where) for where, _ in FILTERED]]
        assert vector_store.extend(folder, new, batches(moved, [at(10), at(30)]), [name(0), name(1)], generation=2) == 5
        assert [one.chunk_id for one in old.search("invoice", 9)] == [one.chunk_id for one in before[0]]
        assert [old.nearest(vector(4), 9), [old.count(where) for where, _ in FILTERED]] == before[1:]
    with closing(vector_store.open(new)) as store:
        assert sorted(numbers(store.search("invoice", 9))) == [1, 2, 9]
        assert numbers(store.nearest(vector(4), 9)) == [1, 9, 3, 2]
        assert (
            store.count(),
            store.count(ChunkFilter(sources=("moved",))),
            store.count(ChunkFilter(sources=("chats",))),
        ) == (
            5,
            1,
            1,
        )
        assert store.fetch_ids(ChunkFilter(), 9) == [name(number) for number in (1, 2, 3, 4, 9)]
    assert vector_store.missing_parts(new) == vector_store.missing_parts(folder) == ""


@pytest.mark.requirement("S3-4")
def test_the_points_of_passages_are_those_of_the_generation(folder: Path, place: Place) -> None:
    """In the process a passage is its point; on a server its id is of the generation that added it."""
    new = folder.with_name("new")
    moved = [{**rows()[1], "source": "moved"}]
    vector_store.extend(folder, new, batches(moved, [at(10)]), [name(0), name(1)], generation=2)

    def point(number: int, generation: int) -> str:
        return str(uuid.uuid5(uuid.UUID(name(number)), str(generation))) if place(1) else name(number)

    asked = [name(number) for number in (0, 1, 2, 9)]
    with closing(vector_store.open(folder)) as old, closing(vector_store.open(new)) as store:
        assert store.point_ids(asked) == {name(1): point(1, 2), name(2): point(2, 1)}
        assert old.point_ids(asked) == {name(number): point(number, 1) for number in range(3)}
        assert store.point_ids([]) == {}


def test_a_killed_extension_is_taken_back_by_the_next(folder: Path, place: Place) -> None:
    """What it added and marked for a generation that never was is not there in the one that gets its number."""
    lost, new = folder.with_name("lost"), folder.with_name("new")
    added = [{**rows()[0], "chunk_id": name(number)} for number in (7, 8)]
    vector_store.extend(folder, lost, batches(added[:1], [at(5)]), [name(2)], generation=2)
    assert vector_store.extend(folder, new, batches(added[1:], [at(5)]), [name(3)], generation=2) == 5
    with closing(vector_store.open(new)) as store:
        assert store.fetch_ids(ChunkFilter(), 9) == [name(number) for number in (0, 1, 2, 4, 8)]
    with closing(vector_store.open(folder)) as store:
        assert store.count() == 5


def test_a_generation_that_never_was_takes_along_what_it_added(folder: Path, place: Place) -> None:
    """Else what was forgotten before it was published would stay where the others are."""
    lost = folder.with_name("lost")
    added = [{**rows()[0], "chunk_id": name(7)}]
    vector_store.extend(folder, lost, batches(added, [at(5)]), [name(2)], generation=2)
    vector_store.delete_remote(lost, [folder])
    assert len(list(vector_store.payloads(folder))) == 5
    assert all("until" not in payload for payload in vector_store.payloads(folder))
    assert vector_store.missing_parts(folder) == ""


def test_a_generation_that_goes_takes_along_what_it_alone_had(folder: Path, place: Place) -> None:
    """Shared points stay for those that share them; with the last one all goes."""
    new = folder.with_name("new")
    vector_store.extend(folder, new, [], [name(0)], generation=2)
    vector_store.delete_remote(folder, [new])
    with closing(vector_store.open(new)) as store:
        assert numbers(store.search("invoice", 9)) == [1, 2]
    assert sum(1 for _ in vector_store.payloads(new)) == 4
    vector_store.delete_remote(new, [])
    if collection_ref.load(new):
        assert list(vector_store.payloads(new)) == []
        assert vector_store.missing_parts(new).endswith(" is not there")


def test_an_empty_archive(tmp_path: Path, place: Place) -> None:
    """Nothing is a store too, and can be added to."""
    assert vector_store.build(tmp_path / "v", [], collection=place(1)) == 0
    with closing(vector_store.open(tmp_path / "v")) as store:
        assert (store.count(), store.search("invoice", 5), store.fetch_ids(ChunkFilter(), 5)) == (0, [], [])
    assert vector_store.extend(tmp_path / "v", tmp_path / "w", batches(rows()[:2]), [], generation=2) == 2


def test_words_weigh_alike_in_a_larger_archive(tmp_path: Path, place: Place) -> None:
    """Inverse document frequency over 200 passages made of 12 words: scores as the engine in process gives them."""
    said = ["pump", "cellar", "leak", "invoice", "water", "lease", "boiler", "key", "cabin", "sled", "ladder", "quote"]
    texts = [" ".join(said[number * step % 12] for step in range(1, 6)) for number in range(200)]
    given = [{"chunk_id": name(number), "text": text} for number, text in enumerate(texts)]
    vector_store.build(tmp_path / "edge", batches(given))
    vector_store.build(tmp_path / "other", batches(given), collection=place(1))
    with closing(vector_store.open(tmp_path / "edge")) as edge, closing(vector_store.open(tmp_path / "other")) as other:
        for question in ("pump in the cellar", "boiler key", "who has the sled?", "water"):
            wanted, got = edge.search(question, 200), other.search(question, 200)
            assert {hit.chunk_id: pytest.approx(hit.score, rel=1e-4) for hit in wanted} == dict(got)
            assert [hit.score for hit in got] == sorted((hit.score for hit in got), reverse=True)


@pytest.mark.requirement("S0-23")
@pytest.mark.requirement("S0-24")
@pytest.mark.requirement("S0-25")
@pytest.mark.parametrize("quantization", ["none", "scalar", "binary"])
def test_what_a_server_is_told(tmp_path: Path, quantization: str) -> None:
    """Payload indexes of the right type; half precision and quantisation; the index is built at the end."""
    asked: list[tuple[str, bytes]] = []
    with warnings.catch_warnings(), over_http(local(), asked) as url:
        warnings.simplefilter("ignore")
        place = CollectionRef(url, "c", 1, quantization=quantization)
        vector_store.build(tmp_path / "v", batches(rows(), MEANINGS), dimension=2, collection=place)
        with closing(vector_store.open(tmp_path / "v")) as store:
            store.nearest(vector(4), 3)
    said = [(what.partition(" ")[0], what.rpartition("/")[2], json.loads(body or b"{}")) for what, body in asked]
    (made,) = [body for method, path, body in said if (method, path) == ("PUT", "c")]
    dense = made["vectors"]["meaning"]
    assert (dense["size"], dense["distance"], dense["datatype"]) == (2, "Cosine", "float16")
    assert dense.get("quantization_config", {}).keys() == {quantization} - {"none"}
    assert made["sparse_vectors"]["text"]["modifier"] == "idf"
    assert made["optimizers_config"]["indexing_threshold"] == 0
    fields = {body["field_name"]: body["field_schema"] for _, path, body in said if path == "index"}
    keywords = ("asset_id", "parent_asset_id", "thread_id", "chunk_group_id", "source", "kind", "chunk_id")
    assert {name for name, schema in fields.items() if schema["type"] == "keyword"} == set(keywords)
    ranged = {name: schema["range"] for name, schema in fields.items() if schema["type"] == "integer"}
    people = {"person_ids": False, "mentioned_person_ids": False}
    assert ranged == {**people, "ts": True, "since": True, "until": True}
    (ready,) = [body for method, path, body in said if (method, path) == ("PATCH", "c")]
    assert ready["optimizers_config"]["indexing_threshold"] == 50_000 * 2 * 2 // 1024
    (query,) = [body for _, path, body in said if path == "query"]
    assert query["params"]["hnsw_ef"] == 128
    assert ("quantization" in query["params"]) == (quantization != "none")


def test_a_cluster_is_told_its_shards_and_replicas_and_a_later_generation_keeps_them(tmp_path: Path) -> None:
    requests: list[tuple[str, bytes]] = []
    with warnings.catch_warnings(), over_http(local(), requests) as url:
        warnings.simplefilter("ignore")
        collection = CollectionRef(url, "c", 1, shards=6, replicas=2)
        vector_store.build(tmp_path / "v1", batches(rows(), MEANINGS), dimension=2, collection=collection)
        vector_store.extend(tmp_path / "v1", tmp_path / "v2", iter(()), [], generation=2)
    (body,) = [json.loads(body) for request, body in requests if request.startswith("PUT ") and request.endswith("/c")]
    # a search may ask either replica, so a point counts as written when both have it
    assert (body["shard_number"], body["replication_factor"], body["write_consistency_factor"]) == (6, 2, 2)
    later = vector_store.collection(tmp_path / "v2")
    assert later is not None
    assert (later.generation, later.shards, later.replicas) == (2, 6, 2)


STEPS = st.lists(
    st.tuples(st.sets(st.integers(0, 5)), st.sets(st.integers(0, 5)), st.booleans()), min_size=1, max_size=5
)
"""of each attempt at a generation: passages that go or change, passages that it is given, whether it is killed"""


@settings(max_examples=25)
@given(STEPS)
def test_every_generation_keeps_what_it_was_published_with(steps: list[tuple[set[int], set[int], bool]]) -> None:
    """Whatever is added, changed, removed, begun and killed on top of it; on the local mode of the client."""
    with (
        pytest.MonkeyPatch.context() as patched,
        tempfile.TemporaryDirectory() as name_of_folder,
        served_locally(patched, local()),
    ):
        folder, held = Path(name_of_folder), dict.fromkeys(range(3), "first")
        vector_store.build(folder / "1", batches(payloads(held)), collection=CollectionRef("http://local:6333", "c", 1))
        published = {1: held}
        for gone, new, killed in steps:
            newest = max(published)
            gone, number = gone & published[newest].keys(), newest + 1
            new = new - (published[newest].keys() - gone)
            kept = {one: said for one, said in published[newest].items() if one not in gone}
            now = kept | dict.fromkeys(new, f"in {number}")
            path = folder / ("killed" if killed else str(number))
            given_now = batches(payloads(dict.fromkeys(new, f"in {number}"))) if new else []
            assert vector_store.extend(
                folder / str(newest), path, given_now, [name(one) for one in gone], map, number
            ) == len(now)
            if not killed:
                published[number] = now
        for number, expected in published.items():
            with closing(vector_store.open(folder / str(number))) as store:
                assert store.fetch_ids(ChunkFilter(), 99) == [name(one) for one in sorted(expected)]
                for said in set(expected.values()):
                    known = [name(one) for one in sorted(expected) if expected[one] == said]
                    assert store.fetch_ids(ChunkFilter(sources=(said,)), 99) == known


def payloads(held: dict[int, str]) -> list[dict[str, Any]]:
    return [{"chunk_id": name(one), "text": "a passage", "source": said} for one, said in sorted(held.items())]
