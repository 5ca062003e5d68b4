"""Planted values are in errors of every asset, check, sensor and command: nothing outside private/ tells them."""

from __future__ import annotations

import logging
import sys
import time
import traceback
import warnings
from collections.abc import Callable
from itertools import cycle
from pathlib import Path
from typing import Any, NoReturn

import dagster as dg
import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import typer

from relrag_pipelines import chunking, embedders, links
from relrag_pipelines.definitions import PUBLISHING, build_defs
from relrag_pipelines.erasure import byte_search
from relrag_pipelines.identity import participants
from relrag_pipelines.ingest import merge, scan
from relrag_pipelines.orchestration.runner import instance
from relrag_pipelines.people import stage
from relrag_pipelines.pii import redact_tables
from relrag_pipelines.privacy import fault_report
from relrag_pipelines.publishing import leak_scan
from relrag_pipelines.sources import jsonl
from relrag_pipelines.stages import graph_build, graph_index_plan, month_stages, redaction_check, whole_archive
from relrag_pipelines.stages import plan as plans
from relrag_pipelines.stores import (
    catalog,
    catalog_build,
    generation_damage,
    generations,
    inventory,
    lake,
    lake_damage,
    vector_store,
)
from relrag_query import cli
from relrag_query.cli import dispatch
from tests import archive

MARK = "Zq7Canary"
VALUES = [f"{MARK}{number:04}" for number in range(1000)]


@pytest.fixture(scope="module")
def archive_config(tmp_path_factory: pytest.TempPathFactory) -> Path:
    config = archive.make(tmp_path_factory.mktemp("errors"), '[graphrag]\nmethod = "fast"\n')
    archive.first_sync(config)
    return config


class Silent(Exception):
    """One that tells only what it holds."""

    def __init__(self, value: str) -> None:
        self.value = value

    def __str__(self) -> str:
        return self.value


KINDS_OF_ERROR: tuple[Callable[[str], BaseException], ...] = (
    ValueError,
    KeyError,
    Silent,
    lambda value: OSError(2, value, value),
    lambda value: UnicodeDecodeError("utf-8", value.encode(), 0, 1, value),
    lambda value: ExceptionGroup(value, [ValueError(value)]),
    SystemExit,
    duckdb.IOException,
)


def misbehave(
    values: list[str], kind_of_last: Callable[[str], BaseException] = Silent, *, prints: bool = True
) -> NoReturn:
    """Says the values in every way that a library can, and raises an error that has the others as causes."""
    *before, last = values
    error: BaseException = ValueError(before[0])
    for number, (value, kind) in enumerate(zip(before, cycle(KINDS_OF_ERROR), strict=False)):
        warnings.warn(value, stacklevel=1)
        logging.getLogger("some.library").error("read %s", value)
        if prints:
            print(value)
            print(value, file=sys.stderr)
        try:
            try:
                raise error
            except BaseException as caught:
                logging.getLogger("some.library").exception(value)
                if number % 2:
                    raise kind(value) from caught
                raise kind(value)  # noqa: B904  the cause that Python itself notes
        except BaseException as caught:
            error = caught
            error.add_note(value)
    raise kind_of_last(last) from error


POINTS: list[tuple[Any, str, list[str]]] = [
    (redaction_check, "find_unredacted", ["notes", "redacted"]),
    (lake_damage, "verify", ["notes", "edges"]),
    (catalog, "count_dangling", ["published_generation"]),
    (generation_damage, "verify", ["published_generation"]),
    (catalog_build, "build", ["duckdb_catalog"]),
    (leak_scan, "find", ["duckdb_catalog"]),
    (vector_store, "extend", ["qdrant_points"]),
    (generations, "finish", ["published_generation"]),
    (graph_build, "passages", ["graphrag", "archive", "documents"]),
    (stage, "people", ["persons"]),
    (lake, "write", ["chat", "chunks"]),
    (links, "build_edges", ["notes", "edges"]),
    (embedders, "model", ["notes", "embeddings"]),
    (chunking, "chunk", ["notes", "chunks"]),
    (participants, "extract_identifiers", ["notes", "identifiers"]),
    (redact_tables, "redact_records", ["notes", "redacted"]),
    (jsonl, "read", ["notes", "export"]),
    (merge, "write", ["notes", "export"]),
]
"""where an error is raised, and the Dagster asset, or of the first ones its checks, that is made then;
backwards, as an error in one leaves nothing for those behind it"""

CHECKS = 4

SHARES = [VALUES[number::22] for number in range(22)]
"""the values that each place is given"""


