"""PDF: pages, columns, broken words, forms, and everything that can be wrong with a file."""

import io
from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from reportlab.lib.pdfencrypt import StandardEncryption
from reportlab.lib.utils import ImageReader
from reportlab.pdfgen.canvas import Canvas

from relrag_pipelines.sources.document import extract, garbled_text, pdf
from relrag_pipelines.sources.document.document_text import DocumentText
from relrag_pipelines.sources.document.pdf_tables import Cell, PdfLine, layout
from tests import cost
from tests.cases import cases


def make(*pages: list[str], **options: object) -> bytes:
    """A PDF with one drawn line for each text; a page without lines stays blank."""
    buffer = io.BytesIO()
    canvas = Canvas(buffer, invariant=1, **options)  # type: ignore[arg-type]
    for lines in pages:
        for place, line in enumerate(lines):
            canvas.drawString(50, 800 - 14 * place, line)
        canvas.showPage()
    canvas.save()
    return buffer.getvalue()


def faults(found: DocumentText) -> list[tuple[str, str]]:
    return [(failure.location, failure.fault) for failure in found.failures]


def page_texts(found: DocumentText) -> dict[int, str]:
    return {page.number: found.text[page.start : page.end] for page in found.pages}


def test_pages_keep_their_numbers_and_offsets() -> None:
    found = extract(make(["First page"], [], ["Third page", "more"]), "a.pdf")
    assert page_texts(found) == {1: "First page", 3: "Third page\nmore"}
    assert found.text == "First page\n\nThird page\nmore"
    assert found.page_count == 3
    assert found.failures == []  # a blank page is no failure


def words(text: str) -> Counter[str]:
    return Counter(text.replace("|", " ").replace("---", " ").split())


@pytest.mark.parametrize("name", ["RECEIPT-2024-TXN-98765_retail_purchase", "SPARSE-2024-INV-1234_borderless_table"])
def test_no_word_is_lost_or_added(shared_data: Path, name: str) -> None:
    folder = shared_data / "documents" / "markitdown"
    expected = (folder / "expected_outputs" / f"{name}.md").read_text(encoding="utf-8")
    expected = "\n".join(line for line in expected.splitlines() if not set(line) <= set("-=| "))
    text = "\n".join(
        line for line in extract(folder / f"{name}.pdf", "a.pdf").text.splitlines() if not set(line) <= set("-=")
    )
    assert words(text) == words(expected)


def cells(text: str) -> list[list[str]]:
    rows = [line.strip().strip("|").split("|") for line in text.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in row] for row in rows if not set("".join(row)) <= set("- ")]


def test_empty_cells_keep_their_columns(shared_data: Path) -> None:
    folder = shared_data / "documents" / "markitdown"
    name = "SPARSE-2024-INV-1234_borderless_table"
    expected = (folder / "expected_outputs" / f"{name}.md").read_text(encoding="utf-8")
    found = cells(extract(folder / f"{name}.pdf", "a.pdf").text)
    assert found == cells(expected)
    assert found[2] == ["", "B-07", "", "289", "-23", ""]
    assert len(found) == 20


def test_a_receipt_is_no_table(shared_data: Path) -> None:
    text = extract(shared_data / "documents/markitdown/RECEIPT-2024-TXN-98765_retail_purchase.pdf", "a.pdf").text
    assert "|" not in text
    assert "ACC-8834 2 @ $79.99" in text
    assert "Sales Tax (8.5%) $66.23" in text


def test_section_numbers_stay_with_their_lines(shared_data: Path) -> None:
    text = extract(shared_data / "documents/markitdown/masterformat_partial_numbering.pdf", "a.pdf").text
    assert "1. INTENT" in text
    assert "\n.1 The intent of this Request for Proposal (RFP) is to solicit submissions, in the format\n" in text
    assert "\n.2 Available information relative to the project is included in Section 00 00 45 – Description\n" in text


@pytest.mark.parametrize(*cases(__file__, "words_broken_by_a_line_end"))
def test_words_broken_by_a_line_end(lines: list[str], text: str) -> None:
    assert extract(make(lines), "a.pdf").text == text


