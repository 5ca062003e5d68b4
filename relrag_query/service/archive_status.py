"""The state of an archive: contents of each source, the published generation, pending work, failures."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pyarrow.compute as pc

from relrag_pipelines.embedders import EmbeddingError
from relrag_pipelines.erasure import rule_file
from relrag_pipelines.ingest import call_review, ownership, unread_files
from relrag_pipelines.ingest.scan import scan_units
from relrag_pipelines.ingest.units import SourceNotFound
from relrag_pipelines.journal.journal import JournalError
from relrag_pipelines.pii import RedactionError
from relrag_pipelines.privacy.keys import KeysError
from relrag_pipelines.publishing import archive_health
from relrag_pipelines.records import TABLES, Failure, UnitState
from relrag_pipelines.settings import Settings, Source
from relrag_pipelines.sources import KINDS, LEFT_OUT
from relrag_pipelines.stages import empty_months, source_health
from relrag_pipelines.stages import plan as plans
from relrag_pipelines.stores import (
    archive_tables,
    evaluation_history,
    generation_damage,
    generations,
    lake,
    lock,
    retired_generations,
    unit_state,
)
from relrag_pipelines.stores.generations import GenerationError, NothingPublished
from relrag_pipelines.stores.lake import LakeError
from relrag_pipelines.stores.unit_state import UnitsError
from relrag_pipelines.workspace import Workspace
from relrag_query.display.amounts import number, size
from relrag_query.display.source_line import time_of
from relrag_query.retrieval.indexed_records import DEFAULT
from relrag_query.retrieval.redacted_views import WITHHELD


@dataclass
class SourceStatus:
    """The state of one source."""

    name: str
    kind: str
    path: str
    units: int = 0
    """number of files seen"""
    indexed: int = 0
    """number of files with records"""
    copies: int = 0
    """number of files without records of their own, since another has the same bytes"""
    skipped: dict[str, int] = field(default_factory=dict)
    """what is left out on purpose, count by fault word"""
    failed: dict[str, int] = field(default_factory=dict)
    """what could not be read or redacted, count by fault word"""
    bytes: int = 0
    """size of those files"""
    records: int = 0
    chunks: int = 0
    months: int = 0
    """months with records"""
    gaps: list[str] = field(default_factory=list)
    """spans of months without records between the oldest and the newest, such as 2024-02 to 2024-05; without the span
    after the first month, which holds undated records"""
    stored_bytes: int = 0
    """size of its private records and its part of the lake"""
    oldest: str | None = None
    """time of the oldest dated record, as `newest`"""
    newest: str | None = None
    """time of the newest record, ISO 8601, UTC; only a day or a year if the record has no more"""
    failures: dict[str, int] = field(default_factory=dict)
    """skipped and failed together"""
    problem: str = ""


@dataclass
class Status:
    """The state of an archive."""

    archive: str
    home: str
    sources: list[SourceStatus]
    generation: dict[str, Any] | None = None
    """number, published_at, bytes on disk, counts; embedder: name of the model of its vectors, empty for none;
    collection and server, if its vectors are on a server"""
    tables: dict[str, int] = field(default_factory=dict)
    """row count of each archive-wide table"""
    evaluations: list[dict[str, float]] = field(default_factory=list)
    """results of `relrag eval` and the golden set for this generation: number of questions, share answered"""
    sync: str = ""
    """what a sync would do; empty if the archive is up to date"""
    left_out: list[str] = field(default_factory=list)
    """sentences about unread files in the folders of sources, and about sources missing from relrag.toml"""
    unread_files: list[unread_files.UnreadFile] = field(default_factory=list)
    """the unread files, with reason and remedy"""
    problems: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    """what is unusual of sources and archive, as Dagster's checks find it every night"""
    waiting: dict[str, int] = field(default_factory=dict)
    """number of calls that wait for a transcript or for approval"""
    forgotten: dict[str, int] = field(default_factory=dict)
    """rules: number of erasure rules; records: number of records they removed"""
    writing: str | None = None
    """the command that holds the lock, if any"""


def load_failures(home: Path, source: str) -> list[Failure]:
    """The failures of a source: units that could not be read, and rows that could not be redacted."""
    failures = unit_state.load_failures(home, source)
    for month in sorted(lake.manifest(home, "failures", source)):
        failures += [Failure(**row) for row in lake.read(home, "failures", source, month).to_pylist()]
    return failures


