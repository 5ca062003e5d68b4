"""The text of Slack's messages: their own, and that of blocks, attachments and file comments."""

import json
from pathlib import Path
from typing import Any

import pytest

from relrag_pipelines.records import Failure, Record
from tests.cases import cases
from tests.sources.connector import read


def read_message(folder: Path, message: dict[str, Any]) -> tuple[list[Record], list[Failure]]:
    """The records and failures of a day with one message."""
    (folder / "plans").mkdir()
    lists = {
        "users": [{"id": "U1", "real_name": "Jana Malá"}, {"id": "U2", "real_name": "Petr Novák"}],
        "channels": [{"id": "C1", "name": "plans"}],
    }
    for name, rows in lists.items():
        (folder / f"{name}.json").write_text(json.dumps(rows))
    day = folder / "plans" / "2025-01-13.json"
    day.write_text(json.dumps([{"type": "message", "user": "U1", "ts": "1736791320.000100"} | message]))
    return read("slack", day, folder)


@pytest.mark.parametrize(*cases(__file__, "text_of_a_message"))
def test_text_of_a_message(tmp_path: Path, message: dict[str, Any], text: str) -> None:
    records, failures = read_message(tmp_path, message)
    assert (records[0].text, failures) == (text, [])


def test_people_and_files_that_blocks_and_old_fields_name(tmp_path: Path) -> None:
    mention = {"type": "rich_text_section", "elements": [{"type": "user", "user_id": "U2"}]}
    message = {"blocks": [{"type": "rich_text", "elements": [mention]}], "file": {"name": "plan.pdf"}}
    (first, file), _ = read_message(tmp_path, message)
    assert [(person.role, person.name) for person in first.people] == [("mentioned", "Petr Novák")]
    assert file.file_name == "plan.pdf"


@pytest.mark.parametrize(
    "message",
    [
        {"text": "", "blocks": [{"type": "divider"}]},
        {"text": "", "blocks": [{"type": "rich_text", "elements": [{"type": "rich_text_section"}]}]},
        {"text": "", "blocks": [{"type": "image", "image_url": "https://a.example/1.png"}]},
        {"text": "", "attachments": [{"id": 1, "color": "36a64f"}]},
    ],
)
def test_a_message_whose_blocks_have_no_text_is_kept_beside_a_failure(tmp_path: Path, message: dict[str, Any]) -> None:
    (record,), (failure,) = read_message(tmp_path, message)
    assert (record.text, failure.fault, failure.location) == ("", "no_text", "message 1")


def test_a_deleted_message_with_blocks_is_no_failure(tmp_path: Path) -> None:
    section = {"type": "section", "text": {"type": "mrkdwn", "text": "withdrawn"}}
    (record,), failures = read_message(tmp_path, {"subtype": "message_deleted", "text": "", "blocks": [section]})
    assert (record.text, record.extra["deleted"], failures) == ("", True, [])
