"""Publishing: built beside, sealed, current replaced by rename, kept while read."""

import hashlib
import threading
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path

import pytest

from relrag_pipelines.files import sealed_json
from relrag_pipelines.files.sparse_files import copy_with_holes
from relrag_pipelines.stores import generation_damage, generations
from relrag_pipelines.stores.generations import GenerationError, NothingPublished
from tests import archive

AT = datetime(2025, 1, 20, 12, tzinfo=UTC)


def publish(home: Path, content: str) -> generations.Generation:
    place = generations.begin(home)
    (place / "vectors").mkdir()
    (place / "vectors" / "points").write_text(content)
    (place / "vectors" / "edge_config.json").write_text("{}")
    (place / "catalog.duckdb").write_text(content)
    return generations.finish(home, {"inputs": content}, at=AT)


def test_nothing_published(tmp_path: Path) -> None:
    assert generations.current_number(tmp_path) is None
    with pytest.raises(NothingPublished, match="run `relrag sync`"), generations.open_current(tmp_path):
        pass


def test_the_manifest_holds_the_hash_of_every_file_that_readers_do_not_touch(tmp_path: Path) -> None:
    manifest = publish(tmp_path, "one").manifest
    assert list(manifest["files"]) == ["catalog.duckdb", "vectors/points"]
    # sha256 of "one"
    assert manifest["files"]["catalog.duckdb"] == {
        "sha256": "7692c3ad3540bb803c020b3aee66cd8887123234ea0c6e7143c0add73ff431ed",
        "bytes": 3,
    }
    assert manifest["published_at"] == "2025-01-20T12:00:00+00:00"
    assert generations.current_manifest(tmp_path)["inputs"] == "one"


def test_an_unfinished_generation_is_never_current(tmp_path: Path) -> None:
    publish(tmp_path, "one")
    (generations.begin(tmp_path) / "catalog.duckdb").write_text("half")
    with generations.open_current(tmp_path) as generation:
        assert (generation.number, (generation.path / "catalog.duckdb").read_text()) == (1, "one")
    assert not (generations.begin(tmp_path) / "catalog.duckdb").exists()


def test_one_that_was_sealed_and_never_became_current_is_swept(tmp_path: Path) -> None:
    publish(tmp_path, "one")
    publish(tmp_path, "two")
    (tmp_path / "published" / "current").write_text("1\n")  # killed before the second was named
    (tmp_path / "published" / ".current.77.tmp").write_text("2\n")
    (generations.begin(tmp_path) / "catalog.duckdb").write_text("half")
    assert generations.sweep(tmp_path, keep=2) == [2]
    assert sorted(path.name for path in (tmp_path / "published").iterdir()) == ["1", "current"]
    assert publish(tmp_path, "three").number == 2


def test_what_a_reader_writes_while_it_opens_a_store_is_no_difference(tmp_path: Path) -> None:
    place = publish(tmp_path, "one").path
    (place / "vectors" / ".atomicwriteX1").mkdir()
    (place / "vectors" / ".atomicwriteX1" / "tmpfile.tmp").touch()
    assert generation_damage.verify(tmp_path, 1) == []


def test_folders_that_readers_make_and_remove_are_no_difference(tmp_path: Path) -> None:
    place = publish(tmp_path, "one").path
    stop = threading.Event()

    def opening() -> None:
        while not stop.is_set():
            folders = [place / "vectors" / f".atomicwriteX{number}" for number in range(50)]
            for folder in folders:
                folder.mkdir()
            for folder in folders:
                folder.rmdir()

    with ThreadPoolExecutor(1) as pool:
        ended = pool.submit(opening)
        try:
            for number in range(200):
                assert generation_damage.verify(tmp_path, 1) == []
                copy_with_holes(place, tmp_path / f"copy {number}")
        finally:
            stop.set()
        ended.result()


def test_a_reader_keeps_its_generation_while_newer_ones_are_published(tmp_path: Path) -> None:
    publish(tmp_path, "one")
    with generations.open_current(tmp_path) as old:
        publish(tmp_path, "two")
        publish(tmp_path, "three")
        assert generations.sweep(tmp_path, keep=1) == [2]
        assert (old.path / "catalog.duckdb").read_text() == "one"
        with generations.open_current(tmp_path) as new:
            assert (new.number, (new.path / "catalog.duckdb").read_text()) == (3, "three")
    assert generations.sweep(tmp_path, keep=1) == [1]
    assert sorted(path.name for path in (tmp_path / "published").iterdir()) == ["3", "current"]


def test_verify_names_what_differs(tmp_path: Path) -> None:
    place = publish(tmp_path, "one").path
    assert generation_damage.verify(tmp_path, 1) == []
    (place / "vectors" / "points").write_text("onf")
    (place / "stray").touch()
    assert generation_damage.verify(tmp_path, 1) == [
        "published/1/stray is not in its MANIFEST",
        "published/1/vectors/points differs from its MANIFEST",
    ]
    (place / "catalog.duckdb").unlink()
    assert "published/1/catalog.duckdb is missing" in generation_damage.verify(tmp_path, 1)
    (place / "MANIFEST.json").write_text("{")
    assert generation_damage.verify(tmp_path, 1) == [
        "published/1/MANIFEST.json cannot be read",
        "published/1/stray cannot be checked without its manifest",
        "published/1/vectors/points cannot be checked without its manifest",
        "published/1/vectors/edge_config.json cannot be checked without its manifest",
    ]


