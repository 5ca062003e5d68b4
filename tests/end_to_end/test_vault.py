"""The vault: what pseudonyms stand for, encrypted, as long as a record holds it, revealed by name and noted."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from relrag_pipelines.maintenance.repair import repair
from relrag_pipelines.maintenance.verify import Finding, verify_home
from relrag_pipelines.pii import reveal as revealing
from relrag_pipelines.privacy.keys import Keys
from relrag_pipelines.stores import lake, lock, vault
from relrag_pipelines.stores.vault import VaultError
from relrag_pipelines.workspace import Workspace
from relrag_query.cli.commands import ask, reveal, verify
from relrag_query.cli.commands import forget as forgetting
from relrag_query.cli.commands.ask import SearchOptions
from relrag_query.cli.commands.sync import sync
from relrag_query.forgetting import ForgetRequest
from tests import archive

NUMBER = "052-123-4567"
NOW = datetime(2024, 3, 1, tzinfo=UTC)


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    config = archive.make(tmp_path)
    archive.first_sync(config)
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
    hint = "`relrag ask --reveal` shows them"
    assert ask.ask(question, SearchOptions(), config) == 0
    assert hint not in capsys.readouterr().out  # it would be a line of a file
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    assert ask.ask(question, SearchOptions(), config) == 0
    assert hint in capsys.readouterr().out
    assert ask.ask(question, SearchOptions(), config, show_sources=True, reveal=True, who="Dana", why="to call") == 0
    assert f"{NUMBER} {pseudonym(workspace)}" in capsys.readouterr().out
    outside = [path for path, data in everything(workspace.home) if b"123-4567" in data]
    assert all("private" in path.parts for path in outside)
    assert "to call" in (workspace.home / vault.REVEALS).read_text()


@pytest.mark.usefixtures("without_dagster")
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


IBAN = "IL62 0108 0000 0009 9999 999"
ENCRYPT = """
[pii_policies.default]
action = "pseudonymize"
entities = ["IBAN_CODE"]
[pii_policies.default.actions]
IBAN_CODE = "encrypt"
"""


def test_what_was_encrypted_and_forgotten_stays_closed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    config = archive.make(tmp_path, ENCRYPT)
    archive.write_notes(tmp_path, {"id": "n3", "text": f"Pay to {IBAN}", "timestamp": "2024-02-21T08:00:00Z"})
    workspace = archive.first_sync(config)
    token = workspace.redactor.redact(IBAN, "default")
    assert token.startswith("<IBAN_CODE:k1:e")
    assert reveal.reveal(token, "Dana", "to pay", config) == 0
    assert capsys.readouterr().out == f"{token}  {IBAN}\n"
    (entry,) = map(json.loads, (workspace.home / vault.REVEALS).read_text().splitlines())
    assert entry["what"] == [f"<IBAN_CODE:k1:{workspace.keys.pseudonym('encrypted', token)}>"]
    lake.drop_derived(workspace.home, "notes", ["2024-02"])
    with pytest.raises(VaultError, match="is not in the vault"):
        reveal.reveal(token, "Dana", "to pay", config)


def test_a_note_waits_for_who_writes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = archive.workspace(archive.make(tmp_path)).settings
    held: list[str] = []

    @contextmanager
    def writing(home: Path, purpose: str, wait: float | None) -> Iterator[None]:
        held.append(f"{purpose}, {wait:g} s")
        assert not (home / vault.REVEALS).exists()
        yield
        assert (home / vault.REVEALS).exists()

    monkeypatch.setattr(lock, "writing", writing)
    reveal.note(settings, "Dana", "to call", ["jsonl:notes:n1"], 3)
    assert held == ["relrag reveal, 3 s"]


def test_a_damaged_file_is_named_and_made_again(tmp_path: Path) -> None:
    workspace = archive.first_sync(archive.make(tmp_path))
    (path,), name = files(workspace), pseudonym(workspace)
    whole = path.read_bytes()
    place = path.relative_to(workspace.home).as_posix()
    for damaged in (b"", whole[:-20], whole[:30] + bytes([whole[30] ^ 1]) + whole[31:]):
        path.write_bytes(damaged)
        assert verify_home(workspace.home) == [Finding(place, "cannot be read")]
        with pytest.raises(VaultError, match=r"cannot be read; `relrag verify --repair` makes it again"):
            revealing.originals(workspace.home, workspace.keys, [name])
    assert list(repair(workspace, verify_home(workspace.home))) == [
        f"{place}: removed, to be made again with the redacted records of its month"
    ]
    archive.sync(tmp_path / "relrag.toml")
    assert path.read_bytes() == whole
    assert verify_home(workspace.home) == []
