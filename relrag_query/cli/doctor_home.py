"""The checks of `relrag doctor` in a home: keys, vectors, disk space, writer, generation, runs."""

from __future__ import annotations

import os
import sqlite3
import stat
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

from relrag_pipelines.embedders import EmbeddingError
from relrag_pipelines.errors import SafeError
from relrag_pipelines.journal import journal
from relrag_pipelines.onboarding import environment
from relrag_pipelines.onboarding.estimate import FIXED_BYTES
from relrag_pipelines.privacy import keys as key_files
from relrag_pipelines.publishing import disk_space
from relrag_pipelines.settings import Settings, SettingsError
from relrag_pipelines.stores import bucket_commit, dagster_runs, generation_damage, generations, lock, vector_store
from relrag_pipelines.stores.generations import GenerationError, NothingPublished
from relrag_pipelines.stores.object_store import ObjectStore
from relrag_pipelines.stores.vectors.protocol import StoreError
from relrag_query.cli.check_result import CheckResult
from relrag_query.display.amounts import number, size

_MAX_SERVER_SECONDS = 10
"""timeout of a request to the vector server"""
_LOCAL_HOSTS = ("localhost", "127.0.0.1", "::1")


def home(settings: Settings) -> Iterator[CheckResult]:
    home = settings.home_path
    existing = next(folder for folder in (home, *home.parents) if folder.exists())
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


def keys(settings: Settings) -> Iterator[CheckResult]:
    path, home, store = settings.keys_path, settings.home_path, settings.key_store
    location = str(path) if settings.keys_store == "file" else f"keys_store {settings.keys_store}"
    if settings.keys_store == "file" and path.is_relative_to(home):
        yield CheckResult(
            "problem", "keys", f"keys_file is {path}, inside home; keep keys apart from what they protect"
        )
        return
    if settings.keys_store != "environment" and not store.exists() and not (home / "private").exists():
        yield CheckResult("ok", "keys", f"the first sync creates {location}; then keep a copy in a safe place")
        return
    try:
        store.load()
    except key_files.KeysError as error:
        yield CheckResult("problem", "keys", str(error))
        return
    yield CheckResult("ok", "keys", f"{location}; without them this archive cannot be synced any further: keep a copy")


def statements(settings: Settings) -> Iterator[CheckResult]:
    """Checks that the owner's statements can be read."""
    try:
        entries = journal.entries(settings.home_path)
    except journal.JournalError as error:
        yield CheckResult("problem", "journal", str(error))
        return
    if entries:
        summary = (
            f"{number(len(entries), 'entry', 'entries')}; nothing else holds what they say: `relrag backup` keeps it"
        )
        yield CheckResult("ok", "journal", summary)


def _own_collections(home: Path) -> set[str]:
    """The collections on a server that the generations of a home refer to."""
    collections = [generation_damage.on_server(home, number_) for number_ in generations.numbers(home)]
    return {collection.name for collection in collections if collection}


def store(settings: Settings) -> Iterator[CheckResult]:
    """Checks the vector server, if one is configured."""
    what, url = "vectors", settings.qdrant_url
    if not url:
        return
    try:
        version, names = vector_store.server_info(url, _MAX_SERVER_SECONDS)
    except StoreError as error:
        yield CheckResult("problem", what, str(error))
        return
    yield CheckResult("ok", what, f"Qdrant {version} at {url}")
    if is_unencrypted(url, "QDRANT_API_KEY"):
        yield CheckResult("warning", what, "key and vectors are sent unencrypted; use an https:// address")
    own_names = _own_collections(settings.home_path)
    others = [name for name in names if name.startswith(f"relrag-{settings.archive}-") and name not in own_names]
    if others:
        summary = f"{number(len(others), 'collection')} of an archive of this name but of no generation here"
        advice = "if no other home uses the server, remove them there"
        yield CheckResult("warning", what, f"{summary}, the first is {others[0]}; {advice}")


def bucket(settings: Settings) -> Iterator[CheckResult]:
    """Checks the bucket of the lake, if one is configured."""
    what, url = "lake", settings.home_lake
    if not url:
        return
    try:
        versions = ObjectStore(url).versions(bucket_commit.FOLDER)
    except SafeError as error:
        yield CheckResult("problem", what, str(error))
        return
    old = [version for version in versions if not version.is_latest]
    yield CheckResult("ok", what, f"{number(len(versions) - len(old), 'object')} in {url}")
    if old:
        advice = "`relrag sync` deletes them; see docs/deploy.md for the permission"
        yield CheckResult("warning", what, f"the bucket keeps {number(len(old), 'older version')}; {advice}")
    if not settings.pii_redaction_enabled:
        yield CheckResult("warning", what, "redaction is off, so the bucket holds personal data as it is")


def is_unencrypted(url: str, key: str) -> bool:
    """Whether the key in that environment variable would be sent to another machine unencrypted."""
    return bool(os.environ.get(key)) and url.startswith("http:") and not is_local(url)


def is_local(url: str) -> bool:
    """Whether an address is of this machine or the local network, to which a host name without a dot belongs."""
    host = urlsplit(url).hostname or ""
    return host in _LOCAL_HOSTS or "." not in host


def disk(settings: Settings) -> Iterator[CheckResult]:
    try:
        free, needed = environment.free_bytes(settings.home_path), disk_space.required_bytes(settings)
    except (EmbeddingError, SettingsError):  # the check of the embedder has reported it
        return
    space = f"{size(free)} free, a sync needs about {size(needed)}"
    if free < FIXED_BYTES:
        yield CheckResult("problem", "disk", f"{space}; make room, or set `home` elsewhere")
    elif free < needed:
        yield CheckResult("warning", "disk", f"{space}; it may not be enough")
    else:
        yield CheckResult("ok", "disk", space)


def writer(settings: Settings) -> Iterator[CheckResult]:
    if holder := lock.holder(settings.home_path):
        yield CheckResult("warning", "writer", f"{holder} is writing; a sync has to wait for it")
    else:
        yield CheckResult("ok", "writer", "nobody is writing")


def generation(settings: Settings) -> Iterator[CheckResult]:
    """Checks that the published files exist and have the right size; `relrag verify` reads them."""
    try:
        with generations.open_current(settings.home_path) as current:
            damaged = [
                name
                for name, entry in current.manifest["files"].items()
                if not (current.path / name).is_file() or (current.path / name).stat().st_size != entry["bytes"]
            ]
            number_of_files = len(current.manifest["files"])
    except NothingPublished as nothing:
        yield CheckResult("ok", "generation", str(nothing))
        return
    except (GenerationError, OSError, ValueError, KeyError) as error:
        damage = str(error) if isinstance(error, GenerationError) else "the published generation cannot be opened"
        yield CheckResult(
            "warning", "generation", f"{damage}; `relrag verify` says more, `relrag sync` makes a new one"
        )
        return
    if damaged:
        damage = (
            f"{number(len(damaged), 'file')} of generation {current.number} missing or cut, the first is {damaged[0]}"
        )
        yield CheckResult("warning", "generation", f"{damage}; run `relrag verify`")
    else:
        yield CheckResult("ok", "generation", f"{current.number}, all {number(number_of_files, 'file')} of their size")


def runs(settings: Settings) -> Iterator[CheckResult]:
    """Looks for Dagster runs that have not ended although nobody is writing."""
    path = dagster_runs.database(settings.home_path)
    if not path.exists() or lock.holder(settings.home_path):
        return
    try:
        orphans = dagster_runs.count_unfinished(settings.home_path)
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
