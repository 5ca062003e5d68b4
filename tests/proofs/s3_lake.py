"""Shows that a lake in a bucket is that of a folder, and that a sync may be killed at any time (`make proofs-scale`).

Real `relrag` processes work on a real server that speaks S3, in a bucket that keeps versions. They are killed at an
upload, the swap and the sweep of a first sync and of a later one; after each kill the next sync has to leave the lake
of an undisturbed one, in folder and bucket. Then a second machine takes the lake over, both write, and one forgets.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections import Counter
from pathlib import Path

from relrag_pipelines.erasure import byte_search
from relrag_pipelines.files.sealed_json import file_hash
from tests import archive, interruption, s3_server
from tests.interruption import Place
from tests.s3_server import Bucket, S3Server

PLACES = (Place("bucket.put", 3), Place("bucket.swap"), Place("bucket.sweep"))
"""at which a sync is killed"""
FORGOTTEN, STAYING = "The plumber quoted 7,980 for the boiler.", "Remember to thank the plumber."


def lake(home: Path) -> dict[str, str]:
    """Path -> hash of every file of the lake, but of what says which commit it was made from."""
    files = [path for path in (home / "lake").rglob("*") if path.is_file() and path.name != "BUCKET.json"]
    return {path.relative_to(home).as_posix(): file_hash(path) for path in sorted(files)}


def stored(bucket: Bucket) -> Counter[str]:
    """The hashes in the names of all versions of all objects of the bucket."""
    return Counter(key.rsplit("-", 2)[1] for key, _ in bucket.versions() if not key.endswith("lake/MANIFEST.json"))


def is_true(folder: Path, bucket: Bucket, expected: dict[str, str]) -> bool:
    """Whether the lake is the one expected, and the bucket holds its files, its manifest, and nothing else."""
    held = lake(archive.home(folder))
    return held == expected and stored(bucket) == Counter(held.values()) and len(bucket.versions()) == len(held) + 1


def make(folder: Path, bucket: Bucket | None) -> Path:
    """A new archive, its lake in that bucket too."""
    folder.mkdir()
    archive.make(folder, f'home_lake = "{bucket.url}"\n' if bucket else "")
    return folder


def change(folder: Path) -> None:
    """A note more, and one less."""
    archive.write_notes(folder, {"id": "n3", "text": "The sauna is hot.", "timestamp": "2024-03-01T08:00:00Z"})
    (folder / "papers" / "lease 2024-01-05.md").unlink()


def sync(folder: Path, at: Place | None = None) -> interruption.Ended:
    """A sync in a process of its own."""
    return interruption.run(folder, "sync", "--accept-deletions", at=at)


def killed(folder: Path, server: S3Server, expected: tuple[dict[str, str], dict[str, str]]) -> list[tuple[bool, str]]:
    """What is true after a kill at each place of a first sync, and of one with changes, and the next sync."""
    results = []
    for number, place in enumerate(PLACES):
        bucket = server.bucket(versioned=True)
        own = make(folder / f"killed {number}", bucket)
        for name, wanted in zip(("a first sync", "a sync of changes"), expected, strict=True):
            if wanted is expected[1]:
                change(own)
            ended = sync(own, place)
            again = sync(own)
            good = ended.code == -9 and again.code == 0 and is_true(own, bucket, wanted)
            results.append((good, f"{name}, killed at {place.name} {place.nth}: the next sync leaves the same lake"))
        shutil.rmtree(own)
    return results


def two_machines(folder: Path, bucket: Bucket, expected: dict[str, str]) -> list[tuple[bool, str]]:
    """What is true where a second machine with the same private folder takes over, and both write."""
    first, second = make(folder / "first", bucket), folder / "second"
    sync(first)
    archive.clone(first, second)
    for name in ("lake", "published", "dagster"):
        shutil.rmtree(archive.home(second) / name)
    ended = sync(second)
    fetched = f"{len(expected)} files of the lake were fetched" in ended.said
    answered = interruption.run(second, "ask", "what did the plumber quote").said
    results = [
        (fetched and is_true(second, bucket, expected), "an empty second machine fetches the lake"),
        ("7,980" in answered, "and answers"),
    ]
    change(second)
    sync(second)
    archive.write_notes(first, {"id": "n4", "text": "The well is dry.", "timestamp": "2024-04-01T08:00:00Z"})
    ended = sync(first)
    results.append((ended.code == 0 and "were fetched" in ended.said, "the first takes over what the second wrote"))
    results.append(("well is dry" in interruption.run(first, "ask", "is the well dry?").said, "and its own is in it"))
    return results


def forget(folder: Path, bucket: Bucket) -> list[tuple[bool, str]]:
    """What is true of the bucket before and after a record is forgotten."""
    own = make(folder / "forgetting", bucket)
    sync(own)
    values = [FORGOTTEN, STAYING]
    before = byte_search.search(bucket.download(folder / "before"), values)
    ended = interruption.run(own, "forget", "jsonl:notes:n1", "--yes")
    after = byte_search.search(bucket.download(folder / "after"), values)
    return [
        (before.hits == set(values), "before it, the bucket holds the text that is to be forgotten"),
        (ended.code == 0, "a forget succeeds"),
        (
            after.hits == {STAYING},
            f"none of {after.files} objects and versions holds it then; the others hold the rest",
        ),
    ]


def main() -> None:
    """Runs the proof in a temporary folder and prints what was seen; exit code 1 where anything is not true."""
    with s3_server.serving() as server, tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        plain, bucket = make(folder / "folder alone", None), server.bucket(versioned=True)
        own = make(folder / "bucket", bucket)
        expected = []
        results = []
        for name in ("a first sync", "a sync of changes"):
            if expected:
                change(plain)
                change(own)
            codes = sync(plain).code, sync(own).code
            expected.append(lake(archive.home(plain)))
            good = codes == (0, 0) and is_true(own, bucket, expected[-1])
            results.append((good, f"{name} leaves the {len(expected[-1])} files of a lake without a bucket"))
        results += killed(folder, server, (expected[0], expected[1]))
        results += two_machines(folder, server.bucket(versioned=True), expected[0])
        results += forget(folder, server.bucket(versioned=True))
    for good, sentence in results:
        print(f"{'yes' if good else 'NO '}  {sentence}")
    wrong = sum(not good for good, _ in results)
    print(f"{len(results) - wrong} of {len(results)} are true")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
