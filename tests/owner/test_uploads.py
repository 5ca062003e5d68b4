"""Uploads come in pieces, go on where they were cut, and are refused before they are stored."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from relrag_pipelines.journal import journal
from relrag_pipelines.journal.entry_kinds import PageAction
from relrag_pipelines.stores import lock
from relrag_query.owner import folders, uploads
from relrag_query.owner.switch import OnlyReads
from relrag_query.owner.uploads import OutOfStep, TooLarge, UploadRefused
from relrag_query.service import Service
from tests import archive
from tests.ingest.test_uploaded_zip import BOMB, packed

ID = "0" * 31 + "a"
TEXT = b"The tenant pays nine hundred a month."


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Service]:
    extra = "web_writes_enabled = true\nupload_max_bytes = 300000\narchive_max_ratio = 20"
    with Service.open(archive.make(tmp_path, extra)) as opened:
        yield opened


def incoming(service: Service) -> dict[str, bytes]:
    folder = folders.incoming(service.settings)
    return {path.name: path.read_bytes() for path in folder.iterdir()} if folder.exists() else {}


def left(service: Service) -> list[str]:
    """What is stored of uploads that are not finished."""
    return sorted(path.name for path in (service.settings.home_path / "private" / "uploads").rglob("*"))


def upload(service: Service, name: str, data: bytes, upload_id: str = ID) -> uploads.UploadReply:
    uploads.add_piece(service, upload_id, 0, data)
    return uploads.finish(service, upload_id, name, len(data))


def test_an_upload_goes_on_where_it_was_cut(service: Service) -> None:
    assert uploads.stored_bytes(service, ID).stored == 0
    uploads.add_piece(service, ID, 0, TEXT[:10])
    with pytest.raises(OutOfStep, match="10 bytes of this file are stored"):
        uploads.add_piece(service, ID, 0, TEXT[:10])
    with pytest.raises(OutOfStep, match="not all"):
        uploads.finish(service, ID, "lease.txt", len(TEXT))
    assert incoming(service) == {}
    assert uploads.stored_bytes(service, ID).stored == 10
    uploads.add_piece(service, ID, 10, TEXT[10:])
    stored = uploads.finish(service, ID, "lease.txt", len(TEXT))
    assert (stored.name, stored.bytes) == ("lease.txt", len(TEXT))
    assert incoming(service) == {"lease.txt": TEXT}
    assert left(service) == []
    assert journal.statements(service.settings.home_path, PageAction) == [PageAction("upload", ".txt, 37 B")]


def test_a_name_that_is_taken_gets_a_number_and_the_same_file_is_stored_once(service: Service) -> None:
    names = [upload(service, "lease.txt", data).name for data in (TEXT, TEXT, b"another one", TEXT)]
    assert names == ["lease.txt", "lease.txt", "lease (2).txt", "lease.txt"]
    assert incoming(service) == {"lease.txt": TEXT, "lease (2).txt": b"another one"}


@pytest.mark.parametrize(
    "name",
    [
        *("../../etc/passwd", "/etc/passwd", "a\\b.txt", ".bashrc", "~$lease.docx", "C:lease.txt", "a\x00.txt"),
        *("a\n.txt", "\u202egpj.exe.txt", " ", ".", "..", "x" * 300 + ".txt", "\ud800.txt", "a/../b.txt"),
    ],
)
def test_a_name_that_is_a_path_or_no_text_is_refused(service: Service, name: str) -> None:
    with pytest.raises(UploadRefused, match="name"):
        upload(service, name, TEXT)
    assert incoming(service) == {}


@pytest.mark.parametrize(
    ("name", "data", "said"),
    [
        ("empty.md", b"", "this file is empty"),
        ("virus.exe", b"MZ", "reads no files with the suffix .exe"),
        ("none", TEXT, "has no suffix"),
        ("photo.jpg", TEXT, "not what its name says"),
        ("scan.pdf", b"<html>", "not what its name says"),
        ("bomb.zip", BOMB, "this zip is refused"),
        ("export.zip", b"no zip at all", "this zip is refused"),
        ("programs.zip", packed(a_exe=b"MZ"), "reads nothing"),
    ],
)
def test_what_cannot_be_read_or_is_a_bomb_is_refused_before_it_is_stored(
    service: Service, name: str, data: bytes, said: str
) -> None:
    with pytest.raises(UploadRefused, match=said):
        upload(service, name, data)
    assert incoming(service) == {}
    assert journal.statements(service.settings.home_path, PageAction) == []


def test_a_zip_with_something_to_read_is_stored(service: Service) -> None:
    data = packed(lease_txt=TEXT)
    assert upload(service, "papers.zip", data).name == "papers.zip"
    assert incoming(service) == {"papers.zip": data}


def test_a_file_above_the_limit_is_refused_and_what_came_of_it_is_removed(service: Service) -> None:
    uploads.add_piece(service, ID, 0, b"x" * 200_000)
    with pytest.raises(TooLarge, match="300 kB"):
        uploads.add_piece(service, ID, 200_000, b"x" * 100_001)
    assert left(service) == []


def test_during_a_sync_a_complete_upload_waits_with_all_its_bytes(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("relrag_query.owner.switch.WAIT_SECONDS", 0)
    uploads.add_piece(service, ID, 0, TEXT)

    def refuse(*_: object) -> None:
        raise lock.LockedByOther("relrag sync is writing to this archive")

    with monkeypatch.context() as locked, pytest.raises(lock.LockedByOther):
        locked.setattr(lock, "writing", refuse)
        uploads.finish(service, ID, "lease.txt", len(TEXT))
    assert incoming(service) == {}
    assert uploads.stored_bytes(service, ID).stored == len(TEXT)
    assert uploads.finish(service, ID, "lease.txt", len(TEXT)).name == "lease.txt"


@pytest.mark.parametrize("upload_id", ["", "../../relrag", "0" * 31, "G" * 32, "0" * 33])
def test_an_id_is_no_path(service: Service, upload_id: str) -> None:
    with pytest.raises(UploadRefused, match="32 hexadecimal"):
        uploads.add_piece(service, upload_id, 0, TEXT)


def test_pages_that_only_read_store_nothing(tmp_path: Path) -> None:
    with Service.open(archive.make(tmp_path)) as service:
        with pytest.raises(OnlyReads, match="web_writes_enabled"):
            uploads.add_piece(service, ID, 0, TEXT)
        assert not service.settings.home_path.exists()
