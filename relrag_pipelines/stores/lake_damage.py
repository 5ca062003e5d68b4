"""Finds what differs from the lake's manifests."""

from __future__ import annotations

from pathlib import Path

from relrag_pipelines.files import sealed_json
from relrag_pipelines.files.sealed_json import file_hash
from relrag_pipelines.stores.lake import DERIVED, MONTHLY, ManifestEntry, folder, manifest, month_path, write_manifest


def drop_damaged(home: Path, source: str) -> None:
    """Takes the entries of files that are not as written out of the manifests, so that they are made again."""
    for table in DERIVED:
        entries = manifest(home, table, source)
        sound = {month: entry for month, entry in entries.items() if not _damage(home, table, source, month, entry)}
        if sound != entries:
            write_manifest(home, table, source, sound)


def verify(home: Path, source: str) -> list[str]:
    """What differs between the month files of a source and their manifests, a line each; empty when all is true."""
    return [f"{name} {found}" for table in MONTHLY for name, found in damage(home, table, source)]


def damage(home: Path, table: str, source: str) -> list[tuple[str, str]]:
    """(path within the home, what is wrong with it) of every file of a table and source that is not as written."""
    place = folder(home, table, source)
    within = place.relative_to(home).as_posix()
    there = {path.stem for path in place.glob("*.parquet")}
    unchecked = [(f"{within}/{month}.parquet", sealed_json.NO_MANIFEST) for month in sorted(there)]
    try:
        stored = sealed_json.read(place / "MANIFEST.json")
    except FileNotFoundError:
        return [(f"{within}/MANIFEST.json", "is missing"), *unchecked] if there else []
    except sealed_json.UnusableFile as unusable:
        return [(f"{within}/MANIFEST.json", unusable.found), *unchecked]
    entries = {month: ManifestEntry(**entry) for month, entry in stored["months"].items()}
    found = [
        (month, _damage(home, table, source, month, entries.get(month))) for month in sorted(there | entries.keys())
    ]
    return [(f"{within}/{month}.parquet", wrong) for month, wrong in found if wrong]


def _damage(home: Path, table: str, source: str, month: str, entry: ManifestEntry | None) -> str:
    path = month_path(home, table, source, month)
    if entry is None or not entry.rows:
        return "is not in its manifest" if path.exists() else ""
    if not path.exists():
        return "is missing"
    return "" if file_hash(path) == entry.output else "differs from its manifest"
