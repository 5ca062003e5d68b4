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

from relrag_pipelines.errors import RelragError
from relrag_pipelines.files import atomic, sealed_json
from relrag_pipelines.files.atomic import make_private, sync_file, sync_folder, write_text
from relrag_pipelines.files.failpoints import failpoint
from relrag_pipelines.files.sealed_json import file_hash
from relrag_pipelines.files.sparse_files import PART, hash_blocks
from relrag_pipelines.records import SCHEMA_VERSION, TABLES
from relrag_pipelines.stores import retired_generations, vectors
from relrag_pipelines.stores.retired_generations import VECTORS

_LOCK = "lock"
_REWRITTEN = "edge_config.json"
"""a file that opening a generation may write again, with the same values"""
OLDEST = max(table.since for table in TABLES.values() if "catalog" in table.place)
"""the oldest schema version whose catalog has the shape of today"""


class NothingPublished(RelragError):
    """There is no generation to read; the message says what to do."""


class GenerationError(RelragError):
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
    known = carried or {}
    new = [name for name in _files(path) if name not in known]
    for name in new:
        sync_file(path / name)
    entries = dict(zip(new, _hashes([path / name for name in new]), strict=True))
    number = next_number(home)
    manifest = {
        "schema_version": SCHEMA_VERSION,
        "number": number,
        "published_at": at.isoformat("T", "seconds"),
        **about,
        "oldest_kept": number if forget else published(home).get("oldest_kept", 0),
        "rewritten": _values(path),
        "carried": sorted(known),
        "files": dict(sorted({**known, **entries}.items())),
    }
    write_text(path / "MANIFEST.json", sealed_json.seal(manifest))
    failpoint("generation.lock", path / _LOCK)
    (path / _LOCK).touch(mode=0o600)
    sync_folder(path)
    place = home / "published" / str(number)
    failpoint("generation.rename", place)
    path.replace(place)
    sync_folder(place.parent)
    set_current(home, number)
    return Generation(number, place, manifest)


def current_number(home: Path) -> int | None:
    """Number of the current generation; None when nothing is published."""
    path = home / "published" / "current"
    try:
        return int(path.read_bytes())
    except FileNotFoundError:
        return None
    except ValueError:
        raise GenerationError(f"{path} is damaged; `relrag verify --repair` makes it again") from None


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
    """The current generation, held by a shared lock.

    Raises NothingPublished when there is none, and GenerationError where it is damaged or of another schema version.
    """
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
            if manifest["schema_version"] < OLDEST:
                said = f"was published by an older relrag (schema {manifest['schema_version']})"
                raise GenerationError(f"generation {number} {said}; `relrag sync` makes a new one of what is stored")
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
    clean_up(home)
    removed = []
    for number in sorted(set(numbers(home)) - {current, *kept}):
        if _retire(home / "published" / str(number)):
            removed.append(number)
    retired_generations.remove(home, numbers(home))
    return removed


def clean_up(home: Path) -> None:
    """Removes what killed processes left, and goes on with what could not be removed from a server."""
    discard(home)
    for left in (home / "published").glob(".*.tmp"):
        left.unlink()
    retired_generations.remove(home, numbers(home))


def remove(home: Path, number: int) -> bool:
    """Removes one generation, the current one too; False where it is being read and therefore left."""
    removed = _retire(home / "published" / str(number))
    retired_generations.remove(home, numbers(home))
    return removed


def set_current(home: Path, number: int | None) -> None:
    """Makes a finished generation the current one, or none."""
    path = home / "published" / "current"
    if number is None:
        path.unlink(missing_ok=True)
    else:
        write_text(path, f"{number}\n")


def _retire(path: Path) -> bool:
    with (path / _LOCK).open("a") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        failpoint("generation.retire", path)
        retired_generations.hide(path)
    return True


def on_server(home: Path, number: int) -> vectors.CollectionRef | None:
    """Where a generation has its vectors, if on a server and if that can be told."""
    return retired_generations.on_server(home / "published" / str(number))


