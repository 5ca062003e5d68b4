"""Published generations: immutable snapshots that queries read, built beside and put in place by one rename.

published/<N>/ holds catalog.duckdb, vectors/ and MANIFEST.json (the hash of every file); published/current is a text
file that names N. A reader holds a shared lock on its generation, so none is removed under it.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path, PurePosixPath
from typing import Any

from relrag_pipelines.errors import SafeError
from relrag_pipelines.files import atomic, sealed_json
from relrag_pipelines.files.atomic import make_private, sync_file, sync_folder, write_text
from relrag_pipelines.files.failpoints import failpoint
from relrag_pipelines.files.sealed_json import file_hash
from relrag_pipelines.files.sparse_files import PART, hash_blocks
from relrag_pipelines.records import SCHEMA_VERSION, TABLES
from relrag_pipelines.stores import retired_generations

LOCK = "lock"
REWRITTEN = ("edge_config.json", "segment.json")
"""files that reading a generation may write again, with the same values in another order"""
OLDEST = max(table.since for table in TABLES.values() if "catalog" in table.place)
"""the oldest schema version whose catalog has the shape of today"""


class NothingPublished(SafeError):
    """There is no generation to read; the message says what to do."""


class GenerationError(SafeError):
    """A generation cannot be used or finished; the message says why."""


@dataclass(frozen=True)
class Generation:
    """One published generation."""

    number: int
    path: Path
    manifest: dict[str, Any]


def build_folder(home: Path) -> Path:
    """The folder in which the next generation is built."""
    return home / "published" / "next"


def begin(home: Path) -> Path:
    """An empty folder for the next generation; an unfinished one is removed."""
    path = build_folder(home)
    failpoint("generation.begin", path)
    discard(home)
    make_private(path)
    return path


def discard(home: Path) -> None:
    """Removes the generation that is being built, if there is one."""
    path = build_folder(home)
    if retired_generations.on_server(path):
        retired_generations.hide(path)
        retired_generations.remove(home, numbers(home))
    shutil.rmtree(path, ignore_errors=True)


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
    path = build_folder(home)
    carried_entries = carried or {}
    new = [name for name in list_files(path) if name not in carried_entries]
    for name in new:
        sync_file(path / name)
    entries = dict(zip(new, file_entries([path / name for name in new]), strict=True))
    number = next_number(home)
    manifest = {
        "schema_version": SCHEMA_VERSION,
        "number": number,
        "published_at": at.isoformat("T", "seconds"),
        **about,
        "oldest_kept": number if forget else current_manifest(home).get("oldest_kept", 0),
        "rewritten": manifest_values(path),
        "carried": sorted(carried_entries),
        "files": dict(sorted({**carried_entries, **entries}.items())),
    }
    write_text(path / "MANIFEST.json", sealed_json.seal(manifest))
    failpoint("generation.lock", path / LOCK)
    (path / LOCK).touch(mode=0o600)
    sync_folder(path)
    destination = home / "published" / str(number)
    failpoint("generation.rename", destination)
    path.replace(destination)
    sync_folder(destination.parent)
    set_current(home, number)
    return Generation(number, destination, manifest)


def current_number(home: Path) -> int | None:
    """Number of the current generation; None when nothing is published."""
    path = home / "published" / "current"
    try:
        return int(path.read_bytes())
    except FileNotFoundError:
        return None
    except ValueError:
        raise GenerationError(f"{path} is damaged; `relrag verify --repair` makes it again") from None


def current_manifest(home: Path) -> dict[str, Any]:
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
    """The current generation, held by a shared lock.

    Raises NothingPublished when there is none, and GenerationError where it is damaged or of another schema version.
    """
    while True:
        number = current_number(home)
        if number is None:
            raise NothingPublished("nothing is published yet; run `relrag sync`", code="nothing_published")
        path = home / "published" / str(number)
        try:
            file = (path / LOCK).open()
        except FileNotFoundError:
            if current_number(home) == number:
                raise GenerationError(f"generation {number} is named as current but is not there") from None
            continue  # a newer one was published in between
        with file:
            fcntl.flock(file, fcntl.LOCK_SH)
            if not path.is_dir():
                continue
            manifest = _manifest(path)
            if manifest["schema_version"] < OLDEST:
                description = f"was published by an older relrag (schema {manifest['schema_version']})"
                raise GenerationError(
                    f"generation {number} {description}; `relrag sync` makes a new one of what is stored"
                )
            yield Generation(number, path, manifest)
            return


def sweep(home: Path, keep: int) -> list[int]:
    """Removes generations that are no longer kept, except those being read; returns the numbers of the removed ones.

    The newest `keep` are kept, but none older than the current one's MANIFEST allows: what it deleted must not stay
    readable in an older one. One that is being built, or was sealed and never became current, is removed too. Every
    sync sweeps, which makes up for generations that were being read and for kills.
    """
    current = current_number(home) or 0
    oldest = int(current_manifest(home).get("oldest_kept", 0))
    retained = [number for number in sorted(numbers(home), reverse=True) if oldest <= number <= current][:keep]
    clean_up(home)
    removed = []
    for number in sorted(set(numbers(home)) - {current, *retained}):
        if _retire(home / "published" / str(number)):
            removed.append(number)
    _remove_retired(home)
    return removed


def clean_up(home: Path) -> None:
    """Removes what killed processes left, and goes on with what could not be removed from a server."""
    discard(home)
    for left in (home / "published").glob(".*.tmp"):
        left.unlink()
    _remove_retired(home)


def remove(home: Path, number: int) -> bool:
    """Removes one generation, the current one too; False where it is being read and therefore left."""
    removed = _retire(home / "published" / str(number))
    _remove_retired(home)
    return removed


def layouts(home: Path, number: int) -> Path:
    """The folder of the places of a generation's graphs, which goes with it."""
    return home / "published" / "layouts" / str(number)


