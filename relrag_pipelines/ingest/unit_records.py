"""What one unit of a source holds: its connector's records, finished, sorted into months and hashed.

The connector knows what it reads; here follow ids, months, hashes and locations, and what the owner had forgotten is
left out. What replaces a unit's earlier records, and which months are written, is decided in ingest.py.
"""

from __future__ import annotations

import hashlib
import itertools
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

import pyarrow as pa
import pyarrow.compute as pc

from relrag_pipelines.erasure import fingerprints, raw_items
from relrag_pipelines.erasure.rule_matching import RuleMatcher
from relrag_pipelines.files import disk_full, regular_files
from relrag_pipelines.ingest.read_context import read_context
from relrag_pipelines.links.message_references import collect_message_ids
from relrag_pipelines.privacy.keys import Keys, safe_native_id
from relrag_pipelines.records import Failure, PrivateRecord, Record, UnitMonth, arrow_schema, to_table
from relrag_pipelines.settings import Source, now
from relrag_pipelines.sources import KINDS, UNREADABLE, CoveredInterval, Unit
from relrag_pipelines.stores import quarantine, thread_index
from relrag_pipelines.stores.content_hash import content_hash
from relrag_pipelines.stores.spill_buffer import SpillBuffer, spill_folder
from relrag_pipelines.workers.pool import ENDED_TWICE
from relrag_pipelines.workers.sandbox import ParserStopped
from relrag_pipelines.workspace import Workspace

_FLUSH_ROWS = 32_768
_FLUSH_BYTES = 1_000
"""so many bytes of a record count as one more row"""
_DAY = 86_400
"""a file's time can be that of another zone"""
_PRIVATE = arrow_schema(PrivateRecord)
KILLED = "killed"
"""fault word of a unit over which the system ended processes of ours"""


@dataclass
class UnitRecords:
    """What one unit holds."""

    tables: SpillBuffer = field(default_factory=SpillBuffer)
    """private records"""
    months: list[UnitMonth] = field(default_factory=list)
    """what it contributes to each month, in order"""
    failures: list[Failure] = field(default_factory=list)
    coverage: list[CoveredInterval] = field(default_factory=list)
    complete: bool = True
    forgotten: bool = False
    """some of it, or all, was left out because the owner had it forgotten"""
    threaded: list[pa.Table] = field(default_factory=list)
    """what the threads of its records follow from"""


def read_unit(workspace: Workspace, source: Source, matcher: RuleMatcher, one: tuple[Unit, list[str]]) -> UnitRecords:
    """Runs the connector over one unit, which lies at several places; its records finished and sorted into months.

    What was forgotten is left out. A fault of the unit, or of its connector, becomes a Failure. Any process may read.
    """
    unit, places = one
    contents, kind = UnitRecords(), KINDS[source.kind]
    if matcher.names(unit.path):
        contents.forgotten = True
        return contents
    contents.tables.folder = spill_folder(workspace.home, source.name)
    pending: list[Record] = []
    months: list[str] = []
    sums: dict[str, int] = {}
    counts: Counter[str] = Counter()
    month_of = _MonthAssigner(workspace.settings.first_month, now().strftime("%Y-%m"))
    gone: set[str] = set()
    places_gone: set[str] = set()
    spans: dict[str, tuple[int, int]] = {}

    def flush() -> int:
        rows = to_table(pending, Record)
        rows = rows.append_column("unit", pa.repeat(unit.path, rows.num_rows)).cast(_PRIVATE)
        if kind.may_be_truncated:
            _extend_thread_spans(spans, rows)
        forgotten = matcher.rows(rows, gone)
        if forgotten.any():
            contents.forgotten = True
            places_gone.update(pc.list_flatten(rows["locations"].filter(pa.array(forgotten))).to_pylist())
            rows = rows.filter(pa.array(~forgotten))
            pending[:] = itertools.compress(pending, ~forgotten)
            months[:] = itertools.compress(months, ~forgotten)
        contents.failures += [_possible_erasure_match(source, unit, pending[row]) for row in matcher.hinted(rows)]
        counts.update(months)
        contents.tables.add(rows, months)
        if kind.threads:
            contents.threaded.append(thread_index.rows(months, unit.path, pending))
        pending.clear()
        months.clear()
        return 0

    waiting = 0

    for record in read_items(workspace, source, unit, contents):
        _complete_record(record, workspace.keys, source, places)
        if record.asset_id in month_of.placed and not kind.allows_duplicates:
            why = "a second record of the file has the same id and is left out; give each an id of its own"
            contents.failures.append(Failure(record.locations[0], "duplicate_id", why, source.name, unit.path))
            continue
        month = month_of.place(record)
        matcher.leave_out(record)
        record.content_hash, size = content_hash(record, workspace.keys)
        told = "\0".join([record.content_hash, *record.locations]).encode("utf-8", "surrogatepass")
        sums[month] = sums.get(month, 0) + int.from_bytes(hashlib.blake2b(told, digest_size=16).digest())
        pending.append(record)
        months.append(month)
        waiting += 1 + size // _FLUSH_BYTES
        if waiting >= _FLUSH_ROWS:
            waiting = flush()
    flush()
    contents.months = [UnitMonth(month, counts[month], _hex(sums[month])) for month in sorted(counts)]
    written = unit.mtime_ns // 10**9 + _DAY
    contents.coverage += [
        CoveredInterval(thread, first, max(last + 1, written)) for thread, (first, last) in spans.items()
    ]
    contents.failures = [
        one
        for one in contents.failures
        if one.location not in places_gone and not matcher.names(f"{one.location} {one.message}")
    ]
    quarantine.erase(workspace.home, source.name, workspace.keys, places_gone)
    for file in quarantine.list_items(workspace.home, source.name, workspace.keys, unit.path) if matcher else ():
        if raw_items.matches_rules(matcher, file.read_bytes(), workspace.zone(source.name)):
            file.unlink()
    return contents


