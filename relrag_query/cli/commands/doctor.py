"""`relrag doctor`: what is wrong with this machine, this folder and this configuration, and what to do about it.

It looks and changes nothing, and prints no key and no text of the archive. Exit code 2 where something prevents a
sync, else 0: a warning is for the owner to judge.
"""

from __future__ import annotations

import importlib
import os
import sqlite3
import stat
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal
from urllib.parse import urlsplit

from relrag_pipelines import settings as settings_module
from relrag_pipelines.embedders import EmbeddingError
from relrag_pipelines.ingest import ownership
from relrag_pipelines.ingest.scan import scan_units
from relrag_pipelines.ingest.units import SourceNotFound
from relrag_pipelines.onboarding import environment
from relrag_pipelines.onboarding.estimate import FIXED_BYTES
from relrag_pipelines.privacy import keys as key_files
from relrag_pipelines.publishing import disk_space
from relrag_pipelines.settings import Settings, SettingsError
from relrag_pipelines.sources import KINDS
from relrag_pipelines.stores import dagster_runs, generation_damage, generations, lock, vectors
from relrag_pipelines.stores.generations import GenerationError, NothingPublished
from relrag_query.cli.format import number, size

_SERVER_SECONDS = 10
"""that a server of vectors may take to answer"""
_THIS_MACHINE = ("localhost", "127.0.0.1", "::1")

Level = Literal["ok", "warning", "problem"]

_MODULES = ("dagster", "dagster_webserver", "duckdb", "presidio_analyzer", "pyarrow", "qdrant_edge")


@dataclass(frozen=True)
class CheckResult:
    """One thing that was looked at."""

    level: Level
    what: str
    said: str
    """what was found and, where it is not fine, what to do"""


def doctor(config: Path | None = None) -> int:
    """Prints a finding a line; returns the exit code."""
    worst = 0
    warnings = 0
    for finding in examine(config):
        print(f"{finding.level:<8} {finding.what}: {finding.said}", flush=True)
        worst = max(worst, 2 if finding.level == "problem" else 0)
        warnings += finding.level == "warning"
    if worst:
        print("Something prevents a sync: see the lines that begin with `problem`.")
    else:
        print(f"Nothing prevents a sync; {number(warnings, 'warning')}.")
    return worst


def examine(config: Path | None, environ: Mapping[str, str] = os.environ) -> Iterator[CheckResult]:
    """Everything that is looked at, the machine first."""
    yield from _machine(environ)
    try:
        settings = settings_module.load(config, environ)
    except SettingsError as error:
        for line in str(error).splitlines():
            yield CheckResult("problem", "settings", line)
        return
    yield CheckResult("ok", "settings", f"{settings.folder / settings_module.CONFIG_NAME}, archive {settings.archive}")
    checks: tuple[Callable[[Settings], Iterator[CheckResult]], ...] = (
        _redaction, _time_zone, _home, _keys, _sources, _embedder, _vectors, _answerer, _transcription, _golden_set,
        _disk, _writer, _generation, _runs,
    )  # fmt: skip
    for check in checks:
        yield from check(settings)


