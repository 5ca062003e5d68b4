"""What redaction overlooked is left out before a generation is published, counted, and told in Dagster."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import dagster as dg
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import sqlalchemy

from relrag_pipelines.files import failpoints
from relrag_pipelines.files.sparse_files import copy_with_holes
from relrag_pipelines.graphrag.schema import ALL, to_arrow
from relrag_pipelines.ingest.ingest import ingest
from relrag_pipelines.orchestration.runner import instance
from relrag_pipelines.pii import PIIRedactor
from relrag_pipelines.publishing import build_info, event_database, leak_scan, publish, withholding
from relrag_pipelines.publishing.withholding import LeakSearch
from relrag_pipelines.stages import graph_leaks, month_stages
from relrag_pipelines.stages import plan as plans
from relrag_pipelines.stages.leak_rules import LeakRules
from relrag_pipelines.stores import archive_tables, catalog, generations, lake, searched_values, vault
from relrag_pipelines.workspace import Workspace
from relrag_query.cli.commands.sync import sync
from tests import archive
from tests.postgres import postgres

PLANTED = "+972 (52) 12-34-567"
"""the number that the chat hides, as no message writes it"""
OVERLOOKED = {"id": "n3", "text": f"again: {PLANTED}", "timestamp": "2024-02-21T08:00:00Z"}
"""in another month and source than the chat's"""


@pytest.fixture(scope="module")
def archive_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("synced")
    archive.first_sync(archive.make(folder), dagster=True)
    return folder


@pytest.fixture
def workspace(archive_folder: Path, tmp_path: Path) -> Workspace:
    copy_with_holes(archive_folder, tmp_path)
    (tmp_path / "test.keys").chmod(0o600)
    return archive.workspace(tmp_path / "relrag.toml")


@pytest.fixture
def blind(monkeypatch: pytest.MonkeyPatch) -> None:
    """A redactor that overlooks what follows `again:`, and a check by the same redactor that does so too."""
    passes = PIIRedactor.passes

    def overlooking(self: PIIRedactor, text: str, *given: Any) -> Any:
        return iter(()) if "again:" in text else passes(self, text, *given)

    monkeypatch.setattr(PIIRedactor, "passes", overlooking)
    monkeypatch.setattr("relrag_pipelines.stages.redaction_check.find_unredacted", lambda *_: {})


def check(workspace: Workspace) -> dg.AssetCheckEvaluation:
    key = dg.AssetCheckKey(dg.AssetKey(["duckdb_catalog"]), "no_known_value")
    with instance(workspace.home) as shared:
        found = shared.event_log_storage.get_latest_asset_check_execution_by_key([key])[key]
    assert found.event
    assert found.event.dagster_event
    return found.event.dagster_event.asset_check_evaluation_data


@pytest.mark.usefixtures("blind")
def test_a_record_that_holds_a_value_of_another_source_is_left_out_and_the_rest_is_published(
    workspace: Workspace, capfd: pytest.CaptureFixture[str]
) -> None:
    config = workspace.settings.folder / "relrag.toml"
    assert check(workspace).passed
    archive.write_notes(config.parent, OVERLOOKED, {"id": "n4", "text": "all well", "timestamp": "2024-02-22"})
    assert sync(config) == 1
    said = capfd.readouterr().out
    assert "1 row still held a value that was replaced elsewhere and was left out" in said
    assert "1 known_value" in said or "known_value" in said
    assert "12-34" not in said
    home = workspace.home
    rows = lake.read(home, "records", "notes", "2024-02")["asset_id"].to_pylist()
    assert rows == ["jsonl:notes:n1", "jsonl:notes:n2", "jsonl:notes:n4"]
    assert "jsonl:notes:n3" not in lake.read(home, "chunks", "notes", "2024-02")["asset_id"].to_pylist()
    (failure,) = lake.read(home, "failures", "notes", "2024-02").to_pylist()
    assert (failure["fault"], failure["location"], failure["source"]) == ("known_value", "jsonl:notes:n3", "notes")
    assert generations.current_number(home) == 2
    with catalog.open(home / "published" / "2" / catalog.NAME) as connection:
        ids = {one for (one,) in connection.execute("SELECT asset_id FROM records").fetchall()}
    assert "jsonl:notes:n4" in ids
    assert "jsonl:notes:n3" not in ids
    assert leak_scan.scan_home(archive.workspace(config)).leaks == []
    told = check(workspace)
    assert (told.passed, told.severity) == (False, dg.AssetCheckSeverity.WARN)
    figures = {name: value.value for name, value in told.metadata.items()}
    assert (figures["withheld"], figures["withheld/records/PHONE_NUMBER"], figures["left"]) == (1, 1, 0)
    assert sync(config) == 0
    assert "known_value" not in capfd.readouterr().out


