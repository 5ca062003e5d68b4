"""Events of calendar parts as Google, Outlook and Apple write them, and broken ones."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relrag_pipelines.sources.mail.calendar import MAX_CHARACTERS, CalendarError, events

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
    assert (event.start, event.end) == (
        datetime(2024, 7, 15, 8, 15, tzinfo=UTC),
        datetime(2024, 7, 15, 9, 15, tzinfo=UTC),
    )
    assert event.organiser == "dana@example.org"
    assert event.attendees == ("jan@example.cz", "noa@example.org")
    assert event.summary == "Oprava čerpadla, díl druhý; odpoledne"
    assert (event.description, event.location) == ("Line one\nline two \\ end", "Hala 2")
    assert (event.all_day, event.occurrence, event.defects) == (False, None, ())


@pytest.mark.parametrize(
    ("start", "utc"),
    [
        ("DTSTART;TZID=Israel Standard Time:20240715T101500", datetime(2024, 7, 15, 7, 15, tzinfo=UTC)),  # Outlook
        ("DTSTART;TZID=Office:20240715T101500", datetime(2024, 7, 15, 8, 15, tzinfo=UTC)),  # declared in the calendar
        ("DTSTART;TZID=Office:20240115T101500", datetime(2024, 1, 15, 9, 15, tzinfo=UTC)),
        ("DTSTART:20240115T101500", datetime(2024, 1, 15, 8, 15, tzinfo=UTC)),  # the reader's zone
        ("DTSTART;TZID=Nowhere:20240115T101500", datetime(2024, 1, 15, 8, 15, tzinfo=UTC)),
        ("DTSTART:20240115T101500Z", datetime(2024, 1, 15, 10, 15, tzinfo=UTC)),
        ("DTSTART:00010101T000000", None),  # before the first moment of UTC
        ("DTSTART:soon", None),
        ("X-NOTHING:1", None),
    ],
)
def test_times_in_utc(start: str, utc: datetime | None) -> None:
    assert events(calendar("UID:1", start, zone=ZONE), "Asia/Jerusalem")[0].start == utc


def test_ends_and_days() -> None:
    (day,) = events(calendar("UID:1", "DTSTART;VALUE=DATE:20240115"), "Asia/Jerusalem")
    assert (day.all_day, day.start, day.end) == (
        *(True, datetime(2024, 1, 15, tzinfo=UTC), datetime(2024, 1, 16, tzinfo=UTC)),
    )
    (hour,) = events(calendar("UID:1", "DTSTART:20240115T100000Z", "DURATION:PT90M"))
    assert hour.end == datetime(2024, 1, 15, 11, 30, tzinfo=UTC)
    (moment,) = events(calendar("UID:1", "DTSTART:20240115T100000Z"))
    assert moment.end is None


def test_a_changed_occurrence_and_a_cancellation() -> None:
    text = calendar("UID:1", "DTSTART:20240122T120000Z", "RECURRENCE-ID:20240122T100000Z", method="cancel")
    (event,) = events(text)
    assert (event.occurrence, event.method) == (datetime(2024, 1, 22, 10, tzinfo=UTC), "CANCEL")


def test_what_cannot_be_read_is_named_and_the_rest_is_kept() -> None:
    (event,) = events(calendar("UID:1", "DTSTART:2024", "no colon here", "SUMMARY:Pump"))
    assert (event.summary, event.start, event.defects) == ("Pump", None, ("DTSTART", "unreadable line"))


def test_a_broken_event_does_not_hide_the_others() -> None:
    text = calendar("UID:1", "BEGIN:VALARM", "SUMMARY:a") + calendar("UID:2", "SUMMARY:b")
    assert [event.uid for event in events(text)] == ["2"]
    cut = calendar("UID:1", "SUMMARY:a") + "BEGIN:VEVENT\r\nUID:2\r\nSUMMARY:cut"
    assert [(event.uid, event.summary) for event in events(cut)] == [("1", "a"), ("2", "cut")]


def test_a_task_is_no_event() -> None:
    assert events("BEGIN:VCALENDAR\r\nBEGIN:VTODO\r\nUID:1\r\nEND:VTODO\r\nEND:VCALENDAR\r\n") == []


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("", "not_a_calendar"),
        ("Dear Noa,\nsee you.", "not_a_calendar"),
        ("BEGIN:VEVENT\nBEGIN:VALARM\n", "unreadable_calendar"),
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
    assert all(event.start is None or event.start.tzinfo is UTC for event in found)
