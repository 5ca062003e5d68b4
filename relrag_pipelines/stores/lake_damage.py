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
    """Differences between the month files of a source and their manifests, one line each; empty if all are intact."""
    return [f"{name} {fault}" for table in MONTHLY for name, fault in damage(home, table, source)]


def damage(home: Path, table: str, source: str) -> list[tuple[str, str]]:
    """(path within the home, fault) of every file of a table and source that differs from its written state."""
    table_folder = folder(home, table, source)
    within = table_folder.relative_to(home).as_posix()
    months = {path.stem for path in table_folder.glob("*.parquet")}
    unchecked = [(f"{within}/{month}.parquet", sealed_json.NO_MANIFEST) for month in sorted(months)]
    try:
        stored = sealed_json.read(table_folder / "MANIFEST.json")
    except FileNotFoundError:
        return [(f"{within}/MANIFEST.json", "is missing"), *unchecked] if months else []
    except sealed_json.UnusableFile as unusable:
        return [(f"{within}/MANIFEST.json", unusable.found), *unchecked]
    entries = {month: ManifestEntry(**entry) for month, entry in stored["months"].items()}
    faults = [
        (month, _damage(home, table, source, month, entries.get(month))) for month in sorted(months | entries.keys())
    ]
    return [(f"{within}/{month}.parquet", fault) for month, fault in faults if fault]


def _damage(home: Path, table: str, source: str, month: str, entry: ManifestEntry | None) -> str:
    path = month_path(home, table, source, month)
    if entry is None or not entry.rows:
        return "is not in its manifest" if path.exists() else ""
    if not path.exists():
        return "is missing"
    return "" if file_hash(path) == entry.output else "differs from its manifest"
