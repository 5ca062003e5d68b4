"""Reads everything stored again, and names what is not as it was written.

Every file of the lake, of private/ and of the generations has a hash that is kept elsewhere, or carries its own.
Databases have none, neither Dagster's nor that of vectors by text: their structure is checked, not their values.
Dagster's logs, and who holds the lock, are
read by nobody but people, and are not checked.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

from relrag_pipelines.errors import SafeError
from relrag_pipelines.files import atomic, sealed_json
from relrag_pipelines.orchestration.instance import is_dagster_yaml
from relrag_pipelines.publishing import lake_bucket
from relrag_pipelines.stores import (
    archive_regions,
    archive_tables,
    evaluation_history,
    generation_damage,
    generations,
    graph_indexes,
    inventory,
    known_failures,
    lake,
    lake_damage,
    private_manifest,
    quarantine,
    retired_generations,
    searched_values,
    vault,
)
from relrag_pipelines.stores.vectors.protocol import StoreError
from relrag_pipelines.workspace import Workspace

_UNASKED = "cannot be checked now: "


class Finding(NamedTuple):
    """A file that is not as it should be."""

    path: str
    """within the home"""
    problem: str
    """what is wrong with it; a sentence with its path before it"""

    @property
    def newer(self) -> bool:
        """A newer relrag wrote it."""
        return self.problem.startswith(sealed_json.NEWER)

    @property
    def in_bucket(self) -> bool:
        """It is no file but an object of the lake's bucket, or that bucket."""
        return self.path.startswith("s3://")

    @property
    def server_is_down(self) -> bool:
        """What it names is on a server that could not be asked, and may be whole."""
        return self.problem.startswith(_UNASKED)


def verify_bucket(workspace: Workspace) -> list[Finding]:
    """Compares the names and sizes of the bucket's objects with its manifest; returns what differs."""
    try:
        damage = lake_bucket.damage(workspace)
    except SafeError as error:
        return [Finding(workspace.settings.home_lake, f"{_UNASKED}{error}")]
    return [Finding(f"{workspace.settings.home_lake}/{key}", problem) for key, problem in damage]


def verify_home(home: Path) -> list[Finding]:
    """Everything that is wrong, in the order of paths. Nobody may be writing meanwhile."""
    findings = {path: Finding(path, problem) for path, problem in (*_damage(home), *_unexpected_files(home))}
    return [findings[path] for path in sorted(findings)]


def _damage(home: Path) -> Iterator[tuple[str, str]]:
    for source in sorted(lake.sources(home)):
        for table in lake.MONTHLY:
            yield from lake_damage.damage(home, table, source)
        for name in (f"private/{table}/{source}.parquet" for table in ("units", "failures")):
            if not (home / name).exists() and (home / "private" / "records" / source / "MANIFEST.json").exists():
                yield name, "is missing"
    yield from archive_tables.damage(home)
    yield from graph_indexes.damage(home)
    yield from private_manifest.damage(home)
    yield from quarantine.damage(home)
    yield from vault.damage(home)
    numbers = generations.numbers(home)
    for number in sorted(numbers):
        yield from generation_damage.damage(home, number)
        yield from _on_server(home, number)
    yield from _current(home / "published" / "current", max(numbers, default=0))
    yield from _verify_sealed_json(home, evaluation_history.NAME)
    yield from _verify_sealed_json(home, known_failures.NAME)
    yield from _verify_sealed_json(home, searched_values.NAME)
    yield from _verify_sealed_json(home, archive_regions.NAME)
    yield from _dagster_yaml(home)
    yield from _databases(home)


def _on_server(home: Path, number: int) -> Iterator[tuple[str, str]]:
    """Whether the points of a generation are where it says, and as many; the vectors themselves have no hash."""
    path = f"published/{number}/{retired_generations.VECTORS}/collection.json"
    try:
        if lacking := generation_damage.missing_on_servers(home, number):
            yield path, f"is no longer true: {lacking}"
    except StoreError as error:
        yield path, f"{_UNASKED}{error}"
    except ValueError:
        yield path, "is damaged"


def _current(path: Path, newest: int) -> Iterator[tuple[str, str]]:
    if not path.exists():
        if newest:
            yield "published/current", "is missing"
    elif path.read_bytes() != b"%d\n" % newest:
        yield "published/current", f"does not name generation {newest}, the newest that was finished"


def _verify_sealed_json(home: Path, name: str) -> Iterator[tuple[str, str]]:
    try:
        sealed_json.read(home / name)
    except FileNotFoundError:
        return
    except sealed_json.UnusableFile as unusable:
        yield name, unusable.found


def _dagster_yaml(home: Path) -> Iterator[tuple[str, str]]:
    yaml = home / "dagster" / "dagster.yaml"
    if yaml.exists() and not is_dagster_yaml(_text(yaml)):
        yield "dagster/dagster.yaml", "is damaged, or of another version"


def _databases(home: Path) -> Iterator[tuple[str, str]]:
    for path in sorted([*(home / "dagster").rglob("*.db"), *(home / "private").rglob("*.db")]):
        # looking at one that nobody has open must not make files beside it; a killed write is first taken back
        way = "mode=ro" if path.with_name(f"{path.name}-wal").exists() else "immutable=1"
        way = "mode=rw" if path.with_name(f"{path.name}-journal").exists() else way
        try:
            with closing(sqlite3.connect(f"{path.as_uri()}?{way}", uri=True, timeout=5)) as database:
                sound = database.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        except sqlite3.Error:
            sound = False
        if not sound:
            yield path.relative_to(home).as_posix(), "is a damaged database"


def _text(path: Path) -> str:
    return path.read_bytes().decode(errors="replace")


def _unexpected_files(home: Path) -> Iterator[tuple[str, str]]:
    for name in atomic.files(home):
        part = inventory.part(name)
        if part is None or (home / name).is_symlink() or not (home / name).is_file():
            yield name, "does not belong here"
        elif part.origin == "passing":
            yield name, part.meaning
