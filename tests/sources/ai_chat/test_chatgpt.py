"""Conversations of ChatGPT: which messages of the tree are read, and what is damaged."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from relrag_pipelines.sources import KINDS
from tests import ROOT
from tests.sources.connector import packed, read

SAMPLE = ROOT / "examples" / "samples" / "ai_chat" / "chatgpt"


def conversation(**changes: Any) -> dict[str, Any]:
    """The first conversation of the sample with other fields."""
    return json.loads((SAMPLE / "conversations.json").read_bytes())[0] | changes


def texts(file: Path) -> list[str]:
    return [record.text for record in read("ai_chat", file)[0] if record.text]


def test_the_branch_that_is_shown_is_read_and_neither_tools_nor_instructions() -> None:
    assert texts(SAMPLE / "conversations.json") == [
        "Kdy mám prořezat starou jabloň? Zavolej mi na +420 601 234 567.",
        "V předjaří, do konce března, za suchého dne.",
        "And these branches, which of them has to go?",
        "The one that crosses the leader, marked INV-2024-119 on the tag.",
        "orchard_year\nRok v sadu\n- březen: řez\n- duben: roubování",
        "An old apple tree in March, pencil drawing",
        "Here is the drawing.",
        "כמה זמן אופים לחם שיפון?",
        "כחמישים דקות ב-200 מעלות",
    ]


def test_files_are_found_by_their_id_and_their_name() -> None:
    records, _ = read("ai_chat", SAMPLE / "conversations.json")
    files = {record.file_name: record.locations[0] for record in records if record.file_name}
    assert files == {
        "branches.jpg": "conversations.json#C1M7",
        "pruning-plan.txt": "file-Plan77-pruning-plan.txt",
        "file-Dalle9": "conversations.json#C1M11",
        "file_0000aa": "conversations.json#C2M2",
    }


def test_without_the_last_message_all_branches_are_read_in_their_order(tmp_path: Path) -> None:
    file = tmp_path / "conversations.json"
    file.write_text(json.dumps([conversation(current_node="gone")]))
    assert texts(file)[:2] == [
        "Kdy mám prořezat starou jabloň? Zavolej mi na +420 601 234 567.",
        "In July, when it is hot.",
    ]


def test_a_tree_that_runs_in_a_circle_ends(tmp_path: Path) -> None:
    nodes = conversation()["mapping"]
    nodes["node-3"]["parent"] = "node-13"
    file = tmp_path / "conversations.json"
    file.write_text(json.dumps([conversation(mapping=nodes)]))
    assert len(texts(file)) == 7


def test_a_conversation_that_another_program_saved_is_an_object(tmp_path: Path) -> None:
    file = tmp_path / "Pruning.json"
    file.write_text(json.dumps(conversation(), indent=2))
    whole, _ = read("ai_chat", SAMPLE / "conversations.json")
    alone, failures = read("ai_chat", file)
    assert [record.source_id for record in alone] == [record.source_id for record in whole][:10]
    assert failures == []


def test_the_page_is_read_where_it_is_alone(tmp_path: Path) -> None:
    whole, _ = read("ai_chat", SAMPLE / "conversations.json")
    page = Path(shutil.copy(SAMPLE / "chat.html", tmp_path))
    assert [record.source_id for record in read("ai_chat", page)[0]] == [record.source_id for record in whole]
    shutil.copy(SAMPLE / "conversations.json", tmp_path / "conversations-000.json")
    assert read("ai_chat", page) == ([], [])


def test_in_a_zip_the_page_is_not_read_a_second_time(tmp_path: Path) -> None:
    file = packed(tmp_path / "export.zip", {path.name: path.read_bytes() for path in SAMPLE.iterdir()})
    records, failures = read("ai_chat", file)
    assert (len(records), failures) == (13, [])
    assert "export.zip!file-Plan77-pruning-plan.txt" in [record.locations[0] for record in records]


def test_long_further_files_in_a_zip_are_no_failures(tmp_path: Path) -> None:
    long_page = (SAMPLE / "chat.html").read_bytes().replace(b"<title>", b"<style>" + b" " * 2**18 + b"</style><title>")
    feedback = json.dumps([{"id": f"feedback-{number}", "rating": "thumbsUp"} for number in range(8000)])
    members = {"a/conversations.json": (SAMPLE / "conversations.json").read_bytes(), "a/chat.html": long_page}
    members |= {"a/message_feedback.json": feedback, "b/message_feedback.json": feedback}
    records, failures = read("ai_chat", packed(tmp_path / "export.zip", members))
    assert len([record for record in records if record.text]) == 9
    assert [(failure.location, failure.fault) for failure in failures] == [("b/message_feedback.json", "not_a_chat")]


def test_a_zip_with_the_page_alone_is_read(tmp_path: Path) -> None:
    whole, _ = read("ai_chat", SAMPLE / "conversations.json")
    file = packed(tmp_path / "export.zip", {"chat.html": (SAMPLE / "chat.html").read_bytes()})
    assert KINDS["ai_chat"].recognise(file)
    records, failures = read("ai_chat", file)
    assert ([record.source_id for record in records], failures) == ([record.source_id for record in whole], [])


def test_further_files_of_an_export_are_no_failures(tmp_path: Path) -> None:
    shutil.copy(SAMPLE / "conversations.json", tmp_path)
    file = tmp_path / "user.json"
    file.write_text('{"id": "user-1", "email": "dana@levi.example"}')
    assert KINDS["ai_chat"].recognise(file)
    assert read("ai_chat", file) == ([], [])
    (tmp_path / "conversations.json").unlink()
    assert not KINDS["ai_chat"].recognise(file)


@pytest.mark.parametrize(
    ("content", "faults"),
    [
        ([conversation(mapping=None), conversation()], ["wrong_type"]),
        ([conversation(conversation_id=None, id=None), conversation()], ["missing_id"]),
        (["words", conversation()], ["wrong_type"]),
    ],
)
def test_a_damaged_conversation_is_a_failure_and_the_others_are_read(
    content: list[Any], faults: list[str], tmp_path: Path
) -> None:
    file = tmp_path / "conversations.json"
    file.write_text(json.dumps(content))
    records, failures = read("ai_chat", file)
    assert [failure.fault for failure in failures] == faults
    assert [failure.location for failure in failures] == ["conversation 1"]
    assert len(records) == 10


def test_a_file_that_is_cut_has_not_been_read_to_its_end(tmp_path: Path) -> None:
    file = tmp_path / "conversations.json"
    file.write_bytes((SAMPLE / "conversations.json").read_bytes()[:-900])
    records, failures = read("ai_chat", file)
    assert len(records) == 10
    assert [(failure.fault, failure.whole_unit) for failure in failures] == [("truncated", True)]
