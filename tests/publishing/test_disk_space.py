"""A full disk is recognised in what every library says of it."""

import errno
import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import NoReturn

import dagster as dg
import duckdb
import pytest

from relrag_pipelines.assets.error_boundary import seal_errors
from relrag_pipelines.files import disk_full
from relrag_pipelines.onboarding.estimate import FIXED_BYTES
from relrag_pipelines.publishing import disk_space
from relrag_pipelines.stores import lake, unit_state
from relrag_pipelines.workers import pool as workers
from relrag_pipelines.workers.pool import Pool
from tests import archive


@pytest.fixture(scope="module")
def pool() -> Iterator[Pool]:
    started = workers.start_pool(1)
    assert started
    yield started
    workers.stop_pool(started)


def write_elsewhere(kind: str) -> None:
    if kind == "killed":
        os.kill(os.getpid(), signal.SIGKILL)
    errors = {
        "file": OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "a private name"),
        "duckdb": duckdb.IOException("Could not write file: No space left on device"),
        "qdrant": Exception("Service internal error: No space left on device (os error 28)"),
    }
    try:
        raise ValueError("a private name")
    except ValueError as before:
        raise errors[kind] from before


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        ("file", "no space is left on the disk; `relrag doctor` says"),
        ("duckdb", "no space is left on the disk; `relrag doctor` says"),
        ("qdrant", "no space is left on the disk; `relrag doctor` says"),
        ("killed", "a process that takes part was ended by the system, as happens where memory or disk runs out; "),
    ],
)
def test_what_befalls_another_process_is_told_here(pool: Pool, kind: str, said: str) -> None:
    (executor,) = pool.executors

    @seal_errors
    def asset() -> None:
        executor.submit(write_elsewhere, kind).result()

    with pytest.raises(dg.Failure) as failure:
        asset()
    assert str(failure.value.description).startswith(said)
    assert "private" not in str(failure.value.description)


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (OSError(errno.ENOSPC, "No space left on device", "a private name"), "no space is left on the disk"),
        (OSError(errno.EIO, "Input/output error", "a private name"), "Input/output error in test_disk_space.py:"),
    ],
)
def test_an_asset_says_what_the_disk_did_and_no_name(error: OSError, said: str) -> None:
    @seal_errors
    def write() -> None:
        raise error

    with pytest.raises(dg.Failure) as failure:
        write()
    assert str(failure.value.description).startswith(said)
    assert "private" not in str(failure.value.description)


def test_vectors_are_not_begun_without_room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = archive.workspace(archive.make(tmp_path)).settings
    held = {
        "chunks": (500, 30_000),
        "records": (700, 20_000),
        "asset_asset_edges": (900, 10_000),
        "embeddings": (500, 9),
    }

    def manifest(home: Path, table: str, source: str) -> lake.Manifest:
        return {"2024-01": lake.ManifestEntry("", 1, "", "", *held[table])} if table in held else {}

    monkeypatch.setattr("relrag_pipelines.stores.lake.manifest", manifest)
    # in each of three sources: vectors, the passages beside the catalog, and the catalog
    free = 100_000_000 + 3 * (500 * 2_000 + 4 * 30_000 + 5 * 60_000)
    monkeypatch.setattr("relrag_pipelines.onboarding.environment.free_bytes", lambda folder: free)
    disk_space.require_vector_space(settings)
    monkeypatch.setattr("relrag_pipelines.onboarding.environment.free_bytes", lambda folder: free - 1)
    with pytest.raises(disk_full.DiskFull, match="the vectors of the new generation may take 104 MB"):
        disk_space.require_vector_space(settings)
    monkeypatch.setattr("relrag_pipelines.onboarding.environment.free_bytes", lambda folder: free + 500 * 8 * 384)
    with pytest.raises(disk_full.DiskFull):  # with dense vectors in three sources and not in one
        disk_space.require_vector_space(settings.model_copy(update={"embedder": "minilm"}))


def test_what_is_needed_counts_what_would_be_built_anew(tmp_path: Path) -> None:
    made = archive.first_sync(archive.make(tmp_path))
    in_lake = sum(path.stat().st_size for path in (made.home / "lake").rglob("*.parquet"))
    assert FIXED_BYTES + 5 * in_lake < disk_space.required_bytes(made.settings) < FIXED_BYTES + 10**6


def test_a_full_disk_is_no_fault_of_the_file_that_was_being_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else it would count as read, and no later sync would look at it again."""
    config = archive.make(tmp_path)

    def read(*_: object) -> NoReturn:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as full:
        full.setattr("relrag_pipelines.sources.jsonl.read", read)
        with pytest.raises(OSError, match="No space left"):
            archive.sync(config)
    made = archive.sync(config)
    assert unit_state.load_failures(made.home, "notes") == []
    assert sum(month.rows for month in lake.manifest(made.home, "records", "notes").values()) == len(archive.NOTES)