def test_what_was_filled_into_a_form_is_read() -> None:
    buffer = io.BytesIO()
    canvas = Canvas(buffer)
    canvas.drawString(50, 700, "Name:")
    canvas.acroForm.textfield(name="name", value="Shiran Tamir", x=100, y=690, width=200, height=20)
    canvas.save()
    assert extract(buffer.getvalue(), "a.pdf").text == "Name:\nShiran Tamir"


def picture() -> ImageReader:
    return ImageReader(io.BytesIO(bytes.fromhex(
        "89504e470d0a1a0a0000000d4948445200000001000000010802000000907753de0000000c49444154789c63f8ffff3f0005fe02fe"
        "0def46b80000000049454e44ae426082"
    )))  # fmt: skip


def scan(*pages: str) -> bytes:
    """Pages with a picture each, and a text where one is given."""
    buffer = io.BytesIO()
    canvas = Canvas(buffer)
    for text in pages:
        canvas.drawImage(picture(), 0, 0, 500, 700)
        canvas.drawString(50, 700, text)
        canvas.showPage()
    canvas.save()
    return buffer.getvalue()


def test_pages_without_a_text_layer_are_named_and_the_rest_is_kept() -> None:
    found = extract(scan("", "Read me", "", "", ""), "a.pdf")
    assert page_texts(found) == {2: "Read me"}
    assert faults(found) == [("pages 1, 3-5", "no_text")]
    assert "4 of 5" in found.failures[0].message
    assert "OCR" in found.failures[0].message


def test_a_scan_without_any_text_keeps_its_record() -> None:
    found = extract(scan(""), "a.pdf")
    assert found.readable
    assert (found.text, found.pages) == ("", [])
    assert faults(found) == [("page 1", "no_text")]
    assert not found.failures[0].whole_unit


def test_a_broken_page_is_a_failure_and_the_rest_is_kept() -> None:
    whole = make(["one"], ["two"], ["three"])
    assert b"/Kids [ 3 0 R 4 0 R 5 0 R ]" in whole
    found = extract(whole.replace(b"/Kids [ 3 0 R 4 0 R 5 0 R ]", b"/Kids [ 3 0 R 99 0 R 5 0 R]"), "a.pdf")
    assert page_texts(found) == {1: "one", 3: "three"}
    assert faults(found) == [("page 2", "broken_page")]


@pytest.mark.parametrize(
    ("data", "fault"),
    [
        (make(["secret"], encrypt=StandardEncryption("open sesame")), "encrypted"),
        (make(["cut off"])[:300], "damaged"),
        (b"%PDF-1.4 and nothing more", "damaged"),
        (b"no PDF at all", "damaged"),
    ],
)
def test_a_pdf_that_cannot_be_opened(data: bytes, fault: str) -> None:
    found = extract(data, "a.pdf")
    assert not found.readable
    assert faults(found) == [("", fault)]
    assert found.failures[0].whole_unit  # what was read of it before is not deleted
    assert "secret" not in found.failures[0].message


def test_a_pdf_that_only_forbids_printing_is_read() -> None:
    guarded = StandardEncryption("", ownerPassword="owner", canPrint=0)
    assert extract(make(["readable"], encrypt=guarded), "a.pdf").text == "readable"


def test_title_author_and_date_come_from_the_file() -> None:
    buffer = io.BytesIO()
    canvas = Canvas(buffer)
    canvas.setTitle("Microsoft Word - Lease contract")
    canvas.setAuthor("Jan Novák")
    canvas.drawString(50, 700, "Something else")
    canvas.save()
    found = extract(buffer.getvalue(), "a.pdf")
    assert (found.title, found.author) == ("Lease contract", "Jan Novák")
    assert found.date is not None


def test_a_title_that_only_fills_the_place_is_not_taken() -> None:
    found = extract(make(["The real heading", "and text"]), "a.pdf")  # reportlab writes `untitled`, `anonymous`
    assert (found.title, found.author) == ("The real heading", None)


@pytest.mark.parametrize(
    ("written", "date"),
    [
        ("D:20250114093000+01'00'", datetime(2025, 1, 14, 9, 30, tzinfo=timezone(timedelta(hours=1)))),
        ("D:20250114093000-05'30", datetime(2025, 1, 14, 9, 30, tzinfo=timezone(-timedelta(hours=5, minutes=30)))),
        ("D:20250114093000Z", datetime(2025, 1, 14, 9, 30, tzinfo=UTC)),
        ("D:20250114093000", datetime(2025, 1, 14, 9, 30)),  # noqa: DTZ001  the file gives no zone
        ("D:2025", datetime(2025, 1, 1)),  # noqa: DTZ001
        ("D:20251399", None),
        ("D:20250114093000+99'00'", None),
        ("yesterday", None),
    ],
)
def test_dates_as_pdf_writes_them(written: str, date: datetime | None) -> None:
    assert pdf.parse_date(written) == date