def _machine(environ: Mapping[str, str]) -> Iterator[CheckResult]:
    version = "{}.{}.{}".format(*sys.version_info)
    if (3, 11) <= sys.version_info < (3, 14):
        yield CheckResult("ok", "python", version)
    else:
        yield CheckResult("problem", "python", f"{version}; relrag needs 3.11, 3.12 or 3.13")
    broken = [name for name in _MODULES if not _imports(name)]
    if broken:
        yield CheckResult("problem", "packages", f"{', '.join(broken)} cannot be imported; run `make setup` again")
    else:
        yield CheckResult("ok", "packages", ", ".join(_MODULES))
    if environ.get("RELRAG_NOW"):
        yield CheckResult("warning", "clock", f"fixed at {environ['RELRAG_NOW']} by RELRAG_NOW; unset it for real use")
    elif datetime.now(UTC).year < 2025:
        yield CheckResult(
            "warning", "clock", f"says {datetime.now(UTC):%Y-%m-%d}; set it, newer records count as to come"
        )
    else:
        yield CheckResult("ok", "clock", f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC")


def _imports(name: str) -> bool:
    try:
        importlib.import_module(name)
    except ImportError:
        return False
    return True


def _redaction(settings: Settings) -> Iterator[CheckResult]:
    from relrag_pipelines.pii import PIIRedactor

    if not settings.pii_redaction_enabled:
        yield CheckResult(
            "warning", "redaction", "is off: personal data is indexed as it stands; pii_redaction_enabled"
        )
        return
    try:
        PIIRedactor(settings.pii_policies, key_files.Keys(b"", b"", "k0"))
    except SettingsError as error:
        yield CheckResult("problem", "redaction", str(error))
        return
    yield CheckResult("ok", "redaction", f"on, {number(len(settings.pii_policies), 'policy', 'policies')}")


def _time_zone(settings: Settings) -> Iterator[CheckResult]:
    here = environment.time_zone()
    now = time.time()
    offsets = {_offset(zone, now) for zone in (here, settings.timezone) if zone}
    if here and len(offsets) > 1:
        yield CheckResult("warning", "time zone", f"{settings.timezone} in relrag.toml, but this machine is in {here}")
    else:
        yield CheckResult("ok", "time zone", settings.timezone)


def _offset(zone: str, at: float) -> float:
    from zoneinfo import ZoneInfo

    offset = datetime.fromtimestamp(at, ZoneInfo(zone)).utcoffset()
    return offset.total_seconds() if offset else 0.0


def _home(settings: Settings) -> Iterator[CheckResult]:
    home = settings.home_path
    existing = next(place for place in (home, *home.parents) if place.exists())
    if not existing.is_dir() or not os.access(existing, os.W_OK | os.X_OK):
        yield CheckResult("problem", "home", f"{existing} cannot be written by this user; set `home` elsewhere")
    elif existing == home and home.stat().st_mode & (stat.S_IRWXG | stat.S_IRWXO):
        yield CheckResult("warning", "home", f"{home} is open to others; run: chmod 700 {home}")
    else:
        yield CheckResult("ok", "home", f"{home}{'' if existing == home else ', not there yet'}")
    for note in environment.location_warnings(home):
        yield CheckResult("warning", "home", note)
    if tree := environment.tracking_git_tree(home):
        advice = f"run: echo '*' > {home}/.gitignore"
        yield CheckResult("warning", "home", f"{home} lies in the git tree {tree}, which does not ignore it; {advice}")


def _keys(settings: Settings) -> Iterator[CheckResult]:
    path, home = settings.keys_path, settings.home_path
    if path.is_relative_to(home):
        yield CheckResult(
            "problem", "keys", f"keys_file is {path}, inside home; keep keys apart from what they protect"
        )
        return
    if not path.exists() and not (home / "private").exists():
        yield CheckResult("ok", "keys", f"the first sync makes {path}; keep a copy of it in a safe place then")
        return
    try:
        key_files.load(path)
    except key_files.KeysError as error:
        yield CheckResult("problem", "keys", str(error))
        return
    yield CheckResult("ok", "keys", f"{path}; without it this archive cannot be continued: keep a copy")


def _sources(settings: Settings) -> Iterator[CheckResult]:
    if not settings.sources:
        yield CheckResult("problem", "sources", "none; add a [[sources]] table to relrag.toml")
    for source in settings.sources:
        what, path = f"source {source.name}", settings.source_path(source)
        try:
            taken = ownership.claimed_elsewhere(settings, source)
            found = scan_units(path, KINDS[source.kind], source, {}, "", taken=taken).units.values()
        except SourceNotFound as missing:
            yield CheckResult("problem", what, str(missing))
            continue
        closed = [unit.path for unit in found if not os.access(unit.file, os.R_OK)]
        if closed:
            count = number(len(closed), "file")
            yield CheckResult("warning", what, f"{count} cannot be read by this user, the first is {closed[0]}")
        elif not found:
            yield CheckResult("warning", what, f"no {source.kind} file in {path}")
        else:
            yield CheckResult("ok", what, f"{number(len(found), 'file')}, {size(sum(unit.size for unit in found))}")


def _embedder(settings: Settings) -> Iterator[CheckResult]:
    """It is loaded as a sync does: package, model file and its hash, key; no service is asked."""
    from relrag_pipelines import embedders

    try:
        model = embedders.model(settings)
        if model is None:
            yield CheckResult("ok", "embedder", "none: passages are found by their words only")
            return
        embedders.load(settings)
    except (embedders.EmbeddingError, SettingsError) as error:
        yield CheckResult("problem", "embedder", str(error))
        return
    said = f"{embedders.describe(settings)}, {', '.join(model.languages) or 'all languages'}"
    if not model.host:
        yield CheckResult("ok", "embedder", f"{said}, on this machine; its files are those that were checked")
    elif settings.pii_redaction_enabled:
        yield CheckResult("ok", "embedder", f"{said}; redacted passages and questions are sent to {model.host}")
    else:
        yield CheckResult(
            "warning", "embedder", f"{said}; with redaction off, texts are sent as they stand to {model.host}"
        )


def _answerer(settings: Settings) -> Iterator[CheckResult]:
    from relrag_query.answering.llm import AnswerError, writer

    if settings.answerer == "extractive":
        yield CheckResult("ok", "answerer", "extractive: answers are sentences of the archive")
        return
    try:
        found = writer(settings)
    except (AnswerError, SettingsError) as error:
        yield CheckResult("warning", "answerer", f"{error}; until then answers are quoted")
        return
    yield CheckResult(
        "ok", "answerer", f"{found.model} at {found.host}, which is sent the passages that it answers from"
    )


def _transcription(settings: Settings) -> Iterator[CheckResult]:
    if folder := settings.transcription_model_path:
        from relrag_pipelines.sources.call_recording.transcribe import lacks

        if why := lacks(folder):
            yield CheckResult("warning", "transcription", f"{why}; calls without a transcript wait until then")
        else:
            yield CheckResult("ok", "transcription", f"{folder}")


def _golden_set(settings: Settings) -> Iterator[CheckResult]:
    if path := settings.golden_set_path:
        from relrag_query.archive import ArchiveError
        from relrag_query.evaluation.metrics import question_count

        try:
            yield CheckResult("ok", "golden set", f"{number(question_count(path), 'question')} in {path}")
        except ArchiveError as error:
            yield CheckResult("warning", "golden set", str(error))


def _vectors(settings: Settings) -> Iterator[CheckResult]:
    """The server of vectors, where one is set."""
    what, url = "vectors", settings.qdrant_url
    if not url:
        return
    known = [generation_damage.on_server(settings.home_path, one) for one in generations.numbers(settings.home_path)]
    try:
        version, names = vectors.server_info(url, _SERVER_SECONDS)
    except vectors.StoreError as error:
        yield CheckResult("problem", what, str(error))
        return
    yield CheckResult("ok", what, f"Qdrant {version} at {url}")
    host = urlsplit(url).hostname or ""
    within = host in _THIS_MACHINE or "." not in host  # a name without a dot is of this machine's own network
    if os.environ.get("QDRANT_API_KEY") and url.startswith("http:") and not within:
        yield CheckResult("warning", what, "the key and the vectors go to it in the clear; use an https:// address")
    ours = {one.name for one in known if one}
    others = [name for name in names if name.startswith(f"relrag-{settings.archive}-") and name not in ours]
    if others:
        said = f"{number(len(others), 'collection')} of an archive of this name but of no generation here"
        advice = "if no other home uses the server, remove them there"
        yield CheckResult("warning", what, f"{said}, the first is {others[0]}; {advice}")


def _disk(settings: Settings) -> Iterator[CheckResult]:
    try:
        free, needed = environment.free_bytes(settings.home_path), disk_space.required_bytes(settings)
    except (EmbeddingError, SettingsError):  # of the embedder, which was told
        return
    said = f"{size(free)} free, a sync needs about {size(needed)}"
    if free < FIXED_BYTES:
        yield CheckResult("problem", "disk", f"{said}; make room, or set `home` elsewhere")
    elif free < needed:
        yield CheckResult("warning", "disk", f"{said}; it may not be enough")
    else:
        yield CheckResult("ok", "disk", said)


def _writer(settings: Settings) -> Iterator[CheckResult]:
    if holder := lock.holder(settings.home_path):
        yield CheckResult("warning", "writer", f"{holder} is writing; a sync has to wait for it")
    else:
        yield CheckResult("ok", "writer", "nobody is writing")


def _generation(settings: Settings) -> Iterator[CheckResult]:
    """The published files are there and of their size; `relrag verify` reads them."""
    try:
        with generations.open_current(settings.home_path) as current:
            wrong = [
                name
                for name, entry in current.manifest["files"].items()
                if not (current.path / name).is_file() or (current.path / name).stat().st_size != entry["bytes"]
            ]
            number_of_files = len(current.manifest["files"])
    except NothingPublished as nothing:
        yield CheckResult("ok", "generation", str(nothing))
        return
    except (GenerationError, OSError, ValueError, KeyError) as error:
        said = str(error) if isinstance(error, GenerationError) else "the published generation cannot be opened"
        yield CheckResult("warning", "generation", f"{said}; `relrag verify` says more, `relrag sync` makes a new one")
        return
    if wrong:
        said = f"{number(len(wrong), 'file')} of generation {current.number} missing or cut, the first is {wrong[0]}"
        yield CheckResult("warning", "generation", f"{said}; run `relrag verify`")
    else:
        yield CheckResult("ok", "generation", f"{current.number}, all {number(number_of_files, 'file')} of their size")


def _runs(settings: Settings) -> Iterator[CheckResult]:
    """Dagster runs that never ended although nobody is writing."""
    path = dagster_runs.database(settings.home_path)
    if not path.exists() or lock.holder(settings.home_path):
        return
    try:
        orphans = dagster_runs.unfinished(settings.home_path)
    except sqlite3.Error as error:
        advice = "it holds no data of the archive: move the folder away, a sync makes it anew"
        yield CheckResult("warning", "dagster", f"{path} cannot be read ({error}); {advice}")
        return
    if orphans:
        yield CheckResult(
            "warning", "dagster", f"{number(orphans, 'run')} did not end; the next sync marks them failed"
        )
    else:
        yield CheckResult("ok", "dagster", "no run was left unfinished")
