"""Scanned pages are read by tesseract where it is installed; otherwise the failure says how to get it."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import pypdfium2
import pytest
from reportlab.lib.utils import ImageReader
from reportlab.pdfgen.canvas import Canvas

from relrag_pipelines.records import Failure, Record
from relrag_pipelines.sources import ReadContext, Unit
from relrag_pipelines.sources.document import read
from relrag_pipelines.sources.formats import tesseract

READING = ReadContext("papers", "UTC", lambda text: "0123456789abcdef")
needs_tesseract = pytest.mark.skipif(not shutil.which("tesseract"), reason="the program tesseract is not installed")


def typed(file: Path, *lines: str) -> None:
    canvas = Canvas(str(file))
    canvas.setFont("Helvetica", 28)
    for number, line in enumerate(lines):
        canvas.drawString(60, 700 - 60 * number, line)
    canvas.save()


def scan(file: Path, *pages: tuple[str, str]) -> Unit:
    """A PDF whose pages are pictures of a line, each with another line as text, if that is not empty."""
    canvas = Canvas(str(file))
    canvas.setFont("Helvetica", 20)
    for number, (drawn, text) in enumerate(pages):
        page = file.with_name(f"page{number}.pdf")
        typed(page, drawn)
        with pypdfium2.PdfDocument(page) as document:
            image = document[0].render(scale=3).to_pil()
        canvas.drawImage(ImageReader(image), 0, 0, 595, 842)
        canvas.drawString(60, 100, text)
        canvas.showPage()
    canvas.save()
    return Unit(file.name, file, file.stat().st_size, 0)


def read_scan(unit: Unit, reading: ReadContext) -> tuple[list[Record], list[Failure]]:
    items = list(read(unit, reading))
    return [item for item in items if isinstance(item, Record)], [item for item in items if isinstance(item, Failure)]


@needs_tesseract
def test_the_text_of_scanned_pages_stands_in_their_place(tmp_path: Path) -> None:
    unit = scan(tmp_path / "scan.pdf", ("The boiler was repaired", ""), ("", "A typed page"), ("Invoice INV-2938", ""))
    (record,), failures = read_scan(unit, replace(READING, ocr=tesseract.program("tesseract"), ocr_languages=("eng",)))
    assert [(page.number, record.text[page.start : page.end]) for page in record.pages] == [
        (1, "The boiler was repaired"),
        (2, "A typed page"),
        (3, "Invoice INV-2938"),
    ]
    assert (failures, record.numbers) == ([], ["INV-2938"])


@needs_tesseract
def test_a_language_that_is_not_installed_is_told(tmp_path: Path) -> None:
    unit = scan(tmp_path / "scan.pdf", ("The boiler", ""))
    _, (failure,) = read_scan(unit, replace(READING, ocr="tesseract", ocr_languages=("xxx",)))
    assert (failure.location, failure.fault) == ("page 1", "ocr")
    assert "ocr_languages" in failure.message


@needs_tesseract
def test_limits_hold_for_the_program_too(tmp_path: Path) -> None:
    unit = scan(tmp_path / "scan.pdf", ("The boiler", ""))
    reading = replace(READING, ocr="tesseract", ocr_languages=("eng",), parser_max_bytes=2**26)
    _, failures = read_scan(unit, reading)
    assert [failure.fault for failure in failures] == ["ocr"]


@pytest.mark.parametrize(
    ("setting", "advice"), [("", 'set ocr = "tesseract"'), ("tesseract", "apt install tesseract-ocr")]
)
def test_without_the_program_a_failure_says_how_to_get_it(
    setting: str, advice: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    unit = scan(tmp_path / "scan.pdf", ("The boiler", ""))
    monkeypatch.setattr(tesseract.shutil, "which", lambda name: None)
    (record,), (failure,) = read_scan(unit, replace(READING, ocr=tesseract.program(setting)))
    assert (record.text, failure.fault) == ("", "no_text")
    assert advice in failure.message
