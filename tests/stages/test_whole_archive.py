"""Stages over the whole archive: what may be declared, what is stale and why, and what is not made."""

from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest

from relrag_pipelines import people
from relrag_pipelines.ingest.scan import SourceScan
from relrag_pipelines.stages import plan as plans
from relrag_pipelines.stages import redaction_check, whole_archive
from relrag_pipelines.stages.month_stages import STAGES
from relrag_pipelines.stages.plan_model import ArchiveState, Plan, SourceState, StaleMonth, StaleStage
from relrag_pipelines.stages.redaction_check import RedactionIncomplete
from relrag_pipelines.stages.whole_archive import ArchiveOutput, ArchiveStage, StageError
from relrag_pipelines.stores import archive_tables, audit_mark, lake
from relrag_pipelines.stores.lake import ManifestEntry
from tests import archive

NOTHING = ArchiveOutput({})


def stage(name: str, inputs: tuple[str, ...], *tables: str, version: int = 1) -> ArchiveStage:
    return ArchiveStage(name, inputs, tables, version, "", lambda workspace, given: NOTHING)


PEOPLE = stage("people", ("identifiers",), "persons", "aliases")
GRAPH = stage("graph", ("persons", "chunks"), "entities")
NEAR = stage("near", ("embeddings",), "distances")
ROWS = (PEOPLE, GRAPH, NEAR)


def source(name: str = "chat", **outputs: str) -> SourceState:
    """A source with one month, whose tables have these hashes."""
    manifests = {
        stage.table: {"2024-01": ManifestEntry("", 1, "", outputs.get(stage.table, stage.table), 1, 1)}
        for stage in STAGES
    }
    return SourceState(name, SourceScan({}, (), ()), "", manifests, {})


def made(sources: list[SourceState], rows: tuple[ArchiveStage, ...] = ROWS) -> ArchiveState:
    """An archive whose stages are all up to date with these sources."""
    entries: dict[str, ManifestEntry | None] = dict.fromkeys(table for one in rows for table in one.tables)
    settings = {one.name: f"limit:{one.name}" for one in rows}
    months = {one.source: one.manifests for one in sources}
    for one in rows:
        stamp = whole_archive.expected_fingerprint(one, months, entries, settings[one.name])
        entries |= {
            table: ManifestEntry(stamp.input, stamp.version, stamp.settings, f"hash of {table}", 1, 1)
            for table in one.tables
        }
    return ArchiveState(rows, entries, settings)


def reasons(state: ArchiveState, sources: list[SourceState], *stale: StaleMonth) -> dict[str, tuple[str, bool]]:
    return {one.stage: (one.reason, one.waits) for one in plans.stale_stages(state, sources, stale)}


def test_nothing_is_stale_where_inputs_and_settings_are_those_it_was_made_with() -> None:
    assert reasons(made([source()]), [source()]) == {}


def test_a_month_of_its_input_makes_a_stage_stale_and_what_is_made_of_it() -> None:
    assert reasons(made([source()]), [source(identifiers="other")]) == {
        "people": ("what people is made from changed", False),
        "graph": ("people change", False),
    }
    assert reasons(made([source()]), [source(chunks="other")]) == {"graph": ("what graph is made from changed", False)}
    assert reasons(made([source()]), [source(asset_asset_edges="other")]) == {}


def test_sources_and_their_order_are_part_of_the_input() -> None:
    two = [source("chat"), source("mail")]
    assert "people" in reasons(made(two), two[:1])
    assert "people" in reasons(made(two), two[::-1])


def test_a_stage_waits_for_months_that_are_stale() -> None:
    stale = StaleMonth("chat", "2024-01", "identifiers", "new")
    assert reasons(made([source()]), [source()], stale) == {
        "people": ("names and addresses in records change", True),
        "graph": ("people change", True),
    }