@pytest.mark.parametrize(("place", "name", "key"), POINTS, ids=lambda part: part if isinstance(part, str) else "")
def test_an_error_in_an_asset_tells_nothing(
    archive_config: Path,
    place: Any,
    name: str,
    key: list[str],
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    workspace, share = archive.workspace(archive_config), iter(SHARES)
    values = next(one for one, point in zip(share, POINTS, strict=False) if point[:2] == (place, name))
    defs = build_defs(workspace)
    assets: list[Any] = [*(defs.assets or []), *(defs.asset_checks or [])]
    checks = dg.AssetSelection.checks_for_assets(dg.AssetKey(key))
    selection: dg.AssetSelection = checks
    if (place, name) not in [point[:2] for point in POINTS[:CHECKS]]:
        keys = [key]
        if key[0] in PUBLISHING:
            keys = list(PUBLISHING)
        elif len(key) != 2:
            made = whole_archive.stage_named("people", workspace.settings).tables
            keys = list(made) if key[0] in made else [[*key[:2], table.name] for table in graph_index_plan.TABLES]
        selection = dg.AssetSelection.assets(*map(dg.AssetKey, keys))
        if key != ["duckdb_catalog"]:  # whose check is made with it, in one step
            selection -= checks
    stage_names = [stage.name for stage in month_stages.STAGES]
    called, started = [], time.time() - 1

    def raising(*args: Any, **options: Any) -> NoReturn:
        called.append(name)
        misbehave(values)

    monkeypatch.setattr(place, name, raising)
    with instance(workspace.home) as shared:
        done = dg.materialize(
            assets,
            instance=shared,
            selection=selection,
            partition_key="2024-02" if selection is not checks and key[-1] in stage_names else None,
            run_config={"ops": {"notes__export": {"config": {"full": True}}}} if key[-1] == "export" else None,
            raise_on_error=False,
        )
        said = [str(event) for event in done.all_events]
    assert called
    assert MARK not in "".join(said)
    assert MARK not in "".join(capfd.readouterr())
    written = {path for path in workspace.home.rglob("*") if path.is_file() and path.stat().st_mtime >= started}
    assert written
    # what Dagster stores is compressed
    assert [
        name for name in byte_search.search(workspace.home, [MARK]).holding if workspace.home / name in written
    ] == []


@pytest.mark.parametrize("name", ["source_folders", "follow_up"])
def test_an_error_in_a_sensor_tells_nothing(
    archive_config: Path, name: str, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(plans, "inspect_source", lambda *_: misbehave(SHARES[len(POINTS)]))
    found = build_defs(archive.workspace(archive_config)).get_repository_def()
    with (
        instance(archive.workspace(archive_config).home) as shared,
        dg.build_sensor_context(instance=shared, repository_def=found) as context,
        pytest.raises(Exception) as caught,
    ):
        found.get_sensor_def(name).evaluate_tick(context)
    assert "Silent in test_error_leaks.py" in (told := "".join(traceback.format_exception(caught.value)))
    assert MARK not in told
    assert MARK not in "".join(capfd.readouterr())


def every_command(group: Any, before: str = "") -> dict[str, Any]:
    """Commands by name, those of a group as `group command`."""
    found: dict[str, Any] = {}
    for name, one in group.commands.items():
        found |= every_command(one, f"{name} ") if hasattr(one, "commands") else {before + name: one}
    return found


COMMANDS = every_command(typer.main.get_command(cli.app))


def arguments(command: str) -> list[str]:
    """What has to be given to a command, whatever it is."""
    given = command.split()
    for one in COMMANDS[command].params:
        if one.required:
            given += [one.opts[0], "2024-01"] if one.param_type_name == "option" else ["something"]
    return given


def run(monkeypatch: pytest.MonkeyPatch, *given: str) -> int:
    monkeypatch.setattr(sys, "argv", ["relrag", *given])
    return cli.command()


@pytest.mark.parametrize("command", COMMANDS)
def test_an_error_in_a_command_tells_nothing(
    command: str, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    values = SHARES[len(POINTS) + 1]
    for kind in KINDS_OF_ERROR:
        with monkeypatch.context() as patch:
            patch.setattr(dispatch, "run", lambda *_, kind=kind, **__: misbehave(values, kind, prints=False))
            assert run(patch, *arguments(command)) == 2
    said = "".join(capfd.readouterr())
    assert "this is a fault of relrag: run the command again" in said
    assert MARK not in said


def test_a_fault_in_a_sync_says_where_it_was_and_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """The stage, source and month, the steps to take, and where a report lies that holds no text of the archive."""
    config = archive.make(tmp_path)
    monkeypatch.setattr(chunking, "chunk", lambda *_, **__: misbehave(SHARES[len(POINTS) + 3], pa.ArrowInvalid))
    assert run(monkeypatch, "sync", "--config", str(config)) == 2
    said = "".join(capfd.readouterr())
    (line,) = [one for one in said.splitlines() if "notes__chunks" in one]
    assert line.startswith("error: notes__chunks: ArrowInvalid in test_error_leaks.py:")
    assert "during chunks of notes, 2024-02; this is a fault of relrag: run the command again" in line
    assert "`relrag verify --repair`" in line
    reports = sorted((archive.home(tmp_path) / fault_report.FOLDER).glob("*-notes__chunks.txt"))
    assert [str(path) in line for path in reports] == [True]
    report = reports[0].read_text()
    assert "during chunks of notes, 2024-02" in report
    assert "\nArrowInvalid\n" in report
    assert "  relrag_pipelines/stages/month_stages.py:" in report
    assert MARK not in said + report
    assert inventory.part(reports[0].relative_to(archive.home(tmp_path)).as_posix())


@pytest.mark.parametrize("command", ["ask", "search", "show", "plan", "sync", "status", "verify", "doctor", "backup"])
def test_an_error_below_a_command_tells_nothing(
    archive_config: Path,
    tmp_path: Path,
    command: str,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    values = SHARES[len(POINTS) + 2]
    for place, name, kind in (
        (duckdb, "connect", duckdb.IOException),
        (pq, "read_table", pa.ArrowInvalid),
        (scan, "_reason", lambda value: PermissionError(13, value, value)),
    ):
        given = [command, *([str(tmp_path / name)] if command == "backup" else arguments(command)[1:])]
        with monkeypatch.context() as patch:
            patch.setattr(place, name, lambda *_, kind=kind, **__: misbehave(values, kind, prints=False))
            run(patch, *given, "--config", str(archive_config))
    assert MARK not in "".join(capfd.readouterr())


def test_every_value_was_given_to_something() -> None:
    assert sorted(value for share in SHARES for value in share) == VALUES
    assert len(POINTS) + 4 <= len(SHARES)
