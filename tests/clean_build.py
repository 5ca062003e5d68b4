"""What a first sync makes of an archive's exports and of what its owner stated, to compare an archive with."""

from __future__ import annotations

import shutil
from pathlib import Path

from relrag_pipelines.files import atomic
from relrag_pipelines.records import TABLES
from relrag_pipelines.stores import archive_tables, catalog, generations, inventory, lake
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
    found |= {f"{table} of the catalog": rows for table, rows in _catalog(current).items()}
    found["points"] = interruption.points(current / "vectors")
    return found


def _catalog(generation: Path) -> Tables:
    """The rows of each table of the catalog, but for what tells whether it lies on the one of an earlier generation.

    That is `replaced`, the numbers of edges, and `terms`, which then are those of that generation.
    """
    with catalog.open(generation / "catalog.duckdb") as connection:
        names = {name for (name,) in connection.execute("SHOW TABLES").fetchall() if name in TABLES} - {"replaced"}
        names -= {"terms"} if (generation / catalog.BASE).exists() else set()
        tables_read = {name: connection.table(name) for name in names}
        edges = tables_read["asset_asset_edges"]
        tables_read["asset_asset_edges"] = edges.project("* EXCLUDE (id)")
        return {name: sorted(map(repr, table.fetchall())) for name, table in tables_read.items()}


def differences(config: Path, clean: Path) -> list[str]:
    """The names of tables in which two archives differ."""
    first, second = tables(config), tables(clean)
    names = first.keys() | second.keys()
    names -= {"terms of the catalog"} - (first.keys() & second.keys())
    return sorted(name for name in names if first.get(name) != second.get(name))
