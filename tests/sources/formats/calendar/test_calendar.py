"""Events of calendar parts as Google, Outlook and Apple write them, and broken ones."""

import time
import tomllib
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relrag_pipelines.sources.formats.calendar import (
    MAX_CHARACTERS,
    CalendarError,
    Event,
    Moment,
    Person,
    decode_calendar,
    read,
)
from relrag_pipelines.sources.formats.calendar.components import MAX_EVENTS
from tests import ROOT

ZONE = """BEGIN:VTIMEZONE
TZID:Office
BEGIN:STANDARD
DTSTART:16011028T030000
RRULE:FREQ=YEARLY;BYDAY=-1SU;BYMONTH=10
TZOFFSETFROM:+0200
TZOFFSETTO:+0100
END:STANDARD
BEGIN:DAYLIGHT
DTSTART:16010325T020000
RRULE:FREQ=YEARLY;BYDAY=-1SU;BYMONTH=3
TZOFFSETFROM:+0100
TZOFFSETTO:+0200
END:DAYLIGHT
END:VTIMEZONE
"""


def events(text: str, timezone: str = "UTC") -> list[Event]:
    return read(text.replace("\r\n", "\n"), timezone).events


def faults(text: str) -> list[tuple[str, str, str]]:
    return [(one.location, one.fault, one.message) for one in read(text.replace("\r\n", "\n")).failures]


def at(*parts: int) -> Moment:
    return Moment(datetime(*parts, tzinfo=UTC))


def calendar(*lines: str, zone: str = "", method: str = "REQUEST") -> str:
    body = "\n".join(lines)
    text = f"BEGIN:VCALENDAR\nVERSION:2.0\nMETHOD:{method}\n{zone}BEGIN:VEVENT\n{body}\nEND:VEVENT\nEND:VCALENDAR\n"
    return text.replace("\n", "\r\n")


def test_an_invitation() -> None:
    (event,) = events(
        calendar(
            "UID:7f3@google.com",
            "DTSTART;TZID=Europe/Prague:20240715T101500",
            "DTEND:20240715T091500Z",
            'ORGANIZER;CN="Levi, Dana":mailto:Dana@Example.org',
            "ATTENDEE;PARTSTAT=NEEDS-ACTION;RSVP=TRUE;CN=Jan",
            "  Novák:MAILTO:jan@example.cz",
            "ATTENDEE:mailto:noa@example.org",
            "ATTENDEE:mailto:JAN@example.cz",
            "ATTENDEE;CN=Room:invalid:nomail",
            "SUMMARY;LANGUAGE=cs:Oprava čerpadla\\, díl",
            "  druhý\\; odpoledne",
            "DESCRIPTION:Line one\\nline two \\\\ end",
            "LOCATION:Hala 2",
            "STATUS:CONFIRMED",
            "RRULE:FREQ=WEEKLY;COUNT=3",
        )
    )
    assert (event.uid, event.method, event.status, event.rule) == (
        *("7f3@google.com", "REQUEST", "CONFIRMED", "FREQ=WEEKLY;COUNT=3"),
    )
    assert (event.start, event.end) == (at(2024, 7, 15, 8, 15), at(2024, 7, 15, 9, 15))
    assert event.organiser == Person("Levi, Dana", "dana@example.org")
    assert event.attendees == (Person("Jan Novák", "jan@example.cz"), Person("", "noa@example.org"), Person("Room"))
    assert event.summary == "Oprava čerpadla, díl druhý; odpoledne"
    assert (event.description, event.location) == ("Line one\nline two \\ end", "Hala 2")
    assert event.occurrence is None