def _remove_retired(home: Path) -> None:
    retained = numbers(home)
    retired_generations.remove(home, retained)
    shutil.rmtree(home / "graph-layouts", ignore_errors=True)  # where they lay before they went with a generation
    for folder in (home / "published" / "layouts").glob("*"):
        if folder.name not in map(str, retained):
            shutil.rmtree(folder, ignore_errors=True)


def set_current(home: Path, number: int | None) -> None:
    """Makes a finished generation the current one, or none."""
    path = home / "published" / "current"
    if number is None:
        path.unlink(missing_ok=True)
    else:
        write_text(path, f"{number}\n")


def _retire(path: Path) -> bool:
    with (path / LOCK).open("a") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        failpoint("generation.retire", path)
        retired_generations.hide(path)
    return True


def file_entries(files: Sequence[Path], like: Sequence[Mapping[str, Any]] = ()) -> list[dict[str, Any]]:
    """The MANIFEST's entry of each file, as those given; hashing needs no Python lock, so two are read at a time."""
    with ThreadPoolExecutor(2) as threads:
        return list(threads.map(_entry, files, like or [{}] * len(files)))


def _entry(file: Path, like: Mapping[str, Any]) -> dict[str, Any]:
    size = file.stat().st_size
    if "sha256_of_parts" in like:  # as older manifests have it of every large file, and still older ones a plain hash
        return {"sha256_of_parts": hash_blocks(file, PART), "bytes": size}
    # most bytes of a store of few points were never written
    if size >= PART and "sha256" not in like:
        return {"sha256_of_blocks": hash_blocks(file), "bytes": size}
    return {"sha256": file_hash(file), "bytes": size}


def list_files(path: Path) -> list[str]:
    return [name for name in atomic.files(path) if name not in {LOCK, "MANIFEST.json"} and not _is_rewritten(name)]


def manifest_values(path: Path) -> dict[str, str]:
    """Hashes of what the files say that readers write again; empty for one that cannot be read."""
    hashes = {}
    for name in filter(_is_rewritten, atomic.files(path)):
        try:
            canonical = json.dumps(json.loads((path / name).read_bytes()), sort_keys=True)
        except ValueError:
            canonical = ""
        hashes[name] = canonical and hashlib.sha256(canonical.encode()).hexdigest()
    return hashes


def _is_rewritten(name: str) -> bool:
    return PurePosixPath(name).name in REWRITTEN


def _manifest(path: Path) -> dict[str, Any]:
    """The MANIFEST of the generation in that folder; GenerationError where it cannot be used."""
    try:
        return sealed_json.read(path / "MANIFEST.json")
    except sealed_json.UnusableFile as unusable:
        raise GenerationError(f"generation {path.name}: its MANIFEST.json {unusable}") from None


def next_number(home: Path) -> int:
    """The number that the next generation gets."""
    return max([0, *numbers(home)]) + 1


def numbers(home: Path) -> list[int]:
    """Numbers of all generations that are kept, in no order."""
    published = home / "published"
    if not published.is_dir():
        return []
    return [int(entry.name) for entry in os.scandir(published) if entry.is_dir() and entry.name.isdigit()]
