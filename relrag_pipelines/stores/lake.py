"""Parquet files, one per table, source and month, and beside them a manifest that tells what each was made from.

The private records lie under private/, everything else, redacted, under lake/. Files are sorted by their table's key,
so equal content gives equal bytes, and the hash of a file tells whether what depends on it is stale.
"""

from __future__ import annotations

import shutil
from collections.abc import Collection, Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from relrag_pipelines.errors import SafeError
from relrag_pipelines.files import sealed_json
from relrag_pipelines.files.atomic import replace_file, write_text
from relrag_pipelines.files.failpoints import failpoint
from relrag_pipelines.files.sealed_json import file_hash
from relrag_pipelines.records import SCHEMA_VERSION, TABLES, Table
from relrag_pipelines.stores import parquet_file, private_manifest, vault
from relrag_pipelines.stores.row_order import in_order
from relrag_pipelines.stores.table_schema import arrow_schema, conform

_ROW_GROUP = 50_000
DERIVED = tuple(name for name, table in TABLES.items() if f"lake/{name}/<source>/" in table.place)
"""tables with months under lake/"""
MONTHLY = ("private_records", *DERIVED)
"""tables with a manifest of months"""

_UNREADABLE = "cannot be read; `relrag verify --repair` makes it again"


class LakeError(SafeError):
    """The lake cannot be used as it is; the message says which part and what to do."""


@dataclass(frozen=True)
class InputFingerprint:
    """What a month of a table was made from."""

    input: str
    """hash of the inputs' hashes"""
    version: int
    """version of the stage that made it"""
    settings: str
    """the settings that matter to the stage, as fingerprint.py writes them"""


@dataclass(frozen=True)
class ManifestEntry:
    """A parquet file, as the manifest beside it knows it: that of a month, or of a table of the whole archive."""

    input: str
    version: int
    settings: str
    output: str
    """hash of the file's bytes"""
    rows: int
    bytes: int

    @property
    def stamp(self) -> InputFingerprint:
        """What it was made from."""
        return InputFingerprint(self.input, self.version, self.settings)


Manifest = dict[str, ManifestEntry]
"""month (YYYY-MM) -> entry"""


def folder(home: Path, table: str, source: str) -> Path:
    """Where the months of that table and source lie."""
    return home / "private" / "records" / source if table == "private_records" else home / "lake" / table / source


def manifest(home: Path, table: str, source: str) -> Manifest:
    """What is there and has the shape of today; private records of an older shape too: `read` gives them that of today.

    Raises LakeError where a newer relrag wrote it, or where it is damaged.
    """
    path = folder(home, table, source) / "MANIFEST.json"
    try:
        stored = sealed_json.read(path)
    except FileNotFoundError:
        return {}
    except sealed_json.UnusableFile as unusable:
        raise LakeError(f"{path} {unusable}") from None
    if stored["schema_version"] < TABLES[table].since and table != "private_records":
        return {}
    return {month: ManifestEntry(**entry) for month, entry in stored["months"].items()}


def has_old_schema(home: Path, source: str) -> bool:
    """Whether private records of that source were written in an older shape; those that can be are read again."""
    try:
        version = sealed_json.read(folder(home, "private_records", source) / "MANIFEST.json")["schema_version"]
    except (FileNotFoundError, sealed_json.UnusableFile):
        return False
    return bool(version < TABLES["private_records"].since)


def month_path(home: Path, table: str, source: str, month: str) -> Path:
    """The parquet file of one month."""
    return folder(home, table, source) / f"{month}.parquet"


def month_files(home: Path, table: str, source: str) -> dict[str, Path]:
    """Month -> its file, in order; only months that hold rows, since a month without rows has an entry and no file."""
    entries = sorted(manifest(home, table, source).items())
    return {month: month_path(home, table, source, month) for month, entry in entries if entry.rows}


