"""What the owner says of relations counts at once, is kept, and outlives every sync."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from relrag_pipelines import links
from relrag_pipelines.erasure import journal_removal
from relrag_pipelines.erasure.record_selection import ErasureSelection
from relrag_pipelines.erasure.rule_matching import RuleMatcher
from relrag_pipelines.journal import journal, manual_links
from relrag_pipelines.links import LinkError
from relrag_pipelines.maintenance import backup
from relrag_pipelines.maintenance.verify import verify_home
from relrag_pipelines.records import ManualLink
from relrag_pipelines.stages import plan as plans
from relrag_pipelines.stores import lock
from relrag_pipelines.stores.generations import NothingPublished
from relrag_pipelines.stores.neighbors import Neighbor
from tests import archive

N1, N2 = "jsonl:notes:n1", "jsonl:notes:n2"


@pytest.fixture
def config(tmp_path: Path) -> Path:
    """An archive that was never synced."""
    return archive.make(tmp_path)


def said(config: Path) -> list[ManualLink]:
    return manual_links.load(archive.workspace(config).home)


def words(config: Path) -> list[dict[str, object]]:
    lines = journal.path(archive.home(config.parent)).read_text().splitlines()
    return [json.loads(line)["said"] for line in lines]


@pytest.mark.requirement("S0-18", "S0-19", "S0-20", "S0-21")
def test_a_link_counts_at_once_and_a_deletion_outlives_all_syncs(config: Path) -> None:
    archive.first_sync(config)
    links.link_assets(N1, N2, "references", 0.75, "the same plumber, 052-123-4567", config=config)
    links.link_thread_member("boiler", N1, "by hand", config=config)
    at_once = links.get_asset_neighbors(N1, ["references"], config=config)
    members_at_once = links.get_thread_members("boiler", config=config)
    assert plans.build_plan(archive.workspace(config)).publish == "what it was made from has changed"

    archive.sync(config)
    assert links.get_asset_neighbors(N1, ["references"], config=config) == at_once
    assert links.get_thread_members("boiler", config=config) == members_at_once
    (neighbor,) = links.get_asset_neighbors(N1, ["references"], config=config)
    assert (neighbor.asset_ref, neighbor.direction, neighbor.confidence) == (N2, "out", 0.75)
    assert neighbor.provenance.startswith("the same plumber, <PHONE_NUMBER:k1:"), "redacted as everything published"
    assert links.get_asset_neighbors(N2, direction="in", config=config)[-1] == Neighbor(
        N1, "references", "in", 0.75, neighbor.provenance
    )
    assert len(links.get_asset_neighbors(N2, limit=2, config=config)) == 2
    assert [one.asset_ref for one in links.get_thread_members("boiler", config=config)] == [N1]
    assert [one.asset_ref for one in links.get_thread_members("thanks", limit=1, config=config)] == [N2]

    links.delete_asset_edge(N1, N2, "references", config=config)
    links.delete_asset_edge(N2, "thread:thanks", "thread_member", config=config)
    assert links.get_asset_neighbors(N1, ["references"], config=config) == []
    assert links.get_thread_members("thanks", config=config) == []
    archive.sync(config)
    with (config.parent / "notes.jsonl").open("a") as file:  # the month is made again
        file.write(json.dumps({"id": "n3", "text": "more", "timestamp": "2024-02-21", "thread_id": "thanks"}) + "\n")
    archive.sync(config)
    assert links.get_asset_neighbors(N1, ["references"], config=config) == []
    assert [one.asset_ref for one in links.get_thread_members("thanks", config=config)] == ["jsonl:notes:n3"]

    links.link_assets(N1, N2, "references", config=config)
    archive.sync(config)
    assert [one.asset_ref for one in links.get_asset_neighbors(N1, ["references"], config=config)] == [N2]
    assert list(verify_home(archive.workspace(config).home)) == []


@pytest.mark.requirement("S0-18")
def test_saying_it_twice_is_saying_it_once_and_the_last_word_counts(config: Path) -> None:
    for _ in range(2):
        links.link_assets("gmail:a", "document:b", "references", 0.5, "first", config=config)
    assert len(words(config)) == 1
    links.link_assets("gmail:a", "document:b", "references", 0.9, "second", config=config)
    links.link_assets("document:b", "gmail:a", "references", config=config)
    assert len(words(config)) == 3
    assert said(config) == [
        ManualLink("document:b", "gmail:a", "references"),
        ManualLink("gmail:a", "document:b", "references", False, 0.9, "second"),
    ]
    links.delete_asset_edge("gmail:a", "document:b", "references", config=config)
    assert said(config)[1].deleted


@pytest.mark.requirement("S0-32", "S0-33", "S0-34")
def test_each_link_leads_from_the_part_to_the_whole(config: Path) -> None:
    passage = "5d0e2f0c-6a83-5b5c-9d37-1c2f3a4b5c6d"
    links.link_attachment("gmail:m", "gmail:m:0", "seen in the paper mail", config=config)
    links.link_thread_member("t", "gmail:m", "one matter", config=config)
    links.link_thread_member("thread:t", "gmail:n", "one matter", config=config)
    links.link_chunk("document:d", passage, "a passage", config=config)
    links.link_chunk("whatsapp:1", "whatsapp:chunk:c:1:2", "a window", config=config)
    assert [(one.src_asset_ref, one.dst_asset_ref, one.relation_type, one.provenance) for one in said(config)] == [
        (f"chunk:{passage}", "document:d", "chunk_of", "a passage"),
        ("gmail:m", "thread:t", "thread_member", "one matter"),
        ("gmail:m:0", "gmail:m", "attachment_of", "seen in the paper mail"),
        ("gmail:n", "thread:t", "thread_member", "one matter"),
        ("whatsapp:chunk:c:1:2", "whatsapp:1", "chunk_of", "a window"),
    ]


@pytest.mark.parametrize(
    ("function", "first"),
    [
        (links.link_assets, ["src_ref", "dst_ref", "relation_type", "confidence", "provenance"]),
        (links.get_asset_neighbors, ["asset_ref", "relation_types", "direction", "limit"]),
        (links.get_thread_members, ["thread_id", "limit"]),
        (links.delete_asset_edge, ["src_ref", "dst_ref", "relation_type"]),
        (links.generate_asset_id, ["source", "source_id"]),
        (links.link_attachment, ["parent_ref", "child_ref", "provenance"]),
        (links.link_thread_member, ["thread_id", "asset_ref", "provenance"]),
        (links.link_chunk, ["parent_ref", "chunk_ref", "provenance"]),
    ],
)
@pytest.mark.requirement("S0-18", "S0-19", "S0-20", "S0-21", "S0-31", "S0-32", "S0-33", "S0-34")
def test_the_functions_take_what_was_asked_for(function: Callable[..., object], first: list[str]) -> None:
    parameters = inspect.signature(function).parameters.values()
    assert [one.name for one in parameters if one.kind is not one.KEYWORD_ONLY] == first


@pytest.mark.requirement("S0-31")
def test_an_id_is_its_kind_and_native_id() -> None:
    assert links.generate_asset_id("gmail", "m1") == "gmail:m1"
    assert links.generate_asset_id("whatsapp", "chat:20250113T094100:ab") == "whatsapp:chat:20250113T094100:ab"
    for source, native in (("", "m1"), ("gmail", ""), ("gmail:m", "1")):
        with pytest.raises(LinkError, match="make no id; the form is <kind>:<native id>"):
            links.generate_asset_id(source, native)


def test_an_id_that_could_hold_an_address_is_kept_as_it_stands_in_the_archive(config: Path) -> None:
    keys = archive.workspace(config).keys
    hashed = f"gmail:h{keys.id_hash('dana@example.org')}"
    links.link_assets("gmail:dana@example.org", N1, "references", config=config)
    links.link_assets(hashed, N1, "references", config=config)
    links.delete_asset_edge("gmail:h1234567890123456", N1, "references", config=config)
    assert {one.src_asset_ref for one in said(config)} == {"gmail:h1234567890123456", hashed}  # keys are random
    assert len(words(config)) == 2
    assert "dana" not in journal.path(archive.home(config.parent)).read_text()


@pytest.mark.parametrize(
    ("word", "message"),
    [
        ((N1, N2, "likes"), 'no relation is called "likes"; known: thread_member, attachment_of, chunk_of, reply_to'),
        ((N1, N2, "references", 1.5), "confidence is 1.5; give a number from 0 to 1"),
        ((N1, "n2", "references"), '"n2" names no record; the form is <kind>:<native id>'),
        ((N1, N1, "references"), "jsonl:notes:n1 cannot be related to itself"),
    ],
)
def test_what_cannot_be_a_relation_is_refused(config: Path, word: tuple[str, str, str], message: str) -> None:
    with pytest.raises(LinkError, match=message):
        links.link_assets(*word, config=config)
    assert said(config) == []


def test_it_waits_for_nobody_unless_told_and_reads_nothing_before_the_first_sync(config: Path) -> None:
    with pytest.raises(NothingPublished):
        links.get_asset_neighbors(N1, config=config)
    home = archive.workspace(config).home
    with lock.writing(home, "a test"):
        links.link_assets(N1, N2, "references", config=config)  # the lock is this process's own
    assert len(said(config)) == 1


def test_words_are_kept_by_a_backup_and_go_with_what_is_forgotten(config: Path) -> None:
    workspace = archive.workspace(config)
    links.link_assets(N1, N2, "references", config=config)
    links.link_assets("gmail:a", "gmail:b", "references", config=config)
    assert "private/journal.jsonl" in backup.files_to_back_up(workspace.settings)
    with journal.path(workspace.home).open("ab") as file:
        file.write(b'{"src_asset_ref": "torn')
    assert len(said(config)) == 2
    journal_removal.remove(workspace, ErasureSelection(nowhere={N1}), RuleMatcher([], workspace.keys))
    assert [one.src_asset_ref for one in said(config)] == ["gmail:a"]
    links.link_assets("gmail:a", "gmail:c", "references", config=config)
    assert [one.dst_asset_ref for one in said(config)] == ["gmail:b", "gmail:c"]
    assert list(verify_home(workspace.home)) == []
