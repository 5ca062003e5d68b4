"""Calendars: the samples, repeated events, zones, zips and damaged files."""

import codecs
from datetime import UTC, datetime
from pathlib import Path

import pytest

from relrag_pipelines.sources import KINDS
from relrag_pipelines.sources.formats import calendar
from relrag_pipelines.sources.formats.calendar import batches
from relrag_pipelines.sources.formats.calendar.batches import BATCH_EVENTS
from tests.cases import cases
from tests.conftest import ROOT
from tests.sources.connector import keyed, packed, read, survives

SAMPLES = ROOT / "examples" / "samples" / "calendar"


def at(ts: int | None) -> str:
    return f"{datetime.fromtimestamp(ts or 0, UTC):%Y-%m-%dT%H:%M}"


def event(*lines: str) -> str:
    return "\r\n".join(["BEGIN:VEVENT", *lines, "END:VEVENT"])


def starts(tmp_path: Path, *lines: str) -> list[str]:
    """When the occurrences of an event begin."""
    file = tmp_path / "a.ics"
    file.write_text("\r\n".join(["BEGIN:VCALENDAR", event("UID:a", "SUMMARY:Walk", *lines), "END:VCALENDAR"]))
    records, failures = read("calendar", file)
    assert failures == []
    return [at(record.ts) for record in records]


def test_the_family_calendar() -> None:
    records, failures = read("calendar", SAMPLES / "rodina.ics")
    assert failures == []
    assert [(at(record.ts), record.subject, record.date_quality) for record in records] == [
        ("2024-03-18T16:00", "Klavír Eliška", "exact"),
        ("2024-03-25T16:00", "Klavír Eliška", "exact"),
        ("2024-04-15T15:00", "Klavír Eliška", "exact"),
        ("2024-04-09T13:30", "Klavír Eliška (náhradní hodina)", "exact"),
        ("2024-05-05T00:00", "Narozeniny babičky Boženy", "day"),
        ("2024-06-12T12:30", "Schůzka se zahradníkem", "exact"),
    ]
    lesson, cancelled = records[0], records[-1]
    assert lesson.text.split("\n") == [
        "Klavír Eliška",
        "2024-03-18 17:00 CET - 2024-03-18 18:00 CET",
        "ZUŠ, Křenová 12",
        "Marek Havlík <marek@havlikovi.example>, Eliška Havlíková <eliska@havlikovi.example>",
        "Noty si vzít s sebou.",
    ]
    assert (lesson.from_, lesson.to) == (
        "Marek Havlík <marek@havlikovi.example>",
        ["Eliška Havlíková <eliska@havlikovi.example>"],
    )
    assert {record.thread_id for record in records[:4]} == {keyed("klavir-2024@havlikovi.example")}
    assert "cancelled" in cancelled.text.split("\n")
    assert cancelled.extra["calendar_uid"] == keyed("3f1c-zahrada")


def test_an_invitation_of_outlook_with_a_zone_of_windows() -> None:
    (record,), failures = read("calendar", SAMPLES / "arbeit.ics")
    assert failures == []
    assert (at(record.ts), record.numbers) == ("2024-07-04T08:00", ["2024-0815"])
    assert record.extra["calendar_uid"] == keyed("040000008200E00074C5B7101A82E00800000000B0A1")


@pytest.mark.parametrize(*cases(__file__, "repeated_events"))
def test_repeated_events(tmp_path: Path, lines: list[str], expected: list[str]) -> None:
    assert starts(tmp_path, *lines) == expected