def plant(workspace: Workspace, path: Path, column: str, value: Any = PLANTED) -> dict[str, Any]:
    """Puts the value into the last row of a table, as if the stage that made it had; returns the row."""
    table = pq.read_table(path, partitioning=None)
    rows = table.to_pylist()
    rows[-1][column] = value
    pq.write_table(pa.Table.from_pylist(rows, table.schema), path)
    place = workspace.home / "published" / "1"
    build_info.write(place, {**build_info.read(place), "scanned": {}})
    return dict(rows[-1])


@pytest.mark.parametrize(
    ("table", "column"), [("chunks", "text"), ("identifiers", "value"), ("asset_asset_edges", "provenance")]
)
def test_a_row_of_any_table_of_a_month_goes_by_itself(workspace: Workspace, table: str, column: str) -> None:
    path = lake.month_path(workspace.home, table, "chat", "2024-02")
    before = lake.read(workspace.home, table, "chat", "2024-02").num_rows
    plant(workspace, path, column)
    search = LeakSearch(workspace)
    search.clean_lake()
    assert search.report.removals == {f"{table}/PHONE_NUMBER": 1}
    assert search.report.remainder == {}
    assert lake.read(workspace.home, table, "chat", "2024-02").num_rows == before - 1
    assert lake.read(workspace.home, "failures", "chat", "2024-02").num_rows == 1
    assert lake.read(workspace.home, "records", "chat", "2024-02").num_rows == 1


