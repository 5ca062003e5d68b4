"""What the owner links or unlinks counts at once, for every reader of an archive that is open."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from relrag_pipelines import links
from relrag_query.archive import Archive
from relrag_query.results import Answer
from tests import archive

N1, N2 = "jsonl:notes:n1", "jsonl:notes:n2"
LEASE = "Show me the thread about the plumber who quoted 7,980 for the boiler"
ATTACHED = "Which attachment came with the note about the plumber who quoted 7,980?"


@pytest.fixture
def config(tmp_path: Path) -> Path:
    made = archive.make(tmp_path, "asset_neighborhood_expansion_enabled = true")
    archive.first_sync(made)
    return made


@pytest.fixture
def opened(config: Path) -> Iterator[Archive]:
    with Archive.open(config) as one:
        yield one


def brought_in(answer: Answer, ref: str) -> bool:
    """Whether the step for neighbours added this record."""
    start = next(number for number, line in enumerate(answer.trace) if line.startswith("5 neighborhood"))
    added = [line for line in answer.trace[start + 1 :] if line.startswith("  + ")]
    return any(f"+ {ref}:" in line and "asset_neighborhood" in line for line in added)


def lease(opened: Archive) -> str:
    (row,) = opened._catalog.execute("SELECT asset_id FROM records WHERE kind = 'document'").fetchall()
    return str(row[0])


@pytest.mark.requirement("S0-18", "S0-21", "S0-33")
def test_a_thread_is_shown_with_what_was_just_put_into_it(config: Path, opened: Archive) -> None:
    document = lease(opened)
    assert not brought_in(opened.ask(LEASE), document)
    links.link_thread_member("boiler", N1, "one matter", config=config)
    links.link_thread_member("boiler", document, "one matter", config=config)
    assert [one.asset_ref for one in opened.neighbors(N1, ["thread_member"])] == ["thread:boiler"]
    assert {member.asset_ref for member in opened.thread("boiler")} == {N1, document}
    assert brought_in(opened.ask(LEASE), document)
    links.delete_asset_edge(document, "thread:boiler", "thread_member", config=config)
    assert {member.asset_ref for member in opened.thread("boiler")} == {N1}
    assert not brought_in(opened.ask(LEASE), document)


@pytest.mark.requirement("S0-18", "S0-21", "S0-32")
def test_an_attachment_is_found_as_soon_as_it_is_linked(config: Path, opened: Archive) -> None:
    document = lease(opened)
    assert not brought_in(opened.ask(ATTACHED), document)
    links.link_attachment(N1, document, "came with it", config=config)
    (found,) = opened.neighbors(document, ["attachment_of"])
    assert (found.asset_ref, found.direction, found.provenance) == (N1, "out", "came with it")
    assert [one.asset_ref for one in opened.neighbors(N1, ["attachment_of"], "in")] == [document]
    assert brought_in(opened.ask(ATTACHED), document)
    links.delete_asset_edge(document, N1, "attachment_of", config=config)
    assert opened.neighbors(document, ["attachment_of"]) == []
    assert not brought_in(opened.ask(ATTACHED), document)


@pytest.mark.requirement("S0-18", "S0-19")
def test_only_what_is_in_the_archive_is_a_neighbour(config: Path, opened: Archive) -> None:
    links.link_assets(N1, "gmail:not-here", "references", config=config)
    assert opened.neighbors(N1, ["references"]) == []
    links.link_assets(N1, N2, "references", 0.5, "my phone is 052-123-4567", config=config)
    (found,) = opened.neighbors(N1, ["references"], limit=1)
    assert (found.asset_ref, found.confidence, "052" in found.provenance) == (N2, 0.5, False)
    links.link_assets(N1, N2, "references", 0.25, config=config)
    assert [one.confidence for one in opened.neighbors(N1, ["references"])] == [0.25]
    assert json.loads(json.dumps([one.asset_ref for one in opened.neighbors(N2, direction="in", limit=9)])) == sorted(
        [f"chunk:{chunk.chunk_id}" for chunk in opened.chunks_of(N2)] + [N1]
    )
