"""What is deleted when the sources change, and what is not: coverage, retained sources, the guard."""

import errno
import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from relrag_pipelines.erasure import record_selection
from relrag_pipelines.ingest.ingest import IngestReport, ingest
from relrag_pipelines.ingest.merge import TooManyDeletions
from relrag_pipelines.records import Failure, Record
from relrag_pipelines.sources import KINDS, CoveredInterval, ReadContext, Unit, jsonl
from relrag_pipelines.stores import unit_state
from tests import archive

CHAT = "chats/WhatsApp Chat with Hiking.txt"
LINES = archive.CHAT.splitlines(keepends=True)


@pytest.fixture
def config(tmp_path: Path) -> Path:
    return archive.make(tmp_path)


def read(config: Path, source: str, **options: bool) -> IngestReport:
    workspace = archive.workspace(config)
    return ingest(workspace, workspace.settings.source(source), **options)


def texts(config: Path, source: str) -> list[str]:
    """Texts of a source's private records in the order of their times."""
    tables = [table for name, _, table in record_selection.private_months(archive.workspace(config)) if name == source]
    rows = [row for table in tables for row in table.select(["ts", "text"]).to_pylist()]
    return [row["text"] for row in sorted(rows, key=lambda row: row["ts"] or 0)]


def write(path: Path, *items: object) -> None:
    path.write_text("".join(json.dumps(item) + "\n" for item in items))


def note(name: str, day: str) -> dict[str, str]:
    return {"id": name, "text": name, "timestamp": day}


def test_an_export_that_begins_later_deletes_nothing_before(config: Path) -> None:
    read(config, "chat")
    every = texts(config, "chat")
    (config.parent / CHAT).write_text("".join(LINES[2:]))
    done = read(config, "chat")
    assert texts(config, "chat") == every
    assert done.units_read == 1
    # what is kept is kept again, month by month, and when everything is read anew
    (config.parent / CHAT).write_text("".join(LINES[3:]))
    read(config, "chat", full=True)
    assert texts(config, "chat") == every
    # and goes with its file
    (config.parent / CHAT).unlink()
    read(config, "chat")
    assert texts(config, "chat") == []
    assert unit_state.load(archive.workspace(config).home, "chat") == {}


@pytest.mark.parametrize("source", ["chat", "papers", "notes"])
def test_a_file_that_the_disk_did_not_give_is_read_with_the_next_sync(
    config: Path, monkeypatch: pytest.MonkeyPatch, source: str
) -> None:
    """What was read of it before stays; nothing of it has changed, so only the failure tells that it is to be read."""
    read(config, source)
    every, kind = texts(config, source), type(KINDS["jsonl"])

    def failing(unit: Unit, reading: ReadContext) -> Iterator[Record]:
        raise OSError(errno.EIO, os.strerror(errno.EIO), unit.path)
        yield

    with monkeypatch.context() as patched:
        patched.setattr(kind, "read", property(lambda self: failing))
        (failure,) = read(config, source, full=True).failures
    assert (failure.fault, failure.whole_unit) == ("unreadable", True)
    assert texts(config, source) == every
    done = read(config, source)
    assert (done.units_read, done.failures) == (1, [])
    assert unit_state.load_failures(archive.workspace(config).home, source) == []
    assert texts(config, source) == every
    assert read(config, source).units_read == 0


def test_what_is_retained_from_before_the_first_month_waits_until_that_is_earlier(config: Path) -> None:
    notes = config.parent / "more"
    notes.mkdir()
    write(notes / "old.jsonl", note("old", "2024-01-10"))
    write(notes / "new.jsonl", note("new", "2024-06-10"))
    said = config.read_text() + '[[sources]]\nname = "more"\nkind = "jsonl"\npath = "more"\nretain = true\n'
    config.write_text(said)
    archive.sync(config)
    (notes / "old.jsonl").unlink()
    for first, held in (("2024-06", {"new"}), ("2023-01", {"new", "old"})):
        config.write_text(f'first_month = "{first}"\n{said}')
        archive.sync(config)
        assert {chunk.text for chunk in archive.chunks(config, "more")} == held
        assert "old" in texts(config, "more")


