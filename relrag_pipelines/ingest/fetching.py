"""Mirrors the servers of sources before they are read.

A fetch that fails leaves what it mirrored, and one row in failures; so does each item that the mirror lacks or has in
part. What the server did not say is gone stays in the mirror, so its records stay.
"""

from __future__ import annotations

import functools
from pathlib import Path

from relrag_pipelines.erasure.mirrored_items import open_mirror
from relrag_pipelines.ingest.units import SourceNotFound
from relrag_pipelines.records import Failure
from relrag_pipelines.settings import Settings, Source
from relrag_pipelines.sources import KINDS, NOT_READ
from relrag_pipelines.sources.remote import FetchError, Server, fetcher_of, secrets
from relrag_pipelines.sources.remote.secrets import SecretError
from relrag_pipelines.stores import unit_state
from relrag_pipelines.workspace import Workspace

FETCH = "server"
"""fault word of a server that was not mirrored to the end, or of an item of it"""
ZIP = "zip"
"""fault word of a zip that was not opened to its end, or of a file in it"""


def fetch(workspace: Workspace, source: Source, *, accept_deletions: bool = False) -> FetchError | SecretError | None:
    """Brings the mirror of a source up to date; the error if the server did not let it come to an end.

    More than a fifth of the items is removed only with `accept_deletions`.
    """
    mirror = open_mirror(workspace, source)
    error: FetchError | SecretError | None = None
    try:
        fetcher_of(KINDS[source.kind])(_server(workspace, source, accept_deletions=accept_deletions), mirror)
    except (FetchError, SecretError) as failed:
        error = failed
    mirror.save()
    if workspace.listings is not None:
        workspace.listings.pop(source.name, None)
    return error


def require_mirror(workspace: Workspace, source: Source) -> None:
    """Raises SourceNotFound if records were read from a mirror that is gone: they would count as deleted."""
    if not open_mirror(workspace, source).exists and unit_state.load(workspace.home, source.name):
        raise SourceNotFound(f"the mirror of {source.host} is gone; `relrag sync` fetches it again")


def note_failures(workspace: Workspace, source: Source, error: FetchError | SecretError | None) -> None:
    """Stores the failures of the last fetch, or of the zips that were opened, in place of those of an earlier one."""
    fault = FETCH if source.is_fetched else ZIP
    before = unit_state.load_failures(workspace.home, source.name)
    failures = [failure for failure in before if not (failure.fault == fault or _is_of_zip(failure))]
    for path, omission in sorted(open_mirror(workspace, source).omissions.items()):
        failures.append(Failure("", omission.fault or fault, omission.message, source.name, path))
    if error is not None:
        failures.append(Failure("", FETCH, str(error), source.name, source.host))
    if failures != before:
        unit_state.save_failures(workspace.home, source.name, failures)


def _is_of_zip(failure: Failure) -> bool:
    """Whether a failure is a file in a zip that nothing reads; a file that a source tried to read is a whole unit."""
    return failure.fault == NOT_READ and not failure.whole_unit


def secret_name(settings: Settings, source: Source) -> str:
    """Where the secret of a source is expected."""
    return secrets.describe(secrets.file_of(settings.keys_path, settings.archive, source.name), source.name)


def read_secret(settings: Settings, source: Source) -> str:
    """The secret of a source. Raises SecretError."""
    return secrets.read_secret(secrets.file_of(settings.keys_path, settings.archive, source.name), source.name)


def read_webhook_secret(settings: Settings, source: Source) -> str:
    """The webhook key of a source: its server signs events with it. Raises SecretError."""
    file = secrets.webhook_file_of(settings.keys_path, settings.archive, source.name)
    return secrets.read_secret(file, source.name, prefix=secrets.WEBHOOK_PREFIX)


def _server(workspace: Workspace, source: Source, *, accept_deletions: bool) -> Server:
    settings = workspace.settings
    ca_file = (settings.folder / Path(source.ca_file).expanduser()).resolve() if source.ca_file else None
    return Server(
        url=source.url,
        user=source.user,
        secret=functools.partial(read_secret, settings, source),
        secret_name=secret_name(settings, source),
        folders=tuple(source.folders),
        max_bytes=settings.unit_max_bytes,
        accept_deletions=accept_deletions,
        ca_file=ca_file,
        report=functools.partial(workspace.report, f"{source.name}: fetch from {source.host}"),
    )
