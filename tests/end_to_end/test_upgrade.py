"""A home that another version of relrag wrote: an older one is brought up to date, a newer one refused by name."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import tarfile
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from relrag_pipelines import records
from relrag_pipelines.files import sealed_json
from relrag_pipelines.maintenance.verify import verify_home
from relrag_pipelines.publishing import publish
from relrag_pipelines.records import SCHEMA_VERSION, TABLES
from relrag_pipelines.stages import plan as plans
from relrag_pipelines.stages.plan_model import Plan
from relrag_pipelines.stores import generations, lake, private_manifest
from relrag_pipelines.stores.lake import LakeError
from relrag_pipelines.stores.table_schema import arrow_schema, columns
from relrag_query.archive import Archive, ArchiveError
from relrag_query.cli.commands import plan
from relrag_query.cli.commands import sync as commands
from tests import archive
from tests.cases import case_values
from tests.make_home import DATA, rows

FIXTURES = sorted(DATA.glob("home-v*"), key=lambda path: int(path.name.removeprefix("home-v")))

SHAPES = dict(case_values(__file__, "shapes"))
"""table -> hash of its columns' names and types; see the test that reads it"""


def shape(table: records.Table) -> str:
    described = [[column.name, str(column.type), column.nullable] for column in columns(table.row)]
    return hashlib.sha256(json.dumps([described, table.key]).encode()).hexdigest()[:8]


def test_a_table_that_changes_shape_raises_the_schema_version() -> None:
    """Where this fails a table has another shape than the homes that are in use.

    Run `make home-fixture` at the version before, raise SCHEMA_VERSION, give the table that number as its `since`, and
    write its new hash down here. Before the first release the hash alone will do.
    """
    assert {name: shape(table) for name, table in TABLES.items()} == SHAPES
    assert max(table.since for table in TABLES.values()) == SCHEMA_VERSION


def unpack(fixture: Path, folder: Path) -> Path:
    """The archive of a fixture, unpacked; its relrag.toml."""
    with tarfile.open(fixture / "archive.tar.xz") as packed:
        packed.extractall(folder, filter="data")
    (folder / "test.keys").chmod(0o600)
    config = folder / "relrag.toml"
    said = config.read_text()
    config.write_text(said if "embedder" in said else archive.WORDS_ONLY + said)
    return config


def raise_schema(monkeypatch: pytest.MonkeyPatch, *tables: str) -> int:
    """Lets this be the version after, in which the tables have another shape; returns its number."""
    version = SCHEMA_VERSION + 1
    for module in (records, sealed_json, lake, private_manifest, generations, plans, publish):
        monkeypatch.setattr(module, "SCHEMA_VERSION", version)
    for name in tables:
        monkeypatch.setitem(TABLES, name, dataclasses.replace(TABLES[name], since=version))
    oldest = max(table.since for table in TABLES.values() if "catalog" in table.place)
    monkeypatch.setattr(generations, "OLDEST", oldest)
    return version


def todo(config: Path) -> Plan:
    return plans.build_plan(archive.workspace(config))


@pytest.mark.parametrize("fixture", FIXTURES, ids=lambda path: path.name)
def test_a_home_of_every_version_is_opened_and_brought_up_to_date(fixture: Path, tmp_path: Path) -> None:
    config = unpack(fixture, tmp_path)
    home = archive.sync(config).home
    assert rows(home) == json.loads((fixture / "rows.json").read_text())
    assert verify_home(home) == []
    with Archive.open(config) as opened:
        found = opened.search("red sleds").hits
    assert {hit.chunk.source for hit in found[:2]} == {"chat", "papers"}


def test_what_kept_its_shape_is_not_made_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    config = archive.make(tmp_path)
    archive.first_sync(config)
    raise_schema(monkeypatch, "shared")
    assert verify_home(config.parent / ".relrag") == []
    plan = todo(config)
    assert (plan.exports, plan.stale, plan.outdated) == ([], [], True)


def test_an_older_lake_is_made_again_from_private_without_reading_any_export(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = archive.make(tmp_path)
    home = archive.first_sync(config).home
    before = rows(home)
    version = raise_schema(monkeypatch, "records", "chunks")
    with pytest.raises(ArchiveError, match=r"published by an older relrag \(schema \d+\); `relrag sync` makes"):
        Archive.open(config)
    plan = todo(config)
    assert plan.exports == []
    assert {one.stage for one in plan.stale} >= {"redacted", "chunks"}
    archive.sync(config)
    assert rows(home) == before
    assert generations.numbers(home) == [2]
    assert sealed_json.read(home / "lake" / "records" / "chat" / "MANIFEST.json")["schema_version"] == version
    assert verify_home(home) == []


def without(path: Path, *names: str) -> None:
    """Takes columns out of a parquet file, as if it had been written before there were such."""
    pq.write_table(pq.read_table(path, partitioning=None).drop_columns(list(names)), path)


def test_private_records_of_an_older_shape_are_read_again_from_the_exports_and_kept_where_these_are_gone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = unpack(FIXTURES[-1], tmp_path)
    home = tmp_path / ".relrag"
    before = json.loads((FIXTURES[-1] / "rows.json").read_text())
    for source in ("chat", "papers", "notes"):
        for path in (home / "private" / "records" / source).glob("*.parquet"):
            without(path, "numbers", "language", "extra", "people", "date_quality")
    without(home / "private" / "units" / "chat.parquet", "content_hash")
    raise_schema(monkeypatch, "private_records", "records")
    assert sum(one.changed for one in todo(config).exports) == 4
    archive.sync(config)
    assert rows(home) == before
    for source, month in (("papers", "2024-01"), ("papers", "2024-03"), ("chat", "2024-02")):
        path = lake.month_path(home, "private_records", source, month)
        wanted = arrow_schema(records.PrivateRecord)
        assert lake.read(home, "private_records", source, month).schema.equals(wanted)
        # what was read again is stored in the shape of today; a retained month stays as it is until it is touched
        assert pq.read_schema(path).equals(wanted) == (month != "2024-03")


def test_a_newer_home_is_refused_by_name_and_nothing_is_written(tmp_path: Path) -> None:
    config = unpack(FIXTURES[-1], tmp_path)
    home = tmp_path / ".relrag"
    for manifest in home.rglob("MANIFEST.json"):
        archive.as_schema(manifest, SCHEMA_VERSION + 1)
    before = archive.contents(tmp_path)
    with pytest.raises(ArchiveError, match=r"written by a newer relrag .*; install that version"):
        Archive.open(config)
    refused = (LakeError, generations.GenerationError)
    for command in (commands.sync, plan.plan):
        with pytest.raises(refused, match=r"written by a newer relrag .*; install that version"):
            command(config)
    assert archive.changed(before, archive.contents(tmp_path)) == []
    assert any(finding.newer for finding in verify_home(home))
