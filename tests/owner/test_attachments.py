"""All attachments of a mail or a thread come in one zip, which names what it leaves out."""

import errno
import io
import threading
import zipfile
from collections.abc import Iterator
from email.message import EmailMessage
from pathlib import Path
from typing import BinaryIO

import pytest
from starlette.testclient import TestClient

from relrag_pipelines.files import atomic
from relrag_pipelines.settings import SettingsError
from relrag_pipelines.sources.mail import attached_file
from relrag_query.cli.commands.original import copy_attachments
from relrag_query.owner import attachments
from relrag_query.service import Service
from relrag_query.service.original_file import NoOriginal
from tests import archive
from tests.web_app import BEARER, COOKIE, client

SOURCE = '[[sources]]\nname = "mail"\nkind = "gmail"\npath = "mail"\n'


def _mail(number: int, text: str, *attached: tuple[str, bytes]) -> bytes:
    mail = EmailMessage()
    mail["From"], mail["To"], mail["Subject"] = "dana@example.org", "petr@example.org", "Jetty"
    mail["Date"], mail["Message-ID"] = f"Mon, 05 Feb 2024 10:0{number}:00 +0000", f"<m{number}@example.org>"
    if number > 1:
        mail["In-Reply-To"] = "<m1@example.org>"
    mail.set_content(text)
    for name, data in attached:
        mail.add_attachment(data, maintype="application", subtype="octet-stream", filename=name)
    return mail.as_bytes()


