"""GraphRAG indexes of this archive: graphrag/<collection>/<N>/ with its tables as parquet, and `current`, naming N.

An index is written beside the one that is read and becomes current by one rename; then the other one goes. Readers load
it whole, so they hold nothing. What a language model was paid for lies beside them, for all
collections (model_answers.py).
"""

from __future__ import annotations

import shutil
from collections.abc import Collection, Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from relrag_pipelines.files import sealed_json
from relrag_pipelines.files.atomic import make_private, sync_folder, write_text
from relrag_pipelines.files.failpoints import failpoint
from relrag_pipelines.files.sealed_json import file_hash
from relrag_pipelines.records import SCHEMA_VERSION
from relrag_pipelines.stores.lake import InputFingerprint, LakeError

FOLDER, CURRENT, MANIFEST = "graphrag", "current", "MANIFEST.json"


@dataclass(frozen=True)
class IndexInfo:
    """What the manifest of an index says."""

    number: int
    stamp: InputFingerprint
    counts: dict[str, int]
    """rows by table"""
    figures: dict[str, Any]
    """what it took: figures"""
    files: dict[str, str]
    """hash of each file"""

    @property
    def pending(self) -> int:
        """Passages that a language model was not asked about, because the budget ended or the service failed."""
        return int(self.figures.get("pending", 0))


def folder(home: Path, collection: str) -> Path:
    """Where the indexes of a collection lie."""
    return home / FOLDER / collection


def collections(home: Path) -> list[str]:
    """The collections of which something lies there."""
    place = home / FOLDER
    return sorted(one.name for one in place.iterdir() if one.is_dir()) if place.is_dir() else []


def current_folder(home: Path, collection: str) -> Path | None:
    """The folder of the index that is to be read; None where none was made."""
    try:
        number = int((folder(home, collection) / CURRENT).read_bytes())
    except (FileNotFoundError, ValueError):
        return None
    return folder(home, collection) / str(number)


def current_info(home: Path, collection: str) -> IndexInfo | None:
    """What is known of the current index; None where none was made. LakeError where its manifest is damaged."""
    place = current_folder(home, collection)
    if place is None:
        return None
    try:
        body = sealed_json.read(place / MANIFEST)
    except FileNotFoundError:
        return None
    except sealed_json.UnusableFile as unusable:
        raise LakeError(f"{place / MANIFEST} {unusable}") from None
    stamp = InputFingerprint(**body["stamp"])
    return IndexInfo(int(place.name), stamp, body["counts"], body["told"], body["files"])


def begin(home: Path, collection: str) -> Path:
    """An empty folder for the next index."""
    before = current_folder(home, collection)
    place = folder(home, collection) / str(int(before.name) + 1 if before else 1)
    shutil.rmtree(place, ignore_errors=True)
    make_private(place)
    return place


def finish(place: Path, stamp: InputFingerprint, counts: Mapping[str, int], told: Mapping[str, Any]) -> None:
    """Makes what was written into a folder that `begin` gave the current index, and removes the one before."""
    files = {path.name: file_hash(path) for path in sorted(place.glob("*.parquet"))}
    body = {"stamp": asdict(stamp), "counts": dict(counts), "told": dict(told), "files": files}
    write_text(place / MANIFEST, sealed_json.seal({"schema_version": SCHEMA_VERSION, **body}))
    sync_folder(place)
    write_text(place.parent / CURRENT, f"{place.name}\n")
    _sweep(place.parent)


def drop(home: Path, keep: Collection[str] = ()) -> None:
    """Removes the indexes of all collections but those to be kept; never what a model was paid for."""
    for name in collections(home):
        if name not in keep:
            failpoint("graphrag.drop", folder(home, name))
            (folder(home, name) / CURRENT).unlink(missing_ok=True)
            shutil.rmtree(folder(home, name))


def sweep(home: Path, keep: Collection[str]) -> None:
    """Removes the indexes of collections that are not to be kept, and what killed writers left."""
    drop(home, keep)
    for name in collections(home):
        _sweep(folder(home, name))


def drop_damaged(home: Path) -> None:
    """Removes the indexes of which a file is not as it was written, to be made again."""
    drop(home, {*collections(home)} - {path.split("/")[1] for path, _ in damage(home)})


def damage(home: Path) -> Iterator[tuple[str, str]]:
    """(path within the home, what is wrong with it) of every file that is not as it was written."""
    for name in collections(home):
        place = current_folder(home, name)
        if place is None:
            continue
        within = f"{FOLDER}/{name}/{place.name}"
        try:
            files = sealed_json.read(place / MANIFEST)["files"]
        except FileNotFoundError:
            yield f"{within}/{MANIFEST}", "is missing"
            continue
        except sealed_json.UnusableFile as unusable:
            yield f"{within}/{MANIFEST}", unusable.found
            continue
        for file, known in files.items():
            if not (place / file).exists():
                yield f"{within}/{file}", "is missing"
            elif file_hash(place / file) != known:
                yield f"{within}/{file}", "differs from its manifest"


def _sweep(place: Path) -> None:
    """Removes all indexes of a collection but the current one."""
    number = current_folder(place.parent.parent, place.name)
    for one in place.iterdir():
        if one.is_dir() and one != number:
            shutil.rmtree(one)