def changed(day: str, begins: str, *lines: str, later: bool = True) -> str:
    """A change of the occurrence at 10:00 in Prague, and of all later ones."""
    parameters = f"{';RANGE=THISANDFUTURE' if later else ''};TZID=Europe/Prague"
    return event("UID:a", f"RECURRENCE-ID{parameters}:{day}T100000", f"DTSTART;TZID=Europe/Prague:{begins}", *lines)


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        (
            [changed("20250407", "20250407T120000", "SUMMARY:Run")],
            ["Walk 03-24T09:00", "Walk 03-31T08:00", "Run 04-07T10:00", "Run 04-14T10:00"],
        ),
        (  # to another day, across the change of clocks, and back
            [
                changed("20250324", "20250325T100000", "SUMMARY:Run"),
                changed("20250414", "20250414T100000", "SUMMARY:Sit"),
            ],
            ["Run 03-25T09:00", "Run 04-01T08:00", "Run 04-08T08:00", "Sit 04-14T08:00"],
        ),
        (  # a move over the night in which the clocks change
            [changed("20250324", "20250330T110000", "SUMMARY:Run")],
            ["Run 03-30T09:00", "Run 04-06T09:00", "Run 04-13T09:00", "Run 04-20T09:00"],
        ),
        (  # a change of a single later occurrence counts more
            [
                changed("20250331", "20250331T110000", "SUMMARY:Run"),
                changed("20250407", "20250408T080000", "SUMMARY:Rest", later=False),
            ],
            ["Walk 03-24T09:00", "Run 03-31T09:00", "Rest 04-08T06:00", "Run 04-14T09:00"],
        ),
        (
            [changed("20250407", "20250407T100000", "SUMMARY:Walk", "STATUS:CANCELLED")],
            ["Walk 03-24T09:00", "Walk 03-31T08:00", "Walk 04-07T08:00 cancelled", "Walk 04-14T08:00 cancelled"],
        ),
    ],
)
@pytest.mark.parametrize("batch", [BATCH_EVENTS, 1])
def test_a_change_of_all_later_occurrences(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, changes: list[str], expected: list[str], batch: int
) -> None:
    monkeypatch.setattr(batches, "BATCH_EVENTS", batch)
    series = event("UID:a", "SUMMARY:Walk", "DTSTART;TZID=Europe/Prague:20250324T100000", "RRULE:FREQ=WEEKLY;COUNT=4")
    (tmp_path / "a.ics").write_text("\r\n".join(["BEGIN:VCALENDAR", *changes, series, "END:VCALENDAR"]))
    records, failures = read("calendar", tmp_path / "a.ics")
    assert failures == []
    assert len({record.source_id for record in records}) == 4
    found = sorted(records, key=lambda record: record.ts or 0)
    assert [
        f"{record.subject} {at(record.ts)[5:]}{' cancelled' * ('cancelled' in record.text.split())}" for record in found
    ] == expected


def test_a_change_of_all_later_occurrences_goes_by_the_clocks_of_its_own_zone(tmp_path: Path) -> None:
    tokyo = "TZID=Asia/Tokyo"  # its clocks never change; those of the source's zone do on 30 March
    series = event("UID:a", "SUMMARY:Call", f"DTSTART;{tokyo}:20250324T100000", "RRULE:FREQ=WEEKLY;COUNT=3")
    moved = f"RECURRENCE-ID;RANGE=THISANDFUTURE;{tokyo}:20250324T100000"
    change = event("UID:a", moved, f"DTSTART;{tokyo}:20250330T110000", "SUMMARY:Call")
    (tmp_path / "a.ics").write_text("\r\n".join(["BEGIN:VCALENDAR", change, series, "END:VCALENDAR"]))
    records, failures = read("calendar", tmp_path / "a.ics")
    assert failures == []
    assert sorted(at(record.ts)[5:] for record in records) == ["03-30T02:00", "04-06T02:00", "04-13T02:00"]


def test_an_endless_event_is_expanded_for_a_year_beyond_its_file(tmp_path: Path) -> None:
    weekly = starts(tmp_path, "DTSTART:20200106T080000Z", "RRULE:FREQ=WEEKLY")
    assert (weekly[0], weekly[-1], len(weekly)) == ("2020-01-06T08:00", "2025-04-28T08:00", 278)


def test_a_rule_by_the_second_is_refused_and_its_event_kept(tmp_path: Path) -> None:
    file = tmp_path / "a.ics"
    file.write_text(
        f"BEGIN:VCALENDAR\n{event('UID:a', 'DTSTART:20240101T080000Z', 'RRULE:FREQ=SECONDLY')}\nEND:VCALENDAR"
    )
    records, failures = read("calendar", file)
    assert [at(record.ts) for record in records] == ["2024-01-01T08:00"]
    assert [(failure.location, failure.fault) for failure in failures] == [("event 1", "bad_calendar_property")]


def test_a_calendar_of_many_parts(tmp_path: Path) -> None:
    count = 2 * BATCH_EVENTS + 7
    events = [event(f"UID:e{number}", f"SUMMARY:Event {number}", "DTSTART:20240101T080000Z") for number in range(count)]
    events[BATCH_EVENTS + 2] = event("UID:bad", "SUMMARY:No date")
    file = tmp_path / "a.ics"
    file.write_text("\n".join(["BEGIN:VCALENDAR", *events, "END:VCALENDAR"]))
    records, failures = read("calendar", file)
    assert len(records) == count - 1
    assert len({record.source_id for record in records}) == count - 1
    assert [(failure.location, failure.fault) for failure in failures] == [(f"event {BATCH_EVENTS + 3}", "no_date")]


def test_a_zip_of_calendars(tmp_path: Path) -> None:
    members = {
        "Takeout/Calendar/Rodina.ics": (SAMPLES / "rodina.ics").read_bytes(),
        "Takeout/Calendar/b.ics": "no calendar",
    }
    file = packed(tmp_path / "calendars.zip", members)
    records, failures = read("calendar", file)
    assert KINDS["calendar"].recognise(file)
    assert len(records) == 6
    assert records[0].locations == ["calendars.zip!Takeout/Calendar/Rodina.ics"]
    assert [(failure.location, failure.fault) for failure in failures] == [("Takeout/Calendar/b.ics", "not_a_calendar")]


