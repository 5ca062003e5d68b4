"""Collections of qdrant-client's local mode as records."""

from __future__ import annotations

import pickle
import sqlite3
import uuid
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from qdrant_client import models

from relrag_pipelines.privacy.keys import Keys
from relrag_pipelines.records import Failure, Record
from relrag_pipelines.settings import Settings, SettingsError, Source, load
from relrag_pipelines.sources import KINDS, ListingScope, ReadContext
from relrag_pipelines.sources.legacy import is_repeated, join_parts
from relrag_pipelines.sources.legacy.local_collection import STORAGE
from relrag_pipelines.stores.table_schema import to_table
from tests import legacy_collection as older
from tests.cases import cases

KIND = KINDS["legacy"]


def read(folder: Path, keys: Keys) -> tuple[dict[str, Record], list[Failure]]:
    reading = ReadContext("older", "Europe/Prague", keys.id_hash)
    assert KIND.units
    items = [item for unit in KIND.units(ListingScope(folder)).units for item in KIND.read(unit, reading)]
    records = [item for item in items if isinstance(item, Record)]
    assert len({one.asset_id for one in records}) == len(records)
    return {one.asset_id: one for one in records}, [item for item in items if isinstance(item, Failure)]


def storage(folder: Path) -> Path:
    return folder / "collection" / older.NAME / STORAGE


def add_row(folder: Path, data: bytes) -> None:
    database = sqlite3.connect(storage(folder))
    with database:
        database.execute("INSERT INTO points VALUES (?, ?)", (uuid.uuid4().hex, data))
    database.close()


def test_every_point_stands_in_a_record_and_no_text_twice(tmp_path: Path, keys: Keys) -> None:
    found, failures = read(older.make(tmp_path / "qdrant"), keys)
    assert failures == []
    assert {name: (one.rag_source_type, one.text) for name, one in found.items()} == {
        f"whatsapp:{older.DANA}:1708012800": ("whatsapp", "The walnut table goes to aunt Rivka"),
        f"whatsapp:{older.DANA}:1708012860": ("whatsapp", "And who gets the piano?"),
        f"whatsapp:{older.HIKERS}:1708099200": ("whatsapp", "The hut on the saddle is closed until May"),
        f"whatsapp:{older.HIKERS}:1708099200:2": ("whatsapp", "Then we sleep in the valley"),
        "gmail:18d1": ("email", "The roof of the cabin costs 84,000. We can begin on the third of June. "
                                "Scaffolding is included."),
        "gmail:18d2": ("email", "Agreed, the third of June."),
        "gmail:18d1:att:offer.pdf": ("email_attachment", "Offer 2024/117: larch shingles, gutters of copper."),
        "paperless:42": ("paperless", "Lease of the orchard at Lhota.\n\nCard 4111 1111 1111 1111 pays the deposit."
                                      "\n\nThe tenant prunes the pears."),
        "call_recording:9f8e7d6c5b4a": ("call_recording", "The beekeeper comes on Monday.\n\n"
                                                          "Bring the smoker and the veils."),
        "gmail:pump-1@firma.example": ("email", "The pump arrives in week 12."),
        "gmail:pump-1@firma.example:0": ("email_attachment", "GRUNDFOS UP 20-30, 12.500 Kč"),
        "legacy:git://firma/web/a3b2c1d8": ("git_history", "Validates tokens before access."),
        "legacy:18": ("relationship", "Jonah's mentor from college. They meet monthly."),
    }  # fmt: skip
    part = found["gmail:18d1:att:offer.pdf"]
    assert (part.parent_asset_id, part.index_in_parent, part.total_siblings) == ("gmail:18d1", 0, 1)
    assert (part.subject, part.file_name, part.thread_id) == ("Roof of the cabin", "offer.pdf", "18d0")
    assert part.numbers == ["2024/117"]
    assert found["gmail:18d1"].total_siblings == 1
    assert found["legacy:git://firma/web/a3b2c1d8"].extra == {
        "git_commit_hash": "a3b2c1d8e4f7a90b5c6d1e2f3a4b8c9d0e1f2a3b"
    }
    assert not [one for one in found.values() if "embedding" in repr(one.extra)], "old vectors are ignored"


