"""Words in pictures of chats and in screenshots are read where a program for that is set, and else stay out."""

from __future__ import annotations

import zipfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from relrag_pipelines.records import Failure, Record
from relrag_pipelines.sources import KINDS, ReadContext
from relrag_pipelines.sources.formats import picture_text
from relrag_pipelines.sources.formats.tesseract import OCRError
from relrag_pipelines.sources.unit_files import unit_of
from tests import ROOT, chat_exports
from tests.sources.connector import keyed, packed

PICTURE = b"\xff\xd8\xff\xe0" + b"INV-2024-77 the boiler is repaired".ljust(picture_text.SMALLEST, b" ")
CHAT = "13/03/2024, 18:00 - Dana Levi: IMG-20240313-WA0001.jpg (file attached)\n13/03/2024, 18:05 - Petr: Thanks\n"
WITHOUT = ReadContext("sample", "Europe/Prague", keyed)
WITH = replace(WITHOUT, ocr="tesseract")


@pytest.fixture(autouse=True)
def program(monkeypatch: pytest.MonkeyPatch) -> None:
    """A program that finds what stands in the bytes of a picture."""

    def read_picture(data: bytes, languages: Sequence[str]) -> str:
        return data[4:].decode("ascii")

    monkeypatch.setattr(picture_text, "read_picture", read_picture)
    monkeypatch.setattr(picture_text, "call", lambda limits, size, function, *arguments: function(*arguments))


def pictures(kind: str, file: Path, root: Path, reading: ReadContext) -> list[tuple[str, list[str]]]:
    """Text and numbers of the pictures that a connector reads."""
    items = [item for item in KINDS[kind].read(unit_of(file, root), reading) if isinstance(item, Record)]
    return [(item.text, item.numbers) for item in items if (item.file_name or "").endswith((".jpg", ".png"))]


@pytest.mark.parametrize(
    ("reading", "expected"),
    [(WITH, ("INV-2024-77 the boiler is repaired", ["INV-2024-77"])), (WITHOUT, ("", []))],
    ids=["with", "without"],
)
def test_words_in_pictures_of_chats_are_read(
    reading: ReadContext, expected: tuple[str, list[str]], tmp_path: Path
) -> None:
    archive = packed(tmp_path / "WhatsApp Chat - Petr.zip", {"_chat.txt": CHAT, "IMG-20240313-WA0001.jpg": PICTURE})
    assert pictures("whatsapp", archive, tmp_path, reading) == [expected]
    (tmp_path / "WhatsApp Chat with Petr.txt").write_text(CHAT)
    (tmp_path / "IMG-20240313-WA0001.jpg").write_bytes(PICTURE)
    assert pictures("whatsapp", tmp_path / "WhatsApp Chat with Petr.txt", tmp_path, reading) == [expected]
    said = [chat_exports.Said(1, 1_705_000_000, "Dana", "See the photo")]
    ((name, content),) = chat_exports.telegram(said, "Hiking").items()
    export = tmp_path / name
    export.parent.mkdir()
    export.write_bytes(content.replace(b'"text": "See', b'"photo": "a.jpg", "text": "See'))
    (export.parent / "a.jpg").write_bytes(PICTURE)
    assert pictures("telegram", export, tmp_path, reading) == [expected]


def test_words_of_a_screenshot_are_read_and_of_a_photo_by_a_camera_not(tmp_path: Path) -> None:
    (tmp_path / "Camera").mkdir()
    screenshot = tmp_path / "Camera" / "Screenshot_20240313_180000.jpg"
    screenshot.write_bytes(PICTURE)
    text = "Photo\nScreenshot_20240313_180000\n\nINV-2024-77 the boiler is repaired"
    assert pictures("photos", screenshot, tmp_path, WITH) == [(text, ["INV-2024-77"])]
    assert pictures("photos", screenshot, tmp_path, WITHOUT) == [("Photo\nScreenshot_20240313_180000", [])]
    sample = ROOT / "examples" / "samples" / "photos" / "Google Photos" / "Holyhead 2023" / "IMG_2041.jpg"
    assert pictures("photos", sample, sample.parent, WITH) == pictures("photos", sample, sample.parent, WITHOUT)


def test_a_picture_of_few_bytes_and_one_without_words_have_no_text(tmp_path: Path) -> None:
    for data in (PICTURE[:100], b"\xff\xd8\xff\xe0" + b"#~ . ".ljust(picture_text.SMALLEST, b"|")):
        archive = packed(tmp_path / "WhatsApp Chat - Petr.zip", {"_chat.txt": CHAT, "IMG-20240313-WA0001.jpg": data})
        assert pictures("whatsapp", archive, tmp_path, WITH) == [("", [])]


def test_a_picture_that_no_program_can_read_is_a_failure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(data: bytes, languages: Sequence[str]) -> str:
        raise OCRError("the program ended with 1")

    monkeypatch.setattr(picture_text, "read_picture", refuse)
    damaged = PICTURE.replace(b"INV-2024-77", b"INV-2024-78")  # texts of equal pictures are remembered
    archive = packed(tmp_path / "WhatsApp Chat - Petr.zip", {"_chat.txt": CHAT, "IMG-20240313-WA0001.jpg": damaged})
    screenshot = tmp_path / "Screenshot_20240313_180000.jpg"
    screenshot.write_bytes(damaged)
    for kind, file, location in (("whatsapp", archive, "IMG-20240313-WA0001.jpg"), ("photos", screenshot, "")):
        items = list(KINDS[kind].read(unit_of(file, tmp_path), WITH))
        failures = [(item.location, item.fault) for item in items if isinstance(item, Failure)]
        assert failures == [(location, "ocr")], kind
        assert any(isinstance(item, Record) for item in items)


def test_a_damaged_picture_in_a_zip_costs_its_own_words_alone(tmp_path: Path) -> None:
    archive = tmp_path / "WhatsApp Chat - Petr.zip"
    with zipfile.ZipFile(archive, "w") as packing:
        packing.writestr("_chat.txt", CHAT)
        packing.writestr("IMG-20240313-WA0001.jpg", PICTURE)
    archive.write_bytes(archive.read_bytes().replace(b"boiler", b"b0iler"))  # its checksum is wrong now
    items = list(KINDS["whatsapp"].read(unit_of(archive, tmp_path), WITH))
    failures = [(item.location, item.fault, item.whole_unit) for item in items if isinstance(item, Failure)]
    assert failures == [("IMG-20240313-WA0001.jpg", "damaged", False)]
    assert pictures("whatsapp", archive, tmp_path, WITH) == [("", [])]