@pytest.fixture(scope="module")
def config(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("zip")
    config = archive.make(folder, SOURCE)
    (folder / "mail").mkdir()
    (folder / "mail" / "1.eml").write_bytes(_mail(1, "Planks.", ("../../plan.bin", b"first"), ("plan.bin", b"second")))
    (folder / "mail" / "2.eml").write_bytes(_mail(2, "Nails.", ("plan.bin", b"third")))
    (folder / "mail" / "3.eml").write_bytes(_mail(3, "Nothing."))
    forwarded = EmailMessage()
    forwarded.set_content("Forwarded.")
    forwarded["Subject"], forwarded["Message-ID"] = "Rafters", "<m4@example.org>"
    forwarded["From"], forwarded["Date"] = "dana@example.org", "Tue, 06 Feb 2024 10:00:00 +0000"
    for name in ("A.bin", "a.bin", "left out.TXT"):
        forwarded.add_attachment(name.encode(), maintype="application", subtype="octet-stream", filename=name)
    inner = EmailMessage()
    inner["From"], inner["Subject"] = "ota@example.org", "The inner rafters"
    inner.set_content("Inner.")
    inner.add_attachment(b"beam", maintype="application", subtype="octet-stream", filename="beam.bin")
    forwarded.add_attachment(inner)
    (folder / "mail" / "4.eml").write_bytes(forwarded.as_bytes())
    archive.first_sync(config)
    return config


@pytest.fixture
def service(config: Path) -> Iterator[Service]:
    with Service.open(config) as opened:
        yield opened


def _ref(service: Service, word: str) -> str:
    return next(hit.asset_id for hit in service.search(word).hits if hit.rag_source_type == "email")


def _contents(data: bytes | Iterator[bytes]) -> dict[str, bytes]:
    whole = data if isinstance(data, bytes) else b"".join(data)
    with zipfile.ZipFile(io.BytesIO(whole)) as packed:
        assert packed.testzip() is None
        return {name: packed.read(name) for name in packed.namelist()}


def test_the_owner_has_them_at_once_and_it_is_noted(service: Service, config: Path) -> None:
    mail = _ref(service, "Planks")
    log = archive.home(config.parent) / "private" / "reveals.jsonl"
    with client(config) as browser:
        assert "/original/attachments?ref=" in browser.get("/record", params={"ref": mail}, headers=COOKIE).text
        answer = browser.get("/original/attachments", params={"ref": mail}, headers=COOKIE)
        assert _contents(answer.content) == {"plan.bin": b"first", "2 plan.bin": b"second"}
        assert answer.headers["content-disposition"] == 'attachment; filename="attachments.zip"'
        assert log.read_text().count(attachments.WHY) == 1
        refused = browser.get("/original/attachments", params={"ref": mail}, headers=BEARER)
        assert refused.status_code in (303, 401)
        _no_note_without_files(browser, service, log)


def _no_note_without_files(browser: TestClient, service: Service, log: Path) -> None:
    params = {"ref": _ref(service, "Nothing")}
    assert browser.get("/original/attachments", params=params, headers=COOKIE).status_code == 404
    assert log.read_text().count(attachments.WHY) == 1


def test_a_thread_has_those_of_all_its_mails_and_what_is_gone_is_named(service: Service, config: Path) -> None:
    thread = service.search("Planks").hits[0].thread_id
    names = set(_contents(attachments.pack(service, f"thread:{thread}", "Dana")).values())
    assert names == {b"first", b"second", b"third"}
    file = config.parent / "mail" / "2.eml"
    content = file.read_bytes()
    try:
        file.unlink()
        left = _contents(attachments.pack(service, f"thread:{thread}", "Dana"))
        assert left[attachments.LEFT_OUT].startswith(b"plan.bin: the attachment is no longer in the mail")
        assert len(left) == 3
    finally:
        file.write_bytes(content)


def test_the_command_writes_them_once(service: Service, config: Path, tmp_path: Path) -> None:
    ref = _ref(service, "Nails")
    assert copy_attachments(ref, tmp_path, config) == 0
    assert _contents((tmp_path / attachments.NAME).read_bytes()) == {"plan.bin": b"third"}
    with pytest.raises(SettingsError, match="is there already"):
        copy_attachments(ref, tmp_path, config)


def _count_reads(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The files whose mails are read from now on."""
    names: list[str] = []
    read = attached_file.read

    def read_and_note(file: Path, offset: str) -> Iterator[attached_file.AttachedFile]:
        names.append(file.name)
        return read(file, offset)

    monkeypatch.setattr(attached_file, "read", read_and_note)
    return names


def test_a_mail_is_read_when_its_part_of_the_zip_is_asked_for(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(attachments, "_PIECE_BYTES", 2)
    parsed = _count_reads(monkeypatch)
    pieces = attachments.pack(service, f"thread:{service.search('Planks').hits[0].thread_id}", "Dana")
    assert len(parsed) == 1
    sizes = [len(next(pieces)), len(next(pieces))]
    assert len(parsed) == 1, "no mail is read ahead"
    rest = list(pieces)
    assert sorted(parsed) == ["1.eml", "2.eml"]
    assert max([*sizes, *map(len, rest[:-1])]) < 200, "a piece is sent as it is read"


def test_a_page_reads_each_piece_in_a_turn_of_the_limiter(
    service: Service, config: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    threads: list[str] = []
    read = attachments._read_piece

    def read_and_note(opened: BinaryIO) -> bytes:
        threads.append(threading.current_thread().name.partition("_")[0])
        return read(opened)

    monkeypatch.setattr(attachments, "_PIECE_BYTES", 2)
    monkeypatch.setattr(attachments, "_read_piece", read_and_note)
    with client(config) as browser:
        params = {"ref": _ref(service, "Planks")}
        answer = browser.get("/original/attachments", params=params, headers=COOKIE)
    assert _contents(answer.content) == {"plan.bin": b"first", "2 plan.bin": b"second"}
    # five bytes and six, two at a time, and the ends
    assert threads == ["turn"] * 8


def test_what_breaks_off_ends_the_zip_without_its_end(
    service: Service, config: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Broken(io.BytesIO):
        def read(self, size: int | None = -1) -> bytes:
            raise OSError(errno.EIO, "Input/output error", "plan.bin")

    monkeypatch.setattr(attachments, "_open", lambda original: Broken(b"data"))
    ref = _ref(service, "Planks")
    with pytest.raises(NoOriginal, match=r"^an original cannot be read to its end: Input/output error$"):
        list(attachments.pack(service, ref, "Dana"))
    with pytest.raises(NoOriginal, match="cannot be read to its end"):
        copy_attachments(ref, tmp_path, config)
    assert list(tmp_path.iterdir()) == []


def test_a_zip_that_cannot_be_written_is_told_apart(
    service: Service, config: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sync_file = atomic.sync_file

    def sync_unless_full(file: Path) -> None:
        if file.parent == tmp_path:
            raise OSError(errno.ENOSPC, "No space left on device")
        sync_file(file)

    monkeypatch.setattr(atomic, "sync_file", sync_unless_full)
    with pytest.raises(SettingsError, match=r"attachments\.zip cannot be written: No space left on device"):
        copy_attachments(_ref(service, "Planks"), tmp_path, config)


def test_names_differ_on_every_file_system_and_what_an_attached_mail_holds_is_there(service: Service) -> None:
    contents = _contents(attachments.pack(service, _ref(service, "Forwarded"), "Dana"))
    left_out = contents.pop(attachments.LEFT_OUT).decode().splitlines()
    assert contents == {
        "A.bin": b"A.bin",
        "2 a.bin": b"a.bin",
        "2 left out.TXT": b"left out.TXT",
        "beam.bin": b"beam",
    }
    assert [line.partition(":")[0] for line in left_out] == ["The inner rafters"]
    assert "cannot be identified" in left_out[0]


def test_each_mail_is_read_once(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    parsed = _count_reads(monkeypatch)
    list(attachments.pack(service, f"thread:{service.search('Planks').hits[0].thread_id}", "Dana"))
    assert sorted(parsed) == ["1.eml", "2.eml"]


def test_what_is_not_looked_at_is_named(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    thread = service.search("Planks").hits[0].thread_id
    monkeypatch.setattr(attachments, "_MAX_RECORDS", 2)
    first_two = _contents(attachments.pack(service, _ref(service, "Forwarded"), "Dana"))
    assert first_two.pop(attachments.LEFT_OUT).startswith(b"all but the first 2 attachments")
    assert set(first_two) == {"A.bin", "2 a.bin"}
    newest = _contents(attachments.pack(service, f"thread:{thread}", "Dana"))
    assert newest[attachments.LEFT_OUT].startswith(b"what is attached to all but the newest 2 records")


def test_what_a_zip_does_not_hold_is_named_in_the_language_of_the_page(
    service: Service, config: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(attachments, "_MAX_RECORDS", 3)
    headers, params = {**COOKIE, "accept-language": "de"}, {"ref": _ref(service, "Forwarded")}
    with client(config) as browser:
        packed = browser.get("/original/attachments", params=params, headers=headers).content
    left_out = _contents(packed)[attachments.LEFT_OUT].decode()
    assert left_out.startswith("Alle Anhänge außer den ersten 3; öffnen Sie")
    monkeypatch.setattr(attachments, "_MAX_RECORDS", 9)
    with client(config) as browser:
        packed = browser.get("/original/attachments", params=params, headers=headers).content
    left_out = _contents(packed)[attachments.LEFT_OUT].decode()
    assert left_out.startswith("The inner rafters: Der Anhang lässt sich nicht bestimmen, wie bei angehängten Mails; ")
