"""Discord's data package: names of channels, a zip of it, and messages that another export holds too."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from relrag_pipelines.sources import KINDS
from tests import ROOT, chat_exports
from tests.sources.connector import counted_openings, packed, read

SAMPLE = ROOT / "examples" / "samples" / "discord" / "package"
MESSAGES = "messages/c400000000000000001/messages.json"


def test_a_zip_names_channels_and_the_owner(tmp_path: Path) -> None:
    files = {file.relative_to(SAMPLE).as_posix(): file.read_bytes() for file in SAMPLE.rglob("*.*")}
    records, failures = read("discord", packed(tmp_path / "package.zip", files))
    named = {(record.subject, record.from_) for record in records}
    assert (named, failures) == ({("Mappers / #general", "Dana Levi"), ("petrkolar", "Dana Levi")}, [])
    assert {record.file_name for record in records} == {None, "sign.jpg", "detour.pdf", "track.gpx"}


def test_lists_of_the_package_are_parsed_once_for_all_channels(tmp_path: Path) -> None:
    files = {file.relative_to(SAMPLE).as_posix(): file.read_bytes() for file in SAMPLE.rglob("*.*")}
    archive = packed(tmp_path / "package.zip", files)
    with counted_openings() as openings:
        read("discord", archive)
    assert (openings["messages/index.json"], openings["account/user.json"]) == (2, 2)  # to identify, and to parse


def test_lists_of_the_package_hold_no_messages_and_are_no_failure() -> None:
    for name in ("messages/index.json", "messages/c400000000000000077/channel.json", "account/user.json"):
        assert KINDS["discord"].recognise(SAMPLE / name)
        assert read("discord", SAMPLE / name) == ([], [])


def test_without_lists_a_channel_is_known_by_its_folder(tmp_path: Path) -> None:
    file = tmp_path / MESSAGES
    file.parent.mkdir(parents=True)
    file.write_bytes((SAMPLE / MESSAGES).read_bytes())
    ids = [record.source_id for record in read("discord", file, tmp_path)[0]]
    whole = [record.source_id for record in read("discord", SAMPLE / MESSAGES, SAMPLE)[0]]
    assert ids == whole


def test_a_message_of_both_exports_is_one_record(tmp_path: Path) -> None:
    said = chat_exports.Said(1, 1_705_000_000, "Dana Levi", "The bridge is closed")
    ((name, content),) = chat_exports.discord([said], "general").items()
    exported = tmp_path / name
    exported.write_bytes(content)
    own = tmp_path / "messages" / "c2" / "messages.json"
    own.parent.mkdir(parents=True)
    row = {"ID": 10**18 + 1, "Timestamp": "2024-01-11 19:06:40", "Contents": said.text, "Attachments": ""}
    own.write_text(json.dumps([row]))
    (own.parent / "channel.json").write_text('{"id": "2", "type": "GUILD_TEXT", "name": "general"}')
    (one,), (other,) = read("discord", exported)[0], read("discord", own, tmp_path)[0]
    assert (one.source_id, one.ts, one.text) == (other.source_id, other.ts, other.text)


def test_rows_that_are_damaged_are_failures(tmp_path: Path) -> None:
    head = "ID,Timestamp,Contents,Attachments\n"
    file = tmp_path / "messages.csv"
    file.write_text(f'{head}1,2023-02-28 21:15:00+00:00,fine,\n2,2023-02-28,three cells\n3,,undated,\n4,x,"open,\n')
    records, failures = read("discord", file)
    assert [(record.text, record.ts) for record in records] == [("fine", 1677618900), ("undated", None)]
    assert [failure.fault for failure in failures] == ["wrong_cells", "date", "open_quote"]
    file.write_text(f"{head}1,2023-02-28 21:15:00+00:00,fine,\n2,2023-02-28 21:15:00+00:00,cut of")
    assert [failure.fault for failure in read("discord", file)[1] if failure.whole_unit] == ["truncated"]


@pytest.mark.parametrize(
    ("end", "texts", "faults"),
    [
        ("2,2023-02-28 21:15:00+00:00,last,", ["fine", "last"], []),
        ('2,2023-02-28 21:15:00+00:00,"last, of two\nlines",""', ["fine", "last, of two\nlines"], []),
        ("2,2023-02-28 21:15:00+00:00,cut of", ["fine"], ["truncated"]),
        ('2,2023-02-28 21:15:00+00:00,"cut, of', ["fine"], ["truncated"]),
        ('2,2023-02-28 21:15:00+00:00,"cut\nof, with, three, commas', ["fine"], ["open_quote", "truncated"]),
    ],
)
def test_a_last_row_without_a_line_end_is_read_where_it_is_complete(
    end: str, texts: list[str], faults: list[str], tmp_path: Path
) -> None:
    file = tmp_path / "messages.csv"
    file.write_text(f"ID,Timestamp,Contents,Attachments\n1,2023-02-28 21:15:00+00:00,fine,\n{end}")
    records, failures = read("discord", file)
    assert [record.text for record in records] == texts
    assert [failure.fault for failure in failures] == faults
