"""A message that is damaged in a later export keeps the copy that was read before; the others follow the file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from relrag_pipelines.ingest.ingest import ingest
from relrag_pipelines.stores import lake
from relrag_pipelines.workspace import Workspace
from tests import archive

CONFIG = """
archive = "damaged"
keys_file = "test.keys"
embedder = "none"
[[sources]]
name = "chat"
kind = "telegram"
path = "result.json"
"""


def message(number: int, text: str) -> dict[str, Any]:
    at = f"2024-03-0{number}T10:00:00"
    return {"id": number, "type": "message", "date": at, "from": "Petr", "from_id": "user1", "text": text}


GOOD = [message(number, f"text {number}") for number in range(1, 6)]


def write(folder: Path, messages: list[str]) -> None:
    head = '{"name": "Petr", "type": "personal_chat", "id": 7, "messages": [\n'
    (folder / "result.json").write_text(head + ",\n".join(messages) + "\n]}")


def texts(workspace: Workspace) -> list[str]:
    ingest(workspace, workspace.settings.source("chat"))
    (month,) = lake.manifest(workspace.home, "private_records", "chat")
    return sorted(lake.read(workspace.home, "private_records", "chat", month)["text"].to_pylist())


@pytest.mark.parametrize(
    "damaged",
    [
        '{"id": 3, "type": "message", "date": "2024-03-03T10:00:00", "from": , "text": "text 3"}',
        '{"id": 3, "type": "message", "text": "text 3" "date"}',
        json.dumps({**message(3, "text 3"), "id": ["3"]}),
        json.dumps({key: value for key, value in message(3, "text 3").items() if key != "id"}),
        '"text 3"',
    ],
)
def test_an_earlier_copy_of_a_damaged_message_stays(damaged: str, tmp_path: Path) -> None:
    (tmp_path / "relrag.toml").write_text(CONFIG)
    workspace = archive.workspace(tmp_path / "relrag.toml")
    write(tmp_path, [json.dumps(row) for row in GOOD])
    assert texts(workspace) == [f"text {number}" for number in range(1, 6)]
    later = [json.dumps(row) for row in [*GOOD, message(6, "text 6")]]
    later[0] = json.dumps(message(1, "text 1, edited"))
    later[2] = damaged
    write(tmp_path, later)
    assert texts(workspace) == ["text 1, edited", *(f"text {number}" for number in range(2, 7))]
    write(tmp_path, [json.dumps(row) for row in GOOD[:2]])
    assert texts(workspace) == ["text 1", "text 2"]
