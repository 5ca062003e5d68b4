"""Prints the state of an archive, for `relrag status`."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

from relrag_pipelines import embedders
from relrag_pipelines.embedders import EmbeddingError
from relrag_pipelines.ingest import unread_files
from relrag_pipelines.records import Failure
from relrag_pipelines.settings import Settings, SettingsError
from relrag_pipelines.sources import NOT_READ
from relrag_query.cli.table import print_table
from relrag_query.display.amounts import number, size
from relrag_query.display.inert_text import safe
from relrag_query.display.source_line import moment
from relrag_query.service.archive_status import SourceStatus, Status, load_failures

_MOST_GAPS = 5
"""spans of empty months that are listed of a source"""


def print_status(status: Status, settings: Settings) -> None:
    """Prints the state of an archive, section by section."""
    zone = ZoneInfo(settings.timezone)
    print(f"Archive {status.archive}, index in {status.home}")
    _print_sources(status.sources, zone)
    if status.tables:
        print(f"Of all sources: {', '.join(f'{table} ({rows:,})' for table, rows in status.tables.items())}.")
    if status.generation:
        _print_generation(status, status.generation, settings)
    else:
        print("Nothing is published yet.")
    _print_waiting_calls(status)
    if status.forgotten["rules"]:
        forgotten = f"{number(status.forgotten['records'], 'record')} by {number(status.forgotten['rules'], 'rule')}"
        print(f"Forgotten: {forgotten}; `relrag forget --list` lists them.")
    for sentence in status.left_out:
        print(safe(sentence))
    _print_problems(status)
    if status.sync:
        print(f"A sync would {status.sync}.")
    elif not status.problems:
        print("Everything is up to date.")
    if status.writing:
        print(f"{status.writing} is writing.")


def _print_waiting_calls(status: Status) -> None:
    for what, count in status.waiting.items():
        missing = "a transcript; put it beside the recording" if what == "transcript" else "approval"
        print(f"{number(count, 'call waits', 'calls wait')} for {missing}; `relrag calls list` shows them.")


def _print_problems(status: Status) -> None:
    """Prints the problems of the archive, then those of each source, then what is unusual."""
    source_problems = [f"{source.name}: {source.problem}" for source in status.sources if source.problem]
    for problem in status.problems + source_problems:
        print(f"problem: {safe(problem)}")
    for warning in status.warnings:
        print(f"warning: {safe(warning)}")


def _print_generation(status: Status, generation: dict[str, Any], settings: Settings) -> None:
    published = datetime.fromisoformat(generation["published_at"]).astimezone(ZoneInfo(settings.timezone))
    counts, disk = generation["counts"], size(generation["bytes"])
    relations = number(counts["asset_asset_edges"], "relation")
    contents = f"{number(counts['records'], 'record')}, {number(counts['chunks'], 'passage')}, {relations}"
    print(f"Generation {generation['number']}, published {moment(published)}, {disk}: {contents}.")
    if "collection" in generation:
        location = f"{generation['server']}, collection {generation['collection']}"
        print(f"Its vectors are on Qdrant at {location}.")
    print(_search_mode(status, settings))
    for figures in status.evaluations:
        shares = ", ".join(f"{name} {share:.4f}" for name, share in figures.items() if name != "questions")
        print(f"Measured on {figures['questions']:g} questions: {shares}.")


def _search_mode(status: Status, settings: Settings) -> str:
    """A sentence about how the generation is searched, and whether that matches the settings."""
    embedder = status.generation["embedder"] if status.generation else ""
    try:
        model = embedders.model(settings)
        served = embedders.query_settings(settings, embedder)
    except (EmbeddingError, SettingsError) as error:
        return f"It is searched by words; the embedder cannot be used: {error}"
    if model is None:
        return "It is searched by words."
    pending = "" if embedder == model.name else f"; `relrag sync` adds the vectors of {model.name}"
    if served:
        location = model.host if embedder == model.name and model.host else "on this machine"
        return f"It is searched by words and by meaning ({embedder}, {location}){pending}."
    if not status.sync:
        return f"It is searched by words: none of its passages is in a language of {model.name}."
    return f"It is searched by words{pending}."


def _newest_time(time: str, zone: ZoneInfo) -> str:
    """An ISO time by the owner's clock; a day or a year as it is."""
    return moment(datetime.fromisoformat(time).astimezone(zone)) if "T" in time else time


def _print_sources(sources: list[SourceStatus], zone: ZoneInfo) -> None:
    if not sources:
        print("No sources; add a [[sources]] table to relrag.toml, or let `relrag init` find them.")
        return
    amounts = ("files", "size", "records")
    rows = []
    for source in sources:
        newest = _newest_time(source.newest, zone) if source.newest else "-"
        failures = sum(source.failures.values())
        counts = (f"{source.units:,}", size(source.bytes), f"{source.records:,}")
        rows.append((source.name, source.kind, *counts, newest, f"{failures:,}" if failures else "-"))
    print_table(("source", "kind", *amounts, "newest", "failures"), rows, right=(*amounts, "failures"))
    for source in sources:
        if source.units or source.failures:
            print(f"{source.name}: {'; '.join(_coverage(source, zone))}")


def _coverage(source: SourceStatus, zone: ZoneInfo) -> Iterator[str]:
    """How much of a source is indexed: files, the time from first to last record with empty months, and reasons."""
    yield f"{source.indexed:,} of {number(source.units, 'file')} indexed{_copies(source)}"
    if source.oldest and source.newest:
        first, last = (_newest_time(time, zone).split(" ")[0].rstrip(",") for time in (source.oldest, source.newest))
        yield first if first == last else f"{first} to {last}"
    if source.gaps:
        more = f" and {len(source.gaps) - _MOST_GAPS:,} earlier spans" if len(source.gaps) > _MOST_GAPS else ""
        yield f"nothing in {', '.join(source.gaps[-_MOST_GAPS:])}{more}"
    for label, counts in (("skipped", source.skipped), ("failed", source.failed)):
        if counts:
            yield f"{label}: {', '.join(f'{count:,} {fault}' for fault, count in counts.items())}"


def _copies(source: SourceStatus) -> str:
    return f", {number(source.copies, 'more is a copy', 'more are copies')}" if source.copies else ""


def print_failures(settings: Settings, as_json: bool) -> None:
    """Prints each unit that could not be read, then each file that no source reads, with reason and remedy."""
    stored = [failure for source in settings.sources for failure in load_failures(settings.home_path, source.name)]
    failures = [failure for failure in stored if failure.fault != NOT_READ]
    unread = unread_files.find_unread(settings).files()
    if as_json:
        rows = [*map(asdict, failures), *map(_as_failure, unread)]
        print(json.dumps(rows, indent=1, ensure_ascii=False))
        return
    for failure in failures:
        print(safe(": ".join(_parts(failure)).replace("\n", " ")))
    for file in unread:
        print(safe(f"not read: {file.path}: {file.reason}; {file.remedy}".replace("\n", " ")))
    if not failures and not unread:
        print("Everything was read.")


def _as_failure(file: unread_files.UnreadFile) -> dict[str, str | bool]:
    """A file that no source reads, as a row of the list of failures."""
    return asdict(Failure("", NOT_READ, f"{file.reason}; {file.remedy}", unit=file.path))


def _parts(failure: Failure) -> Iterator[str]:
    location = ", ".join(part for part in (failure.unit, failure.location) if part)
    yield from (part for part in (failure.source, location, failure.fault, failure.message) if part)
