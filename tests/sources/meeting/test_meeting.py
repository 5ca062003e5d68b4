"""Meetings: minutes in three languages, captions, and the invitation beside them."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from relrag_pipelines.ingest.scan import scan_units
from relrag_pipelines.privacy.keys import Keys
from relrag_pipelines.records import Failure, NamedPerson, Record, SpeechSegment
from relrag_pipelines.settings import Source
from relrag_pipelines.sources import KINDS, ReadContext
from relrag_pipelines.sources.meeting import read, recognise
from relrag_pipelines.sources.meeting.minutes import parse
from relrag_query.display.metadata_line import metadata_line
from tests.cases import cases

KEYS = Keys(ids=b"i" * 32, pseudonyms=b"p" * 32, version="k1")
READING = ReadContext("meetings", "Europe/Prague", KEYS.id_hash)


def meetings(folder: Path, **files: str | bytes) -> tuple[list[Record], list[Failure]]:
    """What a sync reads of a folder with these files; in their names `_` before the suffix stands for a dot."""
    for name, data in files.items():
        (folder / ".".join(name.rsplit("_", 1))).write_bytes(data if isinstance(data, bytes) else data.encode())
    source = Source(name="meetings", kind="meeting", path=folder)  # type: ignore[call-arg]
    scan = scan_units(folder, KINDS["meeting"], source, {}, "")
    found = [item for unit in scan.units.values() for item in read(unit, READING)]
    return [one for one in found if isinstance(one, Record)], [one for one in found if isinstance(one, Failure)]


def at(record: Record) -> str:
    assert record.ts is not None
    return datetime.fromtimestamp(record.ts, UTC).strftime("%Y-%m-%dT%H:%M")


def test_the_kind_is_this_module() -> None:
    assert KINDS["meeting"].read is read


@pytest.mark.requirement("S3-17")
def test_minutes_fill_the_universal_fields(tmp_path: Path) -> None:
    text = "Architecture Review\nParticipants: Jan, Petr and Marie\n\nWe move INV-1187 to March.\nPetr: I agree.\n"
    (tmp_path / "meeting-2025-01-08.txt").write_text(text)
    (record,), failures = meetings(tmp_path)
    assert failures == []
    assert record.from_ == "Jan, Petr, Marie"
    assert record.participants == ["Jan", "Petr", "Marie"]
    assert record.subject == "Architecture Review"
    assert (at(record), record.date_quality) == ("2025-01-08T00:00", "day")
    assert record.parent_ref == "meeting-meeting-2025-01-08.txt"
    assert (record.content_type, record.file_name) == ("meeting-transcript", "meeting-2025-01-08.txt")
    assert record.text == "We move INV-1187 to March.\nPetr: I agree."
    assert record.numbers == ["INV-1187"]


def test_who_takes_part_speaks_though_named_once(tmp_path: Path) -> None:
    text = "Participants: Jan Novák, Petr, Marie\n\nJan: We move to March.\nPetr: I agree.\nDecision: March it is.\n"
    (record,), _ = meetings(tmp_path, minutes_txt=text)
    assert record.extra["speakers"] == ["Jan", "Petr"]
    assert record.text == "Jan: We move to March.\nPetr: I agree.\nDecision: March it is."
    (record,), _ = meetings(tmp_path, minutes_txt="Jan: We move to March.\nDecision: March it is.\n")
    assert "speakers" not in record.extra, "nothing says that somebody is called Jan"


@pytest.mark.parametrize(*cases(__file__, "heads_of_minutes"))
def test_heads_of_minutes(text: str, title: str | None, names: list[str], body: str) -> None:
    found = parse(text)
    assert (found.title, found.participants, found.body) == (title, names, body)


@pytest.mark.parametrize(*cases(__file__, "a_date_in_the_first_lines"))
def test_a_date_in_the_first_lines(tmp_path: Path, text: str, expected: str | None) -> None:
    (record,), _ = meetings(tmp_path, m_txt=text)
    found = None if record.date_quality == "modified" else f"{at(record)} {record.date_quality}"
    assert found == expected


@pytest.mark.parametrize(*cases(__file__, "a_date_in_the_head_counts_before_the_one_in_the_name"))
def test_a_date_in_the_head_counts_before_the_one_in_the_name(
    tmp_path: Path, line: str, at_: str, quality: str
) -> None:
    (tmp_path / "m-2025-01-08.md").write_text(f"# Talk\n{line}\nParticipants: A, B\n\nText.\n")
    (record,), _ = meetings(tmp_path)
    assert (at(record), record.date_quality) == (at_, quality)


CAPTIONS = "WEBVTT\n\n00:01.000 --> 00:02.000\n<v Jan>Hello.</v>\n\n00:02.000 --> 01:05.500\n<v Petr>Hi.</v>\n"
INVITATION = """BEGIN:VCALENDAR\r
VERSION:2.0\r
BEGIN:VEVENT\r
UID:review-42@firma.example\r
DTSTART;TZID=Europe/Prague:20250108T100000\r
SUMMARY:Architecture\\, second look\r
ORGANIZER;CN=Marie Dvořáková:mailto:marie@firma.example\r
ATTENDEE;CN="Jan":MAILTO:jan@firma.example\r
ATTENDEE:mailto:petr@firma.example\r
END:VEVENT\r
END:VCALENDAR\r
"""


def test_captions_give_speakers_times_and_text(tmp_path: Path) -> None:
    (record,), failures = meetings(tmp_path, review_vtt=CAPTIONS)
    assert (record.text, failures) == ("Jan: Hello.\nPetr: Hi.", [])
    assert record.spoken == [SpeechSegment(1.0, 2.0, 0, 11), SpeechSegment(2.0, 65.5, 12, 21)]
    assert (record.participants, record.subject) == (["Jan", "Petr"], "review")
    assert record.extra == {"speakers": ["Jan", "Petr"], "seconds": 65.5}


def test_the_invitation_beside_it_names_title_participants_time_and_uid(tmp_path: Path) -> None:
    (record,), failures = meetings(tmp_path, review_vtt=CAPTIONS, review_ics=INVITATION)
    assert failures == []
    assert record.subject == "Architecture, second look"
    assert (at(record), record.date_quality) == ("2025-01-08T09:00", "exact")
    assert record.participants == ["Marie Dvořáková", "Jan", "petr@firma.example", "Petr"]
    assert record.people == [
        NamedPerson("participant", "Marie Dvořáková <marie@firma.example>"),
        NamedPerson("participant", "Jan <jan@firma.example>"),
        NamedPerson("participant", "petr@firma.example"),
    ]
    assert record.extra["calendar_uid"] == KEYS.id_hash("review-42@firma.example")
    assert record.locations == ["review.vtt", "review.ics"]


@pytest.mark.parametrize(
    ("data", "fault"),
    [
        ("BEGIN:VCALENDAR\nEND:VCALENDAR\n", "no_event"),
        ("nonsense", "no_event"),
        ("BEGIN:VEVENT\nDTSTART:x\n", "bad_calendar_property"),
        ("", "no_event"),
        ("BEGIN:VCALENDAR\n" + "\x01" * 200, "no_event"),
        (INVITATION * 9_000, "no_event"),
    ],
    ids=["no event", "no calendar", "cut", "empty", "binary", "too large"],
)
def test_a_broken_invitation_is_reported_and_the_meeting_kept(tmp_path: Path, data: str, fault: str) -> None:
    (record,), failures = meetings(tmp_path, review_vtt=CAPTIONS, review_ics=data)
    assert (record.subject, [failure.fault for failure in failures]) == ("review", [fault])


def test_what_is_readable_of_a_broken_invitation_is_used(tmp_path: Path) -> None:
    broken = INVITATION.replace("DTSTART", "DTSTART;TZID=Custom:20250114T100000\nX-FORMER", 1)
    (record,), failures = meetings(tmp_path, review_vtt=CAPTIONS, review_ics=broken)
    assert (record.subject, record.participants[:2]) == ("Architecture, second look", ["Marie Dvořáková", "Jan"])
    assert (record.ts, record.date_quality) == (int(datetime(2025, 1, 14, tzinfo=UTC).timestamp()), "day")
    assert [(failure.fault, failure.location) for failure in failures] == [("unknown_zone", "review.ics, event 1")]
    assert '"Custom"' in failures[0].message


def test_a_time_in_the_name_wins_over_one_in_an_unknown_zone(tmp_path: Path) -> None:
    (tmp_path / "call_20250114_093000.vtt").write_text(CAPTIONS, encoding="utf-8")
    invitation = "BEGIN:VEVENT\nDTSTART;TZID=Custom:20250114T100000\nSUMMARY:Pump\nEND:VEVENT\n"
    (tmp_path / "call_20250114_093000.ics").write_text(invitation, encoding="utf-8")
    (record,), _ = meetings(tmp_path)
    assert (record.ts, record.date_quality) == (int(datetime(2025, 1, 14, 8, 30, tzinfo=UTC).timestamp()), "exact")


@pytest.mark.parametrize(
    ("name", "data", "fault", "whole"),
    [
        ("a_vtt", b"", "empty", False),
        ("a_vtt", b"WEBVTT\n", "no_cues", True),
        ("a_txt", b"\x00\x01\x02" * 99, "binary", True),
        ("a_md", b" \n", "empty", False),
    ],
)
def test_what_cannot_be_read_is_a_failure(tmp_path: Path, name: str, data: bytes, fault: str, whole: bool) -> None:
    records, failures = meetings(tmp_path, **{name: data})
    assert (records, [(one.fault, one.whole_unit) for one in failures]) == ([], [(fault, whole)])


def test_damaged_utf8_in_minutes_is_read_and_told(tmp_path: Path) -> None:
    text = ("Porada\nÚčastníci: Jan, Petr\n\n" + "Žluťoučký kůň úpěl ďábelské ódy. " * 5).encode() + b"\xff"
    (record,), failures = meetings(tmp_path, a_txt=text)
    assert (record.participants, [one.fault for one in failures]) == (["Jan", "Petr"], ["charset"])


def test_an_edit_keeps_the_id_and_another_folder_has_another(tmp_path: Path) -> None:
    first, _ = meetings(tmp_path, a_txt="One.")
    second, _ = meetings(tmp_path, a_txt="Two.")
    (tmp_path / "sub").mkdir()
    third, _ = meetings(tmp_path / "sub", a_txt="Two.")
    assert first[0].source_id == second[0].source_id
    assert third[0].source_id == second[0].source_id, "by the path within the source"
    assert meetings(tmp_path)[0][1].source_id != second[0].source_id


def test_what_is_recognised(tmp_path: Path) -> None:
    samples = {"a.vtt": CAPTIONS, "b.txt": "Porada\nÚčastníci: Jan\n", "c.txt": "A note.", "d.md": "# Title\n"}
    samples |= {"e.txt": "We talked.", "e.ics": INVITATION}
    for name, text in samples.items():
        (tmp_path / name).write_text(text)
    assert [name for name in samples if name != "e.ics" and recognise(tmp_path / name)] == ["a.vtt", "b.txt", "e.txt"]


@pytest.mark.requirement("S3-17")
def test_the_compact_line_has_no_index_for_a_short_meeting() -> None:
    fields = {"rag_source_type": "meeting_transcript", "participants": ["Jan", "Petr"], "file_name": "m.txt"}
    assert metadata_line(fields) == {"type": "meeting", "from": "Jan,Petr", "file": "m.txt"}