NOTES = [{"id": f"n{number}", "text": f"note {number}", "timestamp": "2024-02-01"} for number in range(4)]
CUT = {
    "jsonl": ("n.jsonl", "".join(json.dumps(note) + "\n" for note in NOTES), "not_json"),
    "contacts": (
        "n.vcf",
        "".join(f"BEGIN:VCARD\nVERSION:3.0\nUID:{n}\nFN:Eva {n}\nEND:VCARD\n" for n in range(4)),
        "no_end",
    ),
    "gmail": (
        "n.mbox",
        "".join(
            f"From a@b Mon Jan  1 00:00:00 2024\nMessage-ID: <{n}@x.example>\nDate: 1 Jan 2024 10:00:00 +0000\n"
            f"Subject: hello\n\nmail {n}\n\n"
            for n in range(4)
        ),
        "cut_off",
    ),
}


@pytest.mark.parametrize("kind", CUT)
def test_a_file_that_is_cut_off_deletes_nothing_until_it_is_whole(config: Path, kind: str) -> None:
    name, whole, fault = CUT[kind]
    more = f'\n[[sources]]\nname = "more"\nkind = "{kind}"\npath = "more"\n'
    config.write_text(config.read_text() + more)
    (config.parent / "more").mkdir()
    file = config.parent / "more" / name
    file.write_text(whole)
    read(config, "more")
    every = sorted(texts(config, "more"))
    assert len(every) == 4
    within, begins = {"jsonl": ('"note ', "{"), "contacts": ("FN:Eva ", "BEGIN"), "gmail": ("<", "From ")}[kind]
    for number in range(4):
        file.write_text(whole[: whole.index(f"{within}{number}")])
        faults = {(one.fault, one.whole_unit) for one in read(config, "more").failures}
        assert (fault, True) in faults
        assert sorted(texts(config, "more")) == every
    file.write_text(whole[: whole.rindex(begins, 0, whole.index(f"{within}2"))])
    assert read(config, "more").failures == []
    assert len(texts(config, "more")) == 2


def test_a_message_deleted_between_others_is_deleted(config: Path) -> None:
    read(config, "chat")
    (config.parent / CHAT).write_text("".join([LINES[0], *LINES[2:]]))
    read(config, "chat")
    assert texts(config, "chat") == [line.rpartition(": ")[2].strip() for line in [LINES[0], *LINES[2:]]]


def test_the_newest_message_is_deleted_too_unless_the_file_is_older_than_it(config: Path) -> None:
    read(config, "chat")
    chat = config.parent / CHAT
    chat.write_text("".join(LINES[:-1]))
    os.utime(chat, (1706000000, 1706000000))  # written on 2024-01-23: it cannot know of February
    read(config, "chat")
    assert len(texts(config, "chat")) == 5
    chat.write_text("".join(LINES[:-2]))
    read(config, "chat")
    assert len(texts(config, "chat")) == 3


def test_messages_deleted_in_the_middle_of_what_a_later_export_covers_go_and_earlier_stay(config: Path) -> None:
    read(config, "chat")
    (config.parent / CHAT).write_text("".join([LINES[2], LINES[4]]))
    read(config, "chat")
    assert [text[:10] for text in texts(config, "chat")] == ["Merry Chri", "The cabin ", "Who has th", "The boiler"]


def test_another_time_zone_leaves_no_message_twice(config: Path) -> None:
    read(config, "chat")
    config.write_text(config.read_text().replace("Europe/Prague", "America/Los_Angeles"))
    read(config, "chat")
    assert len(texts(config, "chat")) == 5
    config.write_text(config.read_text().replace("America/Los_Angeles", "Asia/Tokyo"))
    read(config, "chat")
    assert len(texts(config, "chat")) == 5


def test_a_file_that_covers_a_span_deletes_only_within_it(config: Path) -> None:
    notes = config.parent / "notes.jsonl"
    days = {"a": "2024-01-31T23:59:59Z", "b": "2024-02-01", "c": "2024-02-29T23:59:59Z", "d": "2024-03-01"}
    write(notes, *(note(name, day) for name, day in days.items()), {"id": "undated", "text": "undated"})
    read(config, "notes")
    write(notes, {"covers": {"from": "2024-02-01", "to": "2024-02-29"}}, note("e", "2024-02-10"))
    read(config, "notes")
    assert texts(config, "notes") == ["a", "e", "d"]  # of the undated no other file can speak
    # the next file holds another span
    write(notes, {"covers": {"from": "2024-03-01"}}, note("f", "2024-03-02"))
    read(config, "notes")
    assert texts(config, "notes") == ["a", "e", "f"]
    write(notes, {"covers": {"to": "2024-02-10"}})
    read(config, "notes")
    assert texts(config, "notes") == ["f"]
    # without the line it holds everything
    write(notes, note("g", "2024-03-02"))
    read(config, "notes")
    assert texts(config, "notes") == ["g"]


