"""`relrag doctor`: finds what is wrong with this machine, folder and configuration, and says what to do.

It changes nothing, and prints no key and no text of the archive. The exit code is 2 if something prevents a sync, else
0: a warning is for the owner to judge.
"""

from __future__ import annotations

import importlib
import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from relrag_pipelines.privacy.loopback import is_loopback_url
from relrag_query.cli import dispatch
from relrag_query.cli.check_result import CheckResult
from relrag_query.cli.json_output import print_json
from relrag_query.cli.options import Config, Json
from relrag_query.display.amounts import number, size
from relrag_query.display.inert_text import safe

if TYPE_CHECKING:
    from relrag_pipelines.settings import Settings, Source

app = typer.Typer()


@app.command("doctor", epilog="Example: relrag doctor")
def doctor_command(as_json: Json = False, config: Config = None) -> None:
    """Diagnose this machine, folder and configuration."""
    dispatch.run(doctor, config, as_json=as_json)


_MODULES = ("dagster", "dagster_webserver", "duckdb", "presidio_analyzer", "pyarrow", "qdrant_edge")


def doctor(config: Path | None = None, *, as_json: bool = False) -> int:
    """Prints the findings, one per line; returns the exit code."""
    if as_json:
        findings = list(examine(config))
        print_json([asdict(finding) for finding in findings])
        return 2 if any(finding.level == "problem" for finding in findings) else 0
    code = 0
    warnings = 0
    for finding in examine(config):
        print(f"{finding.level:<8} {finding.what}: {finding.finding}", flush=True)
        code = max(code, 2 if finding.level == "problem" else 0)
        warnings += finding.level == "warning"
    if code:
        print("Something prevents a sync: see the lines that begin with `problem`.")
    else:
        print(f"Nothing prevents a sync; {number(warnings, 'warning')}.")
    return code


def examine(config: Path | None, environ: Mapping[str, str] = os.environ) -> Iterator[CheckResult]:
    """Checks everything, the machine first."""
    from relrag_pipelines import settings as settings_module
    from relrag_pipelines.settings import SettingsError
    from relrag_query.cli.doctor_home import bucket, disk, generation, home, keys, runs, statements, store, writer

    yield from _machine(environ)
    try:
        settings = settings_module.load(config, environ)
    except SettingsError as error:
        for line in str(error).splitlines():
            yield CheckResult("problem", "settings", line)
        return
    yield CheckResult("ok", "settings", f"{settings.folder / settings_module.CONFIG_NAME}, archive {settings.archive}")
    checks: tuple[Callable[[Settings], Iterator[CheckResult]], ...] = (
        _redaction, _time_zone, home, keys, statements, _sources, _embedder, store, bucket, _answerer, _people_model,
        _transcription, _golden_set, disk, writer, generation, runs,
    )  # fmt: skip
    for check in checks:
        yield from check(settings)


def _machine(environ: Mapping[str, str]) -> Iterator[CheckResult]:
    from relrag_query.display.source_line import moment

    version = "{}.{}.{}".format(*sys.version_info)
    if (3, 11) <= sys.version_info < (3, 14):
        yield CheckResult("ok", "python", version)
    else:
        yield CheckResult("problem", "python", f"{version}; relrag needs 3.11, 3.12 or 3.13")
    missing_modules = [name for name in _MODULES if not _is_importable(name)]
    if missing_modules:
        yield CheckResult(
            "problem", "packages", f"{', '.join(missing_modules)} cannot be imported; run `make setup` again"
        )
    else:
        yield CheckResult("ok", "packages", ", ".join(_MODULES))
    if environ.get("RELRAG_NOW"):
        yield CheckResult("warning", "clock", f"fixed at {environ['RELRAG_NOW']} by RELRAG_NOW; unset it for real use")
    elif datetime.now(UTC).year < 2025:
        yield CheckResult(
            "warning", "clock", f"says {datetime.now(UTC):%Y-%m-%d}; set it, newer records count as to come"
        )
    else:
        yield CheckResult("ok", "clock", f"{moment(datetime.now(UTC))} UTC")


def _is_importable(name: str) -> bool:
    try:
        importlib.import_module(name)
    except ImportError:
        return False
    return True


