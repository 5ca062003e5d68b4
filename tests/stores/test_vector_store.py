"""The vector store: what it finds and filters, and that reading changes nothing."""

import errno
import hashlib
import itertools
import shutil
import subprocess
import sys
import uuid
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pyarrow as pa
import pytest
from qdrant_edge import EdgeShard

from bench.retrieval import batches
from relrag_pipelines.files.sparse_files import copy_with_holes
from relrag_pipelines.stores import generations, vector_store
from relrag_pipelines.stores.vectors import local_store
from relrag_pipelines.stores.vectors.points import APART
from relrag_pipelines.stores.vectors.protocol import ANYWHERE, INTEGERS, KEYWORDS, ChunkFilter, VectorStore
from relrag_pipelines.workers import pool as workers
from tests.cases import cases

pytestmark = pytest.mark.usefixtures("payload_indexes")


def name(number: int) -> str:
    return str(uuid.UUID(int=number))


ROWS: list[dict[str, Any]] = [
    {
        "text": "INV-1187 is 8,400₪, the VAT is wrong",
        "from": "Alex Rubin",
        "kind": "whatsapp",
        "source": "chats",
        "thread_id": "whatsapp:alex",
        "ts": 100,
        "person_ids": [7],
        "mentioned_person_ids": [],
    },
    {
        "text": "Corrected invoice attached",
        "subject": "INV-1187",
        "kind": "gmail",
        "source": "mail",
        "thread_id": "mail:t",
        "ts": 200,
        "person_ids": [7, 42],
        "mentioned_person_ids": [9],
    },
    {
        "text": "7,980₪ until 31 January",
        "file_name": "invoice_v2.pdf",
        "kind": "gmail",
        "source": "mail",
        "thread_id": "mail:t",
        "parent_asset_id": "gmail:1",
        "ts": 200,
        "person_ids": [],
        "mentioned_person_ids": [7],
    },
    {"text": "Výměna čerpadla proběhla v lednu", "kind": "document", "source": "docs", "ts": 300},
    {"text": "Faktura za vodu", "kind": "document", "source": "docs", "ts": None},
]