def test_the_order_of_attachments_is_that_of_their_names(tmp_path: Path, keys: Keys) -> None:
    names = ["b.pdf", "a.pdf", "c.pdf"]
    points = [
        {"source": "gmail", "source_id": f"gmail:1:att:{name}", "parent_source_id": "gmail:1", "message": name}
        for name in names
    ]
    found, _ = read(older.make(tmp_path / "qdrant", points), keys)
    assert {one.text: (one.index_in_parent, one.total_siblings) for one in found.values()} == {
        "a.pdf": (0, 3),
        "b.pdf": (1, 3),
        "c.pdf": (2, 3),
    }


def test_a_window_whose_messages_are_not_all_there_is_kept(tmp_path: Path, keys: Keys) -> None:
    found, _ = read(older.make(tmp_path / "qdrant", [older.POINTS[0], older.POINTS[4]]), keys)
    window = found[f"whatsapp:chunk:{older.DANA}:1708012800:1708012860"]
    assert (window.rag_source_type, window.thread_id) == ("legacy", older.DANA)
    assert "piano" in window.text


@pytest.mark.parametrize(*cases(__file__, "what_a_window_repeats"))
def test_what_a_window_repeats(window: str, messages: list[str], repeated: bool) -> None:
    assert is_repeated(window, messages) is repeated


@pytest.mark.parametrize(*cases(__file__, "parts_are_joined_and_what_two_share_stands_once"))
def test_parts_are_joined_and_what_two_share_stands_once(texts: list[str], whole: str) -> None:
    assert join_parts(texts) == whole


class Hostile:
    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> Any:
        return Path.touch, (self.path,)


def test_a_pickle_can_call_nothing(tmp_path: Path, keys: Keys) -> None:
    folder, touched = older.make(tmp_path / "qdrant", older.POINTS[:1]), tmp_path / "touched"
    add_row(folder, pickle.dumps(Hostile(touched)))
    add_row(folder, b"no pickle")
    add_row(folder, pickle.dumps({"payload": {}}))
    found, failures = read(folder, keys)
    assert not touched.exists()
    assert [one.text for one in found.values()] == ["The walnut table goes to aunt Rivka"]
    assert [one.fault for one in failures] == ["not_a_point"] * 3
    pickle.loads(pickle.dumps(Hostile(touched)))  # noqa: S301
    assert touched.exists(), "it would have, loaded as the client loads it"


def point(**values: Any) -> bytes:
    """A point as the client pickles it, with values that the client would refuse."""
    return pickle.dumps(models.PointStruct.model_construct(vector={}, **values))


def test_a_bad_point_costs_no_other(tmp_path: Path, keys: Keys) -> None:
    folder, mail = older.make(tmp_path / "qdrant", older.POINTS[:1]), {"source": "gmail", "message": "hidden"}
    bad: list[Any] = [
        {"payload": mail},
        {"id": [1], "payload": mail},
        {"id": 91, "payload": {**mail, 7: "x"}},
        {"id": 92, "payload": {**mail, "labels": {"a": {8: "x"}}}},
        {"id": 93, "payload": {**mail, "raw": b"x"}},
        {"id": 94, "payload": {**mail, "raw": {1, 2}}},
    ]
    odd: list[Any] = [
        {"timestamp": "--5"},
        {"timestamp": "5" * 5_000},
        {"timestamp": 10**30, "weight": -(10**30)},
        {"timestamp": 1e300},
        {"emailMessageId": "1@b.example", "attachmentIndex": 10**30},
        {"source": "paperless", "source_id": f"paperless:42:chunk:{'9' * 5_000}"},
        {"source": "whatsapp", "source_id": f"chunk:1:2:{'9' * 5_000}", "content_type": "conversation_chunk"},
    ]
    for one in bad:
        add_row(folder, point(**one))
    for number, one in enumerate(odd):
        add_row(folder, point(id=number + 100, payload={"source": "gmail", "message": f"odd {number}", **one}))
    found, failures = read(folder, keys)
    assert sorted(one.text for one in found.values()) == [
        "The walnut table goes to aunt Rivka", *(f"odd {number}" for number in range(len(odd)))
    ]  # fmt: skip
    assert sorted((one.fault, one.location) for one in failures) == [
        ("not_a_point", f"point {one}") for one in (91, 92, 93, 94, "row 2", "row 3")
    ]
    assert not any("hidden" in one.message for one in failures)
    table = to_table(list(found.values()), Record)
    assert table["ts"].null_count == len(odd)
    assert table["index_in_parent"].null_count == table.num_rows