@pytest.mark.parametrize(
    ("start", "utc"),
    [
        ("DTSTART;TZID=Israel Standard Time:20240715T101500", at(2024, 7, 15, 7, 15)),  # Outlook
        ("DTSTART;TZID=Office:20240715T101500", at(2024, 7, 15, 8, 15)),  # declared in the calendar
        ("DTSTART;TZID=Office:20240115T101500", at(2024, 1, 15, 9, 15)),
        ("DTSTART:20240115T101500", at(2024, 1, 15, 8, 15)),  # the reader's zone
        ("DTSTART:20240115T101500Z", at(2024, 1, 15, 10, 15)),
        ("DTSTART;TZID=Office:20240115T101500Z", at(2024, 1, 15, 10, 15)),  # the time itself names its zone
        ("DTSTART:00010101T000000", None),  # before the first moment of UTC
        ("DTSTART:soon", None),
        ("X-NOTHING:1", None),
    ],
)
def test_times_in_utc(start: str, utc: Moment | None) -> None:
    assert events(calendar("UID:1", start, zone=ZONE), "Asia/Jerusalem")[0].start == utc


def test_ends_and_days() -> None:
    (day,) = events(calendar("UID:1", "DTSTART;VALUE=DATE:20240115"), "Asia/Jerusalem")
    assert day.start == Moment(datetime(2024, 1, 15, tzinfo=UTC), "day")
    assert day.end == Moment(datetime(2024, 1, 16, tzinfo=UTC), "day")
    (hour,) = events(calendar("UID:1", "DTSTART:20240115T100000Z", "DURATION:PT90M"))
    assert hour.end == at(2024, 1, 15, 11, 30)
    (moment,) = events(calendar("UID:1", "DTSTART:20240115T100000Z"))
    assert moment.end is None


def test_a_changed_occurrence_and_a_cancellation() -> None:
    text = calendar("UID:1", "DTSTART:20240122T120000Z", "RECURRENCE-ID:20240122T100000Z", method="cancel")
    (event,) = events(text)
    assert (event.occurrence, event.method) == (at(2024, 1, 22, 10), "CANCEL")


def test_what_cannot_be_read_is_named_and_the_rest_is_kept() -> None:
    text = calendar("UID:1", "DTSTART:2024", "no colon here", "RRULE:weekly", "DURATION:long", "SUMMARY:Pump")
    (event,) = events(text)
    assert (event.summary, event.start) == ("Pump", None)
    assert faults(text) == [
        ("event 1", "bad_calendar_line", "a line is no property of a calendar and was left out"),
        ("event 1", "bad_calendar_property", "DTSTART is no date or time; the rest of the event was read"),
        ("event 1", "bad_calendar_property", "RRULE is no rule of repetition; the rest of the event was read"),
    ]


def test_an_unknown_zone_is_reported_once_and_not_assumed() -> None:
    text = "".join(calendar(f"UID:{uid}", "DTSTART;TZID=Customized Time Zone:20240715T101500") for uid in "123")
    assert [event.start for event in events(text, "Asia/Tokyo")] == [
        Moment(datetime(2024, 7, 15, 10, 15, tzinfo=UTC), "local")
    ] * 3
    message = 'the time zone "Customized Time Zone" is not known and not defined in the file; '
    assert faults(text) == [
        ("event 1 and 2 more", "unknown_zone", f"{message}its times are kept as written, without a zone")
    ]


def test_each_calendar_of_a_file_has_zones_of_its_own() -> None:
    west = ZONE.replace("+0200", "-0400").replace("+0100", "-0500")
    start = "DTSTART;TZID=Office:20240715T100000"
    text = calendar("UID:1", start, zone=ZONE) + calendar("UID:2", start, zone=west) + calendar("UID:3", start)
    assert [event.start for event in events(text)] == [
        *(at(2024, 7, 15, 8), at(2024, 7, 15, 14), Moment(datetime(2024, 7, 15, 10, tzinfo=UTC), "local"))
    ]


def test_a_broken_event_does_not_hide_the_others() -> None:
    text = calendar("UID:1", "BEGIN:VALARM", "SUMMARY:a") + calendar("UID:2", "SUMMARY:b")
    assert [(event.uid, event.summary) for event in events(text)] == [("1", "a"), ("2", "b")]
    cut = calendar("UID:1", "SUMMARY:a") + "BEGIN:VEVENT\r\nUID:2\r\nSUMMARY:cut"
    assert [(event.uid, event.summary) for event in events(cut)] == [("1", "a"), ("2", "cut")]


