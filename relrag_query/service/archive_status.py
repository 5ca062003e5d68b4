"""The state of an archive: what each source holds, what is published, how far it is behind, what failed."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
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
from relrag_pipelines.records import TABLES, Failure
from relrag_pipelines.settings import Settings, Source
from relrag_pipelines.sources import KINDS
from relrag_pipelines.stages import plan as plans
from relrag_pipelines.stages.month_range import month_range
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
    """What there is of one source."""

    name: str
    kind: str
    path: str
    units: int = 0
    """files that were read"""
    bytes: int = 0
    """of those files"""
    records: int = 0
    chunks: int = 0
    months: int = 0
    """months with records"""
    gaps: list[str] = field(default_factory=list)
    """stretches of months without records between the oldest and the newest, such as 2024-02 to 2024-05; not those
    behind the first month, which holds what has no date"""
    stored_bytes: int = 0
    """of its private records and its part of the lake"""
    newest: str | None = None
    """time of the newest record, ISO 8601, UTC; a day or a year where no more is known"""
    failures: dict[str, int] = field(default_factory=dict)
    """fault -> how many"""
    problem: str = ""


@dataclass
class Status:
    """What there is of an archive."""

    archive: str
    home: str
    sources: list[SourceStatus]
    generation: dict[str, Any] | None = None
    """number, published_at, bytes on the disk, counts; embedder: whose vectors it holds, empty for none;
    collection and server, where its vectors are on one"""
    tables: dict[str, int] = field(default_factory=dict)
    """rows of each table of the whole archive that was made"""
    evaluations: list[dict[str, float]] = field(default_factory=list)
    """what `relrag eval` or the golden set measured of it: questions, and the share answered"""
    sync: str = ""
    """what a sync would do; empty when it would do nothing"""
    left_out: list[str] = field(default_factory=list)
    """what no source reads, in words: files in the folders of sources, sources that are no longer in relrag.toml"""
    unread_files: list[unread_files.UnreadFile] = field(default_factory=list)
    """each of those files, with the reason and the remedy"""
    problems: list[str] = field(default_factory=list)
    waiting: dict[str, int] = field(default_factory=dict)
    """what calls wait for (transcript, approval) -> how many"""
    forgotten: dict[str, int] = field(default_factory=dict)
    """rules: what was forgotten and is kept out; records: how many went by them"""
    writing: str | None = None
    """who is writing now"""


def load_failures(home: Path, source: str) -> list[Failure]:
    """What could not be read in a source, and what could not be redacted."""
    found = unit_state.load_failures(home, source)
    for month in sorted(lake.manifest(home, "failures", source)):
        found += [Failure(**row) for row in lake.read(home, "failures", source, month).to_pylist()]
    return found


def redact(found: Status, settings: Settings) -> Status:
    """As pages and API show it; the command line shows names of files as they are, so that they are found."""
    said = _redaction(settings)
    unread = [replace(one, path=said(one.path), remedy=said(one.remedy)) for one in found.unread_files]
    return replace(
        found,
        left_out=[said(one) for one in found.left_out],
        unread_files=unread,
        problems=[said(one) for one in found.problems],
    )


def redacted_failures(settings: Settings) -> list[Failure]:
    """What could not be read in any source, as the page shows it."""
    said = _redaction(settings)
    found = [one for source in settings.sources for one in load_failures(settings.home_path, source.name)]
    return [replace(one, unit=said(one.unit), location=said(one.location), message=said(one.message)) for one in found]


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


def collect(settings: Settings) -> Status:
    """Looks at everything and writes nothing, whatever is missing."""
    home = settings.home_path
    found = Status(settings.archive, str(home), [_source(settings, source) for source in settings.sources])
    try:
        with generations.open_current(home) as current:
            size_of_files = sum(_on_disk(current.path / name) for name in current.manifest["files"])
            kept = {name: current.manifest[name] for name in ("published_at", "counts")}
            kept["embedder"] = current.manifest.get("embedder", "")
            found.generation = {"number": current.number, **kept, "bytes": size_of_files}
            if there := generation_damage.on_server(home, current.number):
                found.generation |= {"collection": there.name, "server": there.url}
            found.evaluations = [
                {"questions": one.figures.get("questions", 0), one.headline[0]: one.headline[1]}
                for one in evaluation_history.load(home)
                if one.generation == current.number
            ]
    except NothingPublished:
        pass
    except GenerationError as error:
        found.problems.append(str(error))
    try:
        entries = {table: archive_tables.entry(home, table) for table in archive_tables.NAMES}
        found.tables = {table: entry.rows for table, entry in entries.items() if entry}
        found.waiting = call_review.waiting_calls(settings)
    except LakeError as error:
        found.problems.append(str(error))
    found.problems += [
        f"{left} is still to be removed; a sync does it" for left in retired_generations.describe_remote_leftovers(home)
    ]
    found.sync, problems = _pending(settings)
    found.problems += problems
    unread = unread_files.find_unread(settings)
    found.left_out, found.unread_files = list(unread.sentences()), unread.files()
    forgotten = rule_file.load(home).rules
    found.forgotten = {"rules": len(forgotten), "records": sum(rule.records for rule in forgotten)}
    found.writing = lock.holder(home)
    return found


def _on_disk(path: Path) -> int:
    """Bytes that a file takes: most of those of the vector store are holes. None where it is gone."""
    try:
        found = path.stat()
    except OSError:
        return 0
    return min(found.st_size, found.st_blocks * 512)


def _source(settings: Settings, source: Source) -> SourceStatus:
    home = settings.home_path
    found = SourceStatus(source.name, source.kind, str(settings.source_path(source)))
    try:
        known = unit_state.load(home, source.name)
        manifests = {table: lake.manifest(home, table, source.name) for table in TABLES}
        found.failures = dict(sorted(Counter(one.fault for one in load_failures(home, source.name)).items()))
    except (LakeError, UnitsError) as error:
        found.problem = str(error)
        return found
    found.units, found.bytes = len(known), sum(unit.size for unit in known.values())
    found.records = sum(entry.rows for entry in manifests["records"].values())
    found.chunks = sum(entry.rows for entry in manifests["chunks"].values())
    dated = sorted(month for month, entry in manifests["records"].items() if entry.rows)
    found.gaps = list(_gaps([month for month in dated if month > settings.first_month]))
    found.months = sum(entry.rows > 0 for entry in manifests["records"].values())
    found.stored_bytes = sum(entry.bytes for entries in manifests.values() for entry in entries.values())
    found.newest = _newest(home, source.name)
    return found


def _gaps(months: Sequence[str]) -> Iterator[str]:
    for before, after in itertools.pairwise(months):
        if missing := month_range(before, after)[1:-1]:
            yield " to ".join(dict.fromkeys((missing[0], missing[-1])))


def _newest(home: Path, source: str) -> str | None:
    for month in reversed(lake.month_files(home, "records", source)):
        rows = lake.read(home, "records", source, month, ["ts", "rag_source_type", "date_quality"])
        if (newest := pc.max(rows["ts"]).as_py()) is None:
            continue
        row = rows.slice(pc.index(rows["ts"], newest).as_py(), 1).to_pylist()[0]
        said = time_of(newest, ZoneInfo("UTC"), row["rag_source_type"], row["date_quality"])
        return said if " " not in said else datetime.fromtimestamp(newest, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    return None


def _pending(settings: Settings) -> tuple[str, list[str]]:
    """What a sync would do, and what stands in its way. New keys are never made here."""
    if not settings.key_store.exists() and not (settings.home_path / "private").exists():
        return _first_sync(settings)
    try:
        todo = plans.build_plan(Workspace(settings))
    except (EmbeddingError, GenerationError, JournalError, KeysError, LakeError, UnitsError) as error:
        return "", [str(error)]
    read = sum(export.new + export.changed for export in todo.exports)
    gone = sum(export.gone for export in todo.exports)
    months = len({(one.source, one.month) for one in todo.stale})
    parts = [
        f"read {number(read, 'file')}" if read else "",
        f"let go of {number(gone, 'file that is', 'files that are')} gone" if gone else "",
        f"make {number(months, 'month')} again" if months else "",
        f"make {', '.join(one.stage for one in todo.archive)}" if todo.archive else "",
        "publish a new generation" if todo.publish else "",
    ]
    return ", ".join(part for part in parts if part), todo.problems


def _first_sync(settings: Settings) -> tuple[str, list[str]]:
    files, total, problems = 0, 0, []
    for source in settings.sources:
        try:
            taken = ownership.claimed_elsewhere(settings, source)
            scan = scan_units(settings.source_path(source), KINDS[source.kind], source, {}, "", taken=taken)
        except SourceNotFound as missing:
            problems.append(f"{source.name}: {missing}")
            continue
        files, total = files + len(scan.units), total + sum(unit.size for unit in scan.units.values())
    return f"read {number(files, 'file')} ({size(total)}) and publish the first generation", problems
