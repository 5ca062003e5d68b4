"""Text in pictures of mails and office documents is read by tesseract; without it they are listed with the remedy."""

from __future__ import annotations

import io
import random
import shutil
import zipfile
from dataclasses import replace
from email.message import EmailMessage
from pathlib import Path

import pypdfium2
import pytest
from docx import Document
from PIL import Image
from reportlab.pdfgen.canvas import Canvas

from relrag_pipelines.records import Failure, Record
from relrag_pipelines.sources import ReadContext, Unit, document, mail
from relrag_pipelines.sources.formats import tesseract

READING = ReadContext("papers", "UTC", lambda text: "0123456789abcdef")
WITH_OCR = replace(READING, ocr="tesseract", ocr_languages=("eng",))
needs_tesseract = pytest.mark.skipif(not shutil.which("tesseract"), reason="the program tesseract is not installed")


def drawn(*lines: str) -> Image.Image:
    """A picture of these lines."""
    buffer = io.BytesIO()
    canvas = Canvas(buffer, pagesize=(595, 300))
    canvas.setFont("Helvetica", 24)
    for number, line in enumerate(lines):
        canvas.drawString(40, 240 - 50 * number, line)
    canvas.save()
    with pypdfium2.PdfDocument(buffer.getvalue()) as pdf:
        image: Image.Image = pdf[0].render(scale=2).to_pil()
    return image


def saved(image: Image.Image, form: str) -> bytes:
    buffer = io.BytesIO()
    image.convert("RGB").save(buffer, form)
    return buffer.getvalue()


INVOICE = drawn("Invoice number INV-2938", "Repair of the boiler", "Total amount due 120 euros")


def texture() -> bytes:
    pick = random.Random(7)
    return saved(Image.frombytes("L", (200, 200), bytes(pick.randrange(256) for _ in range(40_000))), "PNG")


def read_mail(folder: Path, name: str, data: bytes, reading: ReadContext) -> tuple[Record, list[Failure]]:
    """The record of the attachment of a mail, and the failures."""
    message = EmailMessage()
    message["Message-ID"], message["From"], message["Subject"] = "<a@mail.example>", "petr@kolar.example", "Invoice"
    message["Date"] = "Mon, 4 Mar 2024 11:00:00 +0100"
    message.set_content("The invoice is attached.")
    message.add_attachment(data, maintype="application", subtype="octet-stream", filename=name)
    file = folder / "a.eml"
    file.write_bytes(message.as_bytes())
    items = list(mail.read(Unit("a.eml", file, file.stat().st_size, 0), reading))
    (attachment,) = (item for item in items if isinstance(item, Record) and item.rag_source_type == "email_attachment")
    return attachment, [item for item in items if isinstance(item, Failure)]


def read_document(folder: Path, name: str, data: bytes, reading: ReadContext) -> tuple[Record, list[Failure]]:
    file = folder / name
    file.write_bytes(data)
    items = list(document.read(Unit(name, file, len(data), 0), reading))
    (record,) = (item for item in items if isinstance(item, Record))
    return record, [item for item in items if isinstance(item, Failure)]


@needs_tesseract
@pytest.mark.parametrize("form", ["PNG", "JPEG", "TIFF", "PDF"])
def test_a_scan_that_is_attached_to_a_mail_is_read(tmp_path: Path, form: str) -> None:
    suffix = {"JPEG": "jpg", "TIFF": "tif"}.get(form, form.lower())
    attachment, failures = read_mail(tmp_path, f"scan.{suffix}", saved(INVOICE, form), WITH_OCR)
    assert "Repair of the boiler" in attachment.text
    assert (attachment.numbers, failures) == (["INV-2938"], [])


@pytest.mark.parametrize(
    ("ocr", "remedy"), [("", 'set ocr = "tesseract"'), (tesseract.MISSING, "apt install tesseract-ocr")]
)
def test_without_tesseract_the_picture_is_listed_with_the_remedy(tmp_path: Path, ocr: str, remedy: str) -> None:
    attachment, (failure,) = read_mail(tmp_path, "scan.png", saved(INVOICE, "PNG"), replace(READING, ocr=ocr))
    assert (attachment.text, failure.fault, failure.location) == ("", "picture", "attachment 1")
    assert remedy in failure.message


