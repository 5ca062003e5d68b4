"""The export of Teams as it comes: a tar archive with messages.json and the media."""

import io
import tarfile
from pathlib import Path

import pytest

from relrag_pipelines.sources import KINDS
from tests.conftest import ROOT
from tests.sources.connector import read

SAMPLE = ROOT / "examples" / "samples" / "teams" / "messages.json"


def packed(file: Path, members: dict[str, bytes], form: int = tarfile.GNU_FORMAT) -> Path:
    with tarfile.open(file, "w", format=form) as archive:
        for name, data in members.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(data)
            archive.addfile(entry, io.BytesIO(data))
    return file


@pytest.mark.parametrize("form", [tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, tarfile.PAX_FORMAT])
def test_a_tar_holds_the_same_messages(tmp_path: Path, form: int) -> None:
    folder = "8_dana_export" if form == tarfile.USTAR_FORMAT else "výpis " * 40
    members = {f"{folder}/messages.json": SAMPLE.read_bytes(), "media/0-weu-d1.1.jpg": b"\xff\xd8\xff"}
    file = packed(tmp_path / "8_dana_export.tar", members, form)
    records, failures = read("teams", file)
    expected, _ = read("teams", SAMPLE)
    assert [(record.source_id, record.text) for record in records] == [
        (record.source_id, record.text) for record in expected
    ]
    assert failures == []
    assert records[0].locations[0].startswith(f"8_dana_export.tar!{folder.strip()}")
    assert KINDS["teams"].recognise(file)


@pytest.mark.parametrize("share", [10, 50, 97])
def test_a_tar_that_is_cut_deletes_nothing(tmp_path: Path, share: int) -> None:
    file = packed(tmp_path / "a.tar", {"media/a.jpg": b"x" * 20_000, "messages.json": SAMPLE.read_bytes()})
    data = file.read_bytes().rstrip(b"\0")
    file.write_bytes(data[: len(data) * share // 100])
    assert any(failure.whole_unit for failure in read("teams", file)[1])


def test_what_leads_out_of_a_tar_or_is_no_tar_is_left_out(tmp_path: Path) -> None:
    file = packed(tmp_path / "a.tar", {"../messages.json": SAMPLE.read_bytes(), "/etc/messages.json": b"[]"})
    records, (failure,) = read("teams", file)
    assert (records, failure.fault) == ([], "unsafe_path")
    (tmp_path / "b.tar").write_bytes(b"no archive" * 100)
    records, (failure,) = read("teams", tmp_path / "b.tar")
    assert (records, failure.fault, failure.whole_unit) == ([], "not_a_tar", True)
    assert not KINDS["teams"].recognise(tmp_path / "b.tar")
