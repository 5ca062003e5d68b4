"""Parquet files, one per table, source and month, and beside them a manifest that tells what each was made from.

The private records lie under private/, everything else, redacted, under lake/. Files are sorted by their table's key,
so equal content gives equal bytes, and the hash of a file tells whether what depends on it is stale.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from relrag_pipelines.records import SCHEMA_VERSION, TABLES, arrow_schema
from relrag_pipelines.stores.atomic import replacing, write_text

_ROW_GROUP = 50_000


class LakeError(Exception):
    """The lake cannot be used as it is; the message says which part and what to do."""


@dataclass(frozen=True)
class Stamp:
    """What a month of a table was made from."""

    input: str
    """hash of the inputs' hashes"""
    version: int
    """version of the stage that made it"""
    settings: str
    """hash of the settings that matter to the stage"""


@dataclass(frozen=True)
class Entry:
    """One month of one table of one source, as the manifest knows it."""

    input: str
    version: int
    settings: str
    output: str
    """hash of the file's bytes"""
    rows: int
    bytes: int

    @property
    def stamp(self) -> Stamp:
        """What it was made from."""
        return Stamp(self.input, self.version, self.settings)


Manifest = dict[str, Entry]
"""month (YYYY-MM) -> entry"""


def folder(home: Path, table: str, source: str) -> Path:
    """Where the months of that table and source lie."""
    return home / "private" / "records" / source if table == "private_records" else home / "lake" / table / source


def manifest(home: Path, table: str, source: str) -> Manifest:
    """What is there; LakeError where a newer relrag wrote it."""
    path = folder(home, table, source) / "MANIFEST.json"
    try:
        stored = json.loads(path.read_text())
    except FileNotFoundError:
        return {}
    if stored["schema_version"] > SCHEMA_VERSION:
        raise LakeError(
            f"{path.parent} was written by a newer relrag (schema {stored['schema_version']}, this one knows "
            f"{SCHEMA_VERSION}); install that version"
        )
    if stored["schema_version"] < SCHEMA_VERSION:
        return {}
    return {month: Entry(**entry) for month, entry in stored["months"].items()}


def month_path(home: Path, table: str, source: str, month: str) -> Path:
    """The parquet file of one month."""
    return folder(home, table, source) / f"{month}.parquet"


def read(home: Path, table: str, source: str, month: str) -> pa.Table:
    """The rows of one month; an empty table where there are none."""
    schema = arrow_schema(TABLES[table].row)
    path = month_path(home, table, source, month)
    if not path.exists():
        return schema.empty_table()
    return pq.read_table(path, schema=schema, partitioning=None)


def write(home: Path, table: str, source: str, months: Iterable[tuple[str, pa.Table, Stamp | None]]) -> Manifest:
    """Puts the given months in place and then their entries into the manifest.

    Rows are sorted here. A month without rows has an entry and no file; one without a stamp is removed. A kill between
    file and manifest leaves the month stale, so it is made again.
    """
    entries = manifest(home, table, source)
    written: Manifest = {}
    for month, rows, stamp in months:
        if stamp is None:
            month_path(home, table, source, month).unlink(missing_ok=True)
            entries.pop(month, None)
        else:
            written[month] = _write_month(home, table, source, month, rows, stamp)
    body: dict[str, Any] = {
        "schema_version": SCHEMA_VERSION,
        "months": {month: asdict(entry) for month, entry in sorted({**entries, **written}.items())},
    }
    write_text(folder(home, table, source) / "MANIFEST.json", json.dumps(body, indent=1) + "\n")
    return written


def verify(home: Path, source: str) -> list[str]:
    """What differs between the month files of a source and their manifests, a line each; empty when all is true."""
    wrong = []
    for table in ("private_records", *(name for name, declared in TABLES.items() if "lake/" in declared.place)):
        entries = manifest(home, table, source)
        there = {path.stem for path in folder(home, table, source).glob("*.parquet")}
        expected = {month for month, entry in entries.items() if entry.rows}
        for month in sorted(there | expected):
            name = month_path(home, table, source, month).relative_to(home).as_posix()
            if month not in expected:
                wrong.append(f"{name} is not in its manifest")
            elif month not in there:
                wrong.append(f"{name} is missing")
            elif file_hash(home / name) != entries[month].output:
                wrong.append(f"{name} differs from its manifest")
    return wrong


def remove(home: Path, source: str) -> None:
    """Removes everything of a source that is no longer configured, private and redacted."""
    for table in TABLES:
        shutil.rmtree(folder(home, table, source), ignore_errors=True)


def file_hash(path: Path) -> str:
    """Hash of a file's bytes, hex."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _write_month(home: Path, table: str, source: str, month: str, rows: pa.Table, stamp: Stamp) -> Entry:
    declared = TABLES[table]
    path = month_path(home, table, source, month)
    if rows.num_rows == 0:
        path.unlink(missing_ok=True)
        return Entry(stamp.input, stamp.version, stamp.settings, "", 0, 0)
    # cast, not validate: only a cast refuses a null in a column that must not be empty
    ordered = rows.sort_by([(name, "ascending") for name in declared.key]).cast(arrow_schema(declared.row))
    with replacing(path) as beside:
        pq.write_table(ordered, beside, compression="zstd", row_group_size=_ROW_GROUP, store_schema=False)
        output, size = file_hash(beside), beside.stat().st_size
    return Entry(stamp.input, stamp.version, stamp.settings, output, ordered.num_rows, size)
