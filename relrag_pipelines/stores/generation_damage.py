"""Finds what differs from a generation's manifest, here and on a server."""

from __future__ import annotations

from pathlib import Path

from relrag_pipelines.files import sealed_json
from relrag_pipelines.stores import retired_generations, vectors
from relrag_pipelines.stores.generations import LOCK, file_entries, list_files, manifest_values
from relrag_pipelines.stores.retired_generations import VECTORS


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
    unchecked = [(f"{within}/{name}", sealed_json.NO_MANIFEST) for name in (*list_files(path), *manifest_values(path))]
    try:
        manifest = sealed_json.read(path / "MANIFEST.json")
    except FileNotFoundError:
        return [(f"{within}/MANIFEST.json", "is missing"), *unchecked]
    except sealed_json.UnusableFile as unusable:
        return [(f"{within}/MANIFEST.json", unusable.found), *unchecked]
    expected, values = manifest["files"], manifest_values(path)
    # manifests of before spans have segment.json among the files: its order varies only where it names two vectors
    found = {*list_files(path), *(expected.keys() & values.keys())}
    rewritten = manifest.get("rewritten", dict(values))  # the first manifests did not list them
    wrong = [(f"{within}/{name}", "is not in its MANIFEST") for name in sorted(found - expected.keys())]
    there = [name for name in expected if name in found and (carried or name not in manifest.get("carried", ()))]
    hashes = dict(
        zip(there, file_entries([path / name for name in there], [expected[name] for name in there]), strict=True)
    )
    for name, entry in expected.items():
        if name not in found:
            wrong.append((f"{within}/{name}", "is missing"))
        elif (path / name).stat().st_size != entry["bytes"] or hashes.get(name, entry) != entry:
            wrong.append((f"{within}/{name}", "differs from its MANIFEST"))
    for name, digest in rewritten.items():
        if values.pop(name, None) != digest:
            wrong.append((f"{within}/{name}", "differs from its MANIFEST"))
    wrong += [(f"{within}/{name}", "is not in its MANIFEST") for name in sorted(values.keys() - expected.keys())]
    if (path / LOCK).exists() and (path / LOCK).stat().st_size:
        wrong.append((f"{within}/{LOCK}", "is not empty"))
    return wrong
