"""Make the PDF, DOCX and zip files of the demo archive from the texts in originals/.

    python examples/make_documents.py [--font DejaVuSans.ttf] [--into examples/archive]

The results are committed; run this after a text has changed. It needs reportlab and python-docx (the extra `dev`) and,
for Hebrew and Czech, a font that has their letters: DejaVu Sans, in Debian the package fonts-dejavu-core. Only the
letters that are used are embedded. Equal texts, font and versions of the libraries give equal bytes.

An original is `<path in the archive>.txt`: lines `title:`, `author:` and `date:`, a blank line, then the text. A line
that begins with `# ` is a heading, `| a | b |` the row of a table (DOCX), `=== page ===` the start of a page (PDF).
"""

from __future__ import annotations

import argparse
import io
import os
import re
import struct
import zipfile
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import docx
from reportlab.lib.utils import simpleSplit
from reportlab.pdfbase import pdfmetrics
from reportlab.pdfbase.ttfonts import TTFont
from reportlab.pdfgen.canvas import Canvas

HERE = Path(__file__).resolve().parent
ORIGINALS = HERE / "originals"
FONT = Path("/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf")
NEW_PAGE = "=== page ===\n"
MARGIN, LINE, WIDTH, HEIGHT = 60, 17, 595, 842
HEBREW = re.compile("[\u0590-\u05ff]")
LEFT_TO_RIGHT = re.compile(r"[A-Za-z0-9][A-Za-z0-9.,:/@-]*[A-Za-z0-9]|[A-Za-z0-9]")


@dataclass(frozen=True)
class Original:
    """One text of originals/ and where its document goes in the archive."""

    target: str
    title: str
    author: str
    date: datetime
    body: str


def originals() -> list[Original]:
    """Every text that becomes a PDF or a DOCX, by name."""
    return [read(path) for path in sorted((ORIGINALS / "documents").rglob("*.txt"))]


def read(path: Path) -> Original:
    """One original; ValueError where its head is not title, author and date."""
    head, body = path.read_text(encoding="utf-8").split("\n\n", 1)
    fields = dict(line.split(": ", 1) for line in head.splitlines())
    date = datetime.fromisoformat(fields["date"]).replace(hour=12, tzinfo=UTC)
    target = path.relative_to(ORIGINALS).as_posix().removesuffix(".txt")
    return Original(target, fields["title"], fields["author"], date, body)


def make(into: Path, font: Path = FONT) -> None:
    """Write every document, then the chat from an iPhone, which contains one of them."""
    pdfmetrics.registerFont(TTFont("DejaVu", font))
    for original in originals():
        target = into / original.target
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(WRITERS[target.suffix](original))
    certificate = (into / "documents/paperless/school-certificate-mia.pdf").read_bytes()
    members = {
        "_chat.txt": (ORIGINALS / "whatsapp/Shiran/_chat.txt").read_bytes(),
        "00000031-PHOTO-2024-12-27-18-30-44.png": _candles(),
        "00000040-report-card-mia.pdf": certificate,
    }
    (into / "whatsapp").mkdir(parents=True, exist_ok=True)
    (into / "whatsapp/WhatsApp Chat - Shiran.zip").write_bytes(_zip(members, datetime(2025, 1, 20, 12, tzinfo=UTC)))


def pdf(original: Original) -> bytes:
    """The document as a PDF; each `=== page ===` of the original begins a page."""
    os.environ["SOURCE_DATE_EPOCH"] = str(int(original.date.timestamp()))  # what reportlab dates and names the file by
    out = io.BytesIO()
    canvas = Canvas(out, pagesize=(WIDTH, HEIGHT), invariant=1)
    canvas.setTitle(original.title)
    canvas.setAuthor(original.author)
    font = "Helvetica" if original.body.isascii() else "DejaVu"
    for page in original.body.split(NEW_PAGE):
        _draw_page(canvas, page, font)
        canvas.showPage()
    canvas.save()
    return out.getvalue()


def _draw_page(canvas: Canvas, page: str, font: str) -> None:
    y = HEIGHT - MARGIN
    for paragraph in page.strip().splitlines():
        size = 14 if paragraph.startswith("# ") else 11
        for line in simpleSplit(paragraph.removeprefix("# "), font, size, WIDTH - 2 * MARGIN) or [""]:
            if y < MARGIN:
                raise ValueError(f"a page of the original is too long: {page[:40]!r}")
            canvas.setFont(font, size)
            if HEBREW.search(line):
                canvas.drawRightString(WIDTH - MARGIN, y, right_to_left(line))
            else:
                canvas.drawString(MARGIN, y, line)
            y -= LINE


def right_to_left(line: str) -> str:
    """A Hebrew line in the order in which its letters stand on paper; numbers and Latin words keep theirs."""
    mirrored = line[::-1].translate(str.maketrans("()[]<>", ")(][><"))
    return LEFT_TO_RIGHT.sub(lambda run: run[0][::-1], mirrored)


def word(original: Original) -> bytes:
    """The document as a DOCX, with headings and tables."""
    document = docx.Document()
    about = document.core_properties
    about.title, about.author, about.last_modified_by = original.title, original.author, original.author
    about.created = about.modified = original.date.replace(tzinfo=None)
    rows: list[list[str]] = []
    for line in [*original.body.splitlines(), ""]:
        if line.startswith("|"):
            rows.append([cell.strip() for cell in line.strip("|").split("|")])
            continue
        if rows:
            _add_table(document, rows)
            rows = []
        if line.startswith("# "):
            document.add_heading(line.removeprefix("# "), level=1)
        elif line:
            document.add_paragraph(line)
    out = io.BytesIO()
    document.save(out)
    with zipfile.ZipFile(out) as packed:
        return _zip({name: packed.read(name) for name in packed.namelist()}, original.date)


def _add_table(document: docx.document.Document, rows: list[list[str]]) -> None:
    table = document.add_table(len(rows), len(rows[0]))
    for cells, texts in zip(table.rows, rows, strict=True):
        for cell, text in zip(cells.cells, texts, strict=True):
            cell.text = text


def _zip(members: dict[str, bytes], date: datetime) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as packed:
        for name, data in members.items():
            packed.writestr(zipfile.ZipInfo(name, date.timetuple()[:6]), data, zipfile.ZIP_DEFLATED)
    return out.getvalue()


def _candles() -> bytes:
    """A picture of 24 x 16 pixels: four candles, three of them for the third evening and one that lights them."""

    def pixel(x: int, y: int) -> bytes:
        if x in (4, 9, 14, 19) and y >= 7:
            return b"\xf4\xf0\xe0"
        return b"\xff\xb0\x20" if x in (4, 9, 14, 19) and y in (4, 5) else b"\x18\x1c\x30"

    def part(name: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

    rows = b"".join(b"\0" + b"".join(pixel(x, y) for x in range(24)) for y in range(16))
    head = struct.pack(">IIBBBBB", 24, 16, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + part(b"IHDR", head) + part(b"IDAT", zlib.compress(rows)) + part(b"IEND", b"")


WRITERS: dict[str, Callable[[Original], bytes]] = {".pdf": pdf, ".docx": word}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--font", type=Path, default=FONT, help="a TrueType font with Latin and Hebrew letters")
    parser.add_argument("--into", type=Path, default=HERE / "archive", help="the archive's folder")
    given = parser.parse_args()
    make(given.into, given.font)


if __name__ == "__main__":
    main()
