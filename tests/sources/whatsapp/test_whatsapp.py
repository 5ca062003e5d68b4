"""WhatsApp exports: real examples, and a table of edges, each with its reason."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import random
import subprocess
import sys
import zipfile
from collections.abc import Iterable
from datetime import UTC, datetime
from itertools import groupby
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, example, given, settings
from hypothesis import strategies as st

from relrag_pipelines.privacy.keys import Keys
from relrag_pipelines.records import Failure, Record
from relrag_pipelines.sources import KINDS, CoveredInterval, ReadContext, Unit
from relrag_pipelines.sources.whatsapp import read, recognise
from relrag_pipelines.sources.whatsapp.timestamps import PARTS, find_form

LRM, RLM = "\u200e", "\u200f"
KEYS = Keys(ids=b"i" * 32, pseudonyms=b"p" * 32, version="k1")


def unit(file: Path, folder: Path | None = None) -> Unit:
    return Unit(file.relative_to(folder or file.parent).as_posix(), file, file.stat().st_size, file.stat().st_mtime_ns)


def reading(order: str = "auto", zone: str = "UTC", **limits: Any) -> ReadContext:
    return ReadContext("family", zone, KEYS.id_hash, order, **limits)


def read_file(file: Path, order: str = "auto", zone: str = "UTC") -> tuple[list[Record], list[Failure]]:
    found = list(read(unit(file), reading(order, zone)))
    return [item for item in found if isinstance(item, Record)], [item for item in found if isinstance(item, Failure)]


@pytest.fixture
def chat(tmp_path: Path) -> Any:
    """Reads a text as the export of a chat."""

    def from_text(
        text: str | bytes, order: str = "auto", zone: str = "UTC", name: str = "WhatsApp Chat with Dana.txt"
    ) -> tuple[list[Record], list[Failure]]:
        file = tmp_path / name
        file.write_bytes(text if isinstance(text, bytes) else text.encode())
        return read_file(file, order, zone)

    return from_text


def said(records: Iterable[Record]) -> list[tuple[str | None, str]]:
    return [(record.from_, record.text) for record in records if record.rag_source_type == "whatsapp"]


def at(record: Record) -> str:
    assert record.ts is not None
    return datetime.fromtimestamp(record.ts, UTC).strftime("%Y-%m-%dT%H:%M:%S")


# --- real examples --------------------------------------------------------------------------------------------------


def test_the_kind_is_this_module() -> None:
    assert KINDS["whatsapp"].read is read


def test_cases_of_whatsapp_chat_parser(shared_data: Path, chat: Any) -> None:
    cases = json.loads((shared_data / "whatsapp/whatsapp_chat_parser/cases.json").read_text())
    assert len(cases) == 11
    for case in cases:
        records, failures = chat(case["text"], "dmy")  # the origin takes the day first where nothing tells
        assert failures == [], case["case"]
        messages = [record for record in records if record.rag_source_type == "whatsapp"]
        assert len(messages) == len(case["expected"]), case["case"]
        for record, expected in zip(messages, case["expected"], strict=True):
            assert record.from_ == expected["author"], case["case"]
            assert bool(record.extra.get("system")) is expected["system"], case["case"]
            if "timestamp" in expected:
                assert at(record) == expected["timestamp"], case["case"]
            if "message" in expected:  # the line break that ends a file is not the message's
                assert record.text == expected["message"].rstrip("\n"), case["case"]
            if "attachment" in expected:
                assert record.text == ""
                (attachment,) = [other for other in records if other is not record]
                assert attachment.file_name == expected["attachment"]
                assert attachment.content_type == "image/jpeg"


@pytest.mark.parametrize("name", ["test_mmddyy_24hrs.txt", "test_yyyymmdd_24hrs.txt"])
def test_exports_of_chat_miner(shared_data: Path, name: str) -> None:
    folder = shared_data / "whatsapp/chat_miner/whatsapp"
    records, failures = read_file(folder / name)
    assert failures == []
    target = [
        (message["timestamp"], message["author"], message["message"])
        for message in json.loads((folder / "target.json").read_text())
    ]
    by_people = [(at(record), record.from_, record.text.replace("\n", " ")) for record in records if record.from_]
    assert by_people == target[::-1]
    assert [record.text for record in records if record.extra.get("system")] == [
        "John Doe:.",
        '+12 345 578 created group "Groupname"',
        "You were added",
    ]


def test_documented_inconsistencies_of_platforms(shared_data: Path, chat: Any) -> None:
    lines = (shared_data / "whatsapp/export_inconsistencies/examples.jsonl").read_text().splitlines()
    documented = [found for line in lines if "{timestamp}" not in (found := json.loads(line))["text"]]
    assert len(documented) == 8
    for shown in documented:
        records, failures = chat(shown["text"], name="_chat.txt")
        assert failures == []
        assert {at(record) for record in records} == {"2019-01-01T12:00:00"}
        if shown["heading"].startswith("User messages"):
            assert said(records) == [
                ("John Doe", "Hello 😄"),
                ("Jane Doe", "Hey!\nP.S. Nice emoji 👀"),
                ("+1 (000) 000-0000", "Good day!"),
            ]
        else:
            (record,) = records
            assert (record.from_, record.extra) == (None, {"system": True})
            notices = (
                'You created group "John, Jane, Joe"',
                "Messages to this chat and calls are now secured with end-to-end encryption.",
                "Messages to this group are now secured with end-to-end encryption.",
            )
            assert record.text in notices


# --- how a message begins -------------------------------------------------------------------------------------------

NINE = "2018-06-13T21:25:00"
FORMS = [
    ("13/06/2018, 21:25 - a: m", NINE, "Android, day first"),
    ("6/13/18, 9:25 PM - a: m", NINE, "Android, month first, 12 hours"),
    ("6/13/18, 9:25\u202fPM - a: m", NINE, "narrow no-break space of newer phones"),
    ("6/13/18, 9:25\u00a0PM - a: m", NINE, "no-break space"),
    ("13/6/18, 9:25 p. m. - a: m", NINE, "Spanish"),
    ("13/6/18, 9:25\u202fp.\u00a0m. - a: m", NINE, "Spanish with both spaces"),
    ("13.06.18, 21:25 - a: m", NINE, "German"),
    ("13.06.18 21:25 - a: m", NINE, "Czech, no comma"),
    ("13. 6. 2018 21:25 - a: m", NINE, "Czech, spaces within the date"),
    ("13. 6. 2018. 21:25:00 a: m", NINE, "nothing but a space behind the time"),
    ("13.6.2018 klo 21.25 - a: m", NINE, "Finnish"),
    ("13/06/2018 à 21:25 - a: m", NINE, "French"),
    ("2018-06-13 21:25 - a: m", NINE, "Swedish"),
    ("2018-06-13, 9:25 p.m. - a: m", NINE, "Canadian"),
    ("2018. 6. 13. 오후 9:25 - a: m", NINE, "Korean, the half of the day first"),
    ("2018/6/13 下午9:25 - a: m", NINE, "Chinese, no space behind it"),
    ("13.6.2018, 9:25 אחה״צ - a: m", NINE, "Hebrew, with gershayim"),
    ('13.6.2018, 9:25 אחה"צ - a: m', NINE, "Hebrew, with a quote"),
    (f"{RLM}13.6.2018, 21:25 - {RLM}a: m", NINE, "Hebrew, marks before the date and the name"),
    (f"{RLM}١٣{RLM}/٦{RLM}/٢٠١٨، ٩:٢٥ م - a: m", NINE, "Arabic digits, comma, marks, half of the day"),
    ("۲۰۱۸/۰۶/۱۳, ۲۱:۲۵ - a: m", NINE, "Persian digits"),
    ("13/6/2561 21:25 - a: m", NINE, "Buddhist year"),
    ("[13.06.18, 21:25:00] a: m", NINE, "iOS"),
    ("[6/13/18, 9:25:00\u202fPM] a: m", NINE, "iOS, 12 hours"),
    (f"{LRM}[13/06/2018, 21:25:00] a: m", NINE, "iOS, mark before the bracket"),
    ("[2018/06/13, 21:25:00] a: m", NINE, "iOS, year first"),
    ("[13.06.18 21.25.00] a: m", NINE, "iOS, points in the time"),
    ("13/06/2018 21:25:00: a: m", NINE, "older iOS, colon behind the time"),
    ("\ufeff[13/06/2018, 21:25:00] a: m", NINE, "byte order mark"),
    (f"[{RLM}13/06/2018, 9:25:00 م] a: m", NINE, "iOS, Arabic, a mark behind the bracket"),
    (f"{RLM}[{RLM}١٣{RLM}/٦{RLM}/٢٠١٨، ٩:٢٥:٠٠ م{RLM}] a: m", NINE, "iOS, Arabic, marks everywhere"),
    (f"[١٣{RLM}/٦{RLM}/٢٠١٨، ٩:٢٥:٠٠ م] a: m", NINE, "iOS, Arabic of Saudi Arabia"),
    ("[21:25:00, 13/6/18] a: m", NINE, "iOS, Vietnamese, the time first"),
    ("[21:25:00 13/6/18] a: m", NINE, "iOS, Vietnamese, newer, no comma"),
    ("21:25, 13/06/2018 - a: m", NINE, "Android, Vietnamese"),
    ("[9:25\u202fPM, 6/13/2018] a: m", NINE, "copied from WhatsApp on the web"),
    ("[H30/6/13 21:25:00] a: m", NINE, "iOS, Japanese calendar"),
    ("[平成30/6/13 21:25:00] a: m", NINE, "iOS, Japanese calendar, the era in full"),
    ("[6/13/30 H, 9:25:00\u202fPM] a: m", NINE, "iOS, Japanese calendar, English"),
    ("[13/6/H30, 21:25:00] a: m", NINE, "iOS, Japanese calendar, the era before a year behind"),
    ("[13/6/61 21:25:00] a: m", NINE, "iOS, Thai: two digits of a Buddhist year"),
    ("[6/13/2561 BE, 9:25:00\u202fPM] a: m", NINE, "iOS, Buddhist calendar, English"),
    ("[民國107/6/13 晚上9:25:00] a: m", NINE, "iOS, calendar of Taiwan"),
    ("[۱۳۹۷/۳/۲۳،\u200f ۲۱:۲۵:۰۰] a: m", NINE, "iOS, Persian"),
    ("[3/23/1397 AP, 9:25:00\u202fPM] a: m", NINE, "iOS, Persian calendar, English"),
    (f"[٢٩{RLM}/٩{RLM}/١٤٣٩ هـ، ٩:٢٥:٠٠ م] a: m", NINE, "iOS, calendar of Umm al-Qura, Arabic"),
    ("[29/09/1439 AH, 21:25:00] a: m", NINE, "iOS, calendar of Umm al-Qura, English"),
    ("2018/6/3 下午9:25 - a: m", "2018-06-03T21:25:00", "Chinese, one digit of the day"),
    ("2018. 6. 3. 오후 9:25 - a: m", "2018-06-03T21:25:00", "Korean, likewise"),
    ("[H30/6/3 21:25:00] a: m", "2018-06-03T21:25:00", "Japanese calendar, likewise"),
    ("6/13/18, 12:25 AM - a: m", "2018-06-13T00:25:00", "midnight is 12 AM"),
    ("6/13/18, 12:25 PM - a: m", "2018-06-13T12:25:00", "noon is 12 PM"),
]


@pytest.mark.parametrize(("text", "expected", "reason"), FORMS, ids=[reason for *_, reason in FORMS])
@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
def test_forms(chat: Any, text: str, expected: str, reason: str, line_end: str) -> None:
    second = text.removeprefix("\ufeff").replace("a: m", "Dana Levi: m2")
    records, failures = chat(line_end.join([text, "more", second, ""]))
    assert failures == [], reason
    assert said(records) == [("a", "m\nmore"), ("Dana Levi", "m2")]
    assert [at(record) for record in records] == [expected, expected]
    assert [record.locations for record in records] == [
        ["WhatsApp Chat with Dana.txt#L1"],
        ["WhatsApp Chat with Dana.txt#L3"],
    ]


DAYS = [
    # year, month and day, era, Gregorian day (of ICU 78, in node), reason
    ((6, 6, 13), "r", "2024-06-13", "Reiwa"),
    ((1, 5, 1), "令和", "2019-05-01", "its first day"),
    ((31, 4, 30), "h", "2019-04-30", "the last day of Heisei"),
    ((67, 6, 13), "", "2024-06-13", "two digits of a Buddhist year"),
    ((2567, 6, 13), "", "2024-06-13", "a Buddhist year"),
    ((49, 6, 13), "", "2049-06-13", "two digits of this century"),
    ((113, 6, 13), "民國", "2024-06-13", "Taiwan"),
    ((1403, 3, 24), "", "2024-06-13", "Persian"),
    ((1399, 12, 30), "ap", "2021-03-20", "the last day of a Persian leap year"),
    ((1400, 12, 30), "ap", None, "no leap year"),
    ((1400, 7, 31), "ap", None, "a month of 30 days"),
    ((1445, 12, 7), "", "2024-06-13", "of the Hijra"),
    ((1431, 1, 16), "هـ", "2010-01-02", "of the Hijra"),
    ((1445, 9, 30), "ah", "2024-04-09", "a month of 30 days"),
    ((1445, 11, 30), "ah", None, "one of 29"),
    ((1300, 1, 1), "", None, "of no calendar that is known"),
    ((2567, 2, 30), "", None, "no such day"),
]


@pytest.mark.parametrize(("written", "era", "expected", "reason"), DAYS, ids=[f"{one[3]} {one[0]}" for one in DAYS])
def test_calendars(written: tuple[int, int, int], era: str, expected: str | None, reason: str) -> None:
    from relrag_pipelines.sources.whatsapp.calendars import gregorian

    found = gregorian(*written, era)
    assert (found and found.isoformat()) == expected, reason


def test_an_era_may_end_within_a_chat(chat: Any) -> None:
    records, failures = chat("[H31/4/30 23:59:59] a: m\n[R1/5/1 0:00:00] a: m\n")
    assert failures == []
    assert [at(record) for record in records] == ["2019-04-30T23:59:59", "2019-05-01T00:00:00"]


# --- the order of day and month -------------------------------------------------------------------------------------

ORDERS = [
    (["13/02/20"], "dmy", "no month is 13"),
    (["02/13/20"], "mdy", "no month is 13"),
    (["01/02/20", "01/03/20", "01/04/20", "13/04/20"], "dmy", "one number far behind decides for all before it"),
    (["06/03/17", "08/05/17", "09/04/17"], "mdy", "day first, time would run backward"),
    (["03/06/17", "05/08/17", "04/09/17"], "dmy", "month first, time would run backward"),
    (["04/04/20", "05/05/20"], "dmy", "both orders mean the same"),
    (["18.06.13", "18.06.20", "18.07.02"], "ymd", "two digits of the year in front: nothing else runs forward"),
    (
        [f"{day}/02/20" for day in range(13, 24)] + ["02/23/20"],
        "dmy",
        "a line of another chat that was pasted in does not count",
    ),
    (["99/99/20", "13/02/20"], "dmy", "what is a date in no order says nothing"),
    (["01/02/20", "01/03/20"], None, "nothing tells"),
    (["13/02/20", "02/13/20"], None, "one order is impossible here, the other there"),
    (["1397/03/23"], "dmy", "a Persian year stands in front"),
    (["R6/3/4", "R6/4/4"], "dmy", "an era stands in front, so its year does"),
    (["01.02.2020", "01.03.2020"], "dmy", "with points no language writes the month first"),
    (["10.11.12", "10.12.12"], None, "with points, but the year may be in front"),
    (["1297/03/23"], None, "a year of no calendar that is known"),
]


@pytest.mark.parametrize(("dates", "order", "reason"), ORDERS, ids=[reason for *_, reason in ORDERS])
def test_date_order(chat: Any, dates: list[str], order: str | None, reason: str) -> None:
    from relrag_pipelines.sources.whatsapp.date_order import DateOrderVotes

    orders = DateOrderVotes()
    orders.add(dates)
    assert orders.decide() == order, reason
    records, failures = chat("\n".join(f"{day}, 10:00 - a: m" for day in dates))
    assert [failure.fault for failure in failures if failure.whole_unit] == ([] if order else ["date_order"])
    assert bool(records) is bool(order)


def test_an_undecidable_order_is_refused_and_says_what_to_set(chat: Any) -> None:
    records, (failure,) = chat("3/6/18, 13:55 - Dana: the secret\n3/7/18, 13:55 - Dana: m\n")
    assert records == []
    assert (failure.fault, failure.location, failure.whole_unit) == ("date_order", "", True)
    assert failure.message == (
        "the order of day and month cannot be told: no number above 12 stands in its dates (2), and their sequence "
        'fits either way; set date_order = "dmy" (day first) or "mdy" (month first) for this source'
    )


@pytest.mark.parametrize(("order", "expected"), [("dmy", "2018-06-03"), ("mdy", "2018-03-06"), ("ymd", "2003-06-18")])
def test_the_setting_decides_where_the_chat_does_not(chat: Any, order: str, expected: str) -> None:
    (record,), failures = chat("3/6/18, 13:55 - a: m", order)
    assert failures == []
    assert at(record)[:10] == expected


def test_the_chat_decides_against_the_setting(chat: Any) -> None:
    (record,), _ = chat("13/6/18, 13:55 - a: m", "mdy")
    assert at(record) == "2018-06-13T13:55:00"


TOLD = "13/02/2024, 10:00 - a: m\n"
"""a chat in the form of AMBIGUOUS that tells that the day stands first"""
AMBIGUOUS = "03/06/2024, 13:55 - a: m\n"


def read_among(
    folder: Path, name: str, others: dict[str, str | bytes], order: str = "auto"
) -> tuple[str, list[Failure]]:
    """The day of the one message in a chat that lies beside others, `asked` where it was not read, and failures."""
    for file, text in others.items():
        (folder / file).write_bytes(text if isinstance(text, bytes) else text.encode())
    units = [unit(file) for file in sorted(folder.iterdir())]
    found = list(read(unit(folder / name), reading(order, units=lambda: units)))
    days = [at(item)[:10] for item in found if isinstance(item, Record)]
    return ",".join(days) or "asked", [item for item in found if isinstance(item, Failure)]


NEAR = [
    ({"b.txt": TOLD}, "2024-06-03", "one that tells"),
    ({"b.txt": "02/13/2024, 10:00 - a: m\n"}, "2024-03-06", "the month first"),
    ({"b.txt": TOLD, "c.txt": "02/13/2024, 10:00 - a: m\n"}, "asked", "they do not agree"),
    ({"b.txt": TOLD, "c.txt": "[2/13/24, 9:00:00 AM] a: m\n"}, "2024-06-03", "those that begin alike count more"),
    ({"b.txt": "[2/13/24, 9:00:00 AM] a: m\n"}, "2024-03-06", "one that begins otherwise, where there is no other"),
    ({"b.txt": AMBIGUOUS, "c.txt": "2024-06-13, 10:00 - a: m\n"}, "asked", "others that tell nothing"),
    ({"b.txt": "notes\n", "c.zip": b"PK\3\4", "d.txt": b"\xff\xfe\x00"}, "asked", "what is no chat, or damaged"),
]


@pytest.mark.parametrize(("others", "expected", "reason"), NEAR, ids=[reason for *_, reason in NEAR])
def test_other_chats_tell_the_order(tmp_path: Path, others: dict[str, Any], expected: str, reason: str) -> None:
    day, (failure,) = read_among(tmp_path, "chat.txt", {"chat.txt": AMBIGUOUS, **others})
    assert day == expected, reason
    assert (failure.fault, failure.whole_unit) == ("date_order", expected == "asked")
    assert "date_order" in failure.message


def test_a_chat_within_a_zip_tells_the_order(tmp_path: Path) -> None:
    pack(tmp_path / "WhatsApp Chat - Dana.zip", {"_chat.txt": TOLD})
    assert read_among(tmp_path, "chat.txt", {"chat.txt": AMBIGUOUS})[0] == "2024-06-03"


def test_the_setting_counts_more_than_other_chats(tmp_path: Path) -> None:
    assert read_among(tmp_path, "chat.txt", {"chat.txt": AMBIGUOUS, "b.txt": TOLD}, "mdy") == ("2024-03-06", [])


HABITS = [
    ("6/3/24, 9:25\u202fPM - a: m", "chat.txt", "2024-06-03", "as Americans write it"),
    ("06/03/24, 9:25 PM - a: m", "chat.txt", "asked", "zeros in front: maybe Indian"),
    ("6/3/2024, 9:25 PM - a: m", "chat.txt", "asked", "four digits of the year: maybe of Hong Kong"),
    ("6/3/24, 9:25 pm - a: m", "chat.txt", "2024-03-06", "small letters: English of other countries, and Hindi"),
    ("6/3/24, 9:25 p. m. - a: m", "chat.txt", "2024-03-06", "Spanish"),
    ("[6/3/24, 9:25:00 م] a: m", "chat.txt", "2024-03-06", "Arabic"),
    ("10/11/12 下午9:25 - a: m", "chat.txt", "2010-11-12", "Chinese"),
    ("6/3/24, 21:25 - a: <Medien ausgeschlossen>", "chat.txt", "2024-03-06", "a note in German"),
    ("6/3/24, 21:25 - a: a.jpg (ficheiro anexado)", "chat.txt", "2024-03-06", "a file in Portuguese"),
    (f"[6/3/24, 21:25:00] a: {LRM}<terlampir: a.jpg>", "chat.txt", "2024-03-06", "a file in Indonesian"),
    ("6/3/24, 21:25 - a: a.jpg (nakalakip na file)", "chat.txt", "2024-06-03", "Filipino puts the month first"),
    ("6/3/24, 21:25 - a: <Media omitted>", "chat.txt", "asked", "English tells nothing"),
    ("6/3/24, 21:25 - a: m", "Chat WhatsApp con Dana.txt", "2024-03-06", "a name in Italian"),
    ("6/3/24, 21:25 - a: m", "WhatsApp-Chat mit Dana.txt", "2024-03-06", "a name in German"),
    ("6/3/24, 21:25 - a: m", "WhatsApp Chat with Dana.txt", "asked", "a name in English"),
    ("6/3/24, 21:25 - a: m", "WhatsApp Chat - Dana.txt", "asked", "the name that iOS gives in every language"),
]


@pytest.mark.parametrize(("text", "name", "expected", "reason"), HABITS, ids=[reason for *_, reason in HABITS])
def test_the_phone_tells_the_order(tmp_path: Path, text: str, name: str, expected: str, reason: str) -> None:
    day, (failure,) = read_among(tmp_path, name, {name: text})
    assert day.partition(",")[0] == expected, reason
    assert (failure.fault, failure.whole_unit) == ("date_order", expected == "asked")


def test_an_order_that_was_taken_is_told(tmp_path: Path) -> None:
    _, (failure,) = read_among(tmp_path, "chat.txt", {"chat.txt": AMBIGUOUS, "b.txt": TOLD})
    assert failure.message == (
        "no number above 12 stands in its dates (1), and their sequence fits either way; they are read with the day "
        "first, as other chats of the source are written (1); where that is wrong, set date_order = "
        '"dmy" or "mdy" for this source'
    )


def test_an_order_that_was_taken_covers_the_days_of_the_other(tmp_path: Path) -> None:
    """So that records of a reading in the other order go when a later one has this."""
    (tmp_path / "WhatsApp Chat with Dana.txt").write_text("03/06/2024, 13:55 - a: m\n04/07/2024, 13:55 - a: m\n")
    found = list(read(unit(tmp_path / "WhatsApp Chat with Dana.txt"), reading("mdy", "Asia/Jerusalem")))
    (covered,) = [item for item in found if isinstance(item, CoveredInterval)]
    assert covered.thread_id == f"whatsapp:{KEYS.id_hash('dana')}"
    since, until = (datetime.fromtimestamp(second or 0, UTC).isoformat() for second in (covered.since, covered.until))
    assert (since, until) == ("2024-03-05T22:00:00+00:00", "2024-07-04T21:00:00+00:00")


# --- local time -----------------------------------------------------------------------------------------------------

ZONES = [
    ("15/01/2024, 10:00", "Europe/Prague", "2024-01-15T09:00:00", "winter"),
    ("15/07/2024, 10:00", "Europe/Prague", "2024-07-15T08:00:00", "summer"),
    ("31/03/2024, 02:30", "Europe/Prague", "2024-03-31T01:30:00", "never was: by the offset before"),
    ("31/03/2024, 03:00", "Europe/Prague", "2024-03-31T01:00:00", "first minute of summer time"),
    ("27/10/2024, 02:30", "Europe/Prague", "2024-10-27T00:30:00", "was twice: the first"),
    ("27/10/2024, 03:00", "Europe/Prague", "2024-10-27T02:00:00", "after the second"),
    ("29/03/2024, 02:15", "Asia/Jerusalem", "2024-03-29T00:15:00", "never was: by the offset before"),
    ("06/10/2024, 02:15", "Australia/Lord_Howe", "2024-10-05T15:45:00", "clocks go forward by half an hour"),
    ("06/10/2024, 02:45", "Australia/Lord_Howe", "2024-10-05T15:45:00", "so within one hour the offset changes"),
]


@pytest.mark.parametrize(("local", "zone", "expected", "reason"), ZONES, ids=[reason for *_, reason in ZONES])
def test_time_zones(chat: Any, local: str, zone: str, expected: str, reason: str) -> None:
    records, _ = chat(f"13/01/2024, 00:00 - a: m\n{local} - a: m\n", zone=zone)
    assert at(records[1]) == expected, reason


def test_a_zone_renames_nothing(chat: Any) -> None:
    text = "13/01/2024, 10:00 - a: m\n13/07/2024, 10:00 - IMG-1.jpg: IMG-1.jpg (file attached)\n"
    here, _ = chat(text, zone="Asia/Jerusalem")
    there, _ = chat(text, zone="America/New_York")
    assert [record.source_id for record in here] == [record.source_id for record in there]
    assert [record.ts for record in here] != [record.ts for record in there]


def test_an_impossible_date_keeps_the_message_undated(chat: Any) -> None:
    records, failures = chat("13/02/2024, 10:00 - a: m\n99/02/2024, 10:00 - b: kept\n")
    assert said(records) == [("a", "m"), ("b", "kept")]
    assert (records[1].ts, records[1].date_quality) == (None, "none")
    assert "undated" in records[1].source_id
    assert [(failure.fault, failure.location) for failure in failures] == [("date", "line 2")]


@pytest.mark.parametrize("line", ["13/02/2024, 25:00 - c: m", "13/02/2024, 10:60 - c: m", "13/02/2024, 1:00:75 - c: m"])
def test_what_is_no_time_begins_no_message(chat: Any, line: str) -> None:
    records, _ = chat(f"13/02/2024, 10:00 - a: m\n{line}\n")
    assert said(records) == [("a", f"m\n{line}")]


# --- what a message says --------------------------------------------------------------------------------------------

NOTES = [
    # what is written, text, files, extra, reason
    ("<Media omitted>", "", [], {"omitted": "media"}, "Android, English"),
    ("<Media omitted>\nlook at this", "look at this", [], {"omitted": "media"}, "Android: the caption follows"),
    ("<Média vynechány>", "", [], {"omitted": "media"}, "Czech"),
    ("< Média vynechána >", "", [], {"omitted": "media"}, "Czech, older, with spaces"),
    ("<Medien ausgeschlossen>", "", [], {"omitted": "media"}, "German"),
    ("<Multimedia omitido>", "", [], {"omitted": "media"}, "Spanish"),
    ("<Médias omis>", "", [], {"omitted": "media"}, "French"),
    ("<המדיה לא נכללה>", "", [], {"omitted": "media"}, "Hebrew"),
    (f"{LRM}image omitted", "", [], {"omitted": "image"}, "iOS"),
    ("image omitted", "", [], {"omitted": "image"}, "iOS, older, without the mark"),
    (f"look {LRM}image omitted", "look", [], {"omitted": "image"}, "iOS: the caption stands in front"),
    (f"{LRM}התמונה הושמטה", "", [], {"omitted": "image"}, "iOS, Hebrew"),
    (f"{LRM}audio omitted", "", [], {"omitted": "audio"}, "iOS"),
    (f"{LRM}Contact card omitted", "", [], {"omitted": "contact"}, "iOS, capital letter"),
    ("IMG-20240101-WA0001.jpg (file attached)", "", ["IMG-20240101-WA0001.jpg"], {}, "Android"),
    (f"{LRM}IMG-20240101-WA0001.jpg (file attached)", "", ["IMG-20240101-WA0001.jpg"], {}, "Android, with the mark"),
    ("a b.pdf (file attached)\nthe lease", "the lease", ["a b.pdf"], {}, "Android: name with a space, caption"),
    ("scan (1).pdf (Datei angehängt)", "", ["scan (1).pdf"], {}, "German, brackets in the name"),
    ("a.jpg (soubor byl přiložen)", "", ["a.jpg"], {}, "Czech"),
    ("a.jpg (archivo adjunto)", "", ["a.jpg"], {}, "Spanish"),
    ("a.jpg (fichier joint)", "", ["a.jpg"], {}, "French"),
    ("a.jpg (קובץ מצורף)", "", ["a.jpg"], {}, "Hebrew"),
    (f"{LRM}a.jpg (kiambatisho)", "", ["a.jpg"], {}, "a language not known, told by the mark"),
    ("see a.pdf (page 2)", "see a.pdf (page 2)", [], {}, "typed, no note"),
    (f"{LRM}<attached: 00000012-PHOTO.jpg>", "", ["00000012-PHOTO.jpg"], {}, "iOS"),
    ("< attached: 00000012-PHOTO.jpg >", "", ["00000012-PHOTO.jpg"], {}, "iOS, with spaces"),
    (f"00000012-PHOTO.jpg <{LRM}attached>", "", ["00000012-PHOTO.jpg"], {}, "iOS, older"),
    (f"at the beach {LRM}<attached: 1-PHOTO.jpg>", "at the beach", ["1-PHOTO.jpg"], {}, "iOS: caption in front"),
    (f"Lease.pdf • {LRM}2 pages {LRM}<attached: 7-Lease.pdf>", "Lease.pdf • 2 pages", ["7-Lease.pdf"], {}, "iOS, PDF"),
    (f"{LRM}<adjunto: a.jpg>", "", ["a.jpg"], {}, "iOS, Spanish"),
    (f"{LRM}<pièce jointe : a.jpg>", "", ["a.jpg"], {}, "iOS, French, space before the colon"),
    (f"{LRM}<מצורף: a.jpg>", "", ["a.jpg"], {}, "iOS, Hebrew"),
    ("<attached: ../../etc/passwd.txt>", "<attached: ../../etc/passwd.txt>", [], {}, "no file has such a name"),
    ("../../passwd.txt (file attached)", "../../passwd.txt (file attached)", [], {}, "nor such a one"),
    ("<todo: call.me>", "<todo: call.me>", [], {}, "typed, no note"),
    ("This message was deleted", "", [], {"deleted": True}, "Android"),
    (f"{LRM}You deleted this message.", "", [], {"deleted": True}, "iOS, full stop"),
    ("Diese Nachricht wurde gelöscht.", "", [], {"deleted": True}, "German"),
    ("הודעה זו נמחקה", "", [], {"deleted": True}, "Hebrew"),
    ("Tato zpráva byla odstraněna", "", [], {"deleted": True}, "Czech"),
    ("I think this message was deleted", "I think this message was deleted", [], {}, "typed, no note"),
    ("see you at 6 <This message was edited>", "see you at 6", [], {"edited": True}, "Android"),
    (f"see you {LRM}<This message was edited>", "see you", [], {"edited": True}, "iOS"),
    ("bis später <Diese Nachricht wurde bearbeitet.>", "bis später", [], {"edited": True}, "German, full stop"),
    ("מחר <ההודעה נערכה>", "מחר", [], {"edited": True}, "Hebrew"),
    (f"x {LRM}<Tin nhắn đã sửa>", "x", [], {"edited": True}, "a language not known, told by the mark"),
    (f"{LRM}<attached: a.jpg> {LRM}<This message was edited>", "", ["a.jpg"], {"edited": True}, "both"),
    ("I <3 you, a < b > c", "I <3 you, a < b > c", [], {}, "typed, no note"),
    (f"{LRM}imagem não revelada", "", [], {"omitted": "image"}, "iOS, Portuguese of Portugal"),
    (f"{LRM}ficheiro de áudio não revelado", "", [], {"omitted": "audio"}, "iOS, Portuguese of Portugal"),
    ("<Ficheiro não revelado>", "", [], {"omitted": "media"}, "Portuguese of Portugal"),
    (f"{LRM}ไม่มีรูปภาพ", "", [], {"omitted": "image"}, "iOS, Thai"),
    (f"{LRM}วิดีโอถูกลบ", "", [], {"omitted": "video"}, "iOS, Thai"),
    ("<สื่อถูกลบ>", "", [], {"omitted": "media"}, "Thai"),
    (f"{LRM}वीडियो छोड़ा गया", "", [], {"omitted": "video"}, "iOS, Hindi"),
    ("<मीडिया के बिना>", "", [], {"omitted": "media"}, "Hindi"),
    (f"{LRM}連絡先カードを省略", "", [], {"omitted": "contact"}, "iOS, Japanese"),
    ("<メディアは含まれていません>", "", [], {"omitted": "media"}, "Japanese"),
    (f"{LRM}kartu kontak tidak disertakan", "", [], {"omitted": "contact"}, "iOS, Indonesian"),
    ("<Media tidak disertakan>", "", [], {"omitted": "media"}, "Indonesian"),
    (f"{LRM}لم يتم إدراج المستند", "", [], {"omitted": "document"}, "iOS, Arabic"),
    (f"{LRM}{RLM}لم يتم إدراج الصورة", "", [], {"omitted": "image"}, "iOS, Arabic, a second mark"),
    ("<تم استبعاد الوسائط>", "", [], {"omitted": "media"}, "Arabic"),
    (f"{LRM}<المُرفق: a.jpg>", "", ["a.jpg"], {}, "iOS, Arabic"),
    (f"{LRM}<แนบ: a.jpg>", "", ["a.jpg"], {}, "iOS, Thai"),
    ("a.jpg (ไฟล์ที่แนบ)", "", ["a.jpg"], {}, "Thai"),
    ("a.jpg (फाइल संलग्न)", "", ["a.jpg"], {}, "Hindi"),
    ("a.jpg (添付ファイル有り)", "", ["a.jpg"], {}, "Japanese"),
    ("a.jpg (file terlampir)", "", ["a.jpg"], {}, "Indonesian"),
    ("a.jpg (ficheiro anexado)", "", ["a.jpg"], {}, "Portuguese of Portugal"),
    ("a.jpg (الملف مرفق)", "", ["a.jpg"], {}, "Arabic"),
    ("यह मैसेज डिलीट कर दिया गया है", "", [], {"deleted": True}, "Hindi"),
    ("คุณลบข้อความนี้", "", [], {"deleted": True}, "Thai"),
    ("Anda telah menghapus pesan ini", "", [], {"deleted": True}, "Indonesian"),
    ("10:30: meet: here", "10:30: meet: here", [], {}, "colons in the text"),
    ("  two spaces  ", "  two spaces  ", [], {}, "spaces are the writer's"),
    ("*bold* @\u2068Dana\u2069", "*bold* @\u2068Dana\u2069", [], {}, "marks within are the writer's"),
]


@pytest.mark.parametrize(("written", "text", "files", "extra", "reason"), NOTES, ids=[n[-1] + n[0] for n in NOTES])
def test_notes(chat: Any, written: str, text: str, files: list[str], extra: dict[str, Any], reason: str) -> None:
    for begin in ("13/06/2018, 21:25 - ", "[13/06/2018, 21:25:00] "):
        records, failures = chat(f"{begin}Dana: {written}\n{begin}Noa: next")
        assert failures == []
        message, *attachments, following = records
        assert (message.from_, message.text, message.extra) == ("Dana", text, extra), reason
        assert [attachment.file_name for attachment in attachments] == files
        assert following.text == "next"


SENDERS = [
    ("13/06/2018, 21:25 - +972 54-123-4567: m", "+972 54-123-4567", "m", "a phone number"),
    ("[13/06/2018, 21:25:00] \u202a+972\u00a054\u2011123\u20114567\u202c: m", "+972 54-123-4567", "m", "as iOS has it"),
    ("13/06/2018, 21:25 - 10:30 Club: m", "10:30 Club", "m", "a colon in the name"),
    ("13/06/2018, 21:25 - Dana: a: b", "Dana", "a: b", "the first colon and space end the name"),
    ("13/06/2018, 21:25 - Jiří Novák-Dvořák 🤓: m", "Jiří Novák-Dvořák 🤓", "m", "letters, hyphen, emoji"),
    ("13/06/2018, 21:25 - Dana:", "Dana", "", "an editor took the space of an empty message"),
    ("13/06/2018, 21:25 - Dana : m", "Dana", "m", "a space before the colon"),
    ('13/06/2018, 21:25 - עו"ד כהן: m', 'עו"ד כהן', "m", "the quote of a Hebrew abbreviation"),
    ("[13/06/2018, 21:25:00] ~\u202fDana: m", "~ Dana", "m", "iOS marks names from strangers"),
    ("13/06/2018, 21:25 - Dana left", None, "Dana left", "a notice"),
    (
        '13/06/2018, 21:25 - Dana changed the subject from "Trip: Rome" to "Trip"',
        None,
        'Dana changed the subject from "Trip: Rome" to "Trip"',
        "a colon within quotes ends no name",
    ),
    (
        "13/06/2018, 21:25 - דנה שינתה את הנושא ל”טיול: רומא”",
        None,
        "דנה שינתה את הנושא ל”טיול: רומא”",
        "likewise with other quotes",
    ),
    (f"13/06/2018, 21:25 - {RLM}ההודעות מוצפנות", None, "ההודעות מוצפנות", "a mark before a notice"),
    (
        "13/06/2018, 21:25 - Dana changed the description\nRules: be kind",
        None,
        "Dana changed the description\nRules: be kind",
        "the name must stand in the first line",
    ),
]


@pytest.mark.parametrize(("line", "sender", "text", "reason"), SENDERS, ids=[reason for *_, reason in SENDERS])
def test_senders(chat: Any, line: str, sender: str | None, text: str, reason: str) -> None:
    (record,), failures = chat(line)
    assert (failures, record.from_, record.text) == ([], sender, text), reason
    assert record.extra == ({} if sender else {"system": True})


def test_notices_that_ios_shows_as_messages(chat: Any) -> None:
    begin = "[13/06/2018, 21:25:00] "
    text = "\n".join(
        begin + line
        for line in [
            f"Trip: {LRM}Messages and calls are end-to-end encrypted.",
            f"Trip: {LRM}Dana hat die Gruppe erstellt",  # of the group's name, in no known words
            f"Noa: {LRM}Noa added Omer",  # of the one who did it
            f"Noa: {LRM}Your security code with Omer changed.",
            "Noa: Your security code with Omer changed.",  # typed: no mark
            f"Omer: {LRM}image omitted",
            f"Omer: {LRM}Location: https://maps.google.com/?q=1,2",
        ]
    )
    records, _ = chat(text, name="WhatsApp Chat - Trip.zip.txt".replace(".zip", ""))
    assert [record.from_ for record in records] == [None, None, None, None, "Noa", "Omer", "Omer"]
    assert [bool(record.extra.get("system")) for record in records] == [True] * 4 + [False] * 3
    assert records[1].text == "Dana hat die Gruppe erstellt"
    assert records[6].text == "Location: https://maps.google.com/?q=1,2"


NOTICES = [
    ("الرسائل والمكالمات مشفرة تمامًا بين الطرفين، بحيث لا يستطيع أحد قراءتها", "Arabic"),
    ("الرسائل والمكالمات مشفرة تماماً", "Arabic, spelt otherwise"),
    (f"{RLM}تغيّر رمز أمانك المُستخدَم مع Dana. انقر هنا لمعرفة المزيد", "Arabic, a second mark"),
    ("أضاف Dana عضو Omer", "Arabic, the name behind the verb"),
    ("مكالمة صوتية فائتة", "Arabic, a call"),
    ("ข้อความและการโทรได้รับการเข้ารหัสจากต้นทางถึงปลายทาง", "Thai"),
    ("รหัสความปลอดภัยของคุณกับ Dana มีการเปลี่ยนแปลง", "Thai"),
    ("Danaได้เพิ่มOmer", "Thai, no space behind the name"),
    ("สายที่ไม่ได้รับ", "Thai, a call"),
    ("मैसेजेस और कॉल्स एंड-टू-एंड एन्क्रिप्टेड हैं", "Hindi"),
    ("Noa के लिए आपका सुरक्षा कोड बदल गया है", "Hindi"),
    ("Dana ने Omer को जोड़ा", "Hindi"),
    ("वॉइस कॉल मिस हुई", "Hindi, a call"),
    ("As mensagens e as chamadas são encriptadas ponto a ponto.", "Portuguese of Portugal"),
    ("As mensagens e as chamadas são completamente encriptadas automaticamente", "Portuguese of Portugal, older"),
    ("O seu código de segurança partilhado com Noa mudou. Toque para saber mais", "Portuguese of Portugal"),
    ("Chamada de voz perdida", "Portuguese of Portugal, a call"),
    ("Pesan dan panggilan terenkripsi secara end-to-end.", "Indonesian"),
    ("Kode keamanan Anda dengan Noa telah berubah. Ketuk untuk info selengkapnya", "Indonesian"),
    ("Panggilan suara tak terjawab", "Indonesian, a call"),
    ("メッセージと通話はエンドツーエンド暗号化されています。", "Japanese"),
    ("Noaとのセキュリティコードが変更されました。タップして詳細を表示。", "Japanese"),
    ("DanaさんがOmerさんを追加しました", "Japanese, no space behind the name"),
    ("音声通話不在着信", "Japanese, a call"),
    ("Missed voice call", "English, a call"),
]


@pytest.mark.parametrize(("notice", "reason"), NOTICES, ids=[f"{one[1]}: {one[0]}" for one in NOTICES])
def test_notices_of_many_languages_are_nobodys_words(chat: Any, notice: str, reason: str) -> None:
    """iOS shows them in a chat with one person as that person's; Android without a name."""
    begin = "[13/06/2018, 21:25:00] "
    ios, _ = chat(f"{begin}Dana: hello\n{begin}Dana: {LRM}{notice}\n{begin}Dana: {notice}\n", name="_chat.txt")
    assert [record.from_ for record in ios] == ["Dana", None, "Dana"], reason  # the last was typed: no mark
    (android,), _ = chat(f"13/06/2018, 21:25 - {notice}\n")
    assert (android.from_, android.extra) == (None, {"system": True}), reason