def test_what_is_kept_from_outside_of_the_span_is_not_kept_twice(config: Path) -> None:
    notes = config.parent / "notes.jsonl"
    write(notes, note("a", "2024-01-10"), note("b", "2024-02-10"))
    read(config, "notes")
    write(notes, {"covers": {"from": "2024-03-01"}}, note("a", "2024-03-10"))  # the same record, dated anew
    read(config, "notes")
    assert texts(config, "notes") == ["b", "a"]


@pytest.mark.parametrize("covers", ["all", {}, {"form": "2024"}, {"from": "soon"}, {"from": 3}, ["2024"]])
def test_a_span_that_cannot_be_read_deletes_nothing(config: Path, covers: object) -> None:
    notes = config.parent / "notes.jsonl"
    read(config, "notes")
    before = texts(config, "notes")
    write(notes, {"covers": covers}, note("n3", "2024-02-10"))
    (failure,) = read(config, "notes").failures
    assert (failure.location, failure.whole_unit) == ("line 1", True)
    assert failure.message.startswith("covers: ")
    assert texts(config, "notes") == before


def test_the_ends_of_a_span_are_part_of_it(tmp_path: Path) -> None:
    file = tmp_path / "a.jsonl"
    write(file, {"covers": {"from": "2024-02-01T08:00:00", "to": "2024-02-29T09:00:00+01:00"}})
    unit = Unit("a.jsonl", file, 1, 0)
    found = list(jsonl.read(unit, ReadContext("notes", "Europe/Prague", hash=lambda text: text)))
    assert found == [CoveredInterval(None, 1706770800, 1709193601)]
    assert not [one for one in found if isinstance(one, Failure)]


def test_a_retained_source_keeps_files_that_vanish_but_not_records_that_do(config: Path) -> None:
    config.write_text(config.read_text().replace('path = "notes.jsonl"', 'path = "notes"\nretain = true'))
    folder = config.parent / "notes"
    folder.mkdir()
    write(folder / "a.jsonl", note("a1", "2024-01-10"), note("a2", "2024-01-11"))
    write(folder / "b.jsonl", note("b1", "2024-01-12"))
    read(config, "notes")
    (folder / "b.jsonl").unlink()
    write(folder / "a.jsonl", note("a1", "2024-01-10"))
    read(config, "notes")
    assert texts(config, "notes") == ["a1", "b1"]


@pytest.mark.parametrize(
    ("total", "left", "refused"), [(100, 80, False), (100, 79, True), (20, 0, False), (21, 0, True)]
)
def test_the_guard_counts_what_vanishes_by_file_or_record(config: Path, total: int, left: int, refused: bool) -> None:
    config.write_text(config.read_text().replace('path = "notes.jsonl"', 'path = "notes"'))
    folder = config.parent / "notes"
    folder.mkdir()
    for number in range(total):
        write(folder / f"{number}.jsonl", note(f"n{number}", "2024-01-10"))
    read(config, "notes")
    for number in range(left, total):
        (folder / f"{number}.jsonl").unlink()
    if refused:
        with pytest.raises(TooManyDeletions, match=rf"notes: {total - left} of {total} records .* --accept-deletions"):
            read(config, "notes")
        assert len(texts(config, "notes")) == total
        read(config, "notes", accept_deletions=True)
    else:
        read(config, "notes")
    assert len(texts(config, "notes")) == left


def test_records_that_move_to_another_file_are_no_deletions(config: Path) -> None:
    config.write_text(config.read_text().replace('path = "notes.jsonl"', 'path = "notes"'))
    folder = config.parent / "notes"
    folder.mkdir()
    every = [note(f"n{number}", "2024-01-10") for number in range(50)]
    write(folder / "a.jsonl", *every)
    read(config, "notes")
    (folder / "a.jsonl").rename(folder / "b.jsonl")
    read(config, "notes")
    assert len(texts(config, "notes")) == 50


def test_what_a_partial_export_does_not_cover_is_not_counted_by_the_guard(config: Path) -> None:
    notes = config.parent / "notes.jsonl"
    write(notes, *(note(f"n{number}", "2024-01-10") for number in range(100)))
    read(config, "notes")
    write(notes, {"covers": {"from": "2024-02-01"}})
    read(config, "notes")
    assert len(texts(config, "notes")) == 100