def line(*spans: tuple[str, float, float], bottom: float) -> PdfLine:
    return PdfLine(tuple(Cell(*span) for span in spans), bottom, 10)


def test_columns_of_a_table_written_from_right_to_left() -> None:
    rows = [
        line(("מספר", 300, 340), ("סכום", 200, 240), ("תאריך", 100, 140), bottom=500),
        line(("1187", 310, 335), ("7,980", 205, 235), ("15.1", 110, 130), bottom=480),
        line(("1188", 310, 335), ("16.1", 110, 130), bottom=460),
    ]
    assert layout(rows).splitlines() == ["| מספר | סכום | תאריך |", "| 1187 | 7,980 | 15.1 |", "| 1188 | | 16.1 |"]


def test_text_above_and_below_a_table_is_no_row() -> None:
    rows = [
        line(("Prices of the year", 50, 200), bottom=520),
        line(("a", 50, 80), ("b", 150, 180), ("c", 250, 280), bottom=500),
        line(("1", 50, 60), ("2", 150, 160), ("3", 250, 260), bottom=480),
        line(("All prices without VAT", 50, 70), bottom=460),
    ]
    assert layout(rows) == "Prices of the year\n| a | b | c |\n| 1 | 2 | 3 |\nAll prices without VAT"


def test_two_columns_are_no_table() -> None:
    rows = [line((".1", 50, 60), ("text of the section", 100, 300), bottom=500 - 14 * place) for place in range(4)]
    assert "|" not in layout(rows)


SPAN = st.tuples(st.sampled_from(["a", "b", "d e"]), st.floats(0, 500), st.floats(0, 90))


@given(st.lists(st.lists(SPAN, min_size=1, max_size=5), max_size=8))
def test_layout_keeps_every_word_of_any_page(page: list[list[tuple[str, float, float]]]) -> None:
    lines = [
        line(*((text, left, left + width) for text, left, width in row), bottom=800 - 12 * place)
        for place, row in enumerate(page)
    ]
    text = layout(lines).replace("|", " ")
    assert Counter(text.split()) == Counter(word for row in page for cell, _, _ in row for word in cell.split())


@given(st.integers(0, 400), st.binary(min_size=1, max_size=8))
def test_damage_anywhere_is_told_and_never_raised(place: int, damage: bytes) -> None:
    whole = make(["one page"], ["another"])
    at = place * len(whole) // 400
    found = extract(whole[:at] + damage + whole[at + len(damage) :], "a.pdf")
    found.text.encode()
    assert found.readable or found.failures
    assert all(found.text[page.start : page.end].strip() for page in found.pages)


def row(number: int, *lefts: float) -> PdfLine:
    return PdfLine(tuple(Cell("a", left, left + 5) for left in lefts), -10.0 * number, 8.0)


def no_table(count: int) -> list[PdfLine]:
    """Two columns of prose, and at the end what could be rows of a table but for the prose."""
    return [row(n, 0, 20) for n in range(count)] + [row(count + n, 0, 3, 20) for n in range(3)]


def sparse(count: int) -> list[PdfLine]:
    """Every line has columns of its own."""
    return [row(n, 30 * n, 30 * n + 10, 30 * n + 20) for n in range(count)]


def one_table(count: int) -> list[PdfLine]:
    return [row(n, 0, 10, 20, 30) for n in range(count)]


def one_row(count: int) -> list[PdfLine]:
    return [row(n, *range(0, 10 * count, 10)) for n in range(3)]


@pytest.mark.slow
@pytest.mark.parametrize("make", [no_table, sparse, one_table, one_row])
def test_a_page_takes_time_in_proportion_to_its_lines(make: Callable[[int], list[PdfLine]]) -> None:
    assert cost.exponent(layout, make, 1_600) < cost.LINEAR


