"""Entries of the journal about forgotten records go; in other entries their ids are cut out of the owner's words."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from relrag_pipelines.erasure import byte_search
from relrag_pipelines.identity.journal_statements import RelationshipNote, StatedFact
from relrag_pipelines.journal import journal
from relrag_pipelines.journal.entry_kinds import CallDecision, GraphRAGIndex
from relrag_pipelines.links.edge_rows import CHUNK, THREAD
from relrag_pipelines.records import ManualLink
from relrag_pipelines.stores import lake
from relrag_query.cli.commands import forget as forgetting
from relrag_query.forgetting import ForgetRequest
from tests import archive

pytestmark = pytest.mark.usefixtures("without_dagster")
CONFIG = """
archive = "test"
keys_file = "test.keys"
timezone = "Europe/Prague"
embedder = "none"
[[sources]]
name = "notes"
kind = "jsonl"
path = "notes.jsonl"
"""
N1, N2, N11 = "jsonl:notes:n1", "jsonl:notes:n2", "jsonl:notes:n11"


def test_every_kind_of_entry_loses_what_names_a_forgotten_record(tmp_path: Path) -> None:
    config = tmp_path / "relrag.toml"
    config.write_text(CONFIG)
    notes = [
        {
            "id": one,
            "text": f"the quartz lantern {one} of the cellar",
            "timestamp": "2024-02-21T08:00:00Z",
            "from": who,
            "thread_id": f"t-{one}",
        }
        for one, who in (("n1", "Ota Plumber"), ("n2", "Dana Levi"), ("n11", "Ota Plumber"))
    ]
    (tmp_path / "notes.jsonl").write_text("".join(json.dumps(note) + "\n" for note in notes))
    home = archive.first_sync(config).home
    chunks = {row["asset_id"]: row["chunk_id"] for row in lake.read(home, "chunks", "notes", "2024-02").to_pylist()}
    threads = {row["asset_id"]: row["thread_id"] for row in lake.read(home, "records", "notes", "2024-02").to_pylist()}
    going = [
        ManualLink(N1, N2, "references"),
        ManualLink(N2, N1, "references", True),
        ManualLink(f"{CHUNK}{chunks[N1]}", N2, "references", provenance="words of mine"),
        ManualLink(N2, f"{THREAD}{threads[N1]}", "thread_member"),
        CallDecision(N1, "approve"),
        GraphRAGIndex("old", f"/indexes/{N1}"),
    ]
    staying = [
        ManualLink(N2, N11, "references", provenance=f"as {N11} says, and {N1}."),
        ManualLink(f"{CHUNK}{chunks[N2]}", f"{THREAD}{threads[N11]}", "references"),
        RelationshipNote(100_000, 100_001, "friend", f"see {N1}: the quartz lantern n1 of the cellar"),
        StatedFact(100_000, "lives_in", f"Brno ({N1})"),
        GraphRAGIndex("new", "/indexes/notes"),
    ]
    numbers = journal.append(home, [*going, *staying])
    archive.sync(config)
    assert forgetting.forget(ForgetRequest(refs=[N1]), config, yes=True) == 0
    left = [entry.statement for entry in journal.entries(home) if entry.number in numbers]
    assert left[: len(going)] == [None] * len(going)
    assert left[len(going) :] == [
        ManualLink(N2, N11, "references", provenance=f"as {N11} says, and [forgotten]."),
        staying[1],
        RelationshipNote(100_000, 100_001, "friend", "see [forgotten]: the quartz lantern n1 of the cellar"),
        StatedFact(100_000, "lives_in", "Brno ([forgotten])"),
        staying[4],
    ]
    assert byte_search.search(home, [f"{N1}."]).holding == {}
