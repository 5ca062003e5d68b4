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
    """The collections that have a folder."""
    root = home / FOLDER
    return sorted(path.name for path in root.iterdir() if path.is_dir()) if root.is_dir() else []


def current_folder(home: Path, collection: str) -> Path | None:
    """The folder of the index that is to be read; None where none was made."""
    try:
        number = int((folder(home, collection) / CURRENT).read_bytes())
    except (FileNotFoundError, ValueError):
        return None
    return folder(home, collection) / str(number)


def current_info(home: Path, collection: str) -> IndexInfo | None:
    """The description of the current index; None if there is none. LakeError if its manifest is damaged."""
    index_folder = current_folder(home, collection)
    if index_folder is None:
        return None
    try:
        body = sealed_json.read(index_folder / MANIFEST)
    except FileNotFoundError:
        return None
    except sealed_json.UnusableFile as unusable:
        raise LakeError(f"{index_folder / MANIFEST} {unusable}") from None
    stamp = InputFingerprint(**body["stamp"])
    return IndexInfo(int(index_folder.name), stamp, body["counts"], body["told"], body["files"])


def begin(home: Path, collection: str) -> Path:
    """An empty folder for the next index."""
    current = current_folder(home, collection)
    new_folder = folder(home, collection) / str(int(current.name) + 1 if current else 1)
    shutil.rmtree(new_folder, ignore_errors=True)
    make_private(new_folder)
    return new_folder


def finish(index_folder: Path, stamp: InputFingerprint, counts: Mapping[str, int], details: Mapping[str, Any]) -> None:
    """Makes the contents of a folder from `begin` the current index, and removes the previous one."""
    files = {path.name: file_hash(path) for path in sorted(index_folder.glob("*.parquet"))}
    body = {"stamp": asdict(stamp), "counts": dict(counts), "told": dict(details), "files": files}
    write_text(index_folder / MANIFEST, sealed_json.seal({"schema_version": SCHEMA_VERSION, **body}))
    sync_folder(index_folder)
    write_text(index_folder.parent / CURRENT, f"{index_folder.name}\n")
    _sweep(index_folder.parent)


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
    """(path within the home, fault) of every file that differs from its written state."""
    for name in collections(home):
        index_folder = current_folder(home, name)
        if index_folder is None:
            continue
        within = f"{FOLDER}/{name}/{index_folder.name}"
        try:
            files = sealed_json.read(index_folder / MANIFEST)["files"]
        except FileNotFoundError:
            yield f"{within}/{MANIFEST}", "is missing"
            continue
        except sealed_json.UnusableFile as unusable:
            yield f"{within}/{MANIFEST}", unusable.found
            continue
        for file, digest in files.items():
            if not (index_folder / file).exists():
                yield f"{within}/{file}", "is missing"
            elif file_hash(index_folder / file) != digest:
                yield f"{within}/{file}", "differs from its manifest"


def _sweep(collection_folder: Path) -> None:
    """Removes all indexes of a collection but the current one."""
    current = current_folder(collection_folder.parent.parent, collection_folder.name)
    for path in collection_folder.iterdir():
        if path.is_dir() and path != current:
            shutil.rmtree(path)
