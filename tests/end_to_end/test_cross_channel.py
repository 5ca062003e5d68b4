"""What sources share, through a sync: it relates them, costs one month, and goes with the record that had it."""

from __future__ import annotations

import json
from pathlib import Path

from relrag_pipelines import links
from relrag_pipelines.erasure import purge, record_selection, rule_file, rule_matching
from relrag_pipelines.stores import catalog, generations
from tests import archive

WHY = (0.8, "the same number in both")


def related(config: Path) -> set[tuple[str, float, str]]:
    """What the paper is related to by references, in either direction."""
    (paper,) = ids(config, "document")
    found = links.get_asset_neighbors(paper, ["references"], config=config)
    return {(one.asset_ref, one.confidence, one.provenance) for one in found}


def ids(config: Path, kind: str) -> list[str]:
    home = archive.workspace(config).home
    with catalog.open(home / "published" / str(generations.current_number(home)) / catalog.NAME) as opened:
        return [
            str(one) for (one,) in opened.execute("SELECT asset_id FROM records WHERE kind = $1", [kind]).fetchall()
        ]


def add(config: Path, name: str, text: str, day: str) -> None:
    with (config.parent / "notes.jsonl").open("a") as file:
        file.write(json.dumps({"id": name, "text": text, "timestamp": day, "numbers": ["INV-2024-118"]}) + "\n")


def test_it_appears_and_goes_with_its_records(tmp_path: Path) -> None:
    config = archive.make(tmp_path)
    chat = tmp_path / "chats" / "WhatsApp Chat with Hiking.txt"
    chat.write_text(archive.CHAT + "15/02/2024, 07:00 - Petr Kolar: invoice INV-2024-118 is paid\n")
    (tmp_path / "papers" / "boiler 2024-02-14.md").write_text("Invoice INV-2024-118 for the boiler\n")
    (tmp_path / "papers" / "lease 2024-01-05.md").unlink()
    add(config, "n3", "the bill of the plumber", "2024-02-16")
    archive.first_sync(config)
    (message,) = {one for one, *_ in related(config)} - {"jsonl:notes:n3"}
    assert message.startswith("whatsapp:")
    assert related(config) == {(message, *WHY), ("jsonl:notes:n3", *WHY)}
    # a line that is gone
    (tmp_path / "notes.jsonl").write_text("".join(json.dumps(note) + "\n" for note in archive.NOTES))
    archive.sync(config)
    assert related(config) == {(message, *WHY)}
    # and a message that was forgotten
    workspace = archive.workspace(config)
    rule = rule_matching.for_records([message], workspace.keys, "2025-04-01T00:00:00Z")
    chosen = record_selection.select(workspace, [rule])
    kept = rule_file.add_rule(
        rule_file.load(workspace.home, workspace.keys), record_selection.complete_rule(rule, chosen, workspace)
    )
    rule_file.save(workspace.home, kept, workspace.keys)
    purge.remove(workspace, kept, chosen)
    archive.sync(config)
    assert related(config) == set()


def test_one_note_more_relates_what_is_below_it(tmp_path: Path) -> None:
    config = archive.many_notes(tmp_path)
    add(config, "old", "the bill of the plumber", "2023-03-01")
    archive.first_sync(config)
    add(config, "new", "the bill again", "2024-06-15")
    home = archive.sync(config).home
    assert (home / "published" / "2" / catalog.BASE).exists(), "it is built on top"
    (neighbor,) = links.get_asset_neighbors("jsonl:notes:new", ["references"], config=config)
    assert (neighbor.asset_ref, neighbor.direction) == ("jsonl:notes:old", "out")
    add(config, "newer", "and again", "2024-06-16")
    archive.sync(config)
    found = links.get_asset_neighbors("jsonl:notes:newer", ["references"], config=config)
    assert {one.asset_ref for one in found} == {"jsonl:notes:old", "jsonl:notes:new"}
    configured = config.read_text().replace("pii_redaction_enabled", "link_max_records = 2\npii_redaction_enabled")
    config.write_text(configured)
    archive.sync(config)
    assert links.get_asset_neighbors("jsonl:notes:newer", ["references"], config=config) == []