def test_quotes_of_japan_end_no_name(chat: Any) -> None:
    (record,), _ = chat("2018/06/13 21:25 - Danaさんがグループ「旅行: ローマ」を作成しました\n")
    assert (record.from_, record.text) == (None, "Danaさんがグループ「旅行: ローマ」を作成しました")


def test_a_chat_with_one_person_is_no_group(chat: Any) -> None:
    begin = "[13/06/2018, 21:25:00] "
    text = f"{begin}Dana: {LRM}POLL:\n{begin}Dana: hello\n{begin}Dana: {LRM}Messages are end-to-end encrypted."
    records, _ = chat(text, name="WhatsApp Chat - Dana.txt")
    assert [record.from_ for record in records] == ["Dana", "Dana", None]


# --- records --------------------------------------------------------------------------------------------------------


@pytest.mark.requirement("S0-35")
@pytest.mark.requirement("S0-36")
@pytest.mark.requirement("S0-27")
@pytest.mark.requirement("S0-28")
def test_fields_of_a_message_and_its_attachment(chat: Any) -> None:
    records, _ = chat("13/02/2024, 10:00 - Dana Levi: IMG-1.webp (file attached)\nthe cat\n", zone="Asia/Jerusalem")
    message, attachment = records
    chat_id = KEYS.id_hash("dana")
    own = f"{chat_id}:20240213T100000:{KEYS.id_hash('Dana Levi: the cat')}"
    assert message == Record(
        own,
        "the cat",
        rag_source_type="whatsapp",
        from_="Dana Levi",
        subject="Dana",
        ts=1707811200,
        thread_id=f"whatsapp:{chat_id}",
        parent_ref=f"whatsapp:{own}",
        total_siblings=1,
        content_type="text/plain",
        locations=["WhatsApp Chat with Dana.txt#L1"],
    )
    assert attachment == Record(
        f"{own}:a0",
        rag_source_type="whatsapp_attachment",
        from_="Dana Levi",
        subject="Dana",
        ts=1707811200,
        thread_id=f"whatsapp:{chat_id}",
        parent_asset_id=f"whatsapp:{own}",
        parent_ref=f"whatsapp:{own}",
        index_in_parent=0,
        total_siblings=1,
        content_type="image/webp",
        file_name="IMG-1.webp",
        locations=["WhatsApp Chat with Dana.txt#L1"],
    )


