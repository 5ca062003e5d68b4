"""The records of one unit: read by its connector, completed, sorted into months and hashed.

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

from relrag_pipelines.erasure import raw_items, record_fingerprints
from relrag_pipelines.erasure.rule_matching import RuleMatcher
from relrag_pipelines.files import disk_full, regular_files
from relrag_pipelines.ingest.failure_counts import FailureCounts
from relrag_pipelines.ingest.ownership import recognises
from relrag_pipelines.ingest.read_context import read_context
from relrag_pipelines.ingest.unread_files import of_no_kind
from relrag_pipelines.links.edge_rows import generate_asset_id
from relrag_pipelines.links.message_references import collect_message_ids
from relrag_pipelines.privacy.keys import Keys, safe_native_id
from relrag_pipelines.records import Failure, PrivateRecord, Record, UnitMonth
from relrag_pipelines.settings import Source, now
from relrag_pipelines.sources import KINDS, LOST_ITEMS, NOT_READ, UNREADABLE, CoveredInterval, Kind, Unit
from relrag_pipelines.stores import quarantine, thread_index
from relrag_pipelines.stores.content_hash import content_hash
from relrag_pipelines.stores.spill_buffer import SpillBuffer, spill_folder
from relrag_pipelines.stores.table_schema import arrow_schema, to_table
from relrag_pipelines.workers.pool import ENDED_TWICE
from relrag_pipelines.workers.sandbox import ParserStopped
from relrag_pipelines.workspace import Workspace

_FLUSH_ROWS = 8_192
"""records that become a table at once; of four times as many, fresh memory took a sixth of the reading"""
_FLUSH_BYTES = 1_000
"""so many bytes of a record count as one more row"""
_DAY = 86_400
"""a file's time can be that of another zone"""
_PRIVATE = arrow_schema(PrivateRecord)
_FOREIGN = frozenset({"wrong_format", "not_a_chat"})
"""fault words by which readers say that a file is of another format"""
_COVERS_NOTHING = CoveredInterval(None, 0, 0)
"""of a chat with a message that could not be read: an earlier record that is not in it now may be that message's"""
KILLED = "killed"
"""fault word of a unit over which the system ended processes of ours"""


@dataclass
class UnitRecords:
    """The records of one unit, and its failures."""

    tables: SpillBuffer = field(default_factory=SpillBuffer)
    """private records"""
    months: list[UnitMonth] = field(default_factory=list)
    """what it contributes to each month, in order"""
    failures: list[Failure] = field(default_factory=list)
    coverage: list[CoveredInterval] = field(default_factory=list)
    complete: bool = True
    omits_forgotten: bool = False
    """some of it, or all, was left out because the owner had it forgotten"""
    thread_tables: list[pa.Table] = field(default_factory=list)
    """what the threads of its records follow from"""
    failure_counts: FailureCounts = field(default_factory=FailureCounts)

    def add_failure(self, failure: Failure) -> None:
        """Counts a failure, and lists it unless there are many like it."""
        if self.failure_counts.is_listed(failure):
            self.failures.append(failure)


def read_unit(
    workspace: Workspace, source: Source, matcher: RuleMatcher, unit_and_locations: tuple[Unit, list[str]]
) -> UnitRecords:
    """Runs the connector over a unit, which may have several locations; completes its records and sorts them by month.

    What was forgotten is left out. A fault of the unit, or of its connector, becomes a Failure. Any process may read.
    """
    unit, locations = unit_and_locations
    if matcher.names(unit.path):
        return UnitRecords(omits_forgotten=True)
    sorter = _MonthSorter(workspace, source, matcher, unit)
    contents = sorter.contents
    for record in read_items(workspace, source, unit, contents):
        _complete_record(record, workspace.keys, source, locations)
        sorter.add(record)
    sorter.finish()
    erased = sorter.erased_places
    contents.failures = contents.failure_counts.with_counts(
        failure
        for failure in contents.failures
        if failure.location not in erased and not matcher.names(f"{failure.location} {failure.message}")
    )
    quarantine.erase(workspace.home, source.name, workspace.keys, erased)
    for file in quarantine.list_items(workspace.home, source.name, workspace.keys, unit.path) if matcher else ():
        if raw_items.matches_rules(matcher, file.read_bytes(), workspace.zone(source.name)):
            file.unlink()
    return contents