def _redaction(settings: Settings) -> Iterator[CheckResult]:
    from relrag_pipelines.pii import PIIRedactor
    from relrag_pipelines.privacy import keys as key_files
    from relrag_pipelines.settings import SettingsError

    if not settings.pii_redaction_enabled:
        yield CheckResult(
            "warning", "redaction", "is off: personal data is indexed as it stands; pii_redaction_enabled"
        )
        return
    try:
        PIIRedactor.from_settings(settings, key_files.Keys(b"", b"", "k0"))
    except SettingsError as error:
        yield CheckResult("problem", "redaction", str(error))
        return
    yield CheckResult("ok", "redaction", f"on, {number(len(settings.pii_policies), 'policy', 'policies')}")


def _time_zone(settings: Settings) -> Iterator[CheckResult]:
    from relrag_pipelines.onboarding import environment

    machine_zone = environment.time_zone()
    now = time.time()
    offsets = {_offset(zone, now) for zone in (machine_zone, settings.timezone) if zone}
    if machine_zone and len(offsets) > 1:
        yield CheckResult(
            "warning", "time zone", f"{settings.timezone} in relrag.toml, but this machine is in {machine_zone}"
        )
    else:
        yield CheckResult("ok", "time zone", settings.timezone)


def _offset(zone: str, at: float) -> float:
    from zoneinfo import ZoneInfo

    offset = datetime.fromtimestamp(at, ZoneInfo(zone)).utcoffset()
    return offset.total_seconds() if offset else 0.0


def _sources(settings: Settings) -> Iterator[CheckResult]:
    from relrag_pipelines.stores import legacy_server
    from relrag_query.cli.doctor_home import is_unencrypted

    if not settings.sources:
        yield CheckResult("problem", "sources", "none; add a [[sources]] table to relrag.toml")
    for source in settings.sources:
        what, path = f"source {source.name}", settings.source_path(source)
        if is_unencrypted(source.url, legacy_server.KEY) and not source.is_fetched:
            yield CheckResult("warning", what, "key and texts are sent unencrypted; use an https:// address")
        if source.is_fetched:
            yield _server(settings, source, what)
            yield from _webhook(settings, source, what)
            continue
        yield _folder(settings, source, path, what)


def _folder(settings: Settings, source: Source, path: Path, what: str) -> CheckResult:
    """Checks the files of a source in a folder."""
    from relrag_pipelines.ingest import ownership
    from relrag_pipelines.ingest.scan import scan_units
    from relrag_pipelines.ingest.units import SourceNotFound
    from relrag_pipelines.sources import KINDS

    try:
        taken = ownership.claimed_elsewhere(settings, source)
        units = scan_units(path, KINDS[source.kind], source, {}, "", taken=taken).units.values()
    except SourceNotFound as missing:
        return CheckResult("problem", what, str(missing))
    unreadable = [unit.path for unit in units if not os.access(unit.file, os.R_OK)]
    if unreadable:
        count = number(len(unreadable), "file")
        return CheckResult("warning", what, f"{count} cannot be read by this user, the first is {unreadable[0]}")
    if not units:
        return CheckResult("warning", what, f"no {source.kind} file in {path}")
    return CheckResult("ok", what, f"{number(len(units), 'file')}, {size(sum(unit.size for unit in units))}")


def _server(settings: Settings, source: Source, what: str) -> CheckResult:
    """Whether the secret of a source on a server is there, and for its owner only; the server is not asked."""
    from relrag_pipelines.sources.remote import FetchError, secrets
    from relrag_pipelines.sources.remote.addresses import require_encryption
    from relrag_pipelines.sources.remote.secrets import SecretError

    try:
        secrets.read_secret(secrets.file_of(settings.keys_path, settings.archive, source.name), source.name)
        if source.url.startswith("http:"):
            require_encryption(source.url)
    except (SecretError, FetchError) as error:
        return CheckResult("problem", what, str(error))
    return CheckResult("ok", what, f"{source.host} is asked by every sync; its secret is set")


def _webhook(settings: Settings, source: Source, what: str) -> Iterator[CheckResult]:
    """Whether the webhook key of a source can be used, where there is one: without it the source takes no events."""
    from relrag_pipelines.ingest.fetching import read_webhook_secret
    from relrag_pipelines.sources import KINDS
    from relrag_pipelines.sources.remote import secrets

    file = secrets.webhook_file_of(settings.keys_path, settings.archive, source.name)
    variable = secrets.variable_of(source.name, secrets.WEBHOOK_PREFIX)
    if not KINDS[source.kind].webhook or not (file.exists() or variable in os.environ):
        return
    try:
        read_webhook_secret(settings, source)
    except secrets.SecretError as error:
        yield CheckResult("warning", what, f"{error}; until then its webhook takes nothing")
        return
    yield CheckResult("ok", what, f"`relrag serve` takes its events at /webhooks/{source.name}")