def test_no_kill_makes_a_row_vanish_unseen(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its failure comes first; and while failures are written the month's records are not listed, so are made again."""
    home = workspace.home
    chunks, failures = (lake.month_path(home, table, "chat", "2024-02") for table in ("chunks", "failures"))
    plant(workspace, chunks, "text")

    def rows(path: Path) -> int:
        return pq.read_metadata(path).num_rows if path.exists() else 0

    def killed_at(name: str, path: Path) -> None:
        def kill(*place: object) -> None:
            if place == (name, path):
                raise KeyboardInterrupt

        with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
            patched.setattr(failpoints, "watch", kill)
            LeakSearch(workspace).clean_lake()

    listed = lake.manifest(home, "records", "chat")
    killed_at("file.rename", failures)
    assert (rows(chunks), rows(failures)) == (1, 0)
    assert lake.manifest(home, "records", "chat").keys() == listed.keys() - {"2024-02"}
    lake.write_manifest(home, "records", "chat", listed)
    killed_at("withheld.failures", chunks)
    assert (rows(chunks), rows(failures)) == (1, 1)
    LeakSearch(workspace).clean_lake()
    assert (rows(chunks), rows(failures)) == (0, 1)
    assert lake.manifest(home, "records", "chat") == listed


def test_a_person_stays_without_a_name_and_an_alias_goes(workspace: Workspace) -> None:
    for table, column in (("persons", "name"), ("person_aliases", "alias")):
        row = plant(workspace, archive_tables.path(workspace.home, table), column)
        search = LeakSearch(workspace)
        search.clean_lake()
        assert search.report.removals == {f"{table}/PHONE_NUMBER": 1}
        rows = archive_tables.read(workspace.home, table).to_pylist()
        assert ({**row, "name": ""} in rows) is (table == "persons")
        assert row not in rows


def test_a_value_that_becomes_known_is_looked_for_in_months_that_did_not_change(workspace: Workspace) -> None:
    """It stood in them before, and nobody took it for one: here an account, which no policy of notes names."""
    config, account = workspace.settings.folder / "relrag.toml", "10-800-99999999"
    before: Any = {"id": "n5", "text": f"to {account}", "timestamp": "2023-05-01"}
    archive.write_notes(config.parent, before)
    assert sync(config) == 0
    assert account in lake.read(workspace.home, "records", "notes", "2023-05")["text"][0].as_py()
    unchanged = lake.manifest(workspace.home, "records", "papers")
    later: Any = {"id": "n6", "text": f"IL620108000000099999999, so {account}", "timestamp": "2024-03-01"}
    archive.write_notes(config.parent, before, later)
    assert sync(config) == 1
    assert lake.read(workspace.home, "records", "notes", "2023-05").num_rows == 0
    (failure,) = lake.read(workspace.home, "failures", "notes", "2023-05").to_pylist()
    assert (failure["fault"], failure["location"]) == ("known_value", "jsonl:notes:n5")
    assert lake.read(workspace.home, "records", "notes", "2024-03").num_rows == 1
    assert lake.manifest(workspace.home, "records", "papers") == unchanged
    names, unknown = vault.names(workspace.home), "<IBAN_CODE:k1:0123456789ab>"
    assert len(names) >= 2
    assert searched_values.unsearched_values(workspace.home, [*names, unknown]) == {unknown}
    assert leak_scan.scan_home(archive.workspace(config)).leaks == []


@pytest.mark.parametrize("fault", ["a row stays", "a file cannot be read"])
def test_a_value_whose_rows_were_not_all_taken_out_is_looked_for_by_the_next_sync(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch, fault: str
) -> None:
    config, account = workspace.settings.folder / "relrag.toml", "10-800-99999999"
    before: Any = {"id": "n5", "text": f"to {account}", "timestamp": "2023-05-01"}
    later: Any = {"id": "n6", "text": f"IL620108000000099999999, so {account}", "timestamp": "2024-03-01"}
    archive.write_notes(config.parent, before)
    assert sync(config) == 0
    archive.write_notes(config.parent, before, later)
    with monkeypatch.context() as broken:
        if fault == "a row stays":
            broken.setattr(withholding, "remove_rows", lambda *_: [])
        else:
            scan = leak_scan.scan
            broken.setattr(
                leak_scan,
                "scan",
                lambda *given, **named: replace(scan(*given, **named), leaks=[], unread=["lake (OSError)"]),
            )
        sync(config)
        assert check(workspace).metadata[{"a row stays": "left", "a file cannot be read": "unread"}[fault]].value
    assert searched_values.unsearched_values(workspace.home, vault.names(workspace.home))
    todo = plans.build_plan(archive.workspace(config))
    assert (todo.exports, todo.stale, todo.publish) == ([], [], "values that were replaced have to be looked for again")
    assert sync(config) == 1, "nothing else is new"
    assert plans.build_plan(archive.workspace(config)).empty
    assert lake.read(workspace.home, "records", "notes", "2023-05").num_rows == 0
    assert not searched_values.unsearched_values(workspace.home, vault.names(workspace.home))


def test_dagsters_events_on_a_server_are_searched(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("psycopg2", reason="dagster-postgres is not installed (relrag[postgres])")
    remote = Workspace(workspace.settings.model_copy(update={"dagster_storage": "postgres"}))
    with postgres() as url:
        monkeypatch.setenv("DAGSTER_POSTGRES_URL", url)
        with sqlalchemy.create_engine(url, poolclass=sqlalchemy.pool.NullPool).begin() as database:
            for statement in (
                "CREATE TABLE event_logs (id serial, event text, timestamp timestamp DEFAULT now())",
                "CREATE TABLE runs (id serial, run_body text)",
                "INSERT INTO event_logs (event) VALUES ('all well')",
                f'INSERT INTO event_logs (event) VALUES (\'{{"message": "{PLANTED}"}}\')',
            ):
                database.exec_driver_sql(statement)
        leaks = [one for one in leak_scan.scan_home(remote).leaks if one.path == event_database.NAME]
        assert [(one.table, one.record, one.entity) for one in leaks] == [("event_logs", "2", "PHONE_NUMBER")]
        search = LeakSearch(remote)
        assert event_database.NAME in search._build_files()
        assert [one.record for one in search._scan([event_database.NAME]).leaks] == ["2"]
        search._former_marks = {"events on a server": 2}
        assert search._scan([event_database.NAME]).leaks == []
        assert event_database.last_row("event_logs") == 2
    assert leak_scan.scan(remote, LeakRules(remote), [event_database.NAME]).unread == [
        "dagster/PostgreSQL (ConnectionError)"
    ]


def test_only_what_is_new_is_searched(workspace: Workspace) -> None:
    first = LeakSearch(workspace)
    first.clean_lake()
    assert first.report.files == 0
    marks = first.marks()
    assert "lake/records/notes/2024-02.parquet" in marks["lake"]
    assert "lake/persons/archive.parquet" in marks["lake"]
    archive.write_notes(workspace.settings.folder, {"id": "n9", "text": "new", "timestamp": "2025-01-01"})
    ingest(workspace, workspace.settings.source("notes"))
    for stage in month_stages.STAGES:
        month_stages.run(workspace, workspace.settings.source("notes"), stage, ["2025-01"])
    second = LeakSearch(workspace)
    second.clean_lake()
    new = {name for name, output in second.marks()["lake"].items() if marks["lake"].get(name) != output}
    assert "lake/records/notes/2025-01.parquet" in new
    assert "lake/records/chat/2024-01.parquet" not in new
    assert second.report.files == len(new)


def test_nothing_is_searched_where_redaction_is_off(workspace: Workspace) -> None:
    settings = workspace.settings.model_copy(update={"pii_redaction_enabled": False})
    search = LeakSearch(Workspace(settings))
    search.clean_lake()
    search.scan_build()
    assert (search.report.counts(), search.marks(), str(search.report)) == (
        {"files": 0, "unread": 0, "withheld": 0, "left": 0},
        {},
        "",
    )


def test_a_find_in_dagsters_files_is_told_and_left(workspace: Workspace) -> None:
    generations.begin(workspace.home)
    (workspace.home / "dagster" / "run.err").write_text(f"failed at {PLANTED}\n")
    search = LeakSearch(workspace)
    search.scan_build()
    assert search.report.remainder == {"run.err/PHONE_NUMBER": 1}
    assert "`relrag verify --pii` names files" in str(search.report)


@pytest.mark.parametrize("in_use", [False, True])
def test_the_journal_of_dagsters_events_is_searched_as_part_of_its_tables(workspace: Workspace, in_use: bool) -> None:
    """Where another process reads them just then, the journal stays, and is searched as a file of its own."""
    generations.begin(workspace.home)
    events = workspace.home / withholding.EVENTS
    with closing(sqlite3.connect(events)) as database, closing(sqlite3.connect(events)) as reader:
        database.execute("PRAGMA journal_mode = WAL")
        if in_use:
            reader.execute("BEGIN")
            reader.execute("SELECT count(*) FROM event_logs").fetchall()
        database.execute("INSERT INTO event_logs (run_id, event, timestamp) VALUES ('r', ?, 0)", [PLANTED])
        database.commit()
        journal = events.with_name(f"{events.name}-wal")
        assert journal.stat().st_size
        search = LeakSearch(workspace)
        search.scan_build()
        assert bool(journal.stat().st_size) is in_use
    assert search.report.remainder == {f"{journal.name if in_use else 'event_logs'}/PHONE_NUMBER": 1}


def test_a_text_of_a_graphrag_index_is_blanked_wherever_it_stands(workspace: Workspace) -> None:
    tables = {name: to_arrow(name, pd.DataFrame(columns=ALL[name].names)).to_pandas() for name in ALL}
    tables["entities"] = pd.DataFrame(
        [{"id": "e1", "title": PLANTED, "description": "d"}, {"id": "e2", "title": "Dana", "description": "x"}],
        columns=ALL["entities"].names,
        dtype=object,
    )
    tables["relationships"] = pd.DataFrame(
        [{"id": "r1", "source": "Dana", "target": PLANTED, "text_unit_ids": [PLANTED]}],
        columns=ALL["relationships"].names,
        dtype=object,
    )
    assert graph_leaks.blank(tables, LeakRules(workspace)) == 1
    assert tables["entities"]["title"].tolist() == ["withheld 1", "Dana"]
    (row,) = tables["relationships"].to_dict("records")
    assert (row["source"], row["target"], row["text_unit_ids"]) == ("Dana", "withheld 1", ["withheld 1"])


def test_a_contact_that_is_added_hides_its_number_in_older_records(
    workspace: Workspace, capfd: pytest.CaptureFixture[str]
) -> None:
    """In the note nobody took it for a phone; that an invoice has a number of its own changes nothing."""
    config, cards = workspace.settings.folder / "relrag.toml", workspace.settings.folder / "cards"
    cards.mkdir()
    config.write_text(f'{config.read_text()}\n[[sources]]\nname = "cards"\nkind = "contacts"\npath = "cards"\n')
    old: Any = {"id": "n5", "text": "serial 6084551009 on the boiler", "timestamp": "2023-05-01"}
    invoice: Any = {"id": "n6", "text": "Invoice 6084551008, order 7185550143", "timestamp": "2023-06-01"}
    archive.write_notes(config.parent, old, invoice)
    assert sync(config) == 0
    assert lake.read(workspace.home, "records", "notes", "2023-05").num_rows == 1
    card = "BEGIN:VCARD\nVERSION:3.0\nUID:c1\nFN:Petr Kolar\nTEL:+1 608 455 1009\nEND:VCARD\n"
    (cards / "people.vcf").write_text(card)
    assert sync(config) == 1
    assert "1 row still held a value that was replaced elsewhere and was left out" in capfd.readouterr().out
    assert lake.read(workspace.home, "records", "notes", "2023-05").num_rows == 0
    assert lake.read(workspace.home, "records", "notes", "2023-06")["text"].to_pylist() == [invoice["text"]]
    current = workspace.home / "published" / str(generations.current_number(workspace.home))
    with catalog.open(current / catalog.NAME) as connection:
        texts = [text for (text,) in connection.execute("SELECT text FROM records").fetchall()]
    assert invoice["text"] in texts
    assert not [text for text in texts if "6084551009" in text]
    assert plans.build_plan(archive.workspace(config)).empty


@pytest.mark.parametrize(
    ("statement", "table"),
    [
        ("INSERT INTO failures VALUES ($value, 'encrypted', '', 'notes', 'n.jsonl', false)", "failures"),
        ("UPDATE asset_asset_edges SET provenance = $value, lake_month = '*4f' WHERE id = 1", "asset_asset_edges"),
        ("UPDATE records SET subject = $value, lake_month = 'gone/2020-01' WHERE kind = 'jsonl'", "records"),
        ("INSERT INTO terms BY NAME SELECT $value AS term, 2 AS documents", "terms"),
    ],
)
def test_what_the_catalog_adds_to_the_lake_is_searched(workspace: Workspace, statement: str, table: str) -> None:
    search = first_search(workspace)
    with catalog.connect(str(generations.build_folder(workspace.home) / catalog.NAME)) as connection:
        connection.execute(statement, {"value": PLANTED})
    search.scan_build()
    assert {name.split("/")[0] for name in search.report.remainder} == {table}


def test_rows_that_were_searched_in_the_lake_are_not_read_again(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    given: list[Any] = []
    monkeypatch.setattr(catalog, "tables", lambda *asked: given.append(asked) or iter(()))
    first_search(workspace).scan_build()
    ((_, _, without),) = given
    assert without["chunks"] == {"chat/2023-12", "chat/2024-01", "chat/2024-02", "papers/2024-01", "notes/2024-02"}
    assert "persons" in without
    publish.publish(workspace)
    unchanged = LeakSearch(workspace)
    unchanged.clean_lake()
    publish.build(workspace, unchanged)
    unchanged.scan_build()
    assert given[1][2] == {}


def test_a_row_that_could_not_be_taken_out_of_the_lake_is_found_in_the_catalog(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    plant(workspace, lake.month_path(workspace.home, "chunks", "notes", "2024-02"), "text")
    monkeypatch.setattr(withholding, "remove_rows", lambda *_: [])
    search = first_search(workspace)
    search.scan_build()
    assert search.report.remainder == {"chunks/PHONE_NUMBER": 1}


def first_search(workspace: Workspace) -> LeakSearch:
    """A search that has gone through all of the lake, and the first catalog, built from it."""
    shutil.rmtree(workspace.home / "published")
    search = LeakSearch(workspace)
    search.clean_lake()
    publish.build(workspace, search)
    return search