@pytest.mark.slow
def test_words_broken_at_many_line_ends_take_time_in_proportion() -> None:
    def broken(count: int) -> str:
        return " ".join(f"{chr(97 + n % 26)}{'b' * (n % 300)}\ufffecd" for n in range(count))

    assert cost.exponent(pdf._join_words, broken, 8_000) < cost.LINEAR


@pytest.mark.parametrize(
    ("text", "joined"),
    [
        ("an e\ufffemail", "an email"),
        ("an e\ufffemail and e-mails", "an e-mail and e-mails"),
        ("an e\ufffemail and e-mai", "an email and e-mai"),
        ("Ben\ufffeGurion", "Ben-Gurion"),
    ],
)
def test_a_word_that_is_written_with_a_hyphen_elsewhere_keeps_it(text: str, joined: str) -> None:
    assert pdf._join_words(text) == joined


SENTENCES = ["The quick brown fox jumps over the lazy dog.", "Invoice 2015 is due on 3 March; please pay 1,200 EUR."]


def pdf_file(objects: list[bytes]) -> bytes:
    """A PDF of these objects, the first of which is its catalogue."""
    out, offsets = b"%PDF-1.4\n", []
    for number, content in enumerate(objects, 1):
        offsets.append(len(out))
        out += b"%d 0 obj\n" % number + content + b"\nendobj\n"
    table = b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
    head = b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    trailer = b"trailer\n<< /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n" % (len(objects) + 1, len(out))
    return out + head + table + trailer


def unnamed_glyphs(lines: list[str], readable: str = "") -> bytes:
    """A PDF whose font numbers its glyphs from 1 and names none, as subsets without ToUnicode do."""
    drawn = b"".join(b"<" + b"".join(b"%02X" % (ord(letter) - 31) for letter in line) + b"> Tj T* " for line in lines)
    page = b"BT /F1 11 Tf 50 800 Td 14 TL " + drawn + b"/F2 11 Tf (" + readable.encode() + b") Tj ET"
    glyph = b"600 0 0 0 500 700 d1 0 0 500 700 re f"
    names = b" ".join(b"/g%d" % number for number in range(1, 96))
    glyphs = b" ".join(b"/g%d 7 0 R" % number for number in range(1, 96))
    font = b"<< /Type /Font /Subtype /Type3 /FontBBox [0 0 600 800] /FontMatrix [0.001 0 0 0.001 0 0] /FirstChar 1 "
    font += b"/LastChar 95 /Widths [" + b"600 " * 95 + b"] /Encoding << /Type /Encoding /Differences [1 " + names
    font += b"] >> /CharProcs << " + glyphs + b" >> /Resources << >> >>"
    fonts = b"/Resources << /Font << /F1 5 0 R /F2 6 0 R >> >>"
    return pdf_file(
        [
            b"<< /Type /Catalog /Pages 2 0 R >>",
            b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
            b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R " + fonts + b" >>",
            b"<< /Length %d >>\nstream\n" % len(page) + page + b"\nendstream",
            font,
            b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
            b"<< /Length %d >>\nstream\n" % len(glyph) + glyph + b"\nendstream",
        ]
    )


def test_letters_that_no_font_names_are_a_failure_and_no_text() -> None:
    found = extract(unnamed_glyphs(SENTENCES), "a.pdf")
    assert (found.readable, found.text, faults(found)) == (False, "", [("", "garbled_text")])
    assert "ocrmypdf" in found.failures[0].message


def test_a_few_signs_without_a_name_cost_no_page() -> None:
    found = extract(unnamed_glyphs(["*"], "A list whose bullet is of a font without names."), "a.pdf")
    assert "A list whose bullet is of a font without names." in found.text
    assert found.failures == []


def test_letters_with_wrong_names_are_a_failure() -> None:
    shifted = [
        "".join(chr(ord(letter) - 29) if letter.isalpha() else letter for letter in line) for line in SENTENCES * 4
    ]
    found = extract(make(shifted), "a.pdf")
    assert (found.readable, faults(found)) == (False, [("", "garbled_text")])


@pytest.mark.parametrize(*cases(__file__, "unusual_texts_are_texts"))
def test_unusual_texts_are_texts(line: str) -> None:
    assert not garbled_text._lacks_vowels("\n".join([line] * 12))
    assert garbled_text._unusual_share("\n".join([line] * 12)) == 0