def rows(given: list[dict[str, Any]] = ROWS) -> list[dict[str, Any]]:
    own = [
        {"chunk_id": name(number), "asset_id": f"{row['kind']}:{number}", "chunk_group_id": f"{row['kind']}:{number}"}
        for number, row in enumerate(given)
    ]
    return [known | row for known, row in zip(own, given, strict=True)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A built store; tests only read it."""
    path = tmp_path_factory.mktemp("store") / "vectors"
    assert vector_store.build(path, batches(rows())) == 5
    return path


@pytest.fixture
def store(folder: Path) -> Iterator[VectorStore]:
    """The store, open."""
    with closing(vector_store.open(folder)) as opened:
        yield opened


def ids_found(store: VectorStore, question: str, where: ChunkFilter = ANYWHERE) -> list[int]:
    return [uuid.UUID(hit.chunk_id).int for hit in store.search(question, 10, where)]


@pytest.mark.requirement("S0-102")
def test_a_point_lacks_the_fields_that_its_passage_has_not(folder: Path) -> None:
    by_asset = {payload["asset_id"]: payload for payload in vector_store.payloads(folder)}
    threads = [row.get("thread_id") for row in ROWS]
    assert None in threads
    assert [by_asset[row["asset_id"]].get("thread_id") for row in rows()] == threads
    absent = [row["asset_id"] for row, thread in zip(rows(), threads, strict=True) if thread is None]
    assert not any({"thread_id", "parent_asset_id"} & by_asset[asset_id].keys() for asset_id in absent)


@pytest.mark.parametrize(*cases(__file__, "search"))
def test_search(store: VectorStore, question: str, first: int) -> None:
    """Text, sender, subject and file name are searched, in three languages."""
    assert ids_found(store, question)[0] == first


def test_search_scores_fall_and_limit_holds(store: VectorStore) -> None:
    """Best first."""
    hits = store.search("INV-1187 invoice", 10)
    assert [uuid.UUID(hit.chunk_id).int for hit in hits] == [1, 0, 2]
    assert hits[0].score > hits[1].score > hits[2].score > 0
    assert store.search("INV-1187 invoice", 1) == hits[:1]


def test_equal_scores_come_in_the_order_of_ids(tmp_path: Path) -> None:
    """So the same archive answers alike wherever it is built."""
    vector_store.build(
        tmp_path / "v", batches([{"chunk_id": name(number), "text": "same words"} for number in (3, 1, 2)])
    )
    with closing(vector_store.open(tmp_path / "v")) as store:
        assert ids_found(store, "words") == [1, 2, 3]


@pytest.mark.parametrize("question", ["", "?!", "   ", "zebra"])
def test_nothing_to_look_for(store: VectorStore, question: str) -> None:
    """No words, or none that stand in any text."""
    assert store.search(question, 10) == []


@pytest.mark.requirement("S0-1")
@pytest.mark.requirement("S0-5")
@pytest.mark.requirement("S0-22")
@pytest.mark.parametrize(
    ("where", "passages"),
    [
        (ChunkFilter(), [0, 1, 2, 3, 4]),
        (ChunkFilter(sources=("mail",)), [1, 2]),
        (ChunkFilter(sources=("mail", "docs")), [1, 2, 3, 4]),
        (ChunkFilter(kinds=("whatsapp",)), [0]),
        (ChunkFilter(thread_ids=("mail:t",)), [1, 2]),
        (ChunkFilter(asset_ids=("gmail:1", "document:3")), [1, 3]),
        (ChunkFilter(parent_asset_ids=("gmail:1",)), [2]),
        (ChunkFilter(chunk_group_ids=("document:4",)), [4]),
        (ChunkFilter(ts_from=200), [1, 2, 3]),
        (ChunkFilter(ts_to=200), [0]),
        (ChunkFilter(ts_from=200, ts_to=300), [1, 2]),
        (ChunkFilter(ts_from=201, ts_to=299), []),
        (ChunkFilter(person_ids=(7,)), [0, 1, 2]),
        (ChunkFilter(person_ids=(9, 42)), [1]),
        (ChunkFilter(person_ids=(5,)), []),
        (ChunkFilter(sources=("mail",), person_ids=(7,), ts_to=300), [1, 2]),
        (ChunkFilter(sources=("chats",), kinds=("gmail",)), []),
    ],
)
def test_where(store: VectorStore, where: ChunkFilter, passages: list[int]) -> None:
    """Conditions hold together; within one any value will do; people count as taking part or as mentioned."""
    assert [uuid.UUID(chunk_id).int for chunk_id in store.fetch_ids(where, 10)] == passages
    assert store.count(where) == len(passages)
    assert set(ids_found(store, "INV-1187 invoice january vodu lednu", where)) == set(passages)


def test_fetch_ids_limit(store: VectorStore) -> None:
    """The first by id."""
    assert store.fetch_ids(ChunkFilter(sources=("mail", "docs")), 2) == [name(1), name(2)]


@pytest.mark.requirement("S0-23")
@pytest.mark.requirement("S0-24")
@pytest.mark.requirement("S0-25")
def test_payload_indexes(folder: Path) -> None:
    """Every field that is filtered on has one, of the right type, over all points that have the field."""
    shard = EdgeShard.load(str(folder))
    schema = {field: (str(info.data_type), info.points) for field, info in shard.info().payload_schema.items()}
    shard.close()
    assert schema == {
        "asset_id": ("PayloadSchemaType.Keyword", 5),
        "parent_asset_id": ("PayloadSchemaType.Keyword", 1),
        "thread_id": ("PayloadSchemaType.Keyword", 3),
        "chunk_group_id": ("PayloadSchemaType.Keyword", 5),
        "source": ("PayloadSchemaType.Keyword", 5),
        "kind": ("PayloadSchemaType.Keyword", 5),
        "person_ids": ("PayloadSchemaType.Integer", 2),
        "mentioned_person_ids": ("PayloadSchemaType.Integer", 2),
        "ts": ("PayloadSchemaType.Integer", 4),
    }


def hashes(folder: Path) -> dict[str, str]:
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in folder.rglob("*")
        if path.is_file() and path.name not in generations.REWRITTEN
    } | generations.manifest_values(folder)


def test_reading_changes_no_file(folder: Path) -> None:
    """Else the hashes of a published generation would be wrong after the first question."""
    before = hashes(folder)
    with closing(vector_store.open(folder)) as store:
        assert ids_found(store, "invoice", ChunkFilter(person_ids=(7,))) == [1, 2]
    assert hashes(folder) == before
    assert len(before) > 10


def test_reading_changes_no_value_where_passages_have_vectors_of_their_spans_too(tmp_path: Path) -> None:
    """Qdrant then writes segment.json anew in one of two orders."""
    row = {"chunk_id": name(1), "text": "note"}
    vector_store.build(tmp_path / "v", batches([row], [[1.0, 0.0]], [[0.0, 1.0]]), dimension=2, spans=True)
    before = hashes(tmp_path / "v")
    for _ in range(9):
        with closing(vector_store.open(tmp_path / "v")) as store:
            assert store.count() == 1
        assert hashes(tmp_path / "v") == before


def test_many_processes_read_at_once(folder: Path) -> None:
    """While one has it open, two others count; a store with a write-ahead log would let in one only."""
    code = f"from qdrant_edge import *; s = EdgeShard.load({str(folder)!r}); print(s.count(CountRequest()))"
    with closing(vector_store.open(folder)) as store:
        others = [subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) for _ in range(2)]
        assert [other.communicate(timeout=300)[0] for other in others] == ["5\n", "5\n"]
        assert store.count() == 5


def test_build_replaces_what_is_there(tmp_path: Path) -> None:
    """An interrupted build leaves nothing behind in the next."""
    vector_store.build(tmp_path / "v", batches(rows()))
    assert vector_store.build(tmp_path / "v", batches(rows()[:2])) == 2
    with closing(vector_store.open(tmp_path / "v")) as store:
        assert store.count() == 2


def test_a_build_that_fails_elsewhere_leaves_nobody_writing(tmp_path: Path) -> None:
    many = list(batches([{"chunk_id": name(number), "text": f"note {number}"} for number in range(200)]))

    def failing() -> Iterator[pa.RecordBatch]:
        for batch in many:
            for first in range(0, batch.num_rows, 20):
                yield batch.slice(first, 20)
        raise OSError(errno.ENOSPC, "No space left on device")

    pool = workers.start_pool(1)
    assert pool
    (beside,) = pool.executors
    try:
        with pytest.raises(OSError, match="No space left"):
            vector_store.build(tmp_path / "vectors", failing(), executor=beside)
        shutil.rmtree(tmp_path / "vectors")
        assert vector_store.build(tmp_path / "vectors", many, executor=beside) == 200
    finally:
        workers.stop_pool(pool)


def test_an_empty_archive(tmp_path: Path) -> None:
    """Nothing is a store too."""
    assert vector_store.build(tmp_path / "v", []) == 0
    with closing(vector_store.open(tmp_path / "v")) as store:
        assert (store.count(), store.search("invoice", 5), store.fetch_ids(ChunkFilter(), 5)) == (0, [], [])


def test_a_folder_without_vectors(tmp_path: Path) -> None:
    """The error says what to do."""
    with pytest.raises(FileNotFoundError, match="holds no vectors; `relrag sync` builds them"):
        vector_store.open(tmp_path)


def test_a_field_that_no_passage_has_gets_its_index_with_the_first_that_has_it(tmp_path: Path) -> None:
    vector_store.build(tmp_path / "old", batches(rows()[3:]))
    assert indexed(tmp_path / "old") == {"asset_id", "chunk_group_id", "source", "kind", "ts"}
    vector_store.extend(tmp_path / "old", tmp_path / "new", batches(rows()), [name(3), name(4)])
    assert indexed(tmp_path / "new") == {*KEYWORDS, *INTEGERS}
    with closing(vector_store.open(tmp_path / "new")) as store:
        assert store.fetch_ids(ChunkFilter(person_ids=(7,)), 5) == [name(0), name(1), name(2)]


def indexed(folder: Path) -> set[str]:
    shard = EdgeShard.load(str(folder))
    fields = set(shard.info().payload_schema)
    shard.close()
    return fields


def test_another_process_builds_the_same(tmp_path: Path, folder: Path) -> None:
    """In many batches, more than may wait at once."""
    one_by_one = itertools.chain(*(batches([row]) for row in rows()))
    with workers.dedicated_worker(workers.start_pool(1)) as (beside, _):
        assert vector_store.build(tmp_path / "v", one_by_one, executor=beside) == 5
        with pytest.raises(KeyError):  # a fault there is one here
            vector_store.build(
                tmp_path / "w", (batch.drop_columns(["source"]) for batch in batches(rows())), executor=beside
            )
    with closing(vector_store.open(tmp_path / "v")) as made, closing(vector_store.open(folder)) as here:
        for question in ("INV-1187 invoice", "faktury za vodu", "january"):
            assert made.search(question, 5) == here.search(question, 5) != []


def test_extend(tmp_path: Path) -> None:
    """A store with one passage more answers like one that was built so; one that was removed is gone."""
    vector_store.build(tmp_path / "old", batches(rows()[:4]))
    before = hashes(tmp_path / "old")
    assert vector_store.extend(tmp_path / "old", tmp_path / "new", batches(rows()[4:]), []) == 5
    vector_store.build(tmp_path / "whole", batches(rows()))
    with closing(vector_store.open(tmp_path / "new")) as new, closing(vector_store.open(tmp_path / "whole")) as whole:
        for question in ("INV-1187 invoice", "faktury za vodu", "january"):
            assert new.search(question, 5) == whole.search(question, 5)
        assert new.count(ChunkFilter(sources=("docs",))) == 2
    assert vector_store.extend(tmp_path / "old", tmp_path / "less", [], [name(0)]) == 3
    with closing(vector_store.open(tmp_path / "less")) as less:
        assert ids_found(less, "INV-1187") == [1]
    assert hashes(tmp_path / "old") == before


def test_a_store_on_a_full_disk_can_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The engine writes its configuration whenever it opens a store."""
    place = tmp_path / "store"
    vector_store.build(place, batches(rows()))
    before, load = hashes(place), EdgeShard.load

    def full(folder: str) -> EdgeShard:
        if Path(folder).parent == tmp_path:
            raise Exception(
                "Service runtime error: Failed to save structure on disk with error: "
                f"No space left on device (os error {errno.ENOSPC})"
            )
        return load(folder)

    monkeypatch.setattr(local_store, "EdgeShard", SimpleNamespace(load=full))
    with closing(vector_store.open(place)) as opened:
        assert ids_found(opened, "corrected") == [1]
    assert len(list(vector_store.payloads(place))) == len(ROWS)
    assert hashes(place) == before


def test_copies_keep_their_holes(tmp_path: Path) -> None:
    """Content is the same, and a hole takes no space, nor do NULs that were written."""
    (tmp_path / "from" / "deep").mkdir(parents=True)
    with (tmp_path / "from" / "deep" / "file").open("wb") as file:
        file.write(b"begin")
        file.seek(5_000_000)
        file.write(b"middle" + bytes(10_000_000))
        file.truncate(20_000_000)
    (tmp_path / "from" / "empty").touch()
    copy_with_holes(tmp_path / "from", tmp_path / "to")
    copy = tmp_path / "to" / "deep" / "file"
    assert copy.read_bytes() == (tmp_path / "from" / "deep" / "file").read_bytes()
    assert copy.stat().st_size == 20_000_000
    assert copy.stat().st_blocks * 512 < 1_000_000
    assert (tmp_path / "to" / "empty").read_bytes() == b""


def test_what_stands_beside_a_mails_text_ranks_below_it(tmp_path: Path) -> None:
    said = {"kind": "gmail", "source": "mail", "text": "The boiler is broken"}
    same = [said | {"section": section} for section in ("quoted", None, "signature")]
    vector_store.build(tmp_path / "store", batches(rows(same)))
    opened = vector_store.open(tmp_path / "store")
    fresh, *others = opened.search("boiler", 3)
    opened.close()
    assert fresh.chunk_id == name(1)
    assert [hit.score for hit in others] == [pytest.approx(APART * fresh.score)] * 2