def redact(status: Status, settings: Settings) -> Status:
    """The status with redacted file names, for pages and API. The command line shows the real names."""
    redact_text = _redaction(settings)
    unread = [
        replace(file, path=redact_text(file.path), remedy=redact_text(file.remedy)) for file in status.unread_files
    ]
    return replace(
        status,
        left_out=[redact_text(sentence) for sentence in status.left_out],
        unread_files=unread,
        problems=[redact_text(problem) for problem in status.problems],
    )


def redacted_failures(settings: Settings) -> list[Failure]:
    """The failures of all sources, redacted for the page."""
    redact_text = _redaction(settings)
    failures = [failure for source in settings.sources for failure in load_failures(settings.home_path, source.name)]
    return [
        replace(
            failure,
            unit=redact_text(failure.unit),
            location=redact_text(failure.location),
            message=redact_text(failure.message),
        )
        for failure in failures
    ]


def _redaction(settings: Settings) -> Callable[[str], str]:
    if not settings.pii_redaction_enabled:
        return str
    if not settings.key_store.exists():
        return lambda text: WITHHELD if text else ""
    redactor = Workspace(settings).redactor

    def redact(text: str) -> str:
        try:
            return redactor.redact(text, DEFAULT)
        except RedactionError:
            return WITHHELD

    return redact


def _add_generation(status: Status, home: Path) -> None:
    """Adds what is published, and how well it answered; a problem if it is damaged."""
    try:
        with generations.open_current(home) as current:
            size_of_files = sum(_on_disk(current.path / name) for name in current.manifest["files"])
            fields = {name: current.manifest[name] for name in ("published_at", "counts")}
            fields["embedder"] = current.manifest.get("embedder", "")
            status.generation = {"number": current.number, **fields, "bytes": size_of_files}
            if collection := generation_damage.on_server(home, current.number):
                status.generation |= {"collection": collection.name, "server": collection.url}
            status.evaluations = [
                {"questions": evaluation.figures.get("questions", 0), evaluation.headline[0]: evaluation.headline[1]}
                for evaluation in evaluation_history.load(home)
                if evaluation.generation == current.number
            ]
    except NothingPublished:
        pass
    except GenerationError as error:
        status.problems.append(str(error))


def collect(settings: Settings) -> Status:
    """Collects the status. It writes nothing, and reports missing parts as problems."""
    home = settings.home_path
    status = Status(settings.archive, str(home), [_source(settings, source) for source in settings.sources])
    _add_generation(status, home)
    try:
        entries = {table: archive_tables.entry(home, table) for table in archive_tables.NAMES}
        status.tables = {table: entry.rows for table, entry in entries.items() if entry}
        status.waiting = call_review.waiting_calls(settings)
    except LakeError as error:
        status.problems.append(str(error))
    status.problems += [
        f"{leftover} is still to be removed; a sync does it"
        for leftover in retired_generations.describe_remote_leftovers(home)
    ]
    status.warnings = _warnings(settings)
    status.sync, problems = _pending(settings)
    status.problems += problems
    unread = unread_files.find_unread(settings)
    status.left_out, status.unread_files = list(unread.sentences()), unread.files()
    forgotten = rule_file.load(home).rules
    status.forgotten = {"rules": len(forgotten), "records": sum(rule.records for rule in forgotten)}
    status.writing = lock.holder(home)
    return status


def _warnings(settings: Settings) -> list[str]:
    """What is unusual; nothing where the lake cannot be read, which is a problem of its own."""
    workspace = Workspace(settings)
    try:
        lines = [line for source in settings.sources for line in source_health.warnings(workspace, source)]
        return [*lines, *archive_health.warnings(workspace)]
    except (EmbeddingError, LakeError, UnitsError, OSError):
        return []


def _on_disk(path: Path) -> int:
    """Bytes that a file occupies on disk, since the vector store writes sparse files; 0 if the file is missing."""
    try:
        file_stat = path.stat()
    except OSError:
        return 0
    return min(file_stat.st_size, file_stat.st_blocks * 512)


