"""What is written into the collection of an older system."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from qdrant_client import QdrantClient

from relrag_pipelines.files import failpoints
from relrag_pipelines.identity.journal_statements import Merge
from relrag_pipelines.journal import journal
from relrag_pipelines.legacy.backfill import backfill
from relrag_pipelines.maintenance.verify import verify_home
from relrag_pipelines.sources.legacy.payload import CHANNELS, GRAPH_FIELDS, OLD_VECTORS, PEOPLE_FIELDS, UNIVERSAL_FIELDS
from relrag_pipelines.sources.legacy_collection import CollectionError
from relrag_pipelines.stores import catalog, generations
from relrag_query.cli.commands.forget import forget
from relrag_query.forgetting import ForgetRequest
from tests import archive
from tests import legacy_collection as older

KEPT = len(older.POINTS) - 1
"""points that say something: all but the one that the older system made for itself"""
WRITTEN = {*GRAPH_FIELDS, *UNIVERSAL_FIELDS, *PEOPLE_FIELDS}


@pytest.fixture
def config(tmp_path: Path) -> Path:
    """An archive of one such collection, not yet synced."""
    older.make(tmp_path / "qdrant", old_vectors=True)
    path = tmp_path / "relrag.toml"
    path.write_text(f'{older.CONFIG}path = "qdrant/collection"\n')
    return path


def points(config: Path) -> dict[int, dict[str, Any]]:
    return older.payloads(config.parent / "qdrant")


@pytest.mark.requirement("S0-83", "S0-84", "S0-85", "S0-86", "S0-87", "S0-88")
def test_every_point_gets_its_fields_and_keeps_what_it_has(config: Path) -> None:
    before = points(config)
    report = backfill(*older.archived(config))
    after = points(config)
    assert (report.changed, report.new, report.done, report.waiting) == (KEPT, KEPT, 0, 0)
    graph = {number: tuple(after[number].get(name, "absent") for name in GRAPH_FIELDS) for number in after}
    dana, hikers = older.DANA, older.HIKERS
    assert [graph[number] for number in range(1, KEPT + 1)] == [
        *((one, None, dana, one) for one in (f"whatsapp:{dana}:1708012800", f"whatsapp:{dana}:1708012860")),
        *((one, None, hikers, one) for one in (f"whatsapp:{hikers}:1708099200", f"whatsapp:{hikers}:1708099200:2")),
        (one := f"whatsapp:chunk:{dana}:1708012800:1708012860", None, dana, one),
        *[("gmail:18d1", None, "18d0", "gmail:18d1")] * 2,
        ("gmail:18d2", None, "18d0", "gmail:18d2"),
        (one := "gmail:18d1:att:offer.pdf", "gmail:18d1", "18d0", one),
        *[("paperless:42", None, None, "paperless:42")] * 3,
        *[(one := "call_recording:9f8e7d6c5b4a", None, None, one)] * 2,
        (one := "gmail:pump-1@firma.example", None, None, one),
        (one := "gmail:pump-1@firma.example:0", "gmail:pump-1@firma.example", None, one),
        (one := "legacy:git://firma/web/a3b2c1d8", None, None, one),
        ("legacy:18", None, None, "legacy:18"),
    ]
    assert after[KEPT + 1] == before[KEPT + 1], "what the older system made for itself"
    for number, payload in before.items():
        kept = {name: value for name, value in payload.items() if name not in (*OLD_VECTORS, "thread_id")}
        assert {name: after[number].get(name) for name in kept} == kept
        assert after[number].keys() - payload.keys() <= WRITTEN
    assert after[1]["thread_id"] == after[1]["chat_id"], "it was that of a session"
    assert {name: after[9].get(name) for name in UNIVERSAL_FIELDS} == {
        "from": "Ota Kral <ota@roofs.example>", "subject": "Roof of the cabin", "timestamp": 1708423200,
        "parent_ref": "18d1", "index_in_parent": 0, "total_siblings": 1, "content_type": "document",
        "file_name": "offer.pdf",
    }  # fmt: skip
    assert after[15]["timestamp"] == "2025-01-15T09:12:00Z", "of a mail whose time stood in a field of mails"


@pytest.mark.requirement("S0-91")
def test_a_second_run_writes_nothing_and_a_point_with_an_asset_id_is_left_alone(config: Path) -> None:
    own = {"source": "gmail", "source_id": "gmail:9", "asset_id": "gm:9", "message": "x", "thread_id": "t"}
    others = {"thread_id": "t", "chunk_group_id": "g", "parent_asset_id": "p", "subject": "its own"}
    older.make(config.parent / "qdrant2", [own, {**older.POINTS[0], **others}])
    config.write_text(config.read_text().replace("qdrant/", "qdrant2/"))
    assert (first := backfill(*older.archived(config))).new == first.done == 1
    after = older.payloads(config.parent / "qdrant2")
    assert after[1] == own
    asset_id, chat = f"whatsapp:{older.DANA}:1708012800", older.DANA
    graph = {"thread_id": chat, "chunk_group_id": asset_id, "parent_asset_id": None, "asset_id": asset_id}
    assert {name: after[2][name] for name in (*graph, "subject")} == {**graph, "subject": "its own"}
    before = archive.contents(config.parent)
    again = backfill(*older.archived(config))
    assert (again.changed, again.done, again.snapshots) == (0, 2, [])
    assert archive.changed(before, archive.contents(config.parent)) == []


@pytest.mark.requirement("S0-92")
def test_a_dry_run_writes_nothing_at_all_and_counts_what_would_be(config: Path) -> None:
    before = archive.contents(config.parent)
    report = backfill(*older.archived(config), dry_run=True)
    assert archive.changed(before, archive.contents(config.parent)) == []
    assert not archive.home(config.parent).exists()
    assert not (config.parent / "test.keys").exists()
    assert dict(report.points) == {"whatsapp": 5, "gmail": 6, "paperless": 3, "call_recording": 2, "other": 2}
    assert dict(report.relations) == {
        "records": 14, "threads": 3, "attachments": 2, "records of several points": 3
    }  # fmt: skip
    assert (report.new, report.changed, report.synthetic, report.people_known) == (KEPT, KEPT, 1, False)
    done = backfill(*older.archived(config))
    assert (done.new, done.vectors) == (report.new, report.vectors)


@pytest.mark.requirement("S0-93")
def test_a_limit_is_of_points_that_are_written_and_runs_add_up(config: Path) -> None:
    runs = []
    while (report := backfill(*older.archived(config), limit=5)).changed:
        runs.append((report.changed, report.waiting))
    assert runs == [(5, 13), (5, 8), (5, 3), (3, 0)]
    assert sum("asset_id" in one for one in points(config).values()) == KEPT
    copies = sorted(config.parent.glob("qdrant.snapshot-*"))
    assert len(copies) == 1, "the first run's"
    assert not any("asset_id" in one for one in older.payloads(copies[0]).values()), "as it was before any of them"


def test_channels_are_written_one_by_one(config: Path) -> None:
    seen = {}
    for channel in CHANNELS:
        report = backfill(*older.archived(config), [channel])
        seen[channel] = report.changed
    assert seen == {"gmail": 6, "whatsapp": 5, "paperless": 3, "call_recording": 2, "other": 2}
    assert len(list(config.parent.glob("qdrant.snapshot-*"))) == 1
    backfilled, whole = points(config), config.parent / "whole"
    whole.mkdir()
    older.make(whole / "qdrant", old_vectors=True)
    (whole / "relrag.toml").write_text(config.read_text())
    backfill(*older.archived(whole / "relrag.toml"))
    assert points(whole / "relrag.toml") == backfilled


@pytest.mark.requirement("S2-1", "S2-5", "S2-6")
def test_old_vectors_of_relationships_go(config: Path) -> None:
    def vectors() -> set[str]:
        client = QdrantClient(path=str(config.parent / "qdrant"))
        found, _ = client.scroll(older.NAME, limit=100, with_vectors=True)
        client.close()
        return {name for one in found if isinstance(one.vector, dict) for name in one.vector}

    assert vectors() == {"dense", "relation_embedding"}
    report = backfill(*older.archived(config))
    assert report.vectors == KEPT
    assert not [name for one in points(config).values() for name in OLD_VECTORS if name in one]
    (copy,) = config.parent.glob("qdrant.snapshot-*")
    assert "relation_embedding" in older.payloads(copy)[18]


class Killed(BaseException):
    pass


@pytest.mark.parametrize("place", ["legacy.snapshot", "legacy.write", "legacy.written"])
def test_what_was_cut_short_goes_on(place: str, config: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("relrag_pipelines.legacy.backfill._AT_ONCE", 4)
    seen = []

    def watch(name: str, path: Path) -> None:
        seen.append(name)
        if name == place and seen.count(name) == (1 if place == "legacy.snapshot" else 3):
            raise Killed

    monkeypatch.setattr(failpoints, "watch", watch)
    with pytest.raises(Killed):
        backfill(*older.archived(config))
    monkeypatch.setattr(failpoints, "watch", None)
    written = {"legacy.snapshot": 0, "legacy.write": 8, "legacy.written": 12}[place]
    assert sum("asset_id" in one for one in points(config).values()) == written
    report = backfill(*older.archived(config))
    assert (report.new, report.done, report.waiting) == (KEPT - written, written, 0)
    (copy,) = config.parent.glob("qdrant.snapshot-*[0-9]Z")
    assert not any("asset_id" in one for one in older.payloads(copy).values())
    assert backfill(*older.archived(config)).changed == 0


@pytest.mark.requirement("S0-7", "S0-89", "S0-90")
def test_people_and_relations_are_those_of_the_archive(config: Path) -> None:
    workspace = archive.sync(config)
    backfill(*older.archived(config))
    named = {}
    with (
        generations.open_current(workspace.home) as current,
        catalog.open(current.path / catalog.NAME) as opened,
    ):
        named = dict(opened.sql("SELECT person_id, name FROM persons").fetchall())
    people = {
        number: tuple({named[one] for one in payload.get(name, ())} for name in PEOPLE_FIELDS)
        for number, payload in points(config).items()
    }  # fmt: skip
    assert people[1] == ({"Dana Levi"}, set())
    assert people[4] == ({"Dana Levi"}, set()), "in the group she is known by name alone"
    assert people[5][0] == {"Jonah Pickel", "Dana Levi"}, "a window is of those whose messages it repeats"
    assert people[6] == people[7] == ({"Jonah Pickel", "Ota Kral"}, set())
    assert people[10] == (set(), set())
    assert people[13] == people[14] == ({"Jonah Pickel", "Alex Rubin"}, set())
    assert people[18] == (set(), {"Jonah Pickel", "Alex Rubin"})
    found = older.edges(config)
    assert len(found) == len(set(found))
    assert ("gmail:18d1:att:offer.pdf", "attachment_of", "gmail:18d1") in found
    assert {one for one, relation, of in found if (relation, of) == ("thread_member", "thread:18d0")} == {
        "gmail:18d1", "gmail:18d2", "gmail:18d1:att:offer.pdf"
    }  # fmt: skip
    assert [of for _, relation, of in found if relation == "chunk_of"].count("paperless:42") == 1
    assert [of for _, relation, of in found if relation == "chunk_of"].count("call_recording:9f8e7d6c5b4a") == 1
    before = archive.contents(config.parent / "qdrant")
    archive.sync(config)
    assert backfill(*older.archived(config)).changed == 0
    assert archive.changed(before, archive.contents(config.parent / "qdrant")) == []
    assert older.edges(config) == found, "the collection says the same with its fields as without"


@pytest.mark.requirement("S0-7", "S0-8")
def test_after_a_merge_its_points_are_of_the_survivor(config: Path) -> None:
    workspace = archive.sync(config)
    backfill(*older.archived(config))
    (dana,), (petr,) = (points(config)[number]["person_ids"] for number in (1, 3))
    journal.append(workspace.home, [Merge(dana, (petr,))])
    archive.sync(config)
    report = backfill(*older.archived(config))
    assert (report.new, report.people) == (0, 1)
    assert points(config)[3]["person_ids"] == [dana]


def test_ids_of_the_older_system_do_not_stay_among_ours(config: Path) -> None:
    older.make(config.parent / "old", [{**older.POINTS[9], "person_ids": [3, 4]}])
    config.write_text(config.read_text().replace("qdrant/", "old/"))
    archive.sync(config)
    backfill(*older.archived(config))
    assert older.payloads(config.parent / "old")[1]["person_ids"] == []


def test_nothing_is_written_while_another_program_has_it_open(config: Path) -> None:
    client = QdrantClient(path=str(config.parent / "qdrant"))
    before = archive.contents(config.parent / "qdrant")
    with pytest.raises(CollectionError) as refused:
        backfill(*older.archived(config))
    client.close()
    assert str(refused.value) == "the collection of older is open in another program; close that, then run this again"
    assert archive.changed(before, archive.contents(config.parent / "qdrant")) == []
    assert backfill(*older.archived(config)).new == KEPT


def test_where_no_copy_can_be_made_nothing_is_written(config: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*arguments: Any, **options: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("shutil.copytree", full)
    before = points(config)
    with pytest.raises(OSError, match="No space"):
        backfill(*older.archived(config))
    assert points(config) == before
    assert [one.name for one in config.parent.glob("qdrant.*")] == []


def test_a_folder_without_a_collection_is_named(config: Path) -> None:
    config.write_text(config.read_text().replace("qdrant/collection", "."))
    (config.parent / "qdrant").rename(config.parent / ".qdrant")
    with pytest.raises(CollectionError, match="holds no collection"):
        backfill(*older.archived(config))


@pytest.mark.usefixtures("without_dagster")
def test_what_was_forgotten_is_of_nobody_and_the_home_is_whole(config: Path) -> None:
    workspace = archive.sync(config)
    backfill(*older.archived(config))
    assert points(config)[8]["person_ids"]
    assert forget(ForgetRequest(["gmail:18d2"]), config, yes=True) == 0
    (ota,) = points(config)[9]["person_ids"]
    assert backfill(*older.archived(config)).people == 3
    assert points(config)[8]["person_ids"] == []
    assert points(config)[6]["person_ids"] == [ota], "it alone said whose the address was that this mail went to"
    assert "Agreed" in points(config)[8]["message"], "the collection is an export, and the owner's"
    assert verify_home(workspace.home) == []