@pytest.mark.parametrize("lost", ["END:VEVENT", "END:VCALENDAR", "END:STANDARD", "END:VTIMEZONE", "END:VALARM"])
def test_any_end_may_be_missing(lost: str) -> None:
    alarm = ("BEGIN:VALARM", "TRIGGER:-PT15M", "DESCRIPTION:Reminder", "END:VALARM")
    first = calendar("UID:1", "DTSTART;TZID=Europe/Prague:20240715T100000", "SUMMARY:a", *alarm, zone=ZONE)
    text = first.replace(f"{lost}\r\n", "") + calendar("UID:2", "SUMMARY:b")
    assert [(event.uid, event.summary) for event in events(text)] == [("1", "a"), ("2", "b")]
    assert events(text)[0].start == at(2024, 7, 15, 8)


def test_an_alarm_is_not_the_event() -> None:
    alarm = ("BEGIN:VALARM", "TRIGGER:-PT15M", "DESCRIPTION:Reminder", "SUMMARY:Alarm", "END:VALARM")
    (event,) = events(calendar("UID:1", *alarm, "SUMMARY:Pump"))
    assert (event.summary, event.description) == ("Pump", "")


def test_more_events_than_are_read_are_counted() -> None:
    text = "".join(f"BEGIN:VEVENT\nUID:{n}\nEND:VEVENT\n" for n in range(MAX_EVENTS + 3))
    assert len(events(text)) == MAX_EVENTS
    assert faults(text)[0][1:] == ("too_many_events", "3 events behind the first 2,000 are not read")


def test_a_task_is_no_event() -> None:
    assert events("BEGIN:VCALENDAR\r\nBEGIN:VTODO\r\nUID:1\r\nEND:VTODO\r\nEND:VCALENDAR\r\n") == []


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("", "not_a_calendar"),
        ("Dear Noa,\nsee you.", "not_a_calendar"),
        ("BEGIN:VEVENT\nBEGIN:VALARM\n", "unreadable_calendar"),
        ("BEGIN:VEVENT\nBEGIN:VEVENT\n", "unreadable_calendar"),
        ("x" * (MAX_CHARACTERS + 1), "too_large"),
    ],
)
def test_what_is_no_calendar_is_said(text: str, fault: str) -> None:
    with pytest.raises(CalendarError) as raised:
        events(text)
    assert raised.value.fault == fault


PIECES = calendar("UID:1", "DTSTART;TZID=Office:20240115T101500", "RRULE:FREQ=DAILY", "DURATION:PT1H", zone=ZONE).split(
    "\r\n"
)


@given(
    st.lists(
        st.sampled_from([*PIECES, " folded", "DTSTART:99999999T999999Z", "DURATION:P99999999D", ";:", "א"]), max_size=30
    )
)
def test_any_lines_give_events_or_a_named_fault(lines: list[str]) -> None:
    try:
        found = events("\r\n".join(lines))
    except CalendarError:
        return
    assert all(event.start is None or event.start.at.tzinfo is UTC for event in found)


SAMPLES = ROOT / "tests" / "data" / "calendars"
EXPECTED = tomllib.loads((SAMPLES / "expected.toml").read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", EXPECTED)
def test_calendars_of_many_programs(name: str) -> None:
    contents = read(decode_calendar((SAMPLES / name).read_bytes()), "Europe/Prague")
    (event,) = contents.events
    expected = EXPECTED[name]
    assert event.summary == expected["summary"]
    assert str(event.start or "") == expected["start"]
    assert [person.full for person in event.people] == expected["people"]
    fault, word = expected.get("fault", ["", ""])
    assert [failure.fault for failure in contents.failures] == ([fault] if fault else [])
    assert all(word in failure.message for failure in contents.failures)


@pytest.mark.parametrize(
    "line",
    ["ATTENDEE" + ":" * 900_000, "ATTENDEE:" + "a" * 900_000, "SUMMARY;ENCODING=QUOTED-PRINTABLE:" + "=\nb" * 300_000],
    ids=["colons", "no address", "soft breaks"],
)
def test_a_long_line_takes_little_time(line: str) -> None:
    begin = time.process_time()
    read(f"BEGIN:VEVENT\n{line}\nEND:VEVENT\n")
    assert time.process_time() - begin < 5
