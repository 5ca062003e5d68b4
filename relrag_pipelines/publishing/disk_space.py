"""Estimates the disk space that a sync needs, and checks that it is free."""

from __future__ import annotations

from contextlib import suppress

from relrag_pipelines import embedders
from relrag_pipelines.files.disk_full import FULL, DiskFull
from relrag_pipelines.ingest import ownership
from relrag_pipelines.ingest.scan import scan_units
from relrag_pipelines.ingest.units import SourceNotFound
from relrag_pipelines.onboarding import environment
from relrag_pipelines.onboarding.estimate import (
    FIXED_BYTES,
    estimate,
    passage_count,
    record_count,
    text_bytes,
    vector_bytes,
)
from relrag_pipelines.settings import Settings
from relrag_pipelines.sources import KINDS
from relrag_pipelines.stores import lake, unit_state

_MIN_VECTOR_BYTES = 100_000_000
"""bytes of a store with few points: Qdrant reserves room"""
_BYTES_PER_PASSAGE = 2_000
_BYTES_PER_DIMENSION = 4 + 4
"""bytes per number of a dense vector: twice in half precision, and once in full beside the catalog"""
_TEMPORARY_RATIO = 4
"""bytes of a passage beside the catalog, without its vector, per byte in the lake"""
_CATALOG_RATIO = 5
"""bytes of the catalog per byte of its tables in the lake"""


def require_vector_space(settings: Settings) -> None:
    """Raises DiskFull unless there is room for the vectors of all passages of the lake, and for temporary files.

    Checked in advance, because Qdrant writes through memory maps: on a full disk the system kills the process (SIGBUS)
    without a message. Vectors on a server need no room here.
    """
    if settings.qdrant_url:
        return
    required = _MIN_VECTOR_BYTES + _rebuilt_bytes(settings)
    free = environment.free_bytes(settings.home_path)
    if free < required:
        raise DiskFull(f"{FULL}: the vectors of the new generation may take {required / 1e6:,.0f} MB")


def _rebuilt_bytes(settings: Settings) -> int:
    """Bytes that a full build of the lake may take, beyond the size of an empty generation.

    Measured on a file system without sparse files: vectors take 60 MB for ten passages and 66 MB for 20,000 of seventy
    words, twice that while they are sorted. The passages wait beside the catalog until the vectors are built:
    11,041 of 450 bytes took 12.1 MB and 3.6 MB in the lake, 8,576 of 430 bytes 6.7 and 2.3 MB, 921 with vectors of 384
    numbers 2.4 MB. The catalogs of the first two took 36 and 14 MB, 4.4 and 3.2 times the size of their tables in the
    lake.
    """
    from relrag_pipelines.stores import catalog_build

    total = 0
    for source in settings.sources:
        months = lake.manifest(settings.home_path, "chunks", source.name).values()
        rows, size = sum(month.rows for month in months), sum(month.bytes for month in months)
        total += (
            int(_BYTES_PER_PASSAGE + _BYTES_PER_DIMENSION * embedders.numbers_per_passage(settings)) * rows
            + _TEMPORARY_RATIO * size
        )
        for table in catalog_build.LAKE:
            months = lake.manifest(settings.home_path, table, source.name).values()
            total += _CATALOG_RATIO * sum(month.bytes for month in months)
    return total


def required_bytes(settings: Settings) -> int:
    """A rough upper bound, in bytes, of what the next sync takes."""
    total, passages = FIXED_BYTES, 0.0
    with suppress(lake.LakeError, NotADirectoryError):  # reported where the lake is read
        total += _rebuilt_bytes(settings)
    for source in settings.sources:
        stored = unit_state.load(settings.home_path, source.name)
        try:
            is_claimed = ownership.claimed_elsewhere(settings, source)
            scan = scan_units(settings.source_path(source), KINDS[source.kind], source, stored, "", taken=is_claimed)
        except SourceNotFound:
            continue
        sizes: dict[str, int] = {}
        new_units = [unit for path, unit in scan.units.items() if path not in stored]
        for unit in new_units:
            suffix = unit.file.suffix.lower()
            sizes[suffix] = sizes.get(suffix, 0) + unit.size
        records = record_count(source.kind, [(unit.file, unit.size) for unit in new_units])
        total += estimate(len(new_units), records, text_bytes(sizes)).bytes
        passages += passage_count(source.kind, records, text_bytes(sizes))
    return total + vector_bytes(passages, embedders.numbers_per_passage(settings))