@pytest.mark.parametrize("name", ["edge_config.json", "segment.json"])
def test_what_readers_write_again_is_compared_by_its_values(tmp_path: Path, name: str) -> None:
    """Qdrant writes the names of a store's vectors in any order."""
    place = generations.begin(tmp_path)
    (place / "vectors").mkdir()
    (place / "vectors" / name).write_text('{"meaning": 1, "spans": 2}')
    place = generations.finish(tmp_path, {}, at=AT).path
    (place / "vectors" / name).write_text('{"spans":2,"meaning":1}')
    assert generation_damage.verify(tmp_path, 1) == []
    (place / "vectors" / name).write_text('{"spans":2,"meaning":2}')
    assert generation_damage.verify(tmp_path, 1) == [f"published/1/vectors/{name} differs from its MANIFEST"]
    (place / "vectors" / name).unlink()
    assert generation_damage.verify(tmp_path, 1) == [f"published/1/vectors/{name} differs from its MANIFEST"]


def test_segments_stand_among_the_files_of_an_older_manifest(tmp_path: Path) -> None:
    place = publish(tmp_path, "one").path
    segment = place / "vectors" / "segment.json"
    segment.write_text("{}")
    manifest = sealed_json.read(place / "MANIFEST.json")
    manifest["files"]["vectors/segment.json"] = generations.file_entries([segment])[0]
    (place / "MANIFEST.json").write_text(sealed_json.seal(manifest))
    assert generation_damage.verify(tmp_path, 1) == []
    segment.write_text("{ }")
    assert generation_damage.verify(tmp_path, 1) == ["published/1/vectors/segment.json differs from its MANIFEST"]
    segment.unlink()
    assert generation_damage.verify(tmp_path, 1) == ["published/1/vectors/segment.json is missing"]


def test_a_generation_of_a_newer_relrag_is_refused(tmp_path: Path) -> None:
    archive.as_schema(publish(tmp_path, "one").path / "MANIFEST.json", 999)
    with pytest.raises(GenerationError, match="newer relrag"), generations.open_current(tmp_path):
        pass


def test_what_was_deleted_goes_with_the_older_generations_as_soon_as_nobody_reads_them(tmp_path: Path) -> None:
    publish(tmp_path, "one")
    place = generations.begin(tmp_path)
    (place / "catalog.duckdb").write_text("two")
    with generations.open_current(tmp_path):
        generations.finish(tmp_path, {"inputs": "two"}, AT, forget=True)
        assert generations.sweep(tmp_path, keep=2) == []
    # a later publish that deletes nothing does not bring it back into what is kept
    publish(tmp_path, "three")
    assert generations.sweep(tmp_path, keep=3) == [1]
    assert sorted(generations.numbers(tmp_path)) == [2, 3]


def hash_of_each(blocks: Iterable[bytes]) -> str:
    return hashlib.sha256(b"".join(hashlib.sha256(one).digest() for one in blocks)).hexdigest()


def test_a_large_file_is_hashed_by_blocks_with_its_holes_or_without(tmp_path: Path) -> None:
    """32 blocks of 64 KiB and a bit: zeros that were never written, zeros that were, and a byte at the end."""
    expected = hash_of_each([bytes(2**16)] * 32 + [b"\0\0x"])
    place = generations.begin(tmp_path)
    with (place / "with_holes").open("wb") as file:
        file.seek(2 * 2**20 + 2)
        file.write(b"x")
    (place / "without").write_bytes(bytes(2 * 2**20) + b"\0\0x")
    files = generations.finish(tmp_path, {}, at=AT).manifest["files"]
    entry = {"sha256_of_blocks": expected, "bytes": 2 * 2**20 + 3}
    assert files == {"with_holes": entry, "without": entry}
    assert generation_damage.verify(tmp_path, 1) == []
    for name in files:
        with (tmp_path / "published" / "1" / name).open("r+b") as file:
            file.seek(2**20 - 1)
            file.write(b"\1")
    assert generation_damage.verify(tmp_path, 1) == [
        "published/1/with_holes differs from its MANIFEST",
        "published/1/without differs from its MANIFEST",
    ]


@pytest.mark.parametrize("key", ["sha256", "sha256_of_parts"])
def test_a_manifest_with_older_hashes_of_large_files_still_holds(tmp_path: Path, key: str) -> None:
    """As versions before this one wrote them: of the whole, later of each MiB."""
    data = b"x" * (2**20 + 1)
    place = generations.begin(tmp_path)
    (place / "large").write_bytes(data)
    path = generations.finish(tmp_path, {}, at=AT).path / "MANIFEST.json"
    manifest = sealed_json.read(path)
    digest = hashlib.sha256(data).hexdigest() if key == "sha256" else hash_of_each([b"x" * 2**20, b"x"])
    manifest["files"]["large"] = {key: digest, "bytes": 2**20 + 1}
    manifest.pop("seal", None)
    path.write_text(sealed_json.seal(manifest))
    assert generation_damage.verify(tmp_path, 1) == []
    (path.parent / "large").write_bytes(b"x" * 2**20 + b"y")
    assert generation_damage.verify(tmp_path, 1) == ["published/1/large differs from its MANIFEST"]
