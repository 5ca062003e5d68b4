"""Files that are as they were, whose records no longer are: what was to come, times of files, retained records."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from relrag_pipelines.ingest.scan import DUE_RECORDS, RELATED_UNITS
from relrag_pipelines.stages import plan as plans
from relrag_pipelines.stores import lake, unit_state
from tests import archive

MAY, JUNE = 1_714_521_600, 1_717_200_000


@pytest.fixture
def config(tmp_path: Path) -> Path:
    return archive.make(tmp_path)


def rows_by_month(config: Path, source: str, table: str = "private_records") -> dict[str, list[tuple[str, str, str]]]:
    """Month -> text's beginning, time and date_quality of what a table holds."""
    home = archive.home(config.parent)
    return {
        month: [(row["text"][:20], row["timestamp"], row["date_quality"]) for row in rows]
        for month in lake.manifest(home, table, source)
        if (rows := lake.read(home, table, source, month).to_pylist())
    }


def why(config: Path) -> dict[str, dict[str, int]]:
    return {one.source: one.why for one in plans.build_plan(archive.workspace(config)).exports}


def test_a_clock_that_was_slow_is_made_good_by_the_next_sync(config: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RELRAG_NOW", "2024-01-20T12:00:00Z")
    archive.read(config)
    february = ("The plumber quoted 7", "2024-02-15T08:00:00Z")
    assert (*february, "outside") in rows_by_month(config, "notes")["2000-01"]
    assert why(config) == {}, "nothing has come yet"
    monkeypatch.setenv("RELRAG_NOW", "2024-03-01T12:00:00Z")
    assert why(config) == {"chat": {DUE_RECORDS: 1}, "notes": {DUE_RECORDS: 1}}
    archive.read(config)
    assert (*february, "exact") in rows_by_month(config, "notes")["2024-02"]
    assert (rows_by_month(config, "notes").keys(), rows_by_month(config, "chat").keys()) == (
        {"2024-02"},
        {"2023-12", "2024-01", "2024-02"},
    )
    assert why(config) == {}


def test_what_was_to_come_and_stands_in_no_file_any_more_is_not_read_for_ever(
    config: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    chat = config.parent / "chats" / "WhatsApp Chat with Hiking.txt"
    os.utime(chat, (1_704_100_000, 1_704_100_000))
    monkeypatch.setenv("RELRAG_NOW", "2024-01-05T12:00:00Z")
    archive.read(config)
    chat.write_text("".join(archive.CHAT.splitlines(keepends=True)[:2]))  # an export that ends earlier
    os.utime(chat, (1_704_100_100, 1_704_100_100))
    archive.read(config)
    boiler = ("The boiler of the ca", "2024-02-14T20:40:00Z")
    assert (*boiler, "outside") in rows_by_month(config, "chat")["2000-01"]
    monkeypatch.setenv("RELRAG_NOW", "2024-03-01T12:00:00Z")
    archive.read(config)
    assert (*boiler, "exact") in rows_by_month(config, "chat")["2000-01"]
    assert why(config) == {}


@pytest.mark.parametrize(
    ("name", "text", "follows"),
    [
        ("undated.md", "# Undated\n\nThe time of the file is all there is.\n", True),
        ("dated 2024-01-05.md", "# Dated\n\nThe name says when.\n", False),
    ],
)
def test_a_time_that_only_the_file_has_is_followed(config: Path, name: str, text: str, follows: bool) -> None:
    paper = config.parent / "papers" / name
    paper.write_text(text)
    os.utime(paper, (MAY, MAY))
    archive.read(config)
    before = rows_by_month(config, "papers")
    os.utime(paper, (JUNE, JUNE))
    assert why(config) == {"papers": {"changed": 1}}
    archive.read(config)
    assert (rows_by_month(config, "papers") != before) == follows
    assert ("2024-06" in rows_by_month(config, "papers"), "2024-05" in rows_by_month(config, "papers")) == (
        follows,
        False,
    )


def test_a_time_of_a_file_that_lay_outside_of_all_months_is_followed_too(config: Path) -> None:
    paper = config.parent / "papers" / "unpacked.md"
    paper.write_text("# Unpacked\n\nThe time of the file is all there is.\n")
    os.utime(paper, (315_532_800, 315_532_800))  # 1980, which archives write that know no time
    archive.read(config)
    assert ("# Unpacked\n\nThe time", "1980-01-01T00:00:00Z", "outside") in rows_by_month(config, "papers")["2000-01"]
    os.utime(paper, (MAY, MAY))
    archive.read(config)
    assert ("# Unpacked\n\nThe time", "2024-05-01T00:00:00Z", "modified") in rows_by_month(config, "papers")["2024-05"]


@pytest.mark.parametrize(
    ("since", "last", "until", "last_now"),
    [(MAY, "2025-04", JUNE, "2025-05"), (JUNE, "2025-05", MAY, "2025-04"), (315_532_800, "2024-01", MAY, "2025-04")],
)
def test_events_repeat_until_a_year_after_the_time_that_their_file_has_now(
    config: Path, since: int, last: str, until: int, last_now: str
) -> None:
    folder = config.parent / "calendars"
    folder.mkdir()
    event = "BEGIN:VEVENT\nUID:a\nDTSTART:20240115T080000Z\nSUMMARY:Walk\nRRULE:FREQ=MONTHLY\nEND:VEVENT"
    (folder / "a.ics").write_text(f"BEGIN:VCALENDAR\n{event}\nEND:VCALENDAR\n")
    os.utime(folder / "a.ics", (since, since))
    with config.open("a") as settings:
        settings.write('[[sources]]\nname = "dates"\nkind = "calendar"\npath = "calendars"\n')
    archive.read(config)
    assert max(rows_by_month(config, "dates")) == last
    os.utime(folder / "a.ics", (until, until))
    assert why(config) == {"dates": {"changed": 1}}
    archive.read(config)
    assert max(rows_by_month(config, "dates")) == last_now
    assert why(config) == {}


def retained(config: Path, **notes: list[dict[str, str]]) -> Path:
    """The archive with a retained folder of notes, synced; returns the folder."""
    folder = config.parent / "more"
    folder.mkdir()
    write(folder, **notes)
    said = '[[sources]]\nname = "more"\nkind = "jsonl"\npath = "more"\nretain = true\n'
    config.write_text(config.read_text() + said)
    archive.read(config)
    return folder


def write(folder: Path, **notes: list[dict[str, str]]) -> None:
    for name, lines in notes.items():
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))