def _source(settings: Settings, source: Source) -> SourceStatus:
    home = settings.home_path
    status = SourceStatus(source.name, source.kind, str(settings.source_path(source)))
    try:
        units = unit_state.load(home, source.name)
        manifests = {table: lake.manifest(home, table, source.name) for table in TABLES}
        status.failures = dict(sorted(Counter(failure.fault for failure in load_failures(home, source.name)).items()))
    except (LakeError, UnitsError) as error:
        status.problem = str(error)
        return status
    _count_units(status, list(units.values()))
    status.records, status.chunks = _rows(manifests["records"]), _rows(manifests["chunks"])
    status.gaps = empty_months.spans(manifests["records"], settings.first_month)
    status.months = len(empty_months.full_months(manifests["records"]))
    status.stored_bytes = sum(entry.bytes for entries in manifests.values() for entry in entries.values())
    months = list(lake.month_files(home, "records", source.name))
    dated = [month for month in months if month > settings.first_month] or months
    status.oldest = _extreme_time(home, source.name, dated, pc.min)
    status.newest = _extreme_time(home, source.name, list(reversed(months)), pc.max)
    return status


def _rows(manifest: lake.Manifest) -> int:
    return sum(entry.rows for entry in manifest.values())


def _count_units(status: SourceStatus, units: list[UnitState]) -> None:
    """Counts the files of a source: seen and indexed, and what was skipped and what failed."""
    status.units, status.bytes = len(units), sum(unit.size for unit in units)
    indexed = [unit for unit in units if _has_records(unit)]
    hashes = {unit.content_hash for unit in indexed} - {""}
    status.indexed = len(indexed)
    status.copies = sum(unit.content_hash in hashes and not _has_records(unit) for unit in units)
    for fault, count in status.failures.items():
        (status.skipped if fault in LEFT_OUT else status.failed)[fault] = count


def _has_records(unit: UnitState) -> bool:
    return any(month.rows for month in unit.months)


def _extreme_time(home: Path, source: str, months: list[str], extreme: Callable[[Any], Any]) -> str | None:
    """The least or greatest time in the first of the months that has one."""
    for month in months:
        rows = lake.read(home, "records", source, month, ["ts", "rag_source_type", "date_quality"])
        if (moment := extreme(rows["ts"]).as_py()) is None:
            continue
        row = rows.slice(pc.index(rows["ts"], moment).as_py(), 1).to_pylist()[0]
        time = time_of(moment, ZoneInfo("UTC"), row["rag_source_type"], row["date_quality"])
        return time if " " not in time else datetime.fromtimestamp(moment, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    return None


def _pending(settings: Settings) -> tuple[str, list[str]]:
    """What a sync would do, and the problems that prevent it. Creates no keys."""
    if not settings.key_store.exists() and not (settings.home_path / "private").exists():
        return _first_sync(settings)
    try:
        todo = plans.build_plan(Workspace(settings))
    except (EmbeddingError, GenerationError, JournalError, KeysError, LakeError, UnitsError) as error:
        return "", [str(error)]
    new_files = sum(export.new + export.changed for export in todo.exports)
    gone_files = sum(export.gone for export in todo.exports)
    months = len({(month.source, month.month) for month in todo.stale})
    parts = [
        f"read {number(new_files, 'file')}" if new_files else "",
        f"let go of {number(gone_files, 'file that is', 'files that are')} gone" if gone_files else "",
        f"make {number(months, 'month')} again" if months else "",
        f"make {', '.join(stale.stage for stale in todo.archive)}" if todo.archive else "",
        "publish a new generation" if todo.publish else "",
    ]
    return ", ".join(part for part in parts if part), todo.problems


def _first_sync(settings: Settings) -> tuple[str, list[str]]:
    files, total, problems = 0, 0, []
    for source in settings.sources:
        if source.paused:
            continue
        try:
            claimed = ownership.claimed_elsewhere(settings, source)
            scan = scan_units(settings.source_path(source), KINDS[source.kind], source, {}, "", taken=claimed)
        except SourceNotFound as missing:
            problems.append(f"{source.name}: {missing}")
            continue
        files, total = files + len(scan.units), total + sum(unit.size for unit in scan.units.values())
    return f"read {number(files, 'file')} ({size(total)}) and publish the first generation", problems
