"""Finds what differs from a generation's manifest, here and on a server."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from relrag_pipelines.files import sealed_json
from relrag_pipelines.stores import retired_generations, vector_store
from relrag_pipelines.stores.generations import LOCK, file_entries, list_files, manifest_values
from relrag_pipelines.stores.retired_generations import VECTORS
from relrag_pipelines.stores.vectors.collection_ref import CollectionRef


def on_server(home: Path, number: int) -> CollectionRef | None:
    """Where a generation has its vectors, if on a server and if that can be told."""
    return retired_generations.on_server(home / "published" / str(number))


def missing_on_servers(home: Path, number: int) -> str:
    """What a generation lacks on a server; empty where it has all. Raises StoreError where that cannot be asked."""
    return vector_store.missing_parts(home / "published" / str(number) / VECTORS)


def verify(home: Path, number: int, *, carried: bool = True) -> list[str]:
    """Differences between a generation's files and its MANIFEST, one line each; empty if it is intact.

    Without `carried`, files that were not written for this generation are not read.
    """
    return [f"{name} {fault}" for name, fault in damage(home, number, carried=carried)]


def damage(home: Path, number: int, *, carried: bool = True) -> list[tuple[str, str]]:
    """(path within the home, fault) of every file of a generation that differs from its published state."""
    path, within = home / "published" / str(number), f"published/{number}"
    unchecked = [(f"{within}/{name}", sealed_json.NO_MANIFEST) for name in (*list_files(path), *manifest_values(path))]
    try:
        manifest = sealed_json.read(path / "MANIFEST.json")
    except FileNotFoundError:
        return [(f"{within}/MANIFEST.json", "is missing"), *unchecked]
    except sealed_json.UnusableFile as unusable:
        return [(f"{within}/MANIFEST.json", unusable.found), *unchecked]
    faults = [*_file_faults(path, manifest, carried=carried), *_value_faults(path, manifest)]
    if (path / LOCK).exists() and (path / LOCK).stat().st_size:
        faults.append((LOCK, "is not empty"))
    return [(f"{within}/{name}", fault) for name, fault in faults]


def _file_faults(path: Path, manifest: Mapping[str, Any], *, carried: bool) -> list[tuple[str, str]]:
    """(name, fault) of the files that are never rewritten; without `carried`, those of others aren't read."""
    expected = manifest["files"]
    # manifests before spans have segment.json among the files: its order varies only where it names two vectors
    present = {*list_files(path), *(expected.keys() & manifest_values(path).keys())}
    faults = [(name, "is not in its MANIFEST") for name in sorted(present - expected.keys())]
    skipped = () if carried else manifest.get("carried", ())
    names = [name for name in expected if name in present and name not in skipped]
    entries = file_entries([path / name for name in names], [expected[name] for name in names])
    hashes = dict(zip(names, entries, strict=True))
    for name, entry in expected.items():
        if name not in present:
            faults.append((name, "is missing"))
        elif (path / name).stat().st_size != entry["bytes"] or hashes.get(name, entry) != entry:
            faults.append((name, "differs from its MANIFEST"))
    return faults


def _value_faults(path: Path, manifest: Mapping[str, Any]) -> list[tuple[str, str]]:
    """(name, fault) of the files that readers rewrite, whose values are compared."""
    values = manifest_values(path)
    rewritten = manifest.get("rewritten", dict(values))  # the first manifests did not list them
    faults = [
        (name, "differs from its MANIFEST") for name, digest in rewritten.items() if values.pop(name, None) != digest
    ]
    return faults + [(name, "is not in its MANIFEST") for name in sorted(values.keys() - manifest["files"].keys())]