def read(
    home: Path,
    table: str,
    source: str,
    month: str,
    columns: Sequence[str] | None = None,
    *,
    damaged: bool = False,
) -> pa.Table:
    """The rows of one month, all columns or some; an empty table where there are none.

    Raises LakeError where a file cannot be read, and where the manifest knows rows and the file is gone, unless
    `damaged` ones count as empty then.
    """
    path = month_path(home, table, source, month)
    if path.exists():
        try:
            return _read_rows(path, table, columns)
        except (pa.ArrowException, OSError):
            where = f"{table} of {source}, {month}"
            raise LakeError(f"{where}, {_UNREADABLE}") from None
    entry = manifest(home, table, source).get(month)
    if entry and entry.rows and not damaged:
        raise LakeError(f"{table} of {source}, {month}, is missing; `relrag sync --full` makes it again")
    empty = arrow_schema(TABLES[table].row).empty_table()
    return empty if columns is None else empty.select(columns)


def _read_rows(path: Path, table: str, columns: Sequence[str] | None) -> pa.Table:
    if columns is not None:
        return parquet_file.read(path, columns)
    if table == "private_records":
        return conform(parquet_file.read(path), TABLES[table].row)
    return parquet_file.read(path, schema=arrow_schema(TABLES[table].row))


def write(
    home: Path,
    table: str,
    source: str,
    months: Sequence[str],
    tables: Iterable[tuple[pa.Table, InputFingerprint | None]],
) -> Manifest:
    """Stores the tables of the given months, then their entries in the manifest; returns the entries.

    Rows are sorted here. A month without rows has an entry and no file; one without a stamp is removed. The entries are
    removed before the first file is replaced, so that after a kill no entry describes another file.
    """
    entries = manifest(home, table, source)
    other_entries = {month: entry for month, entry in entries.items() if month not in set(months)}
    if other_entries != entries:
        write_manifest(home, table, source, other_entries)
    written: Manifest = {}
    for month, (rows, stamp) in zip(months, tables, strict=True):
        if stamp is None:
            failpoint("lake.unlink", month_path(home, table, source, month))
            month_path(home, table, source, month).unlink(missing_ok=True)
        else:
            written[month] = _write(home, table, source, month, rows, stamp)
    write_manifest(home, table, source, {**other_entries, **written})
    return written


def sweep(home: Path) -> None:
    """Removes what a killed writer left: temporary files, files moved aside by an export, derived months without entry.

    Such a month is made again, or its records are gone and nothing else would remove it. A private one gets an entry:
    its rows are needed until its units have been read again, and if only the manifest was lost, nothing would read them
    again. The caller holds the writer's lock.
    """
    for leftover in [
        *(home / "private").rglob(".*.tmp"),
        *(home / "lake").rglob(".*.tmp"),
        *(home / "dagster").glob(".*.tmp"),
    ]:
        leftover.unlink()
    shutil.rmtree(home / "private" / "spill", ignore_errors=True)
    for source in sources(home):
        if unlisted := unlisted_months(home, source):
            recover_unlisted(home, source, sorted(unlisted))
        for table in DERIVED:
            entries = manifest(home, table, source)
            for path in folder(home, table, source).glob("*.parquet"):
                if path.stem not in entries:
                    failpoint("lake.unlink", path)
                    path.unlink()


def recover_unlisted(home: Path, source: str, months: Sequence[str]) -> list[str]:
    """Lists private months as they are, if they can be read and no manifest lists them; returns those.

    A manifest that is damaged is replaced by one of these months alone.
    """
    try:
        entries = manifest(home, "private_records", source)
    except LakeError:
        entries = {}
    recovered: Manifest = {}
    for month in sorted(set(months) - entries.keys()):
        try:
            rows = read(home, "private_records", source, month).num_rows
        except LakeError:
            continue
        path = month_path(home, "private_records", source, month)
        recovered[month] = ManifestEntry("", 0, "", file_hash(path), rows, path.stat().st_size)
    write_manifest(home, "private_records", source, {**entries, **recovered})
    return sorted(recovered)


