"""What a source holds, estimated from some of its files, read as a sync reads them.

Bytes tell little: mails consist of attachments and markup, a page of a PDF may be a picture.
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

_MOST_UNITS, _MOST_RECORDS = 40, 400
"""of a source, and of a unit"""
_MONTH_SECONDS = 365.25 * 86_400 / 12
_FEWEST_UNITS = 5
"""that are looked into even if there is no time"""


@dataclass(frozen=True)
class SourceContent:
    """What a source holds, roughly."""

    records: float
    text: float
    """bytes of their text, in UTF-8"""
    months: float
    """months that have records"""
    texts: Sequence[str] = ()
    """texts of some of the records"""


@dataclass
class _Sample:
    """What was read of some units."""

    units: int = 0
    bytes: int = 0
    whole: bool = True
    """every unit was read to its end"""
    texts: list[str] = field(default_factory=list)
    times: list[float] = field(default_factory=list)
    """of records, seconds UTC"""

    @property
    def months(self) -> set[int]:
        """Year times 12 and month of the records."""
        return {_month(time) for time in self.times}

    @property
    def text(self) -> int:
        """Bytes of all texts."""
        return sum(len(one.encode("utf-8", "replace")) for one in self.texts)


def examine(folder: Path, found: ProposedSource, timezone: str, seconds: float = 1) -> SourceContent:
    """What the source of a folder holds; looks into its files for about so many seconds."""
    sample = _read(folder, found, timezone, time.monotonic() + seconds)
    if not sample.texts:
        least = max(found.records, found.files)
        return SourceContent(least, text_bytes(found.sizes), min(least, 1))
    records = _record_count(found, sample)
    return SourceContent(
        records, sample.text / len(sample.texts) * records, _month_count(sample, records), tuple(sample.texts)
    )


def _record_count(found: ProposedSource, sample: _Sample) -> float:
    """Of the whole source. Of files read to their end the records a byte are known; of others, what marks a record."""
    if not sample.whole:
        return max(found.records, len(sample.texts))
    several = len(sample.texts) > 2 * sample.units
    share = sample.bytes / max(1, found.bytes) if several and sample.bytes else sample.units / max(1, found.files)
    return len(sample.texts) / min(1.0, share)


def _month_count(sample: _Sample, records: float) -> float:
    """The sample's months in proportion to its records, at most those of the time that they cover or may go on to."""
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


def _read(folder: Path, found: ProposedSource, timezone: str, until: float) -> _Sample:
    sample = _Sample()
    for unit in _spread(_units(folder, found)):
        if sample.units >= _FEWEST_UNITS and time.monotonic() > until:
            break
        with suppress(OSError):  # what cannot be read the sync will say
            _read_unit(sample, found.kind, unit, ReadContext("init", timezone, str))
    return sample


def _read_unit(sample: _Sample, kind: str, unit: Unit, reading: ReadContext) -> None:
    sample.units += 1
    sample.bytes += unit.size
    for count, item in enumerate(KINDS[kind].read(unit, reading)):
        if isinstance(item, Record):
            sample.texts.append("\n".join(filter(None, (item.subject, item.text))))
            if item.ts is not None:
                sample.times.append(item.ts)
        if count >= _MOST_RECORDS:
            sample.whole = False
            return


def _units(folder: Path, found: ProposedSource) -> Sequence[Unit]:
    place = folder / found.path
    source = Source.model_validate({"name": found.name, "kind": found.kind, "path": place})
    try:
        return list(scan_units(place, KINDS[found.kind], source, {}, "").units.values())
    except SourceNotFound:
        return ()


def _spread(units: Sequence[Unit]) -> Iterator[Unit]:
    """Some units from everywhere in the source, the same each time."""
    return iter(random.Random(0).sample(units, min(len(units), _MOST_UNITS)))  # noqa: S311 - nothing secret