def _embedder(settings: Settings) -> Iterator[CheckResult]:
    """Loads the embedder as a sync does (package, model file, hash, key) without a request to its service."""
    from relrag_pipelines import embedders
    from relrag_pipelines.settings import SettingsError

    try:
        model = embedders.model(settings)
        if model is None:
            yield CheckResult("ok", "embedder", "none: passages are found only by their words")
            return
        embedders.load(settings)
    except (embedders.EmbeddingError, SettingsError) as error:
        yield CheckResult("problem", "embedder", str(error))
        return
    description = f"{embedders.describe(settings)}, {', '.join(model.languages) or 'all languages'}"
    if not model.host:
        yield CheckResult("ok", "embedder", f"{description}, on this machine; its files have the expected hashes")
    elif settings.pii_redaction_enabled:
        yield CheckResult("ok", "embedder", f"{description}; redacted passages and questions are sent to {model.host}")
    else:
        yield CheckResult(
            "warning", "embedder", f"{description}; with redaction off, texts are sent as they stand to {model.host}"
        )


def _answerer(settings: Settings) -> Iterator[CheckResult]:
    from relrag_pipelines.settings import SettingsError
    from relrag_query.answering.chat_model import AnswerError
    from relrag_query.answering.llm import writer
    from relrag_query.retrieval.reranker import model_of

    if settings.reranker != "none":
        model, host = model_of(settings)
        sent = "which is sent questions and the passages found for them"
        here = ", on this machine: nothing leaves it" if is_loopback_url(settings.rerank_url) else ""
        yield CheckResult("ok", "reranker", f"{model} at {host}, {sent}{here}")
    if settings.answerer == "extractive":
        yield CheckResult("ok", "answerer", "extractive: answers are excerpts of the archive")
        yield from _local_models()
        return
    try:
        writing_model = writer(settings)
    except (AnswerError, SettingsError) as error:
        yield CheckResult("warning", "answerer", f"{error}; until then answers are excerpts")
        return
    name = f"{writing_model.model} at {writing_model.host}"
    if settings.answerer == "local":
        yield _local_answerer(settings, name)
    else:
        yield CheckResult("ok", "answerer", f"{name}, which is sent the redacted excerpts that it answers from")


def _local_answerer(settings: Settings, name: str) -> CheckResult:
    """Whether the server on this machine runs and has the model."""
    from relrag_pipelines.onboarding import local_models

    try:
        models = local_models.models_of(settings.answer_url)
    except local_models.LocalServerError as error:
        return CheckResult("warning", "answerer", f"{name}: {error}; until then answers are excerpts")
    if models and settings.answer_model not in models:
        listed = safe(", ".join(models))
        return CheckResult("warning", "answerer", f"{name}: the server lists {listed}; check answer_model")
    return CheckResult("ok", "answerer", f"{name}, on this machine: nothing leaves it")


def _local_models() -> Iterator[CheckResult]:
    """The models on this machine that could read and answer."""
    from relrag_pipelines.onboarding import local_models

    for server in local_models.local_servers():
        offer = f'answerer = "local", answer_url = "{server.url}" and answer_model let one read and answer'
        yield CheckResult("ok", "local models", f"{safe(', '.join(server.models))} at {server.url}; {offer}")


def _people_model(settings: Settings) -> Iterator[CheckResult]:
    from relrag_pipelines.settings import SettingsError

    people = settings.people
    if people.method != "llm":
        return
    from relrag_pipelines.language_models import model

    try:
        loaded = model.load(people.service, people.model or model.USUAL[people.service], people.url)
    except (model.ModelError, SettingsError) as error:
        yield CheckResult("warning", "people", f"{error}; until then facts come from patterns and cards alone")
        return
    kind = "redacted passages" if settings.pii_redaction_enabled else "passages as they stand, with redaction off,"
    yield CheckResult(
        "ok", "people", f"{loaded.name} at {loaded.host}, which is sent {kind} to find facts about people"
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
        from relrag_query.evaluation.question_sets import question_count

        try:
            yield CheckResult("ok", "golden set", f"{number(question_count(path), 'question')} in {path}")
        except ArchiveError as error:
            yield CheckResult("warning", "golden set", str(error))