@needs_tesseract
def test_icons_and_textures_have_no_text(tmp_path: Path) -> None:
    assert read_mail(tmp_path, "icon.png", saved(INVOICE.resize((16, 16)), "PNG"), READING)[1] == []
    attachment, failures = read_mail(tmp_path, "photo.png", texture(), WITH_OCR)
    assert (attachment.text, failures) == ("", [])


def word_file() -> bytes:
    text = Document()
    text.add_paragraph("The scan of the invoice:")
    text.add_picture(io.BytesIO(saved(INVOICE, "PNG")))
    buffer = io.BytesIO()
    text.save(buffer)
    return buffer.getvalue()


def slides() -> bytes:
    """A presentation of two slides, of which the second shows a picture."""
    office = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    main = "http://schemas.openxmlformats.org/presentationml/2006/main"
    drawing = "http://schemas.openxmlformats.org/drawingml/2006/main"

    def relations(*rows: tuple[str, str, str]) -> str:
        inner = "".join(f'<Relationship Id="{id_}" Type="{office}/{kind}" Target="{to}"/>' for id_, kind, to in rows)
        return f'<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">{inner}</Relationships>'

    def slide(text: str) -> str:
        shape = f"<p:sp><p:txBody><a:p><a:r><a:t>{text}</a:t></a:r></a:p></p:txBody></p:sp>"
        return f'<p:sld xmlns:p="{main}" xmlns:a="{drawing}"><p:cSld><p:spTree>{shape}</p:spTree></p:cSld></p:sld>'

    ids = "".join(f'<p:sldId id="{255 + number}" r:id="s{number}"/>' for number in (1, 2))
    list_ = f'<p:presentation xmlns:p="{main}" xmlns:r="{office}"><p:sldIdLst>{ids}</p:sldIdLst></p:presentation>'
    parts: dict[str, str | bytes] = {
        "_rels/.rels": relations(("m", "officeDocument", "ppt/presentation.xml")),
        "ppt/presentation.xml": list_,
        "ppt/_rels/presentation.xml.rels": relations(
            ("s1", "slide", "slides/slide1.xml"), ("s2", "slide", "slides/slide2.xml")
        ),
        "ppt/slides/slide1.xml": slide("The year"),
        "ppt/slides/slide2.xml": slide("The costs"),
        "ppt/slides/_rels/slide2.xml.rels": relations(("p", "image", "../media/image1.png")),
        "ppt/media/image1.png": saved(INVOICE, "PNG"),
    }
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, data in parts.items():
            archive.writestr(name, data)
    return buffer.getvalue()


@needs_tesseract
def test_a_picture_in_a_text_follows_it(tmp_path: Path) -> None:
    record, failures = read_document(tmp_path, "letter.docx", word_file(), WITH_OCR)
    assert record.text.startswith("The scan of the invoice:\n\nInvoice number INV-2938")
    assert (record.numbers, failures) == (["INV-2938"], [])


@needs_tesseract
def test_a_picture_on_a_slide_is_part_of_that_slide(tmp_path: Path) -> None:
    record, failures = read_document(tmp_path, "year.pptx", slides(), WITH_OCR)
    first, second = (record.text[page.start : page.end] for page in record.pages)
    assert first == "The year"
    assert second.startswith("The costs\n\nInvoice number INV-2938")
    assert failures == []


@pytest.mark.parametrize(("name", "make"), [("letter.docx", word_file), ("year.pptx", slides)])
def test_pictures_in_office_files_are_listed_without_tesseract(tmp_path: Path, name: str, make: object) -> None:
    record, (failure,) = read_document(tmp_path, name, make(), READING)  # type: ignore[operator]
    assert record.text.startswith("The ")
    assert (failure.fault, failure.location) == ("picture", "")


@needs_tesseract
def test_a_word_file_that_is_attached_is_read_with_its_pictures(tmp_path: Path) -> None:
    attachment, failures = read_mail(tmp_path, "letter.docx", word_file(), WITH_OCR)
    assert "Total amount due 120 euros" in attachment.text
    assert failures == []