def test_media_beside_the_export_are_located(tmp_path: Path, chat: Any) -> None:
    (tmp_path / "IMG-1.jpg").write_bytes(b"")
    records, _ = chat("13/02/2024, 10:00 - Dana: IMG-1.jpg (file attached)\n")
    assert records[1].locations == ["IMG-1.jpg"]


def test_media_that_cannot_be_read_cost_the_chat_nothing(tmp_path: Path, chat: Any) -> None:
    (tmp_path / "gone.pdf").symlink_to(tmp_path / "nowhere")
    (tmp_path / "folder.pdf").mkdir()
    lines = [
        f"13/02/2024, 10:0{n} - Dana: {name} (file attached)\n" for n, name in enumerate(("gone.pdf", "folder.pdf"))
    ]
    records, failures = chat("".join(lines))
    assert [record.file_name for record in records] == [None, "gone.pdf", None, "folder.pdf"]
    assert failures == []


def test_numbers_of_a_message(chat: Any) -> None:
    begin = "13/02/2024, 10:00 - Dana: "
    records, _ = chat(
        f"{begin}INV-1187 is 8,400₪, order 204881736\n{begin}at 18:45, 12/3\nsee č. 2025/0042\n{begin}hello\n"
    )
    assert [record.numbers for record in records] == [["INV-1187", "204881736"], ["2025/0042"], []]


