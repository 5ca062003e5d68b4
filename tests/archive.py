"""A small archive of three kinds that tests build, change and sync."""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import tempfile
import time
from collections.abc import Set
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from relrag_pipelines import settings as settings_module
from relrag_pipelines.files import failpoints, sealed_json, sparse_files
from relrag_pipelines.ingest.ingest import ingest
from relrag_pipelines.publishing import publish
from relrag_pipelines.records import Chunk
from relrag_pipelines.stages import graph_build, month_range, month_stages, whole_archive
from relrag_pipelines.stages import plan as plans
from relrag_pipelines.stages.plan_model import Plan
from relrag_pipelines.stores import archive_tables, generations, lake
from relrag_pipelines.stores.fingerprint import fingerprint
from relrag_pipelines.stores.vectors import local_build
from relrag_pipelines.workspace import Workspace

if TYPE_CHECKING:
    import pytest

SYNCED = Path(tempfile.gettempdir()) / "relrag-synced"
"""archives that were synced for the first time; conftest.py puts it into the folder of the run"""
_INDEX = local_build._index
_RECENT = 6 * 3600
"""seconds; no run takes as long, so a file that is older has its time from a test"""
WORDS_ONLY = 'embedder = "none"\n'
"""most tests have nothing to do with vectors, whose model takes a while to load"""
CONFIG = """
archive = "test"
keys_file = "test.keys"
timezone = "Europe/Prague"
pii_redaction_enabled = true
embedder = "none"
{extra}
[[sources]]
name = "chat"
kind = "whatsapp"
path = "chats"

[[sources]]
name = "papers"
kind = "document"
path = "papers"

[[sources]]
name = "notes"
kind = "jsonl"
path = "notes.jsonl"
"""

CHAT = """\
24/12/2023, 18:00 - Dana Levi: Merry Christmas to the whole hiking group
28/12/2023, 09:15 - Petr Kolar: The cabin is booked, bring the red sleds
13/01/2024, 10:15 - Dana Levi: Who has the key of the cabin?
13/01/2024, 10:16 - Petr Kolar: I do, call me on 052-123-4567
14/02/2024, 21:40 - Dana Levi: The boiler of the cabin is broken again
"""

NOTES = [
    {
        "id": "n1",
        "text": "The plumber quoted 7,980 for the boiler.",
        "timestamp": "2024-02-15T08:00:00Z",
        "from": "Ota",
    },
    {"id": "n2", "text": "Remember to thank the plumber.", "timestamp": "2024-02-20T08:00:00Z", "thread_id": "thanks"},
]

LEASE = "# Lease\n\nThe tenant pays nine hundred a month.\n\nThe orangery may not be heated.\n"


def make(folder: Path, extra: str = "") -> Path:
    """Writes the archive's files into an empty folder and returns its relrag.toml."""
    (folder / "chats").mkdir()
    (folder / "chats" / "WhatsApp Chat with Hiking.txt").write_text(CHAT)
    (folder / "papers").mkdir()
    (folder / "papers" / "lease 2024-01-05.md").write_text(LEASE)
    write_notes(folder)
    return configure(folder, extra)


def write_notes(folder: Path, *more: dict[str, str]) -> None:
    """Writes the notes, and further ones behind them."""
    (folder / "notes.jsonl").write_text("".join(json.dumps(note) + "\n" for note in [*NOTES, *more]))


def configure(folder: Path, extra: str = "") -> Path:
    """Writes relrag.toml with further settings."""
    config, text = folder / "relrag.toml", CONFIG
    if "embedder" in extra:
        text = text.replace(WORDS_ONLY, "")
    config.write_text(text.format(extra=extra))
    return config


def workspace(config: Path) -> Workspace:
    """The workspace of that relrag.toml."""
    return Workspace(settings_module.load(config, {}))


def home(folder: Path) -> Path:
    """RELRAG_HOME of the archive in that folder."""
    return folder / ".relrag"


def sync(config: Path) -> Workspace:
    """What `relrag sync` does, without Dagster, which most of its time goes into; returns the workspace."""
    made = replace(workspace(config), listings={})
    carry_out(made, plans.build_plan(made))
    assert plans.build_plan(workspace(config)).empty
    return workspace(config)


def carry_out(made: Workspace, plan: Plan, *, full: bool = False, accept_deletions: bool = False) -> None:
    """What `sync` of the runner does, but for its checks; an error is raised."""
    for unfinished in plan.unfinished:
        archive_tables.drop(made.home, whole_archive.stage_named(unfinished, made.settings).tables)
    accepted = accept_deletions or generations.current_number(made.home) is None
    _read_sources(made, plan, full=full, accept_deletions=accepted)
    rebuild(made)


def _read_sources(made: Workspace, plan: Plan, *, full: bool = False, accept_deletions: bool = False) -> None:
    changed = {*(export.source for export in plan.exports), *plan.servers, *plan.zips}
    for name in [source.name for source in made.settings.sources] if full else sorted(changed):
        ingest(made, made.settings.source(name), full=full, accept_deletions=accept_deletions)


def read(config: Path) -> Workspace:
    """Brings private records up to date, as a sync begins; a tenth of its time. Returns the workspace."""
    made = replace(workspace(config), listings={})
    _read_sources(made, plans.build_plan(made))
    assert not plans.build_plan(workspace(config)).exports
    return workspace(config)


