"""What a first sync makes of an archive's exports and of what its owner stated, to compare an archive with."""

from __future__ import annotations

import shutil
from pathlib import Path

from relrag_pipelines.files import atomic
from relrag_pipelines.stores import archive_tables, generations, inventory, lake
from tests import archive, interruption

Tables = dict[str, object]


def copy_exports(folder: Path, to: Path) -> Path:
    """The archive's exports, settings, keys and statements, and nothing that a sync made; its relrag.toml."""
    shutil.rmtree(to, ignore_errors=True)
    to.mkdir(parents=True)
    home = archive.home(folder)
    for path in folder.iterdir():
        if path.is_dir() and path != home:
            archive.clone(path, to / path.name)
        elif path.is_file():
            shutil.copy2(path, to / path.name)
    for name in atomic.files(home):
        part = inventory.part(name)
        if part and part.origin == "owner":
            (archive.home(to) / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(home / name, archive.home(to) / name)
    return to / "relrag.toml"


def tables(config: Path) -> Tables:
    """The rows of every table of the current generation, and the hash of each table of the lake."""
    workspace = archive.workspace(config)
    home, found = workspace.home, Tables()
    for source in workspace.settings.sources:
        for table in lake.MONTHLY:
            for month, entry in lake.manifest(home, table, source.name).items():
                if entry.rows:
                    found[f"{table} of {source.name}, {month}"] = entry.output
    for table in archive_tables.NAMES:
        entry = archive_tables.entry(home, table)
        found[table] = entry.output if entry else ""
    current = home / "published" / str(generations.current_number(home))
    rows = interruption.rows(current / "catalog.duckdb")
    found |= {f"{table} of the catalog": of_table for table, of_table in rows.items()}
    found["points"] = interruption.points(current / "vectors")
    return found


def differences(config: Path, clean: Path) -> list[str]:
    """The names of tables in which two archives differ."""
    first, second = tables(config), tables(clean)
    return sorted(name for name in first.keys() | second.keys() if first.get(name) != second.get(name))