def test_a_document_that_was_sent_is_known_by_its_bytes(tmp_path: Path, chat: Any) -> None:
    """Pictures are not: WhatsApp writes them anew. One that is not there, or damaged, has no bytes to be known by."""
    sent: dict[str, str | bytes] = dict.fromkeys(("a.PDF", "b.pdf", "c.jpg"), b"%PDF- the same")
    lines = [f"13/02/2024, 10:00 - Dana: {name} (file attached)\n" for name in (*sent, "gone.pdf")]
    for name in sent:
        (tmp_path / name).write_bytes(b"%PDF- the same")
    beside, _ = chat("".join(lines))
    file = pack(tmp_path / "WhatsApp Chat with Dana.zip", {"WhatsApp Chat with Dana.txt": "".join(lines), **sent})
    packed, failures = read_file(file)
    known = {"bytes_hash": KEYS.id_hash(hashlib.sha256(b"%PDF- the same").hexdigest())}
    for records in (beside, packed):
        attached = [record for record in records if record.file_name]
        assert [record.extra for record in attached] == [known, known, {}, {}]
    assert failures == []
    with zipfile.ZipFile(file, "w") as archive:  # stored as they are
        archive.writestr("WhatsApp Chat with Dana.txt", "".join(lines))
        for name, data in sent.items():
            archive.writestr(name, data)
    file.write_bytes(file.read_bytes().replace(b"%PDF- the same", b"%PDF- damaged!", 1))
    damaged, _ = read_file(file)
    assert said(damaged) == said(packed)
    assert [record.extra for record in damaged if record.file_name] == [{}, known, {}, {}]


