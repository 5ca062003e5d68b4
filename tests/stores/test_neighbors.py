"""Neighbours and threads, read from a published catalog."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from relrag_pipelines.stores.neighbors import Neighbor
from relrag_query.archive import Archive
from tests.query_hits import publish, record

MAIL, REPLY, PDF = "gmail:m1", "gmail:m2", "gmail:m1/a0"


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Archive]:
    folder: Path = tmp_path_factory.mktemp("graph")
    thread = {"thread_id": "t"}
    config = publish(
        folder,
        [
            record(MAIL, "the contract is attached", "2025-01-14T14:22:00Z", **thread),
            record(REPLY, "thank you", "2025-01-15T07:05:00Z", **thread),
            record("gmail:m0", "three open points", "2025-01-06T08:40:00Z", **thread),
            record("gmail:undated", "no date", None, **thread),
            record(PDF, "contract", "2025-01-14T14:22:00Z", parent_asset_id=MAIL, index_in_parent=0),
        ],
    )
    with Archive.open(config) as opened:
        yield opened


@pytest.mark.requirement("S0-19")
def test_neighbours_in_both_directions(archive: Archive) -> None:
    found = archive.neighbors(MAIL)
    assert found[:1] == [Neighbor("thread:t", "thread_member", "out", 1.0, "thread_id")]
    assert [(one.asset_ref[:6], one.relation_type, one.direction) for one in found[1:]] == [
        ("gmail:", "attachment_of", "in"),
        ("chunk:", "chunk_of", "in"),
    ]


@pytest.mark.requirement("S0-19")
def test_neighbours_of_one_type_and_direction(archive: Archive) -> None:
    assert [one.asset_ref for one in archive.neighbors(MAIL, ["attachment_of"])] == [PDF]
    assert archive.neighbors(MAIL, ["attachment_of"], direction="out") == []
    assert [one.asset_ref for one in archive.neighbors(PDF, ["attachment_of"], direction="out")] == [MAIL]
    assert [one.relation_type for one in archive.neighbors(MAIL, direction="out")] == ["thread_member"]
    assert archive.neighbors(MAIL, []) == []
    assert len(archive.neighbors(MAIL, limit=2)) == 2
    assert archive.neighbors("gmail:unknown") == []


@pytest.mark.requirement("S0-20")
def test_a_thread_is_read_newest_first_and_paged(archive: Archive) -> None:
    assert [(one.asset_ref, one.ts) for one in archive.thread("t")] == [
        (REPLY, 1736924700),
        (MAIL, 1736864520),
        ("gmail:m0", 1736152800),
        ("gmail:undated", None),
    ]
    assert archive.thread("t")[0].rag_source_type == "gmail"
    assert [one.asset_ref for one in archive.thread("t", limit=2, offset=1)] == [MAIL, "gmail:m0"]
    assert archive.thread("unknown") == []


def test_a_record_and_its_passages(archive: Archive) -> None:
    found = archive.record(MAIL)
    assert found is not None
    assert (found.text, found.ts, found.thread_id, found.extra) == ("the contract is attached", 1736864520, "t", {})
    (passage,) = archive.chunks_of(MAIL)
    assert archive.chunk(passage.chunk_id) == passage
    assert archive.record("gmail:unknown") is None
    assert archive.chunk("unknown") is None
