"""Pages of Google Voice: groups, files, a page that is cut."""

from __future__ import annotations

from pathlib import Path

from tests import ROOT
from tests.sources.connector import packed, read

CALLS = ROOT / "examples" / "samples" / "sms" / "Takeout" / "Voice" / "Calls"
TEXTS = "Eva Malá - Text - 2024-03-08T09_00_00Z.html"


def test_texts_and_calls_with_a_number_are_one_conversation(tmp_path: Path) -> None:
    archive = packed(
        tmp_path / "takeout.zip", {f"Takeout/Voice/Calls/{file.name}": file.read_bytes() for file in CALLS.iterdir()}
    )
    records, failures = read("sms", archive)
    with_eva = [record for record in records if record.subject == "Eva Malá" and not record.file_name]
    assert (len(with_eva), {record.thread_id for record in with_eva}) == (5, {with_eva[0].thread_id})
    assert failures == []


def test_a_picture_is_found_though_its_suffix_is_not_on_the_page() -> None:
    records, _ = read("sms", CALLS / TEXTS)
    assert [record.locations[0] for record in records if record.file_name] == [
        "Eva Malá - Text - 2024-03-08T09_00_00Z-3-1.jpg"
    ]


def test_in_a_group_somebody_without_a_name_is_called_by_their_number() -> None:
    (record,), _ = read("sms", CALLS / "Group Conversation - 2024-03-09T08_00_00Z.html")
    assert (record.from_, record.subject) == ("+972521234567", "Eva Malá, +972521234567")


def test_a_page_in_which_only_the_owner_wrote_is_called_by_its_title(tmp_path: Path) -> None:
    page = (CALLS / TEXTS).read_text()
    begin, end = page.index('<div class="message"'), page.index("Under the")
    file = tmp_path / TEXTS
    file.write_text(
        page[:begin] + page[page.rindex('<div class="message"', 0, end) :].partition("<div><img")[0] + "</html>"
    )
    record = read("sms", file)[0][0]
    assert (record.from_, record.subject) == ("Me", "Eva Malá")


def test_a_page_that_is_cut_has_not_been_read_to_its_end(tmp_path: Path) -> None:
    file = tmp_path / TEXTS
    file.write_text((CALLS / TEXTS).read_text()[:900])
    records, failures = read("sms", file)
    assert "Máš klíče od sklepa?\nČekám před domem & prší" in [record.text for record in records]
    assert [(failure.fault, failure.whole_unit) for failure in failures] == [("truncated", True)]