def test_ids_hold_no_name_and_no_number(chat: Any) -> None:
    text = "13/02/2024, 10:00 - +972 54-123-4567: Dana, call 054-123-4567\n13/02/2024, 10:00 - Dana left\n"
    records, _ = chat(text, name="WhatsApp Chat with +972 54-123-4567.txt")
    for record in records:
        for identifier in (record.source_id, str(record.thread_id)):
            assert "Dana" not in identifier
            assert "4567" not in identifier


SAME_CHAT = [
    ("WhatsApp Chat with Dana.txt", "English, Android"),
    ("WhatsApp Chat with Dana (1).txt", "a second copy"),
    ("WhatsApp Chat - dana.txt", "iOS, other letters"),
    ("WhatsApp-Chat mit Dana.txt", "German"),
    ("Chat de WhatsApp con Dana.txt", "Spanish"),
    ("Discussion WhatsApp avec Dana.txt", "French"),
    ("Chat WhatsApp s uživatelem Dana.txt", "Czech"),
    ("צ'אט WhatsApp עם Dana.txt", "Hebrew"),
    ("צ׳אט WhatsApp עם Dana(2).txt", "Hebrew, other apostrophe, copy"),
    ("Dana ile WhatsApp Sohbeti.txt", "Turkish, the name in front"),
    ("WhatsApp_Chat_with_Dana.txt", "a browser's underscores"),
    ("Dana/_chat.txt", "iOS, unpacked into a folder of that name"),
    ("WhatsApp Chat - Dana/_chat (1).txt", "iOS, unpacked"),
]