def holds_private_id(home: Path, source: str, month: str, unit: str, asset_ids: pa.Array) -> bool:
    """Whether a unit has one of these records in a month; LakeError if it cannot be read.

    Which records are of the unit is read only where the month has one of them, which is rare.
    """
    there = pc.is_in(read(home, "private_records", source, month, ["asset_id"], damaged=True)["asset_id"], asset_ids)
    if not pc.any(there).as_py():
        return False
    units = read(home, "private_records", source, month, ["unit"], damaged=True)["unit"]
    return bool(pc.any(pc.and_(there, pc.equal(units, unit))).as_py())


def unlisted_months(home: Path, source: str) -> set[str]:
    """Private months that are there and in no manifest: a kill left them so."""
    there = {path.stem for path in folder(home, "private_records", source).glob("*.parquet")}
    return there - manifest(home, "private_records", source).keys()


def drop_outside(home: Path, source: str, first: str) -> None:
    """Removes what lies before the first month: it has no partition any more."""
    drop_derived(home, source, {month for table in DERIVED for month in manifest(home, table, source) if month < first})


def drop_derived(home: Path, source: str, months: Collection[str]) -> None:
    """Removes these months of everything that is made from the private records."""
    for table in DERIVED:
        drop(home, table, source, sorted(set(months) & manifest(home, table, source).keys()))
    vault.remove(home, source, months)


def drop(home: Path, table: str, source: str, months: Sequence[str]) -> None:
    """Removes months of a table."""
    if months:
        write(home, table, source, months, [(pa.table({}), None)] * len(months))


def sources(home: Path) -> set[str]:
    """Every source that anything is stored of."""
    units = {path.stem for path in (home / "private" / "units").glob("*.parquet")}
    folders = [home / "private" / "records", *(home / "lake").glob("*")]
    return units | {path.name for folder in folders if folder.is_dir() for path in folder.iterdir() if path.is_dir()}


def remove(home: Path, source: str) -> None:
    """Removes everything of a source that is no longer configured, private and redacted."""
    for table in ("private_records", *DERIVED):
        failpoint("lake.remove", folder(home, table, source))
        shutil.rmtree(folder(home, table, source), ignore_errors=True)
    for folder_of in ("raw", "mirror", "spill", "vault"):
        failpoint("lake.remove", home / "private" / folder_of / source)
        shutil.rmtree(home / "private" / folder_of / source, ignore_errors=True)
    # by its units it is known, so they go last
    files = [f"private/{name}/{source}.parquet" for name in ("failures", "threads", "units")]
    private_manifest.unexpect(home, files)
    for name in files:
        failpoint("lake.remove", home / name)
        (home / name).unlink(missing_ok=True)


def write_manifest(home: Path, table: str, source: str, entries: Manifest) -> None:
    body: dict[str, Any] = {
        "schema_version": SCHEMA_VERSION,
        "months": {month: asdict(entry) for month, entry in sorted(entries.items())},
    }
    write_text(folder(home, table, source) / "MANIFEST.json", sealed_json.seal(body))


def _write(home: Path, table: str, source: str, month: str, rows: pa.Table, stamp: InputFingerprint) -> ManifestEntry:
    path = month_path(home, table, source, month)
    if rows.num_rows == 0:
        failpoint("lake.unlink", path)
        path.unlink(missing_ok=True)
        return ManifestEntry(stamp.input, stamp.version, stamp.settings, "", 0, 0)
    return write_rows(path, TABLES[table], rows, stamp)


def write_rows(path: Path, declared: Table, rows: pa.Table, stamp: InputFingerprint) -> ManifestEntry:
    """Puts a parquet file in place, sorted by key, and returns its entry; ValueError for rows not as declared."""
    # cast, not validate: only a cast refuses a null in a column that must not be empty
    ordered = in_order(rows, declared.key).cast(arrow_schema(declared.row))
    with replace_file(path) as temporary:
        pq.write_table(ordered, temporary, compression="zstd", row_group_size=_ROW_GROUP, store_schema=False)
        output, size = file_hash(temporary), temporary.stat().st_size
    return ManifestEntry(stamp.input, stamp.version, stamp.settings, output, ordered.num_rows, size)
