"""Room on the disk: how much a sync needs, and whether a fault came from having none."""

from __future__ import annotations

import errno
import sqlite3

import duckdb

from relrag_pipelines import embedders, machine
from relrag_pipelines.estimate import FIXED_BYTES, estimate, text_bytes, vector_bytes
from relrag_pipelines.settings import Settings
from relrag_pipelines.sources import KINDS
from relrag_pipelines.stores import lake, units

FULL = "no space is left on the disk"
"""how the message of a fault begins that came from a full disk"""

_SAID = ("no space left", "disk is full", "disk full", "disk quota exceeded", "not enough disk space")
"""how DuckDB, SQLite and Qdrant tell it; none of them has an exception of its own for it"""


_VECTORS_LEAST = 100_000_000
"""bytes of a store of a few points: Qdrant reserves room"""
_VECTORS_PER_PASSAGE = 2_000
_PER_DIMENSION = 4
"""bytes of a number of a dense vector, twice in half precision"""


class DiskFull(Exception):
    """Nothing can be written where RELRAG_HOME lies; the message says how much room is needed."""


def is_full(error: BaseException) -> bool:
    """Whether an exception, or one that it came from, tells of a disk that takes no more."""
    seen: set[int] = set()
    chain: list[BaseException | None] = [error]
    while chain:
        one = chain.pop()
        if one is None or id(one) in seen:
            continue
        seen.add(id(one))
        if isinstance(one, OSError) and one.errno in (errno.ENOSPC, errno.EDQUOT):
            return True
        # the text of any other exception may be text of the archive
        if (isinstance(one, sqlite3.Error | duckdb.Error) or type(one) is Exception) and _tells(one):
            return True
        chain += [one.__cause__, one.__context__]
    return False


def _tells(error: BaseException) -> bool:
    said = str(error).lower()
    return any(words in said for words in _SAID)


def require_for_vectors(settings: Settings) -> None:
    """Raises DiskFull unless there is room for the vectors of all passages of the lake.

    Asked before, because Qdrant writes through memory maps: on a full disk the system kills the process (SIGBUS)
    before anyone can say why. Measured on a file system without holes: 60 MB for ten passages, 66 MB for 20,000 of
    seventy words; while they are put in order there are two of them. What goes to a server needs none here.
    """
    if settings.qdrant_url:
        return
    home = settings.home_path
    months = [entry for source in settings.sources for entry in lake.manifest(home, "chunks", source.name).values()]
    per_passage = _VECTORS_PER_PASSAGE + _PER_DIMENSION * embedders.dimension(settings)
    wanted = _VECTORS_LEAST + per_passage * sum(month.rows for month in months)
    free = machine.free_bytes(home)
    if free < wanted:
        raise DiskFull(f"{FULL}: the vectors of the new generation may take {wanted / 1e6:,.0f} MB")


def needed(settings: Settings) -> int:
    """Bytes that a sync of what is there now takes at most, roughly."""
    total, text = FIXED_BYTES, 0.0
    for source in settings.sources:
        known = units.load(settings.home_path, source.name)
        try:
            scan = units.scan(settings.source_path(source), KINDS[source.kind], source, known, "")
        except units.SourceMissing:
            continue
        sizes: dict[str, int] = {}
        new = [unit for path, unit in scan.units.items() if path not in known]
        for unit in new:
            suffix = unit.file.suffix.lower()
            sizes[suffix] = sizes.get(suffix, 0) + unit.size
        total += estimate(source.kind, len(new), sizes).bytes
        text += text_bytes(sizes)
    return total + vector_bytes(text, embedders.dimension(settings))
