"""Tables of the whole archive: one parquet file each, lake/<table>/archive.parquet, and a sealed manifest beside it.

What `lake` keeps by source and month these keep once for all sources; an entry says the same of either.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict
from pathlib import Path

import pyarrow as pa

from relrag_pipelines.files import sealed_json
from relrag_pipelines.files.atomic import write_text
from relrag_pipelines.files.failpoints import failpoint
from relrag_pipelines.files.sealed_json import file_hash
from relrag_pipelines.records import JOINED, SCHEMA_VERSION, TABLES
from relrag_pipelines.stores import lake, parquet_file
from relrag_pipelines.stores.lake import InputFingerprint, LakeError, ManifestEntry
from relrag_pipelines.stores.table_schema import arrow_schema

FILE, MANIFEST = "archive.parquet", "MANIFEST.json"
NAMES = tuple(name for name, table in TABLES.items() if f"lake/{name}/{FILE}" in table.place)
"""tables of the whole archive"""
AS_FILE = "published/<N>/<table>.parquet"
"""the place of a table that lies in each generation as a parquet file"""
PUBLISHED = tuple(name for name in NAMES if {"catalog", AS_FILE, JOINED} & {*TABLES[name].place.split(", ")})
"""those that a generation is made from: it holds them in its catalog or as a file, or what is joined with them"""


def path(home: Path, table: str) -> Path:
    """The table's parquet file."""
    return home / "lake" / table / FILE


def entry(home: Path, table: str) -> ManifestEntry | None:
    """The manifest's entry of a table; None if the table doesn't exist, or has an older schema.

    Raises LakeError where a newer relrag wrote it, or where the manifest is damaged.
    """
    manifest_path = path(home, table).with_name(MANIFEST)
    try:
        stored = sealed_json.read(manifest_path)
    except FileNotFoundError:
        return None
    except sealed_json.UnusableFile as unusable:
        raise LakeError(f"{manifest_path} {unusable}") from None
    return None if stored["schema_version"] < TABLES[table].since else ManifestEntry(**stored["file"])


def read(home: Path, table: str) -> pa.Table:
    """The rows of a table, which was made; LakeError where it cannot be read."""
    try:
        return parquet_file.read(path(home, table), schema=arrow_schema(TABLES[table].row))
    except (pa.ArrowException, OSError):
        raise LakeError(f"{table} cannot be read; `relrag verify --repair` makes it again") from None


def write(home: Path, tables: Mapping[str, pa.Table], stamp: InputFingerprint) -> dict[str, ManifestEntry]:
    """Stores the tables that one stage produced and returns their entries; a table without rows has a file too.

    All entries are removed before the first file is replaced, so that after a kill no entry describes another file.
    """
    for table in tables:
        _remove(path(home, table).with_name(MANIFEST))
    entries = {table: lake.write_rows(path(home, table), TABLES[table], rows, stamp) for table, rows in tables.items()}
    for table, entry_ in entries.items():
        body = {"schema_version": SCHEMA_VERSION, "file": asdict(entry_)}
        write_text(path(home, table).with_name(MANIFEST), sealed_json.seal(body))
    return entries


def drop(home: Path, tables: Iterable[str] = NAMES) -> None:
    """Removes tables, their entries first."""
    for table in tables:
        for name in (MANIFEST, FILE):
            _remove(path(home, table).with_name(name))


def sweep(home: Path) -> None:
    """Removes the tables that no entry describes: a killed writer left them."""
    drop(home, [table for table in NAMES if path(home, table).exists() and entry(home, table) is None])


def drop_damaged(home: Path) -> None:
    """Removes what is not as it was written, to be made again."""
    drop(home, [table for table in NAMES if any(_damage(home, table))])


def damage(home: Path) -> Iterator[tuple[str, str]]:
    """(path within the home, what is wrong with it) of every file that is not as it was written."""
    for table in NAMES:
        for name, wrong in _damage(home, table):
            yield f"lake/{table}/{name}", wrong


def _damage(home: Path, table: str) -> Iterator[tuple[str, str]]:
    file = path(home, table)
    try:
        stored = ManifestEntry(**sealed_json.read(file.with_name(MANIFEST))["file"])
    except FileNotFoundError:
        if file.exists():
            yield from ((MANIFEST, "is missing"), (FILE, sealed_json.NO_MANIFEST))
        return
    except sealed_json.UnusableFile as unusable:
        yield from ((MANIFEST, unusable.found), (FILE, sealed_json.NO_MANIFEST))
        return
    if not file.exists():
        yield FILE, "is missing"
    elif file_hash(file) != stored.output:
        yield FILE, "differs from its manifest"


def _remove(file: Path) -> None:
    failpoint("lake.unlink", file)
    file.unlink(missing_ok=True)