def test_recognise(tmp_path: Path) -> None:
    assert all(KINDS["calendar"].recognise(file) for file in SAMPLES.iterdir())
    assert not KINDS["calendar"].recognise(packed(tmp_path / "a.zip", {"_chat.txt": "x", "a.ics": "BEGIN:VCALENDAR"}))
    assert not KINDS["calendar"].recognise(ROOT / "examples" / "samples" / "tasks" / "errands.ics")


@pytest.mark.parametrize("name", ["rodina.ics", "arbeit.ics"])
def test_damaged_calendars(tmp_path: Path, name: str) -> None:
    survives("calendar", SAMPLES / name, tmp_path)


@pytest.mark.parametrize(
    "lines",
    [
        ("DTSTART:20240401T090000Z", "EXDATE;VALUE=DATE:20240402"),
        ("DTSTART;TZID=Europe/Prague:20240401T003000", "EXDATE;VALUE=DATE:20240402,20240409"),
        ("DTSTART:20240401T090000Z", "EXDATE:20240402T090000Z"),
        ("DTSTART;TZID=Europe/Prague:20240401T110000", "EXDATE:20240402T090000Z"),
        ("DTSTART;VALUE=DATE:20240401", "EXDATE;VALUE=DATE:20240402"),
        ("DTSTART;VALUE=DATE:20240401", "EXDATE:20240402T000000"),
        ("DTSTART;VALUE=DATE:20240401", "EXDATE:20240402T090000Z"),
    ],
)
def test_a_day_that_is_left_out(tmp_path: Path, lines: tuple[str, str]) -> None:
    days = starts(tmp_path, *lines, "RRULE:FREQ=DAILY;COUNT=3")
    assert len(days) == 2
    assert not any(day.startswith(("2024-04-02T09", "2024-04-02T00:00", "2024-04-01T22:30")) for day in days)


@pytest.mark.parametrize(*cases(__file__, "of_many_occurrences_those_nearest_to_the_file_are_read"))
def test_of_many_occurrences_those_nearest_to_the_file_are_read(
    tmp_path: Path, begin: str, rule: str, first: str, last: str
) -> None:
    occurrences = starts(tmp_path, f"DTSTART:{begin}", f"RRULE:{rule}")
    assert len(occurrences) <= 1_000
    assert occurrences[0].startswith(first)
    assert occurrences[-1].startswith(last)


TITLE = "Žluťoučký kůň úpěl ďábelské ódy"


def folded(title: str, width: int, end: bytes = b"\r\n") -> bytes:
    """A calendar whose title is folded after every so many bytes, wherever its characters end."""
    data = title.encode()
    parts = [data[begin : begin + width] for begin in range(0, len(data), width)]
    event = [b"BEGIN:VEVENT", b"UID:a", b"DTSTART:20250113T180000Z", b"SUMMARY:" + (end + b" ").join(parts)]
    return end.join([b"BEGIN:VCALENDAR", *event, b"END:VEVENT", b"END:VCALENDAR", b""])


@pytest.mark.parametrize(
    "data",
    [
        *(folded(TITLE, width) for width in (1, 2, 7)),
        folded(TITLE, 1, b"\n"),
        folded(TITLE, 1, b"\r"),
        codecs.BOM_UTF8 + folded(TITLE, 7),
        folded(TITLE, 99).decode().encode("utf-16"),
        folded(TITLE, 99).decode().encode("utf-16-be"),
        codecs.BOM_UTF32_LE + folded(TITLE, 99).decode().encode("utf-32-le"),
    ],
)
def test_encodings_and_folds_within_characters(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "a.ics").write_bytes(data)
    assert KINDS["calendar"].recognise(tmp_path / "a.ics")
    records, failures = read("calendar", tmp_path / "a.ics")
    assert ([record.subject for record in records], failures) == ([TITLE], [])
    assert calendar.read(calendar.decode_calendar(data)).events[0].summary == TITLE  # as mails and meetings read it


def test_a_calendar_in_utf_16_keeps_its_replaced_occurrences(tmp_path: Path) -> None:
    repeated = event("UID:a", "SUMMARY:Walk", "DTSTART:20250113T180000Z", "RRULE:FREQ=DAILY;COUNT=2")
    moved = event("UID:a", "SUMMARY:Run", "DTSTART:20250114T190000Z", "RECURRENCE-ID:20250114T180000Z")
    text = "\r\n".join(["BEGIN:VCALENDAR", repeated, moved, "END:VCALENDAR", ""])
    (tmp_path / "a.ics").write_bytes(text.encode("utf-16"))
    records, failures = read("calendar", tmp_path / "a.ics")
    assert [(record.subject, at(record.ts)) for record in records] == [
        ("Walk", "2025-01-13T18:00"),
        ("Run", "2025-01-14T19:00"),
    ]
    assert failures == []
