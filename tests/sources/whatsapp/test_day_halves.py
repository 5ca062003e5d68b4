"""Words beside the times of a chat: never part of a name, and AM or PM, or the chat is refused."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from relrag_pipelines.records import Failure, Record
from relrag_pipelines.sources.whatsapp.day_halves import PM, hour_of_day, known_hours
from tests.cases import cases
from tests.sources.connector import read
from tests.sources.whatsapp import day_periods


def chat(folder: Path, text: str) -> tuple[list[Record], list[Failure]]:
    """What is read of a chat, its zone that of Prague."""
    file = folder / "WhatsApp Chat with Hikers.txt"
    file.write_text(text, encoding="utf-8")
    return read("whatsapp", file)


def sent(records: list[Record]) -> list[tuple[str | None, str, str]]:
    """Sender, time in winter, and text."""
    return [
        (record.from_, f"{datetime.fromtimestamp((record.ts or 0) + 3600, UTC):%H:%M}", record.text)
        for record in records
    ]


@pytest.mark.parametrize(*cases(__file__, "words_beside_times"))
def test_words_beside_times(tmp_path: Path, beginnings: str, times: str) -> None:
    written = beginnings.split("|")
    names = ["Jana", "Petr Novák", "Jana", "Ota"][: len(written)]
    text = "".join(f"{begin}{name}: hello\nmore\n" for begin, name in zip(written, names, strict=True))
    records, failures = chat(tmp_path, text)
    if times:
        expected = [(name, time, "hello\nmore") for name, time in zip(names, times.split(), strict=True)]
        assert (sent(records), failures) == (expected, [])
    else:
        assert (records, [(failure.fault, failure.whole_unit) for failure in failures]) == ([], [("half_of_day", True)])


def test_a_failure_does_not_name_the_words(tmp_path: Path) -> None:
    _, (failure,) = chat(tmp_path, "13/1/25, 7:02 Zorilla - Jana: hello\n")
    assert "Zorilla" not in failure.message


def test_a_dash_in_a_name_of_the_old_form_is_no_end_of_a_time(tmp_path: Path) -> None:
    text = "13/1/25 9:02 Jana - home: hello\n13/1/25 9:03 Petr: hi\n13/1/25 9:04 Jana - home: bye\n"
    records, failures = chat(tmp_path, text)
    assert sent(records) == [
        ("Jana - home", "09:02", "hello"),
        ("Petr", "09:03", "hi"),
        ("Jana - home", "09:04", "bye"),
    ]
    assert failures == []


def test_a_line_of_a_message_like_a_beginning_stays_its_text(tmp_path: Path) -> None:
    lines = [f"13/1/25, {hour}:02 PM - Jana: hello\n" for hour in range(1, 12)] * 2
    lines.insert(5, "14/1/25, 9:30 lunch - with Ota\n")
    records, failures = chat(tmp_path, "".join(lines))
    assert (len(records), records[4].text, failures) == (22, "hello\n14/1/25, 9:30 lunch - with Ota", [])


@pytest.mark.parametrize(("hour", "expected"), [(12, 12), (1, 13), (11, 23), (13, 13), (0, 12)])
def test_hours_of_the_afternoon(hour: int, expected: int) -> None:
    assert hour_of_day(hour, PM) == expected


def test_an_hour_of_which_both_halves_are_as_near_has_none() -> None:
    assert hour_of_day(6, frozenset({0, 12})) is None


def test_the_words_are_those_of_babel() -> None:
    table = day_periods.day_periods(["am", "cs", "en", "kk", "my", "sq", "sw", "zh"])
    assert len(table) > 60
    assert all(hours <= known_hours()[word] or len(known_hours()[word]) == 12 for word, hours in table.items())


@pytest.mark.slow
def test_the_table_has_all_words_of_babel() -> None:
    assert day_periods.TABLE.read_text(encoding="utf-8") == day_periods.table()