OLD = {"id": "m1", "text": "The sled is red.", "timestamp": "2024-02-15T08:00:00Z"}
KEPT = {"id": "m2", "text": "Only the old one.", "timestamp": "2024-02-16T08:00:00Z"}
NEW = {**OLD, "text": "The sled is blue."}


@pytest.mark.parametrize("moved", ["2024-02-15T08:00:00Z", "2024-01-02T08:00:00Z"])
def test_a_retained_file_that_was_renamed_and_edited_gives_way(config: Path, moved: str) -> None:
    folder = retained(config, a=[OLD, KEPT])
    (folder / "a.jsonl").unlink()
    write(folder, b=[{**NEW, "timestamp": moved}])
    archive.read(config)
    texts = sorted(text for rows in rows_by_month(config, "more").values() for text, *_ in rows)
    assert texts == ["Only the old one.", "The sled is blue."]


def test_it_gives_way_too_where_it_vanishes_later(config: Path) -> None:
    folder = retained(config, a=[OLD, KEPT], b=[NEW])
    assert rows_by_month(config, "more")["2024-02"][0][0] == "The sled is red.", (
        "of two that are there the first by path"
    )
    (folder / "a.jsonl").unlink()
    assert why(config) == {"more": {"gone, its records stay": 1}}
    archive.read(config)
    assert [text for text, *_ in rows_by_month(config, "more")["2024-02"]] == ["The sled is blue.", "Only the old one."]
    assert why(config) == {}
    write(folder, a=[OLD, KEPT])
    assert why(config) == {"more": {"they are there again": 1}}
    archive.sync(config)
    texts = [text for text, *_ in rows_by_month(config, "more", "records")["2024-02"]]
    assert texts == ["The sled is red.", "Only the old one."]


def dates_of(config: Path, text: str) -> list[str]:
    return sorted(
        when[:10] for rows in rows_by_month(config, "chat").values() for begin, when, _ in rows if begin == text
    )


def test_a_chat_whose_dates_do_not_tell_is_read_again_when_another_chat_comes_changes_or_goes(config: Path) -> None:
    """Whatever was read of it in another order is gone then, though an export may lack what an earlier one held."""
    chats = config.parent / "chats"
    (chats / "WhatsApp Chat with Hiking.txt").write_text("hello\n")
    (chats / "short.txt").write_text("03/06/2024, 13:55 - Dana: sleds\n04/07/2024, 13:55 - Dana: key\n")
    archive.read(config)
    assert dates_of(config, "sleds") == [], "nothing tells, so it is not read"
    other = chats / "long.txt"
    other.write_text("02/13/2024, 10:00 - Petr: hello\n")
    assert why(config) == {"chat": {RELATED_UNITS: 1}}
    archive.read(config)
    assert (dates_of(config, "sleds"), dates_of(config, "key")) == (["2024-03-06"], ["2024-04-07"])
    other.write_text("13/02/2024, 10:00 - Petr: hello again\n")
    archive.read(config)
    assert (dates_of(config, "sleds"), dates_of(config, "key")) == (["2024-06-03"], ["2024-07-04"])
    settled = unit_state.load_failures(archive.home(config.parent), "chat")
    assert [(one.unit, one.fault, one.whole_unit) for one in settled if one.fault == "date_order"] == [
        ("short.txt", "date_order", False)
    ]
    other.unlink()
    assert why(config) == {"chat": {RELATED_UNITS: 1}}
    archive.read(config)
    failures = unit_state.load_failures(archive.home(config.parent), "chat")
    assert [one.whole_unit for one in failures if one.unit == "short.txt"] == [True], "it asks again"
    assert dates_of(config, "sleds") == ["2024-06-03"], "what cannot be read keeps what it held"
    assert why(config) == {}


def test_a_chat_whose_own_dates_tell_is_not_read_again_for_another(config: Path) -> None:
    archive.read(config)
    (config.parent / "chats" / "short.txt").write_text("03/06/2024, 13:55 - Dana: sleds\n")
    assert why(config) == {"chat": {}}
    archive.read(config)
    assert dates_of(config, "sleds") == ["2024-06-03"]