def given_up(source: Source, one: tuple[Unit, list[str]]) -> UnitRecords:
    """What stands for a unit over which the system ended two processes."""
    why = f"{ENDED_TWICE}; close other programs or exclude it, then run `relrag sync --full`"
    return UnitRecords(failures=[_failure(source, one[0], KILLED, why, whole=True)], complete=False)


def combined_hash(hashes: Iterable[str]) -> str:
    """Hash of what several hashes are of together; the order of the records does not matter to it."""
    return _hex(sum(int(one, 16) for one in hashes if one))


def _hex(total: int) -> str:
    return f"{total % 2**128:032x}"


def _extend_thread_spans(spans: dict[str, tuple[int, int]], rows: pa.Table) -> None:
    """Notes from when to when a thread's records reach. Notices count for nothing: some are dated by other events."""
    said = rows.filter(pc.is_valid(rows["from"])).group_by("thread_id").aggregate([("ts", "min"), ("ts", "max")])
    for thread, first, last in zip(*(said[name].to_pylist() for name in said.schema.names), strict=True):
        if thread and first is not None:
            known = spans.get(thread, (first, last))
            spans[thread] = min(first, known[0]), max(last, known[1])


def read_items(workspace: Workspace, source: Source, unit: Unit, contents: UnitRecords) -> Iterator[Record]:
    """The connector's records; its failures are noted, and so is a fault of its own."""

    def refuse(failure: Failure) -> None:
        contents.complete &= not failure.whole_unit
        contents.failures.append(replace(failure, source=source.name, unit=unit.path))

    for failure in unit.refused:
        refuse(failure)
    if not all(failure.location for failure in unit.refused):
        return
    try:
        if not unit.version:  # it may have become something else since the folder was looked at
            regular_files.check_file(unit.file, unit.root, follow_links=source.follow_links)
        for item in KINDS[source.kind].read(unit, read_context(workspace, source)):
            if isinstance(item, Record):
                yield item
            elif isinstance(item, CoveredInterval):
                thread = item.thread_id and safe_native_id(item.thread_id, workspace.keys)
                contents.coverage.append(replace(item, thread_id=thread))
            else:
                refuse(item)
    except ParserStopped as stopped:
        refuse(Failure("", stopped.fault, str(stopped), whole_unit=True))
    except regular_files.RefusedFile as refused:
        refuse(refused.failure())
    except OSError as error:
        if disk_full.is_disk_full_error(
            error
        ):  # what a connector keeps could not be written: that is no fault of the unit
            raise
        contents.complete = False
        why = f"the file could not be read ({type(error).__name__}); check that it is there and that you may read it"
        contents.failures.append(_failure(source, unit, UNREADABLE, why, whole=True))
    except Exception as error:  # noqa: BLE001  one bad unit must not stop a run; its text must not reach a traceback
        contents.complete = False
        why = f"the reader of {source.kind} failed with {type(error).__name__}; please report it with the file's format"
        contents.failures.append(_failure(source, unit, "internal", why, whole=True))


def _possible_erasure_match(source: Source, unit: Unit, record: Record) -> Failure:
    found = "the same was said by the same sender at the same time, and was forgotten"
    why = f"{found}; if this is the same, run `relrag forget {record.asset_id}`"
    return Failure(record.locations[0], fingerprints.LIKE_FORGOTTEN, why, source.name, unit.path)


def _failure(source: Source, unit: Unit, fault: str, message: str, whole: bool = False) -> Failure:
    return Failure("", fault, message, source.name, unit.path, whole)


class _MonthAssigner:
    """Which month a record belongs to: its own, else its container's, else the first."""

    def __init__(self, first: str, last: str) -> None:
        self._first, self._last = first, last
        self.placed: dict[str, str] = {}
        """asset_id -> month of the records seen so far"""

    def place(self, record: Record) -> str:
        """The record's month; its date_quality says so when that is not the month of its own time."""
        container = self.placed.get(record.parent_asset_id or "")
        own = sys.intern(record.timestamp[:7]) if record.timestamp else ""
        if container and record.index_in_parent is not None:
            month = container
        elif self._first <= own <= self._last:
            month = own
        else:
            month = container or self._first
            record.date_quality = "none" if record.ts is None else "outside"
        self.placed[record.asset_id] = month
        return month


def _complete_record(record: Record, keys: Keys, source: Source, places: list[str]) -> None:
    """Fills in what does not depend on the connector; ids that could reveal something become hashes."""
    kind = KINDS[source.kind]
    given = record.asset_id
    record.asset_id = safe_native_id(given, keys)
    if not given or record.asset_id != given or not given.endswith(f":{record.source_id}"):
        record.source_id = safe_native_id(record.source_id, keys)  # else its parts have been looked at
    record.asset_id = record.asset_id or f"{kind.name}:{record.source_id}"
    record.thread_id = record.thread_id and safe_native_id(record.thread_id, keys)
    record.parent_asset_id = record.parent_asset_id and safe_native_id(record.parent_asset_id, keys)
    record.parent_ref = record.parent_ref and safe_native_id(record.parent_ref, keys)
    collect_message_ids(record, keys.id_hash)
    record.source, record.kind = source.name, kind.name
    record.rag_source_type = record.rag_source_type or kind.rag_source_type
    if len(places) > 1 or not record.locations:
        record.locations = list(places)
    if record.ts is not None:
        try:
            record.timestamp = datetime.fromtimestamp(record.ts, UTC).isoformat()[: len("2025-01-14T09:30:00")] + "Z"
        except (OverflowError, ValueError, OSError):  # a year that no calendar has
            record.ts = record.timestamp = None
