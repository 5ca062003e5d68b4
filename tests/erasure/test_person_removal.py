"""Who is forgotten is nobody any more: no row, no statement of the owner's, no id that somebody else gets."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from relrag_pipelines.erasure import byte_search, person_removal
from relrag_pipelines.erasure.rule_file import ForgettingError
from relrag_pipelines.erasure.rule_matching import RuleMatcher
from relrag_pipelines.identity.journal_statements import (
    Allocation,
    Merge,
    RelationshipNote,
    StatedFact,
    StatedRelationship,
)
from relrag_pipelines.journal import journal
from relrag_pipelines.maintenance.verify import verify_home
from relrag_pipelines.stores import archive_tables, lake, lock, unit_state
from relrag_pipelines.workspace import Workspace
from relrag_query import statements
from relrag_query.cli.commands import forget as forgetting
from relrag_query.forgetting import ForgetRequest
from relrag_query.people.indexed_person import PeopleError
from tests import archive
from tests.people.test_stage import ids, make, rows

pytestmark = pytest.mark.usefixtures("without_dagster")
NOTES = """
keys_file = "test.keys"
embedder = "none"

[[sources]]
name = "vault"
kind = "notes"
path = "notes"
"""


def test_what_was_said_of_who_is_forgotten_goes_with_them(tmp_path: Path) -> None:
    config = make(tmp_path)
    home = archive.first_sync(config).home
    jonah, petr, ota = (ids(home)[name] for name in ("Jonah", "Petr Kolar", "Ota"))
    said = [
        StatedRelationship(jonah, 17, "dentist", "zquarantine of teeth"),
        RelationshipNote(jonah, 17, "dentist", "znote of crowns"),
        StatedFact(17, "lives_in", "zvillage"),
        StatedFact(42, "lives_in", "kept town", None, None),
        StatedRelationship(jonah, petr, "friend", "a kept friend", 5, 4),
        Merge(petr, (ota,)),
    ]
    numbers = journal.append(home, said)
    archive.sync(config)
    assert rows(home, "SELECT count(*) FROM person_facts WHERE person_id = 17 AND predicate = 'lives_in'") == [(1,)]
    assert forgetting.forget(ForgetRequest(person="David Tamir"), config, yes=True) == 0
    assert "David Tamir" not in ids(home)
    for table in ("person_aliases", "person_facts", "person_assets"):
        assert rows(home, f"SELECT count(*) FROM {table} WHERE person_id = 17") == [(0,)]
    assert byte_search.search(home, ["zquarantine", "znote of", "zvillage", "David Tamir"]).holding == {}
    left = [entry.statement for entry in journal.entries(home) if entry.number in numbers]
    assert left == [None, None, None, *said[3:]]
    assert rows(home, "SELECT description FROM person_relationships WHERE relationship_type = 'friend'") == [
        ("a kept friend",)
    ]
    assert verify_home(home) == []
    archive.sync(config)
    assert 17 not in ids(home).values()


def test_who_was_merged_into_who_is_forgotten_goes_too(tmp_path: Path) -> None:
    config = make(tmp_path)
    home = archive.first_sync(config).home
    ota = ids(home)["Ota"]
    numbers = journal.append(home, [StatedFact(ota, "lives_in", "zvillage"), Merge(17, (ota,))])
    archive.sync(config)
    assert "Ota" not in ids(home)
    assert forgetting.forget(ForgetRequest(person="David Tamir"), config, yes=True) == 0
    said = {entry.number: entry.statement for entry in journal.entries(home)}
    assert [said[number] for number in numbers] == [None, None]
    assert [one.anchors for one in said.values() if isinstance(one, Allocation) and one.person_id == ota] == [()]
    assert byte_search.search(home, ["zvillage"]).holding == {}


def test_nothing_goes_while_it_cannot_be_told_who_is_who(tmp_path: Path) -> None:
    config = make(tmp_path)
    home = archive.first_sync(config).home
    journal.append(home, [StatedFact(ids(home)["Petr Kolar"], "lives_in", "kept town")])
    before, workspace = journal.path(home).read_bytes(), archive.workspace(config)
    for file in (archive_tables.path(home, "person_entries"), lake.month_path(home, "identifiers", "chat", "2024-01")):
        whole = file.read_bytes()
        file.write_bytes(b"torn")
        with pytest.raises(ForgettingError, match=r"cannot be told: .*; run `relrag sync` first"):
            person_removal.require(workspace)
        assert person_removal.remove_statements(workspace, set(), RuleMatcher([], workspace.keys)) == 0
        assert journal.path(home).read_bytes() == before
        file.write_bytes(whole)
    person_removal.require(workspace)
    archive_tables.drop(home)  # as a forget leaves them that was cut short
    with pytest.raises(ForgettingError, match="person_aliases is not there"):
        person_removal.require(workspace)


def test_a_statement_that_waits_for_a_forget_finds_nobody(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    config = make(tmp_path)
    home = archive.first_sync(config).home
    writing, forgotten = lock.writing, []

    @contextmanager
    def waiting(home: Path, purpose: str, wait: float | None = None) -> Iterator[None]:
        if purpose == "relrag people" and not forgotten:
            forgotten.append(forgetting.forget(ForgetRequest(person="David Tamir"), config, yes=True))
        with writing(home, purpose, wait):
            yield

    monkeypatch.setattr(lock, "writing", waiting)
    with pytest.raises(PeopleError, match='nobody is named "David Tamir"'):
        statements.add_fact("David Tamir", "lives_in", "zvillage", config=config)
    assert forgotten == [0]
    assert byte_search.search(home, ["zvillage"]).holding == {}


def test_a_conversation_that_is_written_during_a_forget_goes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    config = make(tmp_path)
    home = archive.first_sync(config).home
    place = home / "private" / "conversation.json"

    def publish(workspace: Workspace) -> list[str]:
        place.write_text('{"questions": ["where is Ota?"], "sources": []}')
        return []

    monkeypatch.setattr(forgetting, "_publish", publish)
    forgetting.forget(ForgetRequest(refs=["jsonl:notes:n1"]), config, yes=True)
    assert not place.exists()


def test_an_id_that_is_forgotten_is_given_to_nobody(tmp_path: Path) -> None:
    config = make(tmp_path)
    home = archive.first_sync(config).home
    ota = ids(home)["Ota"]
    assert forgetting.forget(ForgetRequest(refs=["jsonl:notes:n1"]), config, yes=True) == 0
    assert "Ota" not in ids(home)
    (kept,) = [one for one in journal.statements(home, Allocation) if one.person_id == ota]
    assert kept.anchors == ()
    archive.write_notes(tmp_path, {"id": "n9", "text": "x", "timestamp": "2024-02-21T08:00:00Z", "from": "Wilma Quist"})
    archive.sync(config)
    assert ids(home)["Wilma Quist"] not in (0, ota)


def test_what_tells_who_is_who_must_be_of_the_records_that_there_are(tmp_path: Path) -> None:
    config = make(tmp_path)
    workspace = archive.first_sync(config)
    journal.append(workspace.home, [StatedFact(17, "lives_in", "zvillage")])
    assert person_removal.missing_sources(workspace) == ""
    source = workspace.settings.sources[0].name
    known = lake.manifest(workspace.home, "private_records", source)
    month = min(known)
    lake.write_manifest(
        workspace.home, "private_records", source, {**known, month: replace(known[month], output="changed since")}
    )
    assert person_removal.missing_sources(workspace) == f"identifiers of {source}, {month}, are of older records"
    with pytest.raises(ForgettingError, match="run `relrag sync` first"):
        person_removal.require(workspace)


def test_a_name_of_before_a_merge_goes_with_the_last_record_that_has_it(tmp_path: Path) -> None:
    config = make(tmp_path)
    archive.write_notes(
        tmp_path, {"id": "n9", "text": "x", "timestamp": "2024-02-21T08:00:00Z", "from": "Zwilma Quist"}
    )
    home = archive.first_sync(config).home
    statements.merge("Petr Kolar", ["Zwilma Quist"], config=config)
    archive.sync(config)
    assert any("journal" in str(name) for name in byte_search.search(home, ["Zwilma Quist"]).holding)
    assert forgetting.forget(ForgetRequest(refs=["jsonl:notes:n9"]), config, yes=True) == 0
    assert byte_search.search(home, ["Zwilma Quist"]).holding == {}
    (merge,) = journal.statements(home, Merge)
    assert merge.names == ("Petr Kolar", "")
    assert verify_home(home) == []


def test_identifiers_of_a_kind_with_versions_are_current_though_the_order_of_files_decides(tmp_path: Path) -> None:
    shutil.copytree(Path(__file__).parents[2] / "examples" / "samples" / "notes", tmp_path / "notes")
    shutil.copytree(tmp_path / "notes", tmp_path / "notes" / "copy")
    (tmp_path / "relrag.toml").write_text(NOTES)
    workspace = archive.first_sync(tmp_path / "relrag.toml")
    assert unit_state.file_orders(unit_state.load(workspace.home, "vault"))
    assert person_removal._missing_identifiers(workspace, "vault") == ""
