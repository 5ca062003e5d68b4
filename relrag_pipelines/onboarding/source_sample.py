"""Estimates a source's content from a sample of its files, read as in a sync.

Sizes say little: mails consist of attachments and markup, a page of a PDF may be a picture.
"""

from __future__ import annotations

import random
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from relrag_pipelines.ingest.scan import scan_units
from relrag_pipelines.ingest.units import SourceNotFound
from relrag_pipelines.onboarding.discover import ProposedSource
from relrag_pipelines.onboarding.estimate import text_bytes
from relrag_pipelines.records import Record
from relrag_pipelines.settings import Source
from relrag_pipelines.sources import KINDS, ReadContext, Unit

_MAX_UNITS, _MAX_RECORDS = 40, 400
"""limits per source and per unit"""
_MONTH_SECONDS = 365.25 * 86_400 / 12
_MIN_UNITS = 5
"""units that are read even after the time limit"""


@dataclass(frozen=True)
class SourceContent:
    """A source's estimated content."""

    records: float
    text: float
    """bytes of their text, in UTF-8"""
    months: float
    """months that have records"""
    texts: Sequence[str] = ()
    """texts of some of the records"""


@dataclass
class _Sample:
    """The content of the sampled units."""

    units: int = 0
    bytes: int = 0
    whole: bool = True
    """every unit was read to its end"""
    texts: list[str] = field(default_factory=list)
    times: list[float] = field(default_factory=list)
    """times of records, in seconds UTC"""

    @property
    def months(self) -> set[int]:
        """The records' months, as year times 12 plus month."""
        return {_month(time) for time in self.times}

    @property
    def text(self) -> int:
        """Bytes of all texts."""
        return sum(len(text.encode("utf-8", "replace")) for text in self.texts)


def examine(folder: Path, source: ProposedSource, timezone: str, seconds: float = 1) -> SourceContent:
    """The estimated content of a source; reads its files for about `seconds`."""
    sample = _read(folder, source, timezone, time.monotonic() + seconds)
    if not sample.texts:
        known_records = max(source.records, source.files)
        return SourceContent(known_records, text_bytes(source.sizes), min(known_records, 1))
    records = _record_count(source, sample)
    return SourceContent(
        records, sample.text / len(sample.texts) * records, _month_count(sample, records), tuple(sample.texts)
    )


def _record_count(source: ProposedSource, sample: _Sample) -> float:
    """Records of the whole source: scaled from fully read files, or else counted by record marks."""
    if not sample.whole:
        return max(source.records, len(sample.texts))
    several = len(sample.texts) > 2 * sample.units
    share = sample.bytes / max(1, source.bytes) if several and sample.bytes else sample.units / max(1, source.files)
    return len(sample.texts) / min(1.0, share)


def _month_count(sample: _Sample, records: float) -> float:
    """The sample's months scaled by the number of records, limited by the time span that the source can cover."""
    if not sample.times:
        return 1
    first, last = min(sample.times), max(sample.times)
    times = records / len(sample.texts)
    months = len(sample.months)
    if sample.whole:
        return max(months, min(months * times, _month(last) - _month(first) + 1))
    to_come = min(months * times, (last - first) / _MONTH_SECONDS * times, _month(time.time()) - _month(first) + 1)
    return max(months, to_come)


def _month(seconds: float) -> int:
    moment = datetime.fromtimestamp(seconds, UTC)
    return moment.year * 12 + moment.month


def _read(folder: Path, source: ProposedSource, timezone: str, until: float) -> _Sample:
    sample = _Sample()
    for unit in _spread(_units(folder, source)):
        if sample.units >= _MIN_UNITS and time.monotonic() > until:
            break
        with suppress(OSError):  # a sync reports unreadable files
            _read_unit(sample, source.kind, unit, ReadContext("init", timezone, str))
    return sample


def _read_unit(sample: _Sample, kind: str, unit: Unit, reading: ReadContext) -> None:
    sample.units += 1
    sample.bytes += unit.size
    for count, record in enumerate(KINDS[kind].read(unit, reading)):
        if isinstance(record, Record):
            sample.texts.append("\n".join(filter(None, (record.subject, record.text))))
            if record.ts is not None:
                sample.times.append(record.ts)
        if count >= _MAX_RECORDS:
            sample.whole = False
            return


def _units(folder: Path, proposed: ProposedSource) -> Sequence[Unit]:
    path = folder / proposed.path
    source = Source.model_validate({"name": proposed.name, "kind": proposed.kind, "path": path})
    try:
        return list(scan_units(path, KINDS[proposed.kind], source, {}, "").units.values())
    except SourceNotFound:
        return ()


def _spread(units: Sequence[Unit]) -> Iterator[Unit]:
    """Some units from everywhere in the source, the same each time."""
    return iter(random.Random(0).sample(units, min(len(units), _MAX_UNITS)))  # noqa: S311 - nothing secret
