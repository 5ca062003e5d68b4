"""The vault: what pseudonyms stand for, encrypted, as long as a record holds it, revealed by name and noted."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from relrag_pipelines.pii import reveal as revealing
from relrag_pipelines.privacy.keys import Keys
from relrag_pipelines.stores import lake, vault
from relrag_pipelines.stores.vault import VaultError
from relrag_pipelines.workspace import Workspace
from relrag_query.cli.commands import ask, reveal, verify
from relrag_query.cli.commands import forget as forgetting
from relrag_query.cli.commands.ask import SearchOptions
from relrag_query.cli.commands.forget import ForgetRequest
from relrag_query.cli.commands.sync import sync
from tests import archive

NUMBER = "052-123-4567"
NOW = datetime(2024, 3, 1, tzinfo=UTC)


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    config = archive.make(tmp_path)
    assert sync(config) == 0
    return archive.workspace(config)


def pseudonym(workspace: Workspace) -> str:
    return workspace.redactor.redact(NUMBER, "whatsapp")


def files(workspace: Workspace) -> list[Path]:
    return sorted((workspace.home / "private" / "vault").rglob("*.parquet"))


def everything(home: Path) -> Iterator[tuple[Path, bytes]]:
    yield from ((path, path.read_bytes()) for path in home.rglob("*") if path.is_file())


def test_a_value_is_sealed_and_opened_by_the_same_keys_only(workspace: Workspace) -> None:
    name = pseudonym(workspace)
    assert revealing.originals(workspace.home, workspace.keys, [name, "<PHONE_NUMBER:k1:000000000000>"]) == {
        name: NUMBER
    }
    other = replace(workspace.keys, pseudonyms=b"x" * 32)
    assert revealing.originals(workspace.home, other, [name]) == {}
    assert [path.stem for path in files(workspace)] == ["2024-01"]
    assert all(path.stat().st_mode & 0o777 == 0o600 for path in files(workspace))
    assert not any(
        b"123-4567" in data or b"1234567" in data for data in (path.read_bytes() for path in files(workspace))
    )


def test_equal_values_are_sealed_equally_and_a_change_is_noticed() -> None:
    keys = Keys(b"i" * 32, b"p" * 32, "k1")
    sealed = keys.seal(NUMBER, "<A>")
    assert sealed == keys.seal(NUMBER, "<A>")
    assert sealed[:12] != keys.seal(NUMBER, "<B>")[:12]
    assert keys.unseal(sealed, "<A>") == NUMBER
    assert keys.unseal(sealed, "<B>") is None
    assert keys.unseal(sealed[:-1] + bytes([sealed[-1] ^ 1]), "<A>") is None
    assert keys.unseal(b"short", "<A>") is None


def test_reveal_asks_who_and_why_notes_it_and_shows_it(
    workspace: Workspace, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RELRAG_NOW", NOW.isoformat())
    name, config = pseudonym(workspace), tmp_path / "relrag.toml"
    with pytest.raises(VaultError, match="--who NAME --why REASON"):
        reveal.reveal(name, config=config)
    assert NUMBER not in capsys.readouterr().out
    assert not (workspace.home / vault.REVEALS).exists()
    assert reveal.reveal(name, "Dana", "to call Petr", config) == 0
    assert capsys.readouterr().out == f"{name}  {NUMBER}\n"
    assert reveal.reveal("jsonl:notes:n1", "Dana", "to read it", config) == 0
    assert "The plumber quoted 7,980 for the boiler." in capsys.readouterr().out
    log = [json.loads(line) for line in (workspace.home / vault.REVEALS).read_text().splitlines()]
    assert log == [
        {"at": NOW.isoformat(), "who": "Dana", "why": "to call Petr", "what": [name]},
        {"at": NOW.isoformat(), "who": "Dana", "why": "to read it", "what": ["jsonl:notes:n1"]},
    ]
    assert verify.verify(config) == 0
    with pytest.raises(VaultError, match="is not in the vault"):
        reveal.reveal("<PHONE_NUMBER:k1:000000000000>", "Dana", "x", config)
    with pytest.raises(VaultError, match='no record is named "jsonl:notes:n9"'):
        reveal.reveal("jsonl:notes:n9", "Dana", "x", config)


def test_an_answer_shows_originals_on_a_terminal_only(
    workspace: Workspace, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    config, question = tmp_path / "relrag.toml", "Who has the key of the cabin?"
    with pytest.raises(Exception, match="on a terminal only"):
        ask.ask(question, SearchOptions(), config, reveal=True, who="Dana", why="test")
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    assert ask.ask(question, SearchOptions(), config, show_sources=True, reveal=True, who="Dana", why="to call") == 0
    assert f"{NUMBER} {pseudonym(workspace)}" in capsys.readouterr().out
    outside = [path for path, data in everything(workspace.home) if b"123-4567" in data]
    assert all("private" in path.parts for path in outside)
    assert "to call" in (workspace.home / vault.REVEALS).read_text()


def test_a_value_goes_with_the_last_record_that_holds_it(workspace: Workspace, tmp_path: Path) -> None:
    name, config = pseudonym(workspace), tmp_path / "relrag.toml"
    notes = tmp_path / "notes.jsonl"
    also = {"id": "n3", "text": f"Petr: {NUMBER}", "timestamp": "2024-02-21T08:00:00Z"}
    notes.write_text(notes.read_text() + json.dumps(also) + "\n")
    assert sync(config) == 0
    assert [path.parent.name for path in files(workspace)] == ["chat", "notes"]
    (chat,) = (tmp_path / "chats").glob("*.txt")
    chat.write_text(chat.read_text().replace(f", call me on {NUMBER}", ""))
    assert sync(config) == 0
    assert revealing.originals(workspace.home, workspace.keys, [name]) == {name: NUMBER}
    assert forgetting.forget(ForgetRequest(refs=["jsonl:notes:n3"]), config, yes=True) in (0, 1)
    assert files(workspace) == []
    assert revealing.originals(workspace.home, workspace.keys, [name]) == {}


def test_a_source_that_is_removed_takes_its_values_along(workspace: Workspace) -> None:
    lake.remove(workspace.home, "chat")
    assert files(workspace) == []
