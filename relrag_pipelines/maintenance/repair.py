"""Removes damaged files that can be rebuilt, so that the next sync rebuilds them.

The lake and the generations are made of private/, private/ is made of the exports. What can no longer be made is left
where it lies, and named.
"""

from __future__ import annotations

import shutil
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from relrag_pipelines.ingest.read_context import scan_source
from relrag_pipelines.ingest.units import SourceNotFound
from relrag_pipelines.maintenance.verify import Finding
from relrag_pipelines.records import UnitMonth, UnitState
from relrag_pipelines.settings import Source
from relrag_pipelines.stores import (
    archive_tables,
    evaluation_history,
    generations,
    graph_indexes,
    inventory,
    lake,
    private_manifest,
    quarantine,
    unit_state,
)
from relrag_pipelines.stores.generations import GenerationError
from relrag_pipelines.stores.lake import LakeError
from relrag_pipelines.workspace import Workspace


def repair(workspace: Workspace, findings: Sequence[Finding]) -> Iterator[str]:
    """Prepares the archive for a sync that makes good what was found; says what was done, a line each.

    The caller holds the writer's lock, and syncs afterwards. Raises LakeError, before anything is done, where a newer
    relrag has written.
    """
    home = workspace.home
    for finding in findings:
        if finding.newer:
            raise LakeError(f"{home / finding.path} {finding.problem}; install that version, nothing was changed")
    # manifests first: nothing can be taken out of a damaged one
    damaged = sorted(
        (finding_.path for finding_ in findings if not finding_.server_is_down),
        key=lambda path: not path.endswith("MANIFEST.json"),
    )
    if private_manifest.NAME in damaged:  # first, since whatever is written below is noted there
        private_manifest.reset(home)
        yield f"{private_manifest.NAME}: written again"
    for source in workspace.settings.sources:
        yield from _private(workspace, source, damaged)
    yield from _generations(home, damaged)
    for path in damaged:
        yield from _single(home, path)


def _single(home: Path, path: str) -> Iterator[str]:
    part = inventory.part(path)
    if part is None:
        return
    if path.startswith("lake/"):
        yield f"{_lake(home, path)}: removed, to be made again from private/"
    elif path.startswith("private/vault/"):
        yield _vault(home, path)
    elif part.origin == "private":
        yield from _private_file(home, path)
    elif part.origin == "passing":
        yield _passing(home, path, part.meaning)
    elif part.origin == "history":
        yield _history(home, path)


def _vault(home: Path, path: str) -> str:
    """Removes a month of the vault, and the redacted records that were made with it."""
    *_, source, name = path.split("/")
    lake.drop(home, "records", source, [Path(name).stem])
    (home / path).unlink(missing_ok=True)
    return f"{path}: removed, to be made again with the redacted records of its month"


def _private_file(home: Path, path: str) -> Iterator[str]:
    """Removes a file that is made of others in private/; a file elsewhere that is none of these stays."""
    if path.startswith(f"{graph_indexes.FOLDER}/"):
        graph_indexes.drop_damaged(home)
        yield f"{path}: its index removed, to be made again after publishing"
    elif path.startswith("private/"):
        (home / path).unlink(missing_ok=True)
        yield f"{path}: removed; what it held is computed again where it is needed"


def _passing(home: Path, path: str, meaning: str) -> str:
    """Removes a file that only exists while something runs; what a server still needs stays."""
    if path.startswith("published/"):
        generations.clean_up(home)
    else:
        (home / path).unlink(missing_ok=True)
    outcome = "left, because its server cannot be asked" if (home / path).exists() else "removed"
    return f"{path}: {outcome}, it {meaning}"


def _history(home: Path, path: str) -> str:
    """Removes a database of past runs, with the files that SQLite keeps beside it."""
    for name in (path, f"{path}-wal", f"{path}-shm"):
        (home / name).unlink(missing_ok=True)
    consequence = "the next ones are kept again" if path == evaluation_history.NAME else "Dagster makes it anew"
    return f"{path}: removed, {consequence}; it held no data of the archive"


def _lake(home: Path, path: str) -> str:
    """Lets go of a month, of all months of a table whose manifest is damaged, or of a table; returns what went."""
    if (whole := path.split("/")[1]) in archive_tables.NAMES:
        archive_tables.drop(home, [whole])
        return path
    _, table, source, name = path.split("/")
    if name == "MANIFEST.json":
        shutil.rmtree(home / "lake" / table / source)
        return f"lake/{table}/{source}"
    lake.drop(home, table, source, [Path(name).stem])
    return path


def _generations(home: Path, damaged: list[str]) -> Iterator[str]:
    """Removes damaged generations; an older sound one serves until the sync has made a new one."""
    bad = {number for number in generations.numbers(home) if any(_is_of_generation(path, number) for path in damaged)}
    if not bad and "published/current" not in damaged:
        return
    try:
        oldest = int(generations.current_manifest(home).get("oldest_kept", 0))
    except GenerationError:
        oldest = 0
    for number in sorted(bad):
        if generations.remove(home, number):
            yield f"published/{number}: removed, to be made again from the lake"
        else:
            yield f"published/{number}: is being read, so it was left; run this again when its readers are done"
    sound = [number for number in generations.numbers(home) if number >= oldest and number not in bad]
    yield _point_to(home, max(sound, default=None))


