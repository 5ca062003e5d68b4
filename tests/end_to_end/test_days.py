"""Whatever shows a record of which only the day is known shows no minute, in any command."""

from __future__ import annotations

from pathlib import Path

import pytest

from relrag_query.cli.commands import calls, forget, show, status
from relrag_query.forgetting import ForgetRequest
from tests import archive

CONFIG = """
archive = "test"
keys_file = "test.keys"
timezone = "Europe/Prague"
embedder = "none"
[[sources]]
name = "notes"
kind = "jsonl"
path = "notes.jsonl"
[[sources]]
name = "calls"
kind = "call_recording"
path = "calls"
"""
NOTE = '{"id": "n1", "text": "the key hangs behind the door", "timestamp": "2024-02-21", "thread_id": "t"}\n'


def test_no_command_shows_a_minute_of_a_day(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], without_dagster: None
) -> None:
    config = tmp_path / "relrag.toml"
    config.write_text(CONFIG)
    (tmp_path / "notes.jsonl").write_text(NOTE)
    (tmp_path / "calls").mkdir()
    (tmp_path / "calls" / "Call with Ota 2024-02-21.txt").write_text("Ota: the key hangs behind the door\n")
    archive.first_sync(config)
    capsys.readouterr()
    commands = {
        "status": lambda: status.status(config),
        "calls": lambda: calls.listing(config=config),
        "thread": lambda: show.show("thread:t", config),
        "forget": lambda: forget.forget(ForgetRequest(before="2024-03-01"), config, yes=True),
        "list": lambda: forget.list_rules(config),
    }
    for name, command in commands.items():
        command()
        said = capsys.readouterr().out
        assert "2024-02-21" in said or name == "list", (name, said)
        assert "01:00" not in said, (name, said)
        assert "00:00" not in said, (name, said)
