"""Published generations: immutable snapshots that queries read, built beside and put in place by one rename.

published/<N>/ holds catalog.duckdb, vectors/ and MANIFEST.json (the sha256 of every file); published/current is a
text file that names N. A reader holds a shared lock on its generation, so none is removed under it.
"""

from __future__ import annotations

import fcntl
import json
import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from relrag_pipelines.records import SCHEMA_VERSION
from relrag_pipelines.stores.atomic import make_private, sync_file, sync_folder, write_text
from relrag_pipelines.stores.failpoints import failpoint
from relrag_pipelines.stores.lake import file_hash

_LOCK = "lock"
_REWRITTEN_BY_READERS = frozenset({_LOCK, "edge_config.json"})
"""files that opening a generation may touch; they hold nothing that a query returns"""


_WRITTEN_BY_READERS = ".atomicwrite"
"""how the folders begin in which Qdrant writes a file anew when it opens a store, before it renames it into place"""


class NothingPublished(Exception):
    """There is no generation to read; the message says what to do."""


class GenerationError(Exception):
    """A generation cannot be used or finished; the message says why."""


@dataclass(frozen=True)
class Generation:
    """One published generation."""

    number: int
    path: Path
    manifest: dict[str, Any]


def building(home: Path) -> Path:
    """The folder in which the next generation is built."""
    return home / "published" / "next"


def begin(home: Path) -> Path:
    """An empty folder for the next generation; an unfinished one is removed."""
    path = building(home)
    failpoint("generation.begin", path)
    shutil.rmtree(path, ignore_errors=True)
    make_private(path)
    return path


def finish(
    home: Path,
    about: dict[str, Any],
    at: datetime,
    *,
    forget: bool = False,
    carried: Mapping[str, dict[str, Any]] | None = None,
) -> Generation:
    """Seals what was built, makes it the current generation and returns it; `about` goes into its MANIFEST.

    forget says that older generations hold what must not stay readable. `carried` are entries of files that another
    generation has as well, which are not read again.
    """
    path = building(home)
    known = carried or {}
    new = [name for name in _files(path) if name not in known]
    for name in new:
        sync_file(path / name)
    hashes = dict(zip(new, _hashes(path, new), strict=True))
    entries = {name: {"sha256": hashes[name], "bytes": (path / name).stat().st_size} for name in new}
    number = max([0, *numbers(home)]) + 1
    manifest = {
        "schema_version": SCHEMA_VERSION,
        "number": number,
        "published_at": at.isoformat("T", "seconds"),
        **about,
        "oldest_kept": number if forget else published(home).get("oldest_kept", 0),
        "carried": sorted(known),
        "files": dict(sorted({**known, **entries}.items())),
    }
    write_text(path / "MANIFEST.json", json.dumps(manifest, indent=1) + "\n")
    failpoint("generation.lock", path / _LOCK)
    (path / _LOCK).touch(mode=0o600)
    sync_folder(path)
    place = home / "published" / str(number)
    failpoint("generation.rename", place)
    path.replace(place)
    sync_folder(place.parent)
    write_text(home / "published" / "current", f"{number}\n")
    return Generation(number, place, manifest)


def current_number(home: Path) -> int | None:
    """Number of the current generation; None when nothing is published."""
    try:
        return int((home / "published" / "current").read_text())
    except FileNotFoundError:
        return None


def published(home: Path) -> dict[str, Any]:
    """The MANIFEST of the current generation; empty when nothing is published."""
    number = current_number(home)
    if number is None:
        return {}
    try:
        return _manifest(home / "published" / str(number))
    except FileNotFoundError:
        return {}