@pytest.mark.parametrize(("name", "reason"), SAME_CHAT, ids=[reason for _, reason in SAME_CHAT])
def test_one_chat_in_files_of_many_names(tmp_path: Path, name: str, reason: str) -> None:
    file = tmp_path / name
    file.parent.mkdir(exist_ok=True)
    file.write_text("13/02/2024, 10:00 - a: m\n")
    (record,) = read(unit(file, tmp_path), reading())
    assert isinstance(record, Record)
    assert record.thread_id == f"whatsapp:{KEYS.id_hash('dana')}", reason


def test_chats_of_other_names_are_other_chats(tmp_path: Path) -> None:
    threads = set()
    for name in ("WhatsApp Chat with Dana.txt", "WhatsApp Chat with Dana Levi.txt", "Noa/_chat.txt", "notes.txt"):
        file = tmp_path / name
        file.parent.mkdir(exist_ok=True)
        file.write_text("13/02/2024, 10:00 - a: m\n")
        threads |= {record.thread_id for record in read(unit(file, tmp_path), reading()) if isinstance(record, Record)}
    assert len(threads) == 4


def lines_of_a_chat(count: int) -> list[str]:
    rng = random.Random(7)
    times = sorted((rng.randrange(1, 29), rng.randrange(3)) for _ in range(count))
    return [f"{day:02}/02/2024, 10:{minute:02} - {rng.choice('ab')}: {rng.choice('xyz')}" for day, minute in times]


def test_true_duplicates_get_an_ordinal_in_order_of_appearance(chat: Any) -> None:
    records, _ = chat("13/02/2024, 10:00 - a: ok\n13/02/2024, 10:00 - b: ok\n" + "13/02/2024, 10:00 - a: ok\n" * 2)
    first = records[0].source_id
    assert [records[2].source_id, records[3].source_id] == [f"{first}:2", f"{first}:3"]
    assert len({record.source_id for record in records}) == 4


