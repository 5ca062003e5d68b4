"""Removes generations: their folders under published/, and their points on a server.

A folder is renamed first, so that no reader finds half a generation. While a server cannot be asked, so much of the
folder stays as names what is still there; every sync tries again.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from relrag_pipelines.files.failpoints import failpoint
from relrag_pipelines.stores import vector_store
from relrag_pipelines.stores.vectors.collection_ref import CollectionRef
from relrag_pipelines.stores.vectors.protocol import StoreError

VECTORS = "vectors"
"""the folder of a generation that holds its vectors, or says where they are"""


def hide(path: Path) -> None:
    """Takes a generation's folder out of sight."""
    there = path.with_name(f".{path.name}.removed")
    if there.exists() or not path.name.isdigit():
        # an earlier one of that number waits for its server, or it never had one
        there = path.with_name(f".{time.time_ns()}.removed")
    path.replace(there)


def remove(home: Path, retained: Sequence[int]) -> None:
    """Removes retired generations, except for the vectors on a server that they share with the `retained` numbers."""
    sharing = [home / "published" / str(number) / VECTORS for number in retained]
    for retired in _put_away(home):
        failpoint("generation.remove", retired)
        if on_server(retired):
            try:
                vector_store.delete_remote(retired / VECTORS, sharing)
            except (StoreError, ValueError):
                _remove_all_but_vectors(retired)
                continue
        shutil.rmtree(retired, ignore_errors=True)


def on_server(path: Path) -> CollectionRef | None:
    """Where the generation in that folder has its vectors, if on a server and if that can be told."""
    try:
        return vector_store.collection(path / VECTORS)
    except ValueError:
        return None


def describe_remote_leftovers(home: Path) -> list[str]:
    """What removed generations still have on a server, in words."""
    return sorted(str(there) for path in _put_away(home) if (there := on_server(path)))


def adopt_remote(former: Path, home: Path) -> None:
    """Lets a home that takes the place of another remove what that one has on a server."""
    for vectors_path in sorted((former / "published").glob(f"*/{VECTORS}")):  # those that were put away too
        if on_server(vectors_path.parent):
            shutil.copytree(vectors_path, home / "published" / f".{time.time_ns()}.removed" / VECTORS)


def _put_away(home: Path) -> Iterator[Path]:
    return (home / "published").glob(".*.removed")


def _remove_all_but_vectors(doomed: Path) -> None:
    for entry in list(doomed.iterdir()):
        if entry.is_dir() and entry.name != VECTORS:
            shutil.rmtree(entry)
        elif not entry.is_dir():
            entry.unlink()