def test_a_point_without_anything_is_a_failure(tmp_path: Path, keys: Keys) -> None:
    _, failures = read(older.make(tmp_path / "qdrant", [{"source": "gmail", "source_id": "1", "body": "secret"}]), keys)
    ((fault, said),) = [(one.fault, one.message) for one in failures]
    assert fault == "no_text"
    assert "secret" not in said


@pytest.mark.parametrize("data", [b"", b"SQLite format 3\0 and then nothing", b"anything else"])
def test_a_file_that_is_no_collection(data: bytes, tmp_path: Path, keys: Keys) -> None:
    storage(tmp_path).parent.mkdir(parents=True)
    storage(tmp_path).write_bytes(data)
    found, failures = read(tmp_path, keys)
    assert found == {}
    assert [(one.fault, one.whole_unit) for one in failures] == [("collection", True)]


def test_it_recognises_a_collection_and_passes_over_copies(tmp_path: Path) -> None:
    folder = older.make(tmp_path / "qdrant", older.POINTS[:1])
    copy = older.make(tmp_path / "qdrant.snapshot-20240101T000000Z", older.POINTS[:1])
    assert KIND.recognise(storage(folder))
    assert not KIND.recognise(folder / "meta.json")
    storage(copy).write_bytes(b"anything")
    assert not KIND.recognise(storage(copy))
    assert KIND.units
    for root in (tmp_path, folder, folder / "collection", storage(folder).parent, storage(folder)):
        assert [unit.file for unit in KIND.units(ListingScope(root)).units] == [storage(folder)]


SETTINGS: Iterable[Any] = [
    ({"kind": "contacts", "url": "http://localhost:6333"}, "has url, which kind contacts does not read"),
    ({"kind": "legacy", "url": "http://localhost:6333"}, "has url without collection"),
    ({"kind": "legacy", "collection": "memory"}, "has collection without url"),
    *(
        ({"kind": "legacy", "url": url, "collection": "memory"}, "url is not a plain address; write it as http://")
        for url in ("localhost", "http://me:hunter2@host:6333", "http://host?api-key=hunter2", "http://[hunter2]")
    ),
]


@pytest.mark.parametrize(("options", "said"), SETTINGS)
def test_an_address_that_is_not_whole(options: dict[str, str], said: str, tmp_path: Path) -> None:
    lines = [f'{name} = "{value}"' for name, value in {"name": "older", "path": "x", **options}.items()]
    (tmp_path / "relrag.toml").write_text("[[sources]]\n" + "\n".join(lines))
    with pytest.raises(SettingsError) as wrong:
        load(tmp_path / "relrag.toml", {})
    assert said in str(wrong.value)
    assert "hunter2" not in str(wrong.value)
    assert (
        Source(name="older", kind="legacy", path=Path("x"))
        in Settings(folder=tmp_path, sources=[Source(name="older", kind="legacy", path=Path("x"))]).sources
    )
