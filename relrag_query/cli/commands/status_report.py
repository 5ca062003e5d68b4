"""Prints the state of an archive, for `relrag status`."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict
from datetime import datetime
from zoneinfo import ZoneInfo

from relrag_pipelines import embedders
from relrag_pipelines.embedders import EmbeddingError
from relrag_pipelines.ingest import unread_files
from relrag_pipelines.records import Failure
from relrag_pipelines.settings import Settings, SettingsError
from relrag_query.cli.table import print_table
from relrag_query.display.amounts import number, size
from relrag_query.display.inert_text import safe
from relrag_query.display.source_line import moment
from relrag_query.service.archive_status import SourceStatus, Status, load_failures

NOT_READ = "not_read"
"""the fault word of a file that no source reads"""


def print_status(found: Status, settings: Settings) -> None:
    zone = ZoneInfo(settings.timezone)
    print(f"Archive {found.archive}, index in {found.home}")
    if found.sources:
        _print_sources(found.sources, zone)
    else:
        print("No sources; add a [[sources]] table to relrag.toml, or let `relrag init` find them.")
    if found.tables:
        print(f"Of all sources: {', '.join(f'{table} ({rows:,})' for table, rows in found.tables.items())}.")
    if found.generation:
        at = datetime.fromisoformat(found.generation["published_at"]).astimezone(zone)
        counts, held = found.generation["counts"], size(found.generation["bytes"])
        relations = number(counts["asset_asset_edges"], "relation")
        contents = f"{number(counts['records'], 'record')}, {number(counts['chunks'], 'passage')}, {relations}"
        print(f"Generation {found.generation['number']}, published {moment(at)}, {held}: {contents}.")
        if "collection" in found.generation:
            where = f"{found.generation['server']}, collection {found.generation['collection']}"
            print(f"Its vectors are on Qdrant at {where}.")
        print(_searched(found, settings))
        for one in found.evaluations:
            said = ", ".join(f"{name} {share:.4f}" for name, share in one.items() if name != "questions")
            print(f"Measured on {one['questions']:g} questions: {said}.")
    else:
        print("Nothing is published yet.")
    for what, count in found.waiting.items():
        told = "a transcript; put it beside the recording" if what == "transcript" else "approval"
        print(f"{number(count, 'call waits', 'calls wait')} for {told}; `relrag calls list` shows them.")
    if found.forgotten["rules"]:
        kept_out = f"{number(found.forgotten['records'], 'record')} by {number(found.forgotten['rules'], 'rule')}"
        print(f"Forgotten: {kept_out}; `relrag forget --list` lists them.")
    for said in found.left_out:
        print(safe(said))
    for problem in found.problems + [f"{one.name}: {one.problem}" for one in found.sources if one.problem]:
        print(f"problem: {safe(problem)}")
    if found.sync:
        print(f"A sync would {found.sync}.")
    elif not found.problems:
        print("Everything is up to date.")
    if found.writing:
        print(f"{found.writing} is writing.")


def _searched(found: Status, settings: Settings) -> str:
    """How the generation is searched, and whether that matches the settings."""
    embedder = found.generation["embedder"] if found.generation else ""
    try:
        model = embedders.model(settings)
        served = embedders.query_settings(settings, embedder)
    except (EmbeddingError, SettingsError) as error:
        return f"It is searched by words; the embedder cannot be used: {error}"
    if model is None:
        return "It is searched by words."
    later = "" if embedder == model.name else f"; `relrag sync` adds the vectors of {model.name}"
    if served:
        where = model.host if embedder == model.name and model.host else "on this machine"
        return f"It is searched by words and by meaning ({embedder}, {where}){later}."
    if not found.sync:
        return f"It is searched by words: none of its passages is in a language of {model.name}."
    return f"It is searched by words{later}."


def _newest_time(time: str, zone: ZoneInfo) -> str:
    """An ISO time by the owner's clock; a day or a year as it is."""
    return moment(datetime.fromisoformat(time).astimezone(zone)) if "T" in time else time


def _print_sources(sources: list[SourceStatus], zone: ZoneInfo) -> None:
    amounts = ("files", "size", "records")
    rows = []
    for source in sources:
        newest = _newest_time(source.newest, zone) if source.newest else "-"
        failures = sum(source.failures.values())
        counts = (f"{source.units:,}", size(source.bytes), f"{source.records:,}")
        rows.append((source.name, source.kind, *counts, newest, f"{failures:,}" if failures else "-"))
    print_table(("source", "kind", *amounts, "newest", "failures"), rows, right=(*amounts, "failures"))
    for source in sources:
        if source.failures:
            print(f"{source.name}: {', '.join(f'{count} {fault}' for fault, count in source.failures.items())}")


def print_failures(settings: Settings, as_json: bool) -> None:
    """Each item that could not be read, then each file that no source reads, with the reason and the remedy."""
    failed = [one for source in settings.sources for one in load_failures(settings.home_path, source.name)]
    unread = unread_files.find_unread(settings).files()
    if as_json:
        listed = [*map(asdict, failed), *map(_as_failure, unread)]
        print(json.dumps(listed, indent=1, ensure_ascii=False))
        return
    for one in failed:
        print(safe(": ".join(_parts(one)).replace("\n", " ")))
    for file in unread:
        print(safe(f"not read: {file.path}: {file.reason}; {file.remedy}".replace("\n", " ")))
    if not failed and not unread:
        print("Everything was read.")


def _as_failure(file: unread_files.UnreadFile) -> dict[str, str | bool]:
    """A file that no source reads, as a row beside the failures."""
    return asdict(Failure("", NOT_READ, f"{file.reason}; {file.remedy}", unit=file.path))


def _parts(one: Failure) -> Iterator[str]:
    place = ", ".join(part for part in (one.unit, one.location) if part)
    yield from (part for part in (one.source, place, one.fault, one.message) if part)
