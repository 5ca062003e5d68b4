"""Parquet files, one per table, source and month, and beside them a manifest that tells what each was made from.

The private records lie under private/, everything else, redacted, under lake/. Files are sorted by their table's key,
so equal content gives equal bytes, and the hash of a file tells whether what depends on it is stale.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Collection, Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from relrag_pipelines.records import SCHEMA_VERSION, TABLES, arrow_schema
from relrag_pipelines.stores.atomic import replacing, write_text
from relrag_pipelines.stores.failpoints import failpoint

_ROW_GROUP = 50_000
_DERIVED = tuple(name for name, table in TABLES.items() if "lake/" in table.place)
"""tables with months under lake/"""


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


def read(home: Path, table: str, source: str, month: str, *, damaged: bool = False) -> pa.Table:
    """The rows of one month; an empty table where there are none.

    Raises LakeError where the manifest knows rows and the file is gone, unless `damaged` ones count as empty.
    """
    schema = arrow_schema(TABLES[table].row)
    path = month_path(home, table, source, month)
    if path.exists():
        return pq.read_table(path, schema=schema, partitioning=None)
    entry = manifest(home, table, source).get(month)
    if entry and entry.rows and not damaged:
        raise LakeError(f"{table} of {source}, {month}, is missing; `relrag sync --full` makes it again")
    return schema.empty_table()


def write(
    home: Path, table: str, source: str, months: Sequence[str], made: Iterable[tuple[pa.Table, Stamp | None]]
) -> Manifest:
    """Puts what is made of the given months in place, then their entries into the manifest; returns these.

    Rows are sorted here. A month without rows has an entry and no file; one without a stamp is removed. The entries
    go before the first file is replaced: after a kill no entry describes a file that is not the one it was made for.
    """
    entries = manifest(home, table, source)
    kept = {month: entry for month, entry in entries.items() if month not in set(months)}
    if kept != entries:
        _write_manifest(home, table, source, kept)
    written: Manifest = {}
    for month, (rows, stamp) in zip(months, made, strict=True):
        if stamp is None:
            failpoint("lake.unlink", month_path(home, table, source, month))
            month_path(home, table, source, month).unlink(missing_ok=True)
        else:
            written[month] = _write_month(home, table, source, month, rows, stamp)
    _write_manifest(home, table, source, {**kept, **written})
    return written


def drop_damaged(home: Path, source: str) -> None:
    """Takes the entries of files that are not as written out of the manifests, so that they are made again."""
    for table in _DERIVED:
        entries = manifest(home, table, source)
        sound = {month: entry for month, entry in entries.items() if not _damage(home, table, source, month, entry)}
        if sound != entries:
            _write_manifest(home, table, source, sound)


def sweep(home: Path) -> None:
    """Removes what a killed writer left: files written beside, and derived months without an entry.

    Such a month is made again, or its records are gone and nothing else would ever remove it. A private one stays: its
    rows are needed until its units have been read again. Only who holds the writer's lock may sweep.
    """
    for part in ("private", "lake"):
        for left in (home / part).rglob(".*.tmp"):
            left.unlink()
    for table in _DERIVED:
        for source in sources(home):
            known = manifest(home, table, source)
            for path in folder(home, table, source).glob("*.parquet"):
                if path.stem not in known:
                    failpoint("lake.unlink", path)
                    path.unlink()


def drop_outside(home: Path, source: str, first: str) -> None:
    """Removes what lies before the first month: it has no partition any more."""
    drop(home, source, {month for table in _DERIVED for month in manifest(home, table, source) if month < first})


def drop(home: Path, source: str, months: Collection[str]) -> None:
    """Removes these months of everything that is made from the private records."""
    for table in _DERIVED:
        if there := sorted(set(months) & manifest(home, table, source).keys()):
            write(home, table, source, there, [(pa.table({}), None)] * len(there))


def sources(home: Path) -> set[str]:
    """Every source that anything is stored of."""
    units = {path.stem for path in (home / "private" / "units").glob("*.parquet")}
    folders = [home / "private" / "records", *(home / "lake").glob("*")]
    return units | {path.name for folder in folders if folder.is_dir() for path in folder.iterdir() if path.is_dir()}


def verify(home: Path, source: str) -> list[str]:
    """What differs between the month files of a source and their manifests, a line each; empty when all is true."""
    wrong = []
    for table in ("private_records", *_DERIVED):
        entries = manifest(home, table, source)
        there = {path.stem for path in folder(home, table, source).glob("*.parquet")}
        for month in sorted(there | entries.keys()):
            name = month_path(home, table, source, month).relative_to(home).as_posix()
            if found := _damage(home, table, source, month, entries.get(month)):
                wrong.append(f"{name} {found}")
    return wrong


def remove(home: Path, source: str) -> None:
    """Removes everything of a source that is no longer configured, private and redacted."""
    for table in ("private_records", *_DERIVED):
        failpoint("lake.remove", folder(home, table, source))
        shutil.rmtree(folder(home, table, source), ignore_errors=True)
    for kept in ("units", "failures"):
        failpoint("lake.remove", home / "private" / kept)
        (home / "private" / kept / f"{source}.parquet").unlink(missing_ok=True)


def _damage(home: Path, table: str, source: str, month: str, entry: Entry | None) -> str:
    path = month_path(home, table, source, month)
    if entry is None or not entry.rows:
        return "is not in its manifest" if path.exists() else ""
    if not path.exists():
        return "is missing"
    return "" if file_hash(path) == entry.output else "differs from its manifest"


def _write_manifest(home: Path, table: str, source: str, entries: Manifest) -> None:
    body: dict[str, Any] = {
        "schema_version": SCHEMA_VERSION,
        "months": {month: asdict(entry) for month, entry in sorted(entries.items())},
    }
    write_text(folder(home, table, source) / "MANIFEST.json", json.dumps(body, indent=1) + "\n")


def file_hash(path: Path) -> str:
    """Hash of a file's bytes, hex."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _write_month(home: Path, table: str, source: str, month: str, rows: pa.Table, stamp: Stamp) -> Entry:
    declared = TABLES[table]
    path = month_path(home, table, source, month)
    if rows.num_rows == 0:
        failpoint("lake.unlink", path)
        path.unlink(missing_ok=True)
        return Entry(stamp.input, stamp.version, stamp.settings, "", 0, 0)
    # cast, not validate: only a cast refuses a null in a column that must not be empty
    ordered = rows.sort_by([(name, "ascending") for name in declared.key]).cast(arrow_schema(declared.row))
    with replacing(path) as beside:
        pq.write_table(ordered, beside, compression="zstd", row_group_size=_ROW_GROUP, store_schema=False)
        output, size = file_hash(beside), beside.stat().st_size
    return Entry(stamp.input, stamp.version, stamp.settings, output, ordered.num_rows, size)
