"""What pseudonyms stand for, encrypted: `private/vault/<source>/<YYYY-MM>.parquet`, and who had it revealed.

A month's file is written with its redacted records and goes with them, so a value is in the vault as long as a record
holds it. Each row is a pseudonym and the value, sealed under the archive's keys, which lie elsewhere.
`private/reveals.jsonl` is only ever added to: when, who, why and what was asked for; never what was shown.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

import orjson

from relrag_pipelines.errors import SafeError
from relrag_pipelines.files import access
from relrag_pipelines.files.atomic import make_private, replace_file
from relrag_pipelines.files.failpoints import failpoint
from relrag_pipelines.stores import private_manifest

if TYPE_CHECKING:
    import pyarrow as pa

REVEALS = "private/reveals.jsonl"

_COLUMNS = ["pseudonym", "sealed"]
_DAMAGED = "cannot be read"


class VaultError(SafeError):
    """Something cannot be revealed; the message says why."""


def folder(home: Path, source: str) -> Path:
    """Where the files of a source are."""
    return home / "private" / "vault" / source


def write(home: Path, source: str, month: str, sealed: Mapping[str, bytes]) -> None:
    """Stores the sealed values of a month by pseudonym; removes the file if there are none."""
    path = folder(home, source) / f"{month}.parquet"
    if not sealed:
        failpoint("vault.unlink", path)
        path.unlink(missing_ok=True)
        return
    import pyarrow as pa

    rows = sorted(sealed.items())
    table = pa.table({"pseudonym": [name for name, _ in rows], "sealed": [value for _, value in rows]})
    with replace_file(path) as temporary:
        temporary.write_bytes(_encode(table))


def remove(home: Path, source: str, months: Collection[str]) -> None:
    """Removes months of a source."""
    for month in months:
        write(home, source, month, {})


def read(home: Path, pseudonyms: Collection[str]) -> dict[str, bytes]:
    """The sealed values of those of the pseudonyms that have one."""
    import pyarrow as pa
    import pyarrow.compute as pc

    sealed: dict[str, bytes] = {}
    missing = set(pseudonyms)
    for path in _files(home):
        if missing <= sealed.keys():
            break
        table = _readable(home, path)
        rows = table.filter(pc.is_in(table["pseudonym"], pa.array(sorted(missing)))).to_pydict()
        sealed |= dict(zip(rows["pseudonym"], rows["sealed"], strict=True))
    return sealed


def read_all(home: Path) -> Iterator[tuple[str, bytes]]:
    """Every pseudonym with its sealed value, month by month; VaultError where a file cannot be read."""
    for path in _files(home):
        rows = _readable(home, path).to_pydict()
        yield from zip(rows["pseudonym"], rows["sealed"], strict=True)


def names(home: Path) -> set[str]:
    """The pseudonyms of everything in it; VaultError where a file cannot be read."""
    return {name for path in _files(home) for name in _readable(home, path)["pseudonym"].to_pylist()}


def damage(home: Path) -> Iterator[tuple[str, str]]:
    """The files that are not as they were written, and what is wrong with them; a file that is gone is not noticed."""
    for path in _files(home):
        table = _table(path)
        if table is None or not _is_as_written(path, table):
            yield path.relative_to(home).as_posix(), _DAMAGED


def _encode(table: pa.Table) -> bytes:
    import pyarrow as pa
    import pyarrow.parquet as pq

    sink = pa.BufferOutputStream()
    pq.write_table(table, sink, compression="zstd", store_schema=False, write_page_checksum=True)
    return bytes(sink.getvalue())


def _is_as_written(path: Path, table: pa.Table) -> bool:
    """Whether the file is what its rows give: the checksums of pages leave out what stands around them.

    One that another version of pyarrow wrote is taken for what it says.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    by: str = pq.read_metadata(path).created_by
    if by != f"parquet-cpp-arrow version {pa.__version__}":
        return by.startswith("parquet-cpp-arrow version ")
    return _encode(table) == path.read_bytes()


def _files(home: Path) -> list[Path]:
    return sorted((home / "private" / "vault").glob("*/*.parquet"))


def _readable(home: Path, path: Path) -> pa.Table:
    """What a file holds; VaultError where it is damaged."""
    table = _table(path)
    if table is None:
        raise VaultError(f"{path.relative_to(home)} {_DAMAGED}; `relrag verify --repair` makes it again")
    return table


def _table(path: Path) -> pa.Table | None:
    """What a file holds; None where it is damaged, which its own checksums tell."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        with pq.ParquetFile(path, page_checksum_verification=True) as file:
            table = file.read(use_threads=False)
    except (pa.ArrowException, OSError):
        return None
    return table if table.column_names == _COLUMNS else None


def note(home: Path, now: datetime, who: str, why: str, what: Sequence[str]) -> None:
    """Adds to the log who reveals what and why, before it is shown. Raises VaultError without a name or a reason."""
    if not who.strip() or not why.strip():
        raise VaultError("nothing is revealed without a name and a reason")
    path = home / REVEALS
    make_private(path.parent)
    entry = {"at": now.isoformat(), "who": who.strip(), "why": why.strip(), "what": list(what)}
    line = orjson.dumps(entry) + b"\n"
    before = path.read_bytes() if path.exists() else b""
    private_manifest.expect(home, REVEALS, hashlib.sha256(before + line).hexdigest())
    with path.open("ab") as file:
        access.restrict(path)
        file.write(line)
        file.flush()
        os.fsync(file.fileno())
