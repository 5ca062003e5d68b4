"""Packs a small archive as this version of relrag leaves it, for all later versions to open.

`make home-fixture` runs it once for each schema version, before that version is raised. It writes into
tests/data/home-v<N>/: archive.tar.xz (relrag.toml, keys, exports and the home, its holes kept as holes) and rows.json
(what the catalog holds).
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import duckdb

from relrag_pipelines import links
from relrag_pipelines.records import SCHEMA_VERSION
from relrag_pipelines.stores import generations
from relrag_query.cli.commands import sync as commands
from tests import archive

DATA = Path(__file__).resolve().parent / "data"
_MTIME = 1_717_200_000
"""2024-06-01, in whole seconds: tar keeps no more of a time"""

ROWS = {
    "records": "SELECT asset_id, source, timestamp, text, locations FROM records ORDER BY asset_id",
    "edges": "SELECT src_asset_ref, dst_asset_ref, relation_type FROM asset_asset_edges "
    "WHERE relation_type <> 'chunk_of' ORDER BY ALL",
    "failures": "SELECT source, unit, location, fault FROM failures ORDER BY ALL",
}
"""What every later version must find again; how texts are cut into passages may change, so passages are left out."""


def rows(home: Path) -> dict[str, list[list[Any]]]:
    """What the published catalog of a home holds."""
    with generations.open_current(home) as generation:
        path = generation.path / "catalog.duckdb"
        with duckdb.connect(str(path), read_only=True) as connection:
            return {name: [list(row) for row in connection.execute(query).fetchall()] for name, query in ROWS.items()}


def _make(folder: Path) -> Path:
    """Synced twice: with a document that then vanishes and is retained, a chat that cannot be read, and a link."""
    config = archive.make(folder)
    config.write_text(config.read_text().replace('path = "papers"', 'path = "papers"\nretain = true'))
    gone = folder / "papers" / "inventory 2024-03-01.md"
    gone.write_text("# Inventory\n\nTwo red sleds and one boiler, call 052-987-6543.\n")
    (folder / "chats" / "WhatsApp Chat with Nobody.txt").write_bytes(b"")
    for path in folder.rglob("*"):
        if path.is_file():
            os.utime(path, (_MTIME, _MTIME))
    commands.sync(config)
    links.link_assets("jsonl:notes:n1", "jsonl:notes:n2", "references", 0.5, "one plumber", config=config)
    gone.unlink()
    commands.sync(config)
    return config


def main() -> None:
    """Writes the fixture of the present schema version; refuses to replace one that is there."""
    place = DATA / f"home-v{SCHEMA_VERSION}"
    if place.exists():
        sys.exit(f"{place} is already there; a fixture is made once, by the version that it is named for")
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made) / "archive"
        folder.mkdir()
        home = archive.workspace(_make(folder)).home
        # it names the folder in which it was made, and is written anew wherever the archive lies
        (home / "dagster" / "dagster.yaml").unlink()
        shutil.rmtree(home / "dagster" / "storage", ignore_errors=True)
        place.mkdir()
        packed = place / "archive.tar.xz"
        names = sorted(path.name for path in folder.iterdir())
        owner = ("--owner=0", "--group=0", "--numeric-owner", "--sort=name")
        subprocess.run(["tar", "--sparse", "--xz", *owner, "-cf", packed, "-C", folder, *names], check=True)
        (place / "rows.json").write_text(json.dumps(rows(home), indent=1, ensure_ascii=False) + "\n")
    print(f"{packed}: {packed.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