def missing_on_servers(home: Path, number: int) -> str:
    """What a generation lacks on a server; empty where it has all. Raises StoreError where that cannot be asked."""
    return vectors.missing_parts(home / "published" / str(number) / VECTORS)


def verify(home: Path, number: int, *, carried: bool = True) -> list[str]:
    """What differs between a generation's files and its MANIFEST, a line each; empty when all is true.

    Without `carried`, files that were not written for this generation are not read.
    """
    return [f"{name} {found}" for name, found in damage(home, number, carried=carried)]


def damage(home: Path, number: int, *, carried: bool = True) -> list[tuple[str, str]]:
    """(path within the home, what is wrong with it) of every file of a generation that is not as it was published."""
    path, within = home / "published" / str(number), f"published/{number}"
    unchecked = [(f"{within}/{name}", sealed_json.UNCHECKED) for name in (*_files(path), *_values(path))]
    try:
        manifest = sealed_json.read(path / "MANIFEST.json")
    except FileNotFoundError:
        return [(f"{within}/MANIFEST.json", "is missing"), *unchecked]
    except sealed_json.UnusableFile as unusable:
        return [(f"{within}/MANIFEST.json", unusable.found), *unchecked]
    expected, found, values = manifest["files"], set(_files(path)), _values(path)
    rewritten = manifest.get("rewritten", dict(values))  # the first manifests did not list them
    wrong = [(f"{within}/{name}", "is not in its MANIFEST") for name in sorted(found - expected.keys())]
    there = [name for name in expected if name in found and (carried or name not in manifest.get("carried", ()))]
    hashes = dict(zip(there, _hashes([path / name for name in there], [expected[name] for name in there]), strict=True))
    for name, entry in expected.items():
        if name not in found:
            wrong.append((f"{within}/{name}", "is missing"))
        elif (path / name).stat().st_size != entry["bytes"] or hashes.get(name, entry) != entry:
            wrong.append((f"{within}/{name}", "differs from its MANIFEST"))
    for name, digest in rewritten.items():
        if values.pop(name, None) != digest:
            wrong.append((f"{within}/{name}", "differs from its MANIFEST"))
    wrong += [(f"{within}/{name}", "is not in its MANIFEST") for name in values]
    if (path / _LOCK).exists() and (path / _LOCK).stat().st_size:
        wrong.append((f"{within}/{_LOCK}", "is not empty"))
    return wrong


def _hashes(files: Sequence[Path], like: Sequence[Mapping[str, Any]] = ()) -> list[dict[str, Any]]:
    """The MANIFEST's entry of each file, as those given; hashing needs no Python lock, so two are read at a time."""
    with ThreadPoolExecutor(2) as threads:
        return list(threads.map(_entry, files, like or [{}] * len(files)))


def _entry(file: Path, like: Mapping[str, Any]) -> dict[str, Any]:
    size = file.stat().st_size
    # most bytes of a store of few points were never written
    if size > PART and "sha256" not in like:  # which older manifests have of every file
        return {"sha256_of_parts": hash_blocks(file), "bytes": size}
    return {"sha256": file_hash(file), "bytes": size}


def _files(path: Path) -> list[str]:
    return [name for name in atomic.files(path) if name not in {_LOCK, "MANIFEST.json"} and not _is_rewritten(name)]


def _values(path: Path) -> dict[str, str]:
    """Hashes of what the files say that readers write again; empty for one that cannot be read."""
    found = {}
    for name in filter(_is_rewritten, atomic.files(path)):
        try:
            said = json.dumps(json.loads((path / name).read_bytes()), sort_keys=True)
        except ValueError:
            said = ""
        found[name] = said and hashlib.sha256(said.encode()).hexdigest()
    return found


def _is_rewritten(name: str) -> bool:
    return PurePosixPath(name).name == _REWRITTEN


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
