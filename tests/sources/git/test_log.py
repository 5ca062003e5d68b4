"""The format of saved logs, whole and damaged."""

import io
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relrag_pipelines.sources.git.log import Commit, Log, LogError
from tests.repositories import read, units_of

HASH, PARENT = "a" * 40, "b" * 64
FIELDS = ["", f"commit {HASH}", PARENT, "HEAD -> refs/heads/main, tag: refs/tags/v1", "Jan", "j@x.cz", "1 +0000"]
FIELDS += ["Eva", "e@x.cz", "2 +0100", "Subject\n\nBody\n"]


def log(*fields: str) -> bytes:
    return "\0".join([*FIELDS, *fields, ""]).encode()


def parse(data: bytes) -> list[Commit]:
    return list(Log(io.BytesIO(data)).commits())


def test_every_field_and_every_status() -> None:
    files = ["\nM", "a", "A", "b", "D", "c", "T", "d", "R096", "old", "new", "C100", "e", "f", "U", "g"]
    (one,) = parse(log(*files))
    assert one == Commit(
        HASH,
        [PARENT],
        ["refs/heads/main", "tag: refs/tags/v1"],
        ("Jan", "j@x.cz"),
        "1 +0000",
        ("Eva", "e@x.cz"),
        "2 +0100",
        "Subject\n\nBody\n",
        [
            {"path": "a", "status": "modified"},
            {"path": "b", "status": "added"},
            {"path": "c", "status": "deleted"},
            {"path": "d", "status": "type changed"},
            {"from": "old", "path": "new", "status": "renamed"},
            {"from": "e", "path": "f", "status": "copied"},
            {"path": "g", "status": "unmerged"},
        ],
    )


def test_blocks_may_end_anywhere(monkeypatch: pytest.MonkeyPatch) -> None:
    data = log("\nM", "š") * 3
    whole = parse(data)
    assert len(whole) == 3
    for size in (1, 7, 64, 1000):
        monkeypatch.setattr("relrag_pipelines.sources.git.log._BLOCK", size)
        assert parse(data) == whole


@pytest.mark.parametrize(
    ("data", "fault"),
    [
        (b"commit abc\nAuthor: x\n", "truncated"),
        (b"commit abc\0", "not_a_log"),
        (b"\0commit xyz\0", "not_a_log"),
        (log()[:60], "truncated"),
        (log("\nM"), "truncated"),
        (log("\nM", "a", "no status"), "not_a_log"),
        (log("\nM", "a")[:-1], "truncated"),
    ],
)
def test_what_is_no_log_or_cut_short_is_said(data: bytes, fault: str, tmp_path: Path) -> None:
    with pytest.raises(LogError) as error:
        parse(data)
    assert error.value.fault == fault
    (tmp_path / "x.gitlog").write_bytes(data)
    (_, failures) = read("git", *units_of("git", tmp_path))
    assert [(one.fault, one.whole_unit) for one in failures] == [(fault, True)]


def test_an_emptied_file_holds_nothing_any_more(tmp_path: Path) -> None:
    (tmp_path / "x.gitlog").write_bytes(b"")
    (records, failures) = read("git", *units_of("git", tmp_path))
    assert (records, [(one.fault, one.whole_unit) for one in failures]) == ([], [("empty", False)])


def test_a_field_that_never_ends_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("relrag_pipelines.sources.git.log._MAX_FIELD_BYTES", 100)
    monkeypatch.setattr("relrag_pipelines.sources.git.log._BLOCK", 50)
    with pytest.raises(LogError, match="more than 100 bytes"):
        parse(b"\0commit " + b"x" * 1000)


@pytest.mark.parametrize("when", ["", "x +0000", "99999999999999999999 +0000", "-1 +0000"])
def test_odd_times_cost_the_time_only(when: str, tmp_path: Path) -> None:
    (tmp_path / "x.gitlog").write_bytes(log().replace(b"1 +0000", when.encode()))
    ((one,), failures) = read("git", *units_of("git", tmp_path))
    assert (one.subject, failures) == ("Subject", [])


@given(st.binary(max_size=300))
def test_any_bytes_give_commits_or_a_fault(data: bytes) -> None:
    for whole in (data, log() + data, log("\nM") + data):
        try:
            assert all(len(one.hash) in (40, 64) for one in parse(whole))
        except LogError as error:
            assert error.fault in ("not_a_log", "truncated")