def test_a_setting_or_version_of_its_own_makes_it_stale_and_says_so() -> None:
    state = made([source()])
    told = reasons(replace(state, settings=state.settings | {"people": "limit:other"}), [source()])
    assert told["people"] == ("setting limit changed", False)
    newer = replace(PEOPLE, version=2)
    told = reasons(replace(state, stages=(newer, GRAPH, NEAR)), [source()])
    assert told["people"] == ("made by version 1 of the stage, now 2", False)


def test_one_table_that_is_gone_has_all_of_its_stage_made_again() -> None:
    state = made([source()])
    found = plans.stale_stages(replace(state, entries=state.entries | {"aliases": None}), [source()], [])
    assert found[0] == StaleStage("people", "new", ("persons", "aliases"), ("identifiers",))


def test_what_can_be_made_now_is_what_waits_for_no_month() -> None:
    stale = StaleMonth("chat", "2024-01", "embeddings", "new")
    state = made([source()])
    state = replace(state, entries=state.entries | {"persons": None})
    found = Plan(stale=[stale], archive=plans.stale_stages(state, [source()], [stale]))
    assert found.archive_assets() == ["persons", "aliases", "entities"]
    assert [one.stage for one in found.archive] == ["people", "graph", "near"]
    first = found.drop_stage("embeddings")  # a first generation does not wait for vectors, nor for what is made of them
    assert ([one.stage for one in first.archive], first.stale) == (["people", "graph"], [])


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ((GRAPH, PEOPLE, NEAR), 'stage "graph" reads persons; tables that are made by then: asset_asset_edges'),
        ((PEOPLE, stage("raw", ("private_records",), "entities")), 'stage "raw" reads private_records'),
        ((PEOPLE, stage("again", ("chunks",), "persons")), 'stage "again" writes persons; records.py has to place it'),
        ((stage("other", ("chunks",), "places"),), 'stage "other" writes places; records.py has to place it in lake/'),
        ((PEOPLE, GRAPH), "no stage writes distances; add a row"),
    ],
)
def test_a_wrong_row_is_named(rows: tuple[ArchiveStage, ...], said: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archive_tables, "NAMES", ("persons", "aliases", "entities", "distances"))
    assert whole_archive.check_declarations(*ROWS) == ROWS
    with pytest.raises(StageError) as told:
        whole_archive.check_declarations(*rows)
    assert str(told.value).startswith(said)


def test_no_stage_reads_what_was_redacted_and_not_checked(tmp_path: Path) -> None:
    workspace = archive.first_sync(archive.make(tmp_path))
    rows = lake.read(workspace.home, "records", "chat", "2024-01").to_pylist()
    rows[0]["text"] = "call 052-123-4567"
    stamp = lake.manifest(workspace.home, "records", "chat")["2024-01"].stamp
    leaking = pa.Table.from_pylist(rows, lake.read(workspace.home, "records", "chat", "2024-01").schema)
    lake.write(workspace.home, "records", "chat", ["2024-01"], [(leaking, stamp)])
    whole_archive.run(workspace, stage("checked", ("records",)))
    audit_mark.mark_unaudited(workspace.home, "chat", ["2024-01"])
    with pytest.raises(RedactionIncomplete, match=r"^chat: 1 of what was redacted"):
        whole_archive.run(workspace, stage("unchecked", ("records",)))
    redaction_check.require_checked(workspace)


def test_a_stage_that_makes_other_tables_than_it_declares_is_named(tmp_path: Path) -> None:
    workspace = archive.first_sync(archive.make(tmp_path))
    with pytest.raises(StageError, match='stage "people" made nothing, and declares persons, aliases'):
        whole_archive.run(workspace, PEOPLE)


def test_people_are_made_again_by_every_archive_when_texts_are_read_otherwise() -> None:
    """What marks the months that were read is the version that makes the stage stale, too."""
    (row,) = (one for one in whole_archive.STAGES if one.name == "people")
    assert row.version == people.VERSION >= 14