class _MonthSorter:
    """Sorts the records of one unit into months, some thousands at a time; leaves out what was forgotten."""

    def __init__(self, workspace: Workspace, source: Source, matcher: RuleMatcher, unit: Unit) -> None:
        self._source, self._matcher, self._unit, self._keys = source, matcher, unit, workspace.keys
        self._kind = KINDS[source.kind]
        self.contents = UnitRecords()
        self.contents.tables.folder = spill_folder(workspace.home, source.name)
        self.erased_places: set[str] = set()
        """locations of records that were left out"""
        self._assigner = _MonthAssigner(workspace.settings.first_month, now().strftime("%Y-%m"))
        self._pending: list[Record] = []
        self._months: list[str] = []
        """of the pending records"""
        self._weight = 0
        self._hashes: dict[str, int] = {}
        self._counts: Counter[str] = Counter()
        self._erased_ids: set[str] = set()
        self._spans: dict[str, tuple[int, int]] = {}

    def add(self, record: Record) -> None:
        """Takes one finished record."""
        if record.asset_id in self._assigner.placed and not self._kind.allows_duplicates:
            why = "a second record of the file has the same id and is left out; give each an id of its own"
            failure = Failure(record.locations[0], "duplicate_id", why, self._source.name, self._unit.path)
            self.contents.add_failure(failure)
            return
        month = self._assigner.assign(record)
        self._matcher.cut_quotations(record)
        record.content_hash, size = content_hash(record, self._keys)
        hashed = "\0".join([record.content_hash, *record.locations]).encode("utf-8", "surrogatepass")
        digest = hashlib.blake2b(hashed, digest_size=16).digest()
        self._hashes[month] = self._hashes.get(month, 0) + int.from_bytes(digest)
        self._pending.append(record)
        self._months.append(month)
        self._weight += 1 + size // _FLUSH_BYTES
        if self._weight >= _FLUSH_ROWS:
            self._flush()

    def finish(self) -> None:
        """Sorts the last records, and says what the unit holds of each month and of which times it speaks."""
        self._flush()
        counts, hashes = self._counts, self._hashes
        self.contents.months = [UnitMonth(month, counts[month], _hex(hashes[month])) for month in sorted(counts)]
        written = self._unit.mtime_ns // 10**9 + _DAY
        self.contents.coverage += [
            CoveredInterval(thread, first, max(last + 1, written)) for thread, (first, last) in self._spans.items()
        ]

    def _flush(self) -> None:
        contents, pending, months = self.contents, self._pending, self._months
        rows = to_table(pending, Record)
        rows = rows.append_column("unit", pa.repeat(self._unit.path, rows.num_rows)).cast(_PRIVATE)
        if self._kind.may_be_truncated:
            _extend_thread_spans(self._spans, rows)
        erased = self._matcher.rows(rows, self._erased_ids)
        if erased.any():
            contents.omits_forgotten = True
            self.erased_places.update(pc.list_flatten(rows["locations"].filter(pa.array(erased))).to_pylist())
            rows = rows.filter(pa.array(~erased))
            pending = list(itertools.compress(pending, ~erased))
            months = list(itertools.compress(months, ~erased))
        hinted = self._matcher.likely_rows(rows)
        for row in hinted:
            contents.add_failure(_possible_erasure_match(self._source, self._unit, pending[row]))
        self._counts.update(months)
        contents.tables.add(rows, months)
        if self._kind.threads:
            contents.thread_tables.append(thread_index.rows(months, self._unit.path, pending))
        self._pending, self._months, self._weight = [], [], 0


def given_up(source: Source, unit_and_locations: tuple[Unit, list[str]]) -> UnitRecords:
    """The failure of a unit during which the system killed two processes."""
    why = f"{ENDED_TWICE}; close other programs or exclude it, then run `relrag sync --full`"
    return UnitRecords(failures=[_failure(source, unit_and_locations[0], KILLED, why, whole=True)], complete=False)


def combined_hash(hashes: Iterable[str]) -> str:
    """The hash of several hashes together, whatever their order."""
    return _hex(sum(int(hash_, 16) for hash_ in hashes if hash_))


def _hex(total: int) -> str:
    return f"{total % 2**128:032x}"


def _extend_thread_spans(spans: dict[str, tuple[int, int]], rows: pa.Table) -> None:
    """Extends the time spans of threads by records. Notices don't count: some are dated by other events."""
    spans_ = rows.filter(pc.is_valid(rows["from"])).group_by("thread_id").aggregate([("ts", "min"), ("ts", "max")])
    for thread, first, last in zip(*(spans_[name].to_pylist() for name in spans_.schema.names), strict=True):
        if thread and first is not None:
            span = spans.get(thread, (first, last))
            spans[thread] = min(first, span[0]), max(last, span[1])


def read_items(workspace: Workspace, source: Source, unit: Unit, contents: UnitRecords) -> Iterator[Record]:
    """The connector's records; its failures are noted, and so is a fault of its own."""
    kind = KINDS[source.kind]
    is_lacking = False
    for item in _items(workspace, source, unit):
        if isinstance(item, Record):
            yield item
        elif isinstance(item, CoveredInterval):
            contents.coverage.append(item)
        else:
            contents.complete &= not item.whole_unit
            is_lacking |= kind.chat and item.fault in LOST_ITEMS
            failure = _of_another_program(unit) if _is_not_of_kind(kind, unit, item) else item
            contents.add_failure(replace(failure, source=source.name, unit=unit.path))
    if is_lacking:
        contents.coverage.append(_COVERS_NOTHING)


