"""A new pseudonym key: everything is written again under it, everybody stays who he was, and a kill changes nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from relrag_pipelines.erasure import byte_search
from relrag_pipelines.files import failpoints
from relrag_pipelines.journal import journal
from relrag_pipelines.pii import reveal
from relrag_pipelines.stores import archive_tables, generations, lake
from relrag_pipelines.workspace import Workspace
from relrag_query import statements
from relrag_query.cli.commands import pii
from relrag_query.cli.commands.sync import sync
from tests import archive

NUMBER = "052-123-4567"
CONTACTS = [
    {
        "id": "c1",
        "text": "card",
        "timestamp": "2024-01-01",
        "people": [{"role": "owner", "name": "Petr Kolar <petr@example.org>"}],
    },
    {"id": "m1", "text": "lunch?", "timestamp": "2024-01-02", "from": "Dana Levi <dana@example.org>"},
    {"id": "m2", "text": "call me back", "timestamp": "2024-01-03", "from": "+972 52-765-4321"},
    {"id": "m3", "text": "hi", "timestamp": "2024-01-03", "from": "Rut Novak <rut@example.org>"},
]


@pytest.fixture
def config(tmp_path: Path) -> Path:
    config = archive.make(tmp_path, extra='owner = "Petr Kolar"\n')
    archive.write_notes(tmp_path, *CONTACTS)  # type: ignore[arg-type]
    archive.first_sync(config, dagster=True)
    return config


def people(workspace: Workspace) -> dict[str, int]:
    rows = archive_tables.read(workspace.home, "person_aliases").to_pylist()
    return {row["alias"]: row["person_id"] for row in rows if row["kind"] == "name"}


def known_by(workspace: Workspace, name: str) -> list[str]:
    rows = archive_tables.read(workspace.home, "person_aliases").to_pylist()
    (person_id,) = {row["person_id"] for row in rows if row["alias"] == name}
    return sorted(row["kind"] for row in rows if row["person_id"] == person_id)


def pseudonyms(workspace: Workspace) -> set[str]:
    return {one for one in ("k1", "k2", "k3") if byte_search.search(workspace.home, [f":{one}:"]).holding}


@pytest.mark.usefixtures("without_dagster")
def test_all_is_written_again_and_everybody_stays(config: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = archive.workspace(config)
    old = before.keys
    assert pseudonyms(before) == {"k1"}
    assert {"Petr Kolar", "Dana Levi"} <= people(before).keys()
    assert known_by(before, "Rut Novak") == ["email", "name"]
    statements.merge("Rut Novak", ["052-765-4321"], config=config)
    assert sync(config) == 0
    known, allocated = people(before), journal.last_number(before.home)
    assert pii.rotate_key(config) == 0
    assert "The key is k2 now" in capsys.readouterr().out
    after = archive.workspace(config)
    assert after.keys.ids == old.ids
    assert after.keys.pseudonyms != old.pseudonyms
    assert pseudonyms(after) == {"k2"}
    assert people(after) == known
    assert known_by(after, "Rut Novak") == ["email", "name", "phone"]
    assert journal.last_number(after.home) == allocated
    name = after.redactor.redact(NUMBER, "whatsapp")
    assert name.startswith("<PHONE_NUMBER:k2:")
    assert reveal.originals(after.home, after.keys, [name]) == {name: NUMBER}
    assert generations.numbers(after.home) == [generations.current_number(after.home)]
    assert sync(config) == 0
    assert pii.rotate_key(config) == 0
    assert people(archive.workspace(config)) == known
    assert known_by(archive.workspace(config), "Rut Novak") == ["email", "name", "phone"]
    assert pseudonyms(archive.workspace(config)) == {"k3"}


@pytest.mark.slow
def test_what_was_cut_short_before_the_key_changed_left_all_as_it_was(
    config: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = archive.workspace(config)
    known, old = people(before), before.keys

    def cut(name: str, path: Path) -> None:
        if name == "file.rename" and path == before.settings.keys_path:
            raise KeyboardInterrupt

    monkeypatch.setattr(failpoints, "watch", cut)
    with pytest.raises(KeyboardInterrupt):
        pii.rotate_key(config)
    monkeypatch.undo()
    workspace = archive.workspace(config)
    assert workspace.keys == old
    assert sync(config, full=True) == 0
    assert people(archive.workspace(config)) == known
    assert pii.rotate_key(config) == 0
    assert people(archive.workspace(config)) == known


def test_what_was_cut_short_after_it_is_finished_by_the_next_sync(
    config: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    known = people(archive.workspace(config))

    def cut(*_: object, **__: object) -> int:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr("relrag_query.cli.commands.sync.sync", cut)
        with pytest.raises(KeyboardInterrupt):
            pii.rotate_key(config)
    workspace = archive.workspace(config)
    assert workspace.keys.version == "k2"
    rows = lake.read(workspace.home, "records", "chat", "2024-01").to_pylist()
    assert any(":k1:" in row["text"] for row in rows)
    assert sync(config) == 0
    assert pseudonyms(workspace) == {"k2"}
    assert people(workspace) == known
