"""Copies what cannot be rebuilt of an archive, or all of it, and restores it.

What that is stands in `inventory.PARTS` and is asked there: a later part that the owner alone can give says so there,
and is in every backup. Records of a source that retains are in it too: the files that they were made of may be gone.
A backup is a folder: relrag.toml, the keys in a file of their own, home/, and a sealed MANIFEST.json with the hash of
each file, written last.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
from collections.abc import Sequence
from contextlib import ExitStack, closing, suppress
from pathlib import Path
from typing import Any

from relrag_pipelines import settings as settings_module
from relrag_pipelines.errors import RelragError
from relrag_pipelines.files import access, atomic, sealed_json
from relrag_pipelines.files.atomic import make_private, replace_file, sync_file, sync_folder, write_text
from relrag_pipelines.files.sealed_json import file_hash
from relrag_pipelines.files.sparse_files import copy_file
from relrag_pipelines.records import SCHEMA_VERSION
from relrag_pipelines.settings import CONFIG_NAME, Settings
from relrag_pipelines.stores import (
    backup_manifest,
    generation_damage,
    generations,
    inventory,
    lock,
    private_manifest,
    retired_generations,
)


class BackupError(RelragError):
    """A backup cannot be made or restored; the message says why, and that nothing was changed."""


def files_to_back_up(settings: Settings, *, everything: bool = False) -> list[str]:
    """Files of the home that a backup holds, by their paths within it.

    What is published is left out where its vectors are on a server: a sync makes both again.
    """
    on_server_ = vectors_on_server(settings)
    retaining = [source.name for source in settings.sources if source.retain]
    names = []
    for name in atomic.files(settings.home_path):
        part = inventory.part(name)
        if part is None or part.origin in ("running", "passing") or name.endswith(("-wal", "-shm", "-journal")):
            continue
        retained = part.origin == "exports" and any(inventory.belongs_to_source(name, source) for source in retaining)
        if name.startswith("published/") and on_server_:
            continue
        if everything or retained or part.origin == "owner":
            names.append(name)
    return names


def vectors_on_server(settings: Settings) -> bool:
    """Whether a generation has its vectors on a server."""
    home = settings.home_path
    return any(generation_damage.on_server(home, number) for number in generations.numbers(home))


def backup(settings: Settings, folder: Path, *, everything: bool = False, wait: float = 0) -> dict[str, Any]:
    """Writes a backup into a new or empty folder and returns its manifest; waits for another writer to end."""
    home, keys = settings.home_path, settings.keys_path
    if folder.is_relative_to(home):
        raise BackupError(f"{folder} lies within {home}; name a folder elsewhere")
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise BackupError(f"{folder} is not empty; name a new folder (nothing was changed)")
    with ExitStack() as stack:
        if home.exists():
            stack.enter_context(lock.writing(home, "relrag backup", wait))
        make_private(folder)
        folder.chmod(0o700)
        _copy(settings.folder / CONFIG_NAME, folder / CONFIG_NAME)
        if keys.exists():
            _copy(keys, folder / keys.name)
        for name in files_to_back_up(settings, everything=everything):
            _copy(home / name, folder / "home" / name)
    files = {
        name: {"sha256": file_hash(folder / name), "bytes": (folder / name).stat().st_size} for name in _files(folder)
    }
    manifest = {
        "schema_version": SCHEMA_VERSION,
        "archive": settings.archive,
        "made_at": settings_module.now().isoformat("T", "seconds"),
        "everything": everything,
        "keys": keys.name if keys.exists() else None,
        "files": files,
    }
    write_text(folder / backup_manifest.NAME, sealed_json.seal(manifest))
    return manifest


def latest(folder: Path) -> tuple[Path, str] | None:
    """Finds the newest finished backup; returns its folder and its time (ISO 8601, UTC), or None without any."""
    times: list[tuple[str, Path]] = []
    with suppress(OSError):  # there is no such folder, or it may not be listed
        for candidate in sorted(folder.iterdir()):
            with suppress(BackupError, OSError, KeyError):
                times.append((str(_read_manifest(candidate)["made_at"]), candidate))
    return (max(times)[1], max(times)[0]) if times else None


def _read_manifest(folder: Path) -> dict[str, Any]:
    """The manifest of a backup; raises BackupError."""
    try:
        return sealed_json.read(folder / backup_manifest.NAME)
    except (FileNotFoundError, NotADirectoryError):
        raise BackupError(
            f"{folder} is not a backup, or not a finished one: it has no {backup_manifest.NAME}"
        ) from None
    except sealed_json.UnusableFile as unusable:
        raise BackupError(f"{folder / backup_manifest.NAME} {unusable.found}; use another backup") from None


def check(folder: Path, keys: Path | None = None) -> dict[str, Any]:
    """The manifest of a backup whose files are all as they were written; `keys` is where they lie now, if elsewhere.

    Raises BackupError, which names the files that are not.
    """
    manifest = _read_manifest(folder)
    where = {name: folder / name for name in manifest["files"]}
    if manifest["keys"] and keys:
        where[manifest["keys"]] = keys
    damaged = [str(path) for name, path in where.items() if not _matches_manifest(path, manifest["files"][name])]
    if damaged == [str(folder / (manifest["keys"] or ""))] and not (folder / manifest["keys"]).exists():
        raise BackupError(f"the keys are not in {folder}: name the file that they were moved to with --keys")
    if damaged:
        raise BackupError(f"not as it was backed up: {_first_five(damaged)} (nothing was changed)")
    return manifest


def _first_five(names: Sequence[str]) -> str:
    more = f" and {len(names) - 5} more" if len(names) > 5 else ""
    return f"{', '.join(names[:5])}{more}"


def restore(
    backup_folder: Path, folder: Path, *, keys: Path | None = None, force: bool = False
) -> tuple[dict[str, Any], list[Path]]:
    """Puts a backup back, relrag.toml into `folder`; returns its manifest, and what was written of keys, home, toml.

    Every hash is checked before anything is written, and those of the home again on its copy. With `force` what is
    there is replaced, a home as a whole; what the backup does not hold of it, a sync makes again.
    """
    manifest = check(backup_folder, keys)
    settings = settings_module.load(backup_folder / CONFIG_NAME).model_copy(update={"folder": folder})
    config, home = folder / CONFIG_NAME, settings.home_path
    home_files = {
        name.removeprefix("home/"): entry for name, entry in manifest["files"].items() if name.startswith("home/")
    }
    written = [config, *([home] if home_files else [])]
    if manifest["keys"]:
        source = keys or backup_folder / manifest["keys"]
        if not settings.keys_path.exists() or file_hash(settings.keys_path) != file_hash(source):
            written.insert(0, settings.keys_path)
    existing = [path for path in written if path.exists()]
    if existing and not force:
        raise BackupError(f"{existing[0]} is already there; --force replaces it (nothing was changed)")
    with ExitStack() as stack:
        if home.exists():
            stack.enter_context(lock.writing(home, "relrag restore"))
        staged = _stage(backup_folder, home, home_files) if home_files else None
        if settings.keys_path in written:
            with replace_file(settings.keys_path) as temporary:
                _copy(source, temporary)
        if staged:
            _swap_in(staged, home)
        make_private(folder)
        with access.default_permissions(), replace_file(config, private=False) as temporary:
            shutil.copyfile(backup_folder / CONFIG_NAME, temporary)
    return manifest, written


def _stage(backup_folder: Path, home: Path, files: dict[str, Any]) -> Path:
    """The home that was backed up, checked, beside the place that it will take."""
    staged = home.with_name(f".{home.name}.restoring")
    shutil.rmtree(staged, ignore_errors=True)
    for name, entry in files.items():
        _copy(backup_folder / "home" / name, staged / name)
        if not _matches_manifest(staged / name, entry):
            shutil.rmtree(staged)
            raise BackupError(f"{backup_folder / 'home' / name} changed while it was copied (nothing was changed)")
    if private_manifest.NAME not in files:
        private_manifest.reset(staged)
    return staged


def _swap_in(staged: Path, home: Path) -> None:
    former = home.with_name(f".{home.name}.former")
    shutil.rmtree(former, ignore_errors=True)
    retired_generations.adopt_remote(home, staged)
    if home.exists():
        home.replace(former)
    staged.replace(home)
    sync_folder(home.parent)
    shutil.rmtree(former, ignore_errors=True)


def _copy(source: Path, target: Path) -> None:
    """Copies one file for the owner only, its holes kept; a database as a whole, whoever has it open."""
    make_private(target.parent)
    os.close(os.open(target, os.O_WRONLY | os.O_CREAT, 0o600))
    if source.suffix == ".db":
        with closing(sqlite3.connect(source)) as opened, closing(sqlite3.connect(target)) as copy:
            opened.backup(copy)
    else:
        copy_file(source, target)
    sync_file(target)


def _files(folder: Path) -> list[str]:
    return [name for name in atomic.files(folder) if name != backup_manifest.NAME]


def _matches_manifest(path: Path, entry: dict[str, Any]) -> bool:
    try:
        return bool(path.stat().st_size == entry["bytes"] and file_hash(path) == entry["sha256"])
    except OSError:
        return False