def _is_not_of_kind(kind: Kind, unit: Unit, failure: Failure) -> bool:
    """Whether a file with a suffix that many programs share is of another kind than its source reads."""
    is_foreign = failure.whole_unit and not failure.location and failure.fault in _FOREIGN
    return is_foreign and kind.shared_suffixes and not unit.version and not recognises(kind, unit.file)


def _of_another_program(unit: Unit) -> Failure:
    """The failure for a file that no kind recognises, whichever source its folder belongs to."""
    file = of_no_kind(unit.path)
    return Failure("", NOT_READ, f"{file.reason}; {file.remedy}", whole_unit=True)


def _items(workspace: Workspace, source: Source, unit: Unit) -> Iterator[Record | CoveredInterval | Failure]:
    """What the connector yields; an exception of its own becomes a failure."""
    yield from unit.refusals
    if not all(refusal.location for refusal in unit.refusals):
        return
    try:
        if not unit.version:  # it may have become something else since the folder was looked at
            regular_files.check_file(unit.file, unit.root, follow_links=source.follow_links)
        for item in KINDS[source.kind].read(unit, read_context(workspace, source)):
            yield _safe_interval(item, workspace.keys) if isinstance(item, CoveredInterval) else item
    except Exception as error:  # one bad unit must not stop a run; its text must not reach a traceback
        if isinstance(error, OSError) and disk_full.is_disk_full_error(error):
            raise  # what a connector keeps could not be written: that is no fault of the unit
        yield _reader_failure(error, source.kind)


def _safe_interval(interval: CoveredInterval, keys: Keys) -> CoveredInterval:
    """An interval whose thread is named as the records of the unit name it."""
    return replace(interval, thread_id=interval.thread_id and safe_native_id(interval.thread_id, keys))


def _reader_failure(error: Exception, kind: str) -> Failure:
    """The failure of a unit whose reader raised an exception; unknown exceptions are named by their type only."""
    if isinstance(error, ParserStopped):
        return Failure("", error.fault, str(error), whole_unit=True)
    if isinstance(error, regular_files.RefusedFile):
        return error.failure()
    type_name = type(error).__name__
    if isinstance(error, OSError):
        why = f"the file could not be read ({type_name}); check that it is there and that you may read it"
        return Failure("", UNREADABLE, why, whole_unit=True)
    why = f"the reader of {kind} failed with {type_name}; please report it with the file's format"
    return Failure("", "internal", why, whole_unit=True)


def _possible_erasure_match(source: Source, unit: Unit, record: Record) -> Failure:
    finding = "the same was said by the same sender at the same time, and was forgotten"
    why = f"{finding}; if this is the same, run `relrag forget {record.asset_id}`"
    return Failure(record.locations[0], record_fingerprints.LIKE_FORGOTTEN, why, source.name, unit.path)


def _failure(source: Source, unit: Unit, fault: str, message: str, whole: bool = False) -> Failure:
    return Failure("", fault, message, source.name, unit.path, whole)


class _MonthAssigner:
    """Assigns a record to a month: its own, else its container's, else the first."""

    def __init__(self, first: str, last: str) -> None:
        self._first, self._last = first, last
        self.placed: dict[str, str] = {}
        """asset_id -> month of the records seen so far"""

    def assign(self, record: Record) -> str:
        """The record's month; sets its date_quality if that isn't the month of its own time."""
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


def _complete_record(record: Record, keys: Keys, source: Source, locations: list[str]) -> None:
    """Sets the fields that don't depend on the connector; ids that could reveal private text are hashed."""
    kind = KINDS[source.kind]
    original_id = record.asset_id
    record.asset_id = safe_native_id(original_id, keys)
    if not original_id or record.asset_id != original_id or not original_id.endswith(f":{record.source_id}"):
        record.source_id = safe_native_id(record.source_id, keys)  # else its parts have been looked at
    record.asset_id = record.asset_id or generate_asset_id(kind.ids_begin, record.source_id)
    record.thread_id = record.thread_id and safe_native_id(record.thread_id, keys)
    record.parent_asset_id = record.parent_asset_id and safe_native_id(record.parent_asset_id, keys)
    record.parent_ref = record.parent_ref and safe_native_id(record.parent_ref, keys)
    collect_message_ids(record, keys.id_hash)
    record.source, record.kind = source.name, kind.name
    record.rag_source_type = record.rag_source_type or kind.rag_source_type
    if len(locations) > 1 or not record.locations:
        record.locations = list(locations)
    if record.ts is not None:
        try:
            record.timestamp = datetime.fromtimestamp(record.ts, UTC).isoformat()[: len("2025-01-14T09:30:00")] + "Z"
        except (OverflowError, ValueError, OSError):  # a year that no calendar has
            record.ts = record.timestamp = None