@contextmanager
def open_current(home: Path) -> Iterator[Generation]:
    """The current generation, held by a shared lock; NothingPublished when there is none."""
    while True:
        number = current_number(home)
        if number is None:
            raise NothingPublished("nothing is published yet; run `relrag sync`")
        path = home / "published" / str(number)
        try:
            file = (path / _LOCK).open()
        except FileNotFoundError:
            if current_number(home) == number:
                raise GenerationError(f"generation {number} is named as current but is not there") from None
            continue  # a newer one was published in between
        with file:
            fcntl.flock(file, fcntl.LOCK_SH)
            if not path.is_dir():
                continue
            manifest = _manifest(path)
            if manifest["schema_version"] > SCHEMA_VERSION:
                raise GenerationError(f"generation {number} was published by a newer relrag; install that version")
            yield Generation(number, path, manifest)
            return


def sweep(home: Path, keep: int) -> list[int]:
    """Removes generations that are no longer to be kept, except those that are being read; returns what was removed.

    Kept are the newest `keep`, but none older than the current one's MANIFEST allows: what it deleted must not stay
    readable in an older one. One that is being built, or was sealed and never became current, goes too. Every sync
    sweeps, so that one that was being read, or a kill, is made good.
    """
    current = current_number(home) or 0
    oldest = int(published(home).get("oldest_kept", 0))
    kept = [number for number in sorted(numbers(home), reverse=True) if oldest <= number <= current][:keep]
    shutil.rmtree(building(home), ignore_errors=True)
    for left in (home / "published").glob(".*.tmp"):
        left.unlink()
    removed = []
    for number in sorted(set(numbers(home)) - {current, *kept}):
        path = home / "published" / str(number)
        with (path / _LOCK).open("a") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                continue
            failpoint("generation.retire", path)
            # renamed first, so that no reader finds half a generation
            path.replace(path.with_name(f".{number}.removed"))
        removed.append(number)
    for doomed in (home / "published").glob(".*.removed"):
        failpoint("generation.remove", doomed)
        shutil.rmtree(doomed, ignore_errors=True)
    return removed


def verify(home: Path, number: int, *, carried: bool = True) -> list[str]:
    """What differs between a generation's files and its MANIFEST, a line each; empty when all is true.

    Without `carried`, files that were not written for this generation are not read.
    """
    path = home / "published" / str(number)
    try:
        manifest = _manifest(path)
        expected = manifest["files"]
    except (OSError, ValueError, KeyError):
        return [f"published/{number}/MANIFEST.json is missing or unreadable"]
    found = set(_files(path))
    wrong = [f"published/{number}/{name} is not in its MANIFEST" for name in sorted(found - expected.keys())]
    there = [name for name in expected if name in found and (carried or name not in manifest.get("carried", ()))]
    hashes = dict(zip(there, _hashes(path, there), strict=True))
    for name, entry in expected.items():
        if name not in found:
            wrong.append(f"published/{number}/{name} is missing")
        elif (path / name).stat().st_size != entry["bytes"] or hashes.get(name, entry["sha256"]) != entry["sha256"]:
            wrong.append(f"published/{number}/{name} differs from its MANIFEST")
    return wrong


def _hashes(path: Path, names: Sequence[str]) -> list[str]:
    """sha256 of each file; hashing needs no Python lock, so two are read at a time."""
    with ThreadPoolExecutor(2) as threads:
        return list(threads.map(file_hash, [path / name for name in names]))


def _files(path: Path) -> list[str]:
    # os.walk passes over folders that vanish while it looks
    found = sorted(Path(folder, name).relative_to(path) for folder, _, names in os.walk(path) for name in names)
    return [
        file.as_posix()
        for file in found
        if file.name not in _REWRITTEN_BY_READERS
        and file.name != "MANIFEST.json"
        and not file.parent.name.startswith(_WRITTEN_BY_READERS)
    ]


def _manifest(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((path / "MANIFEST.json").read_text())
    return found


def numbers(home: Path) -> list[int]:
    """Numbers of all generations that are kept, in no order."""
    published = home / "published"
    if not published.is_dir():
        return []
    return [int(entry.name) for entry in os.scandir(published) if entry.is_dir() and entry.name.isdigit()]