def rebuild(made: Workspace) -> None:
    """Makes what is stale and publishes it, reading no source; an error is raised."""
    for first, last, run in plans.build_plan(made).runs():
        for source, name in run:
            (stage,) = [stage for stage in month_stages.STAGES if stage.name == name]
            month_stages.run(made, made.settings.source(source), stage, month_range.month_range(first, last))
    plan = plans.build_plan(made)
    for one in plan.archive:
        whole_archive.run(made, whole_archive.stage_named(one.stage, made.settings))
    if plan.archive or plan.outdated:  # what a stage makes may be what was published
        plan = plans.build_plan(made)
    if plan.outdated:
        publish.build(made)
        publish.publish(made)
    for graph in plans.build_plan(made).graphs if made.settings.graphrag.method != "off" else ():
        graph_build.run(made, graph.collection)


def do_without_indexes(patch: pytest.MonkeyPatch) -> None:
    """Lets a store of vectors do without indexes of payload fields: each takes 4 MB, of 109 in a home of ten records.

    A filter finds the same without them, only slower. Tests of the store, the demo and other processes have them.
    """

    def index(shard: object, fields: Set[str], path: Path) -> None:
        for _ in fields:
            failpoints.failpoint("vectors.index", path)

    patch.setattr(local_build, "_index", index)


def do_with_indexes(patch: pytest.MonkeyPatch) -> None:
    """Lets it make them all the same."""
    patch.setattr(local_build, "_index", _INDEX)


def do_without_dagster(patch: pytest.MonkeyPatch) -> None:
    """Lets the command `sync` do as `carry_out` does."""
    from relrag_pipelines.orchestration import runner

    def sync(workspace: Workspace, todo: Plan, **how: bool) -> runner.RunOutcome:
        carry_out(workspace, todo, **how)
        return runner.RunOutcome(generation=generations.current_number(workspace.home))

    patch.setattr(runner, "sync", sync)


def clone(folder: Path, to: Path) -> Path:
    """Copies an archive with its files' times, so that nothing in it counts as changed; returns the copy."""

    def copy(source: str, target: str) -> str:
        sparse_files.copy_file(Path(source), Path(target))
        shutil.copystat(source, target)
        return target

    shutil.copytree(folder, to, copy_function=copy, dirs_exist_ok=True)
    return to


def first_sync(config: Path, *, dagster: bool = False) -> Workspace:
    """Syncs a new archive; where a test of this run has synced one of the same files, that one is copied.

    The copy has the same keys, and its files keep their times. Returns the workspace. With `dagster` it is what
    `relrag sync` does: the archive has runs, and takes three times as long. A test that patches what a sync does calls
    `sync`: others would get its copy.
    """
    folder = config.parent
    assert not home(folder).exists()
    about = _inputs(folder, dagster=dagster)
    SYNCED.mkdir(parents=True, exist_ok=True)
    kept = SYNCED / about[:16]
    with (SYNCED / f"{kept.name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # another process may be about to sync the same
        if kept.exists():
            clone(kept, folder)
        else:
            if dagster:
                from relrag_query.cli.commands.sync import sync as whole  # brings Dagster

                assert whole(config) == 0
            else:
                sync(config)
            clone(folder, kept.with_suffix(".new")).rename(kept)
    return workspace(config)


def _inputs(folder: Path, *, dagster: bool) -> str:
    """Hash of all that a first sync depends on: files, the times that a test gave them, and relrag's variables."""
    recent = time.time() - _RECENT
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    times = [path.stat().st_mtime_ns if path.stat().st_mtime < recent else 0 for path in files]
    held = [[path.relative_to(folder).as_posix(), path.read_bytes().hex()] for path in files]
    variables = sorted(variable for variable in os.environ.items() if variable[0].startswith("RELRAG_"))
    return fingerprint([dagster, held, times, variables])


def as_schema(manifest: Path, version: int) -> None:
    """Lets a sealed manifest say that another schema version wrote it."""
    manifest.write_text(sealed_json.seal(sealed_json.read(manifest) | {"schema_version": version}))


def contents(folder: Path) -> dict[str, tuple[int, bytes]]:
    """Every file below a folder but the lock, with its time and bytes, to see what was written."""
    return {
        path.relative_to(folder).as_posix(): (path.stat().st_mtime_ns, path.read_bytes())
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name != "lock"
    }


def changed(before: dict[str, tuple[int, bytes]], after: dict[str, tuple[int, bytes]]) -> list[str]:
    """Files that were written, by time or bytes, or removed."""
    return sorted(path for path in before.keys() | after.keys() if before.get(path) != after.get(path))


def chunks(config: Path, source: str) -> list[Chunk]:
    """All chunks of a source in the lake."""
    home = workspace(config).home
    months = sorted(lake.manifest(home, "chunks", source))
    rows = [row for month in months for row in lake.read(home, "chunks", source, month).to_pylist()]
    return [Chunk(**{{"from": "from_"}.get(name, name): value for name, value in row.items()}) for row in rows]


def many_notes(folder: Path, count: int = 40, months: int = 24, extra: str = "") -> Path:
    """An archive of that many notes, of which every month from 2023-01 on has about as many; its relrag.toml."""
    notes = [
        {
            "id": f"n{number}",
            "text": f"Note {number}: the greenhouse needs pane {number * 7}.",
            "ts": 1672531200 + number * months * 730 * 3600 // count,
            "thread_id": f"t{number % 5}",
        }
        for number in range(count)
    ]
    (folder / "notes.jsonl").write_text("".join(json.dumps(note) + "\n" for note in notes))
    config = configure(folder, extra)
    head, sources = config.read_text().split("[[sources]]", 1)
    config.write_text(head + "[[sources]]" + sources.split("[[sources]]")[-1])
    return config