def _point_to(home: Path, generation: int | None) -> str:
    """Makes a generation the current one, or none; says so."""
    generations.set_current(home, generation)
    state = f"names {generation} now" if generation else "removed, until a generation is published"
    return f"published/current: {state}"


def _is_of_generation(path: str, number: int) -> bool:
    return path.startswith(f"published/{number}/")


class _Damage(NamedTuple):
    """What is damaged of the private files of a source."""

    state_files: list[str]
    """tables of its units, failures and threads"""
    records: set[str]
    """months of its records, and MANIFEST"""
    unread: list[str]
    """items that could not be read"""


def _damage_of(source: str, damaged: Collection[str]) -> _Damage:
    tables = (f"private/{table}/{source}.parquet" for table in ("units", "failures", "threads"))
    records = (Path(path).stem for path in damaged if path.startswith(f"private/records/{source}/"))
    unread = [path for path in damaged if path.startswith(f"private/raw/{source}/") and inventory.part(path)]
    return _Damage([path for path in tables if path in damaged], set(records), unread)


def _private(workspace: Workspace, source: Source, damaged: list[str]) -> Iterator[str]:
    """Has the units read again that damaged private files were made of, where they still are there."""
    home, name = workspace.home, source.name
    damage = _damage_of(name, damaged)
    if not (damage.state_files or damage.records or damage.unread):
        return
    if f"private/failures/{name}.parquet" in damage.state_files:
        unit_state.save_failures(home, name, [])  # the units, which cannot be listed without, give them again
    try:
        present = scan_source(workspace, source, {}).units.keys()
    except SourceNotFound as missing:
        yield f"{name}: nothing private can be made again: {missing}"
        return
    has_lost_units = f"private/units/{name}.parquet" in damage.state_files
    units = _needs_rebuild(home, name) if has_lost_units else unit_state.load(home, name)
    months = damage.records - {"MANIFEST"}
    lost = months & _months_of(units[path] for path in units.keys() - present)
    if source.retain and lost:
        yield from _retain(home, name, sorted(lost))
        months -= lost
    elif "MANIFEST" in damage.records:
        lake.recover_unlisted(home, name, [])
    unit_by_path = {path: quarantine.unit_of(path, units, workspace.keys) for path in damage.unread}
    units_to_read = _units_to_read(units, months, everything=bool(damage.state_files))
    units_to_read |= present & set(filter(None, unit_by_path.values()))
    _mark_to_read(home, name, units, units_to_read)
    lake.drop(home, "private_records", name, sorted(months))
    if f"private/threads/{name}.parquet" in damage.state_files:
        (home / f"private/threads/{name}.parquet").unlink(missing_ok=True)
    for path in [*(f"private/records/{name}/{month}.parquet" for month in sorted(months)), *damage.state_files]:
        yield f"{path}: to be made again; files of {name} to be read: {len(units_to_read & present)} at least"
    yield from _describe_unread(unit_by_path, present)


def _months_of(units: Iterable[UnitState]) -> set[str]:
    """The months that units have records in."""
    return {month.month for unit in units for month in unit.months}


def _units_to_read(units: Mapping[str, UnitState], months: set[str], *, everything: bool) -> set[str]:
    """The units with records in these months, or all of them."""
    return {path for path, unit in units.items() if everything or months & _months_of([unit])}


def _mark_to_read(home: Path, source: str, units: Mapping[str, UnitState], paths: Iterable[str]) -> None:
    """Saves the units of a source, some of them as not read to their end, so that the next sync reads them."""
    marked = {path: replace(units[path], reader=unit_state.UNFINISHED) for path in paths}
    unit_state.save(home, source, {**units, **marked})


def _describe_unread(unit_by_path: Mapping[str, str | None], present: Set[str]) -> Iterator[str]:
    """A line for each stored item that could not be read, by whether the file that it is from still exists."""
    for path, unit in unit_by_path.items():
        remainder = "left, it is of a file that is gone; restore it from a backup, or delete it to do without it"
        yield f"{path}: {'to be kept again when its file is read' if unit in present else remainder}"


def _retain(home: Path, source: str, months: list[str]) -> Iterator[str]:
    """Months that hold retained records of files that are gone: taken as they are if nothing says they are damaged."""
    adopted = lake.recover_unlisted(home, source, months)
    for month in months:
        action = "left, it was made of files that are gone; restore it from a backup, or delete it to do without them"
        if month in adopted:
            action = "taken as it is: its manifest was lost, and it holds records of files that are gone"
        yield f"private/records/{source}/{month}.parquet: {action}"


def _needs_rebuild(home: Path, source: str) -> dict[str, UnitState]:
    """The units named in private records, so that a unit whose file is gone is still known."""
    months_by_unit: dict[str, list[UnitMonth]] = {}
    for file in sorted(lake.folder(home, "private_records", source).glob("*.parquet")):
        try:
            rows = lake.read(home, "private_records", source, file.stem)
        except LakeError:
            continue
        for unit in rows["unit"].value_counts().to_pylist():
            months_by_unit.setdefault(unit["values"], []).append(UnitMonth(file.stem, unit["counts"], ""))
    return {path: UnitState(path, 0, 0, "", unit_state.UNFINISHED, months) for path, months in months_by_unit.items()}
