"""Checks of a source that compare what the lake holds with what is usual: for Dagster's checks and `relrag status`.

Figures and sentences name counts, months and days, never an item.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime

import pyarrow as pa
import pyarrow.compute as pc

from relrag_pipelines import embedders
from relrag_pipelines.settings import Source
from relrag_pipelines.settings import now as current_time
from relrag_pipelines.sources import RECORD_TYPES
from relrag_pipelines.stages import empty_months
from relrag_pipelines.stores import lake, unit_state
from relrag_pipelines.workspace import Workspace

_DAY_SECONDS = 86_400
_MAX_FAILURE_SHARE = 0.05
_MAX_UNDATED_SHARE = 0.1
_MIN_EMBEDDED_SHARE = 0.99
_REGULAR_SHARE = 0.9
"""of the months between the oldest and the newest, full ones: above it, an empty month is unusual"""
_RECENT_MONTHS = 24
_MIN_DAYS = 10
"""days with records from which an interval can be called usual"""
_SILENCE_FACTOR = 2
_MIN_SILENT_DAYS = 7
_UNDATED = ("none", "outside")
"""values of date_quality of records that lie in a month only because they must lie somewhere"""
_DATED_TYPES = sorted(
    kind.name for kind in RECORD_TYPES.values() if not (kind.card or kind.from_file or kind.about_people)
)
"""types of records that carry a date of their own: a contact has none, a file only that of its last copy"""


@dataclass(frozen=True)
class Verdict:
    """What a check measured."""

    passed: bool
    figures: Mapping[str, float] = field(default_factory=dict)
    sentence: str = ""
    """what is unusual; empty if nothing is"""


@dataclass(frozen=True)
class SourceCheck:
    """One check of every source."""

    name: str
    meaning: str
    run: Callable[[Workspace, Source], Verdict]
    reads_every_month: bool = False
    """takes about a millisecond a month, seconds in a large archive: only the nightly checks run it"""


def undated_records(workspace: Workspace, source: Source) -> Verdict:
    """Records of types that carry a date, and have no usable one, by the month in which they lie."""
    counts = _undated_by_month(workspace, source)
    undated, total = sum(counts.values()), _rows(workspace, "private_records", source)
    share = undated / total if total else 0.0
    figures = {"undated": undated, "share": round(share, 4), **counts}
    if share <= _MAX_UNDATED_SHARE:
        return Verdict(True, figures)
    return Verdict(False, figures, f"{undated} of {total} records have no usable date and lie in {', '.join(counts)}")


def _undated_by_month(workspace: Workspace, source: Source) -> dict[str, int]:
    counts = {}
    for month in empty_months.full_months(lake.manifest(workspace.home, "private_records", source.name)):
        columns = ["date_quality", "rag_source_type"]
        records = lake.read(workspace.home, "private_records", source.name, month, columns)
        undated = pc.is_in(records["date_quality"], pa.array(_UNDATED))
        is_dated_type = pc.is_in(records["rag_source_type"], pa.array(_DATED_TYPES))
        if count := pc.sum(pc.and_(undated, is_dated_type)).as_py():
            counts[month] = int(count)
    return counts


def failure_share(workspace: Workspace, source: Source) -> Verdict:
    """The share of items that could not be read or redacted."""
    failures = len(unit_state.load_failures(workspace.home, source.name)) + _rows(workspace, "failures", source)
    items = failures + _rows(workspace, "private_records", source)
    share = failures / items if items else 0.0
    figures = {"failures": failures, "share": round(share, 4)}
    if share <= _MAX_FAILURE_SHARE:
        return Verdict(True, figures)
    return Verdict(False, figures, f"{failures} of {items} items failed; `relrag status --failures` lists them")


def unusual_gaps(workspace: Workspace, source: Source) -> Verdict:
    """Empty months between full ones, which are unusual in a source that fills nearly every month."""
    manifest = lake.manifest(workspace.home, "private_records", source.name)
    gaps = empty_months.gaps(manifest, workspace.settings.first_month)
    empty = sum(map(len, gaps))
    full = len(empty_months.full_months(manifest))
    figures = {"empty_months": empty, "full_months": full}
    if not empty or full / (full + empty) < _REGULAR_SHARE:
        return Verdict(True, figures)
    spans = empty_months.spans(manifest, workspace.settings.first_month)
    return Verdict(False, figures, f"nothing from {', '.join(spans)}, although nearly every other month has records")


def silence(workspace: Workspace, source: Source) -> Verdict:
    """Days since the newest record, compared with the intervals that were usual in the source's last two years.

    A source whose newest record is older than two years is an archive at rest, and not silent.
    """
    days = _recent_days(workspace, source)
    if len(days) < _MIN_DAYS:
        return Verdict(True, {"days_with_records": len(days)})
    silent = int(current_time().timestamp()) // _DAY_SECONDS - days[-1]
    longest = max(later - earlier for earlier, later in itertools.pairwise(days))
    limit = max(_SILENCE_FACTOR * longest, _MIN_SILENT_DAYS)
    figures = {"silent_days": silent, "longest_interval_days": longest}
    if silent <= limit:
        return Verdict(True, figures)
    return Verdict(False, figures, f"no new record for {silent} days; before, the longest interval was {longest} days")


def _recent_days(workspace: Workspace, source: Source) -> list[int]:
    """The days (since 1970) on which records of the last two years lie, in order."""
    since = int(current_time().timestamp()) // _DAY_SECONDS - _RECENT_MONTHS * 30
    # a record lies in a month of its own time zone, which may be that of the day before
    first = f"{datetime.fromtimestamp((since - 1) * _DAY_SECONDS, UTC):%Y-%m}"
    months = empty_months.full_months(lake.manifest(workspace.home, "private_records", source.name))
    days: set[int] = set()
    for month in (month for month in months[-_RECENT_MONTHS:] if month >= first):
        times = lake.read(workspace.home, "private_records", source.name, month, ["ts"])["ts"]
        # in Arrow: a busy source has many thousand records a month, and the page of the archive asks for them
        whole_days = pc.unique(pc.floor(pc.divide(times.cast(pa.float64()), _DAY_SECONDS)))
        days |= {int(day) for day in whole_days.drop_null().to_pylist()}
    return sorted(day for day in days if day >= since)


def embedded_share(workspace: Workspace, source: Source) -> Verdict:
    """The share of passages that have a vector; of a model that knows few languages no share is expected.

    Text beside a mail's own, such as a signature, gets no vector and does not count.
    """
    model = embedders.model(workspace.settings)
    passages, vectors = _own_passages(workspace, source), _rows(workspace, "embeddings", source)
    share = vectors / passages if passages else 1.0
    figures = {"passages": passages, "vectors": vectors, "share": round(share, 4)}
    if model is None or model.languages or share >= _MIN_EMBEDDED_SHARE:
        return Verdict(True, figures)
    return Verdict(False, figures, f"{passages - vectors} of {passages} passages have no vector of {model.name}")


def _own_passages(workspace: Workspace, source: Source) -> int:
    months = empty_months.full_months(lake.manifest(workspace.home, "chunks", source.name))
    sections = (lake.read(workspace.home, "chunks", source.name, month, ["section"])["section"] for month in months)
    return sum(int(column.null_count) for column in sections)


def _rows(workspace: Workspace, table: str, source: Source) -> int:
    return sum(entry.rows for entry in lake.manifest(workspace.home, table, source.name).values())


CHECKS = (
    SourceCheck("undated_records", "Few records lack a usable date; how many of each month do.", undated_records, True),
    SourceCheck("failure_share", "At most a twentieth of the items could not be read.", failure_share),
    SourceCheck("unusual_gaps", "No empty month between full ones, where nearly every month is full.", unusual_gaps),
    SourceCheck("silence", "New records come as often as in the last two years.", silence),
    SourceCheck("embedded_share", "Nearly all passages have a vector, if an embedder is set.", embedded_share, True),
)


def warnings(workspace: Workspace, source: Source) -> Iterator[str]:
    """A sentence for each check that a source does not pass, of those that do not read every month."""
    for check in CHECKS:
        if not check.reads_every_month and (sentence := check.run(workspace, source).sentence):
            yield f"{source.name}: {sentence}"