def test_exports_of_one_chat_agree_on_ids(chat: Any) -> None:
    lines = lines_of_a_chat(400)
    whole = [record.source_id for record in chat("\n".join(lines))[0]]
    assert len(set(whole)) == 400
    random.Random(1).shuffle(lines)
    assert {record.source_id for record in chat("\n".join(lines), "dmy")[0]} == set(whole)
    lines = lines_of_a_chat(400)
    cut = next(number for number in range(200, 400) if lines[number][:17] != lines[number - 1][:17])
    early = [record.source_id for record in chat("\n".join(lines[:cut]) + "\n")[0]]
    late = [record.source_id for record in chat("\n".join(lines[cut:]))[0]]
    assert early + late == whole


def test_exports_with_and_without_media_agree_on_ids(chat: Any) -> None:
    with_media = "13/02/2024, 10:00 - a: IMG-1.jpg (file attached)\nthe cat\n13/02/2024, 10:01 - a: m\n"
    without = "13/02/2024, 10:00 - a: <Media omitted>\nthe cat\n13/02/2024, 10:01 - a: m\n"
    ids = [
        [record.source_id for record in chat(text)[0] if record.rag_source_type == "whatsapp"]
        for text in (with_media, without)
    ]
    assert ids[0] == ids[1]


# --- files ----------------------------------------------------------------------------------------------------------


