"""A file that is cut off, by a full disk or a broken download, is not read whole: nothing of it is deleted."""

import shutil
from pathlib import Path

import pytest

from tests.cases import cases
from tests.conftest import ROOT
from tests.sources.connector import read

SAMPLES = ROOT / "examples" / "samples"
KINDS_WITH_SAMPLES = [
    *("bank", "calendar", "discord", "google_chat", "instagram", "messenger", "signal", "slack", "sms", "tasks"),
    *("teams", "telegram", "ai_chat", "twitter", "linkedin"),
]
SHARES = (3, 20, 50, 80, 97)


def sample_files(kind: str) -> list[Path]:
    folder = SAMPLES / kind
    return sorted(file for file in folder.rglob("*") if file.is_file() and read(kind, file)[0])


def cut(data: bytes, share: int) -> bytes:
    """The beginning of a file, up to within a word: between two lines a table shows no cut."""
    end = len(data) * share // 100
    while end < len(data) - 1 and not data[end - 1 : end + 1].isalnum():
        end += 1
    return data[:end]


@pytest.mark.parametrize("kind", KINDS_WITH_SAMPLES)
def test_a_file_that_is_cut_is_not_read_whole(kind: str, tmp_path: Path) -> None:
    files = sample_files(kind)
    assert files
    for file in files:
        shutil.copytree(file.parent, tmp_path / file.parent.name, dirs_exist_ok=True)
        copy = tmp_path / file.parent.name / file.name
        before = {record.source_id for record in read(kind, file)[0]}
        for share in SHARES:
            copy.write_bytes(cut(file.read_bytes(), share))
            records, failures = read(kind, copy)
            is_whole = not any(failure.whole_unit for failure in failures)
            lost = before - {record.source_id for record in records}
            assert not (lost and is_whole), (file.name, share)


@pytest.mark.parametrize(*cases(__file__, "a_cut_between_two_items_is_noticed_where_the_format_has_an_end"))
def test_a_cut_between_two_items_is_noticed_where_the_format_has_an_end(
    kind: str, name: str, text: str, tmp_path: Path
) -> None:
    (tmp_path / name).write_text(text)
    records, failures = read(kind, tmp_path / name)
    assert len(records) >= 1
    assert any(failure.whole_unit for failure in failures)


def test_a_calendar_is_whole_with_its_end_whatever_follows(tmp_path: Path) -> None:
    for text in ("END:VCALENDAR\r\n\r\n", "end:vcalendar", "END:VCALENDAR \n \n"):
        event = "BEGIN:VCALENDAR\r\nBEGIN:VEVENT\r\nUID:a\r\nDTSTART:20240105\r\nEND:VEVENT\r\n"
        (tmp_path / "a.ics").write_bytes(f"{event}{text}".encode())
        records, failures = read("calendar", tmp_path / "a.ics")
        assert (len(records), failures) == (1, [])