def pack(path: Path, members: dict[str, str | bytes]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return path


def test_a_zip_of_ios_with_media(tmp_path: Path) -> None:
    text = f"[13/02/2024, 10:00:00] Dana: hello\r\n{LRM}[13/02/2024, 10:00:05] Dana: {LRM}<attached: 1-PHOTO.jpg>\r\n"
    file = pack(tmp_path / "WhatsApp Chat - Dana.zip", {"_chat.txt": text, "1-PHOTO.jpg": b"x"})
    records, failures = read_file(file)
    assert failures == []
    assert said(records) == [("Dana", "hello"), ("Dana", "")]
    assert {record.thread_id for record in records} == {f"whatsapp:{KEYS.id_hash('dana')}"}
    assert [record.locations for record in records] == [
        ["WhatsApp Chat - Dana.zip!_chat.txt#L1"],
        ["WhatsApp Chat - Dana.zip!_chat.txt#L2"],
        ["WhatsApp Chat - Dana.zip!1-PHOTO.jpg"],
    ]


def test_a_zip_of_android_in_which_another_chat_was_sent(tmp_path: Path) -> None:
    members: dict[str, str | bytes] = {
        "WhatsApp Chat with Dana.txt": "13/02/2024, 10:00 - Dana: WhatsApp Chat with Noa.txt (file attached)\n",
        "WhatsApp Chat with Noa.txt": "13/02/2020, 10:00 - Noa: secret\n",
        "notes.txt": "13/02/2020, 10:00 - Noa: secret\n",
    }
    records, failures = read_file(pack(tmp_path / "WhatsApp Chat with Dana (1).zip", members))
    assert failures == []
    assert [record.file_name for record in records] == [None, "WhatsApp Chat with Noa.txt"]


def test_a_zip_of_several_chats(tmp_path: Path) -> None:
    members: dict[str, str | bytes] = {
        "WhatsApp Chat - Dana/_chat.txt": "[13/02/2024, 10:00:00] Dana: one\n",
        "WhatsApp Chat - Noa/_chat.txt": "[13/02/2024, 10:00:00] Noa: two\n",
        "WhatsApp Chat - Omer/_chat.txt": "[3/2/2024, 10:00:00] Omer: when\n",
        "__MACOSX/WhatsApp Chat - Noa/._chat.txt": b"\0\5\x16\7",
    }
    records, failures = read_file(pack(tmp_path / "phones.zip", members))
    assert [(record.subject, record.text) for record in records] == [("Dana", "one"), ("Noa", "two"), ("Omer", "when")]
    assert at(records[2])[:10] == "2024-02-03"  # as the two others are written
    assert [(failure.fault, failure.location, failure.whole_unit) for failure in failures] == [
        ("date_order", "WhatsApp Chat - Omer/_chat.txt", False)
    ]


@pytest.mark.parametrize(
    ("charset", "word"),
    [
        ("utf-8", "žluťoučký"),
        ("utf-8-sig", "žluťoučký"),
        ("utf-16", "שירן"),
        ("utf-16-le", "שירן"),
        ("utf-16-be", "שירן"),
    ],
)
def test_charsets_that_are_certain(chat: Any, charset: str, word: str) -> None:
    records, failures = chat(f"13/02/2024, 10:00 - {word}: {word}\n13/02/2024, 10:00 - a: b".encode(charset))
    assert failures == []
    assert said(records) == [(word, word), ("a", "b")]


def test_a_charset_that_can_be_told_is_named_and_read(chat: Any) -> None:
    text = "".join(f"13/02/2024, 10:{minute:02} - Иван: Привет, как дела? Встретимся завтра\n" for minute in range(20))
    records, (failure,) = chat(text.encode("cp1251"))
    assert said(records)[0] == ("Иван", "Привет, как дела? Встретимся завтра")
    assert (failure.fault, failure.whole_unit) == ("charset", False)
    assert "cp1251" in failure.message


def test_a_charset_that_cannot_be_told_is_refused(chat: Any) -> None:
    noise = bytes(random.Random(0).choices(range(128, 256), k=30))
    records, (failure,) = chat(b"13/02/2024, 10:00 - a: " + noise)
    assert records == []
    assert (failure.fault, failure.whole_unit) == ("charset", True)
    assert "UTF-8" in failure.message


def test_damage_in_utf8_costs_only_its_letters(chat: Any) -> None:
    whole = "".join(f"13/02/2024, 10:{minute:02} - שירן: שלום לכולם\n" for minute in range(20)).encode()
    position = whole.rindex("ם".encode())
    records, (failure,) = chat(whole[:position] + whole[position + 1 :])
    assert len(records) == 20
    assert [record.text for record in records[:19]] == ["שלום לכולם"] * 19
    assert records[19].text == "שלום לכול\ufffd"
    assert (failure.fault, failure.whole_unit) == ("charset", False)


BAD = [
    (b"", "empty", True, "nothing in it"),
    (b"just some notes\nof mine\n", "not_a_chat", True, "no line begins like a message"),
    (b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 20, "binary", True, "no text at all"),
]


@pytest.mark.parametrize(("data", "fault", "whole", "reason"), BAD, ids=[reason for *_, reason in BAD])
def test_what_is_no_chat_is_a_failure(chat: Any, data: bytes, fault: str, whole: bool, reason: str) -> None:
    records, (failure,) = chat(data)
    assert (records, failure.fault, failure.whole_unit) == ([], fault, whole), reason


def test_text_before_the_first_message_is_told(chat: Any) -> None:
    records, (failure,) = chat("Exported by me\n\n13/02/2024, 10:00 - a: m\n")
    assert [record.locations for record in records] == [["WhatsApp Chat with Dana.txt#L3"]]
    assert (failure.fault, failure.location, failure.whole_unit) == ("not_a_message", "line 1", False)


def test_lines_in_another_form_stay_text_and_are_told(chat: Any) -> None:
    pasted = "[2/13/20, 9:00:00 PM] Noa: x\n" * 3
    records, (failure,) = chat(f"13/02/2024, 10:00 - a: look\n{pasted}13/02/2024, 10:01 - b: m\n")
    assert said(records) == [("a", f"look\n{pasted}".rstrip()), ("b", "m")]
    assert (failure.fault, failure.location) == ("mixed_forms", "line 1")
    assert "3 of its lines" in failure.message


def test_a_missing_file_is_a_failure(tmp_path: Path) -> None:
    (failure,) = read(Unit("gone.txt", tmp_path / "gone.txt", 0, 0), reading())
    assert isinstance(failure, Failure)
    assert (failure.fault, failure.whole_unit) == ("unreadable", True)


def test_bad_zips_are_failures(tmp_path: Path) -> None:
    good = pack(tmp_path / "good.zip", {"_chat.txt": "\n".join(lines_of_a_chat(300))})
    (failure,) = read(unit(good), reading(archive_max_ratio=2))
    assert isinstance(failure, Failure)
    assert failure.fault == "too_large"
    cut = tmp_path / "cut.zip"
    cut.write_bytes(good.read_bytes()[:200])
    assert [failure.fault for failure in read_file(cut)[1]] == ["truncated"]
    locked = bytearray(good.read_bytes())
    locked[locked.index(b"PK\1\2") + 8] |= 1
    cut.write_bytes(locked)
    records, (failure,) = read_file(cut)
    assert (records, failure.fault, failure.whole_unit) == ([], "encrypted", True)
    records, (failure,) = read_file(pack(tmp_path / "photos.zip", {"a.jpg": b"", "readme.txt": "hello"}))
    assert (records, failure.fault) == ([], "not_a_chat")
    records, failures = read_file(
        pack(tmp_path / "slip.zip", {"../evil.txt": b"", "_chat.txt": "13/02/24, 10:00 - a: m"})
    )
    assert (said(records), [failure.fault for failure in failures]) == ([("a", "m")], ["unsafe_path"])


def test_a_zip_that_the_disk_does_not_give_is_not_taken_for_damaged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What cannot be read now is tried again with every sync; what is damaged stays so."""
    good = pack(tmp_path / "good.zip", {"_chat.txt": "\n".join(lines_of_a_chat(300))})

    def failing(self: zipfile.ZipExtFile, size: int = -1) -> bytes:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    monkeypatch.setattr(zipfile.ZipExtFile, "read", failing)
    records, (failure,) = read_file(good)
    assert (records, failure.fault, failure.whole_unit) == ([], "unreadable", True)


def test_failures_hold_no_text_of_the_chat(chat: Any) -> None:
    texts = [
        "secret before\n13/02/2024, 10:00 - secret: secret\n99/02/2024, 10:00 - secret: secret\n",
        "1/2/24, 10:00 - secret: secret\n",
        "secret\n",
        "13/02/2024, 10:00 - secret: secret\n" + "[2/13/20, 9:00:00 PM] secret: secret\n" * 3,
    ]
    for text in texts:
        _, failures = chat(text)
        assert failures
        for failure in failures:
            assert "secret" not in failure.message + failure.location


def test_recognise(tmp_path: Path) -> None:
    def write(name: str, text: str | bytes) -> Path:
        (tmp_path / name).write_bytes(text if isinstance(text, bytes) else text.encode())
        return tmp_path / name

    message = "1/2/24, 10:00 - Dana: hello\n"
    assert recognise(write("any.txt", message))
    assert recognise(write("bom.txt", f"\ufeff{LRM}[1/2/24, 10:00:00] Dana: hello\r\n"))
    assert recognise(write("utf16.txt", message.encode("utf-16")))
    assert recognise(write("long.txt", message + "שלום\n" * 2000))
    assert recognise(pack(tmp_path / "chat.zip", {"_chat.txt": message, "a.jpg": b"x"}))
    assert not recognise(write("diary.txt", "1/2/24, 10:00 - went for a walk\n"))
    assert not recognise(write("notes.txt", "Shopping\n" + message))
    assert not recognise(write("empty.txt", b""))
    assert not recognise(write("binary.txt", bytes(range(256))))
    assert not recognise(pack(tmp_path / "photos.zip", {"a.jpg": b"x", "readme.txt": "hello"}))
    assert not recognise(write("broken.zip", b"PK\3\4"))
    assert not recognise(tmp_path / "gone.txt")


# --- properties -----------------------------------------------------------------------------------------------------

BEGINNINGS = [
    "13/06/2018, 21:25 - ",
    "6/13/18, 9:25\u202fPM - ",
    "[13/06/2018, 21:25:00] ",
    f"{LRM}[2018/06/13, 21:25:00] ",
    "13.6.2018 klo 21.25 - ",
    f"{RLM}١٣{RLM}/٦{RLM}/٢٠١٨، ٩:٢٥ م - ",
]
ANY_TEXT = st.text(st.characters(codec="utf-8", exclude_characters="\r\n"), max_size=80)


def has_note(text: str) -> bool:
    """Whether WhatsApp could have written a part of it."""
    return LRM in text or "<" in text or " (" in text or text in ("GIF omitted", "attached")


@given(text=ANY_TEXT, beginning=st.sampled_from(BEGINNINGS))
@example(text="13/06/2018, 21:25 - a: b", beginning=BEGINNINGS[0])
@example(text="\x85\u2028\x0b\x1c", beginning=BEGINNINGS[0])
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_text_survives(chat: Any, text: str, beginning: str) -> None:
    assume(not has_note(text))
    records, failures = chat(f"{beginning}Dana: {text}\n{beginning}Noa: next\n")
    assert failures == []
    assert said(records) == [("Dana", text), ("Noa", "next")]


@given(lines=st.lists(ANY_TEXT, min_size=1, max_size=6), beginning=st.sampled_from(BEGINNINGS))
@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_lines_survive_whatever_the_size_of_chunks(chat: Any, lines: list[str], beginning: str) -> None:
    assume(not any(has_note(line) for line in lines))
    expected = [("Dana", "\n".join(lines)), ("Noa", "\n".join(lines)), ("Dana", "last")]
    text = "".join(f"{beginning}{sender}: {message}\n" for sender, message in expected)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("relrag_pipelines.sources.whatsapp.detect_format.CHUNK", 10)
        records, _ = chat(text)
    assert said(records) == expected


@pytest.mark.parametrize(
    "begins",
    [
        ["1/1/2, 10:00 - ", "1/1/20, 10:00 - ", "1/1/20, 10:01 - ", "1/1/2020, 10:00 - ", "1/1/20, 10:00 - "],
        ["[\u200f1/2/20, 10:00:00] ", "[\u200f1/2/20, 10:00:01] ", "[\u200f1/3/20, 10:00:00] "],
        ["10:00, 1/2/20 - ", "10:00, 1/2/20 - ", "10:00, 2/2/20 - ", "10:01, 1/2/20 - "],
        ["1.2.20. 10:00 - ", "1.2.20 10:00 - ", "1.2.20. 10:00 - "],
        ["6/6/13 BE, 10:00 - ", "6/6/13 AH, 10:00 - "],
    ],
)
def test_no_date_is_missed_where_lines_of_the_last_one_are_passed_over(begins: list[str]) -> None:
    text = "".join(f"\n{begin}a: b\n{begin[:5]}\n{begins[0][:6]}" for begin in begins)
    form = find_form(text)
    assert form
    every = form.messages.split(text)[1::PARTS]
    assert len(every) == len(begins)
    assert [date for date, _ in groupby(form.dates.findall(text))] == [date for date, _ in groupby(every)]


def test_the_dates_are_counted_alike_whatever_the_size_of_chunks(chat: Any, monkeypatch: Any) -> None:
    monkeypatch.setattr("relrag_pipelines.sources.whatsapp.detect_format.CHUNK", 10)
    _, (failure,) = chat("".join(f"{day}/1/2020, 10:00 - a: b\n" for day in (1, 1, 1, 2, 2, 1)))
    assert "no number above 12 stands in its dates (3)" in failure.message


def test_the_phones_language_is_found_in_a_chat_too_long_to_be_kept(chat: Any, monkeypatch: Any) -> None:
    monkeypatch.setattr("relrag_pipelines.sources.whatsapp.detect_format._MAX_BUFFERED", 10)
    records, (failure,) = chat("1/2/2020, 10:00 - a: b\n1/2/2020, 10:01 - a: <Medien ausgeschlossen>\n")
    assert failure.fault == "date_order"
    assert [record.extra for record in records] == [{}, {"omitted": "media"}]
    assert at(records[0])[:10] == "2020-02-01"


@given(st.binary(max_size=300))
@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_bytes_give_records_or_failures(chat: Any, data: bytes) -> None:
    records, failures = chat(b"13/06/2018, 21:25 - a: " + data)
    assert records or failures


STREAM = """
import resource, sys
from pathlib import Path
from relrag_pipelines.records import Record
from relrag_pipelines.sources import ReadContext, Unit
from relrag_pipelines.sources.whatsapp import read
def consume(name):
    file = Path(name)
    return sum(isinstance(item, Record) for item in read(Unit("x.txt", file, 0, 0), ReadContext("s", "UTC", str)))
consume(sys.argv[1])
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(consume(sys.argv[2]), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""


def test_a_long_chat_is_streamed(tmp_path: Path) -> None:
    line = "%02d/%02d/20%02d, %02d:%02d - Dana Levi: " + "a longer message " * 20
    lines = [
        line % (1 + day % 28, 1 + day // 28 % 12, 10 + day // 336, 8 + minute // 6 % 12, minute % 60)
        for day in range(1000)
        for minute in range(60)
    ]
    (tmp_path / "short.txt").write_text("\n".join(lines[:3000]))
    (tmp_path / "long.txt").write_text("\n".join(lines))  # 22 MB
    command = [sys.executable, "-c", STREAM, str(tmp_path / "short.txt"), str(tmp_path / "long.txt")]
    records, kilobytes = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    assert records == "60000"
    assert int(kilobytes) < 8_000
