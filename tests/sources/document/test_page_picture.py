"""Pages as pictures: what is marked, what is covered, and what is not shown at all."""

import io
import struct
import zlib

import numpy as np
import pytest
from reportlab.lib.utils import ImageReader
from reportlab.pdfgen.canvas import Canvas

from relrag_pipelines.sources.document.document_text import DocumentError
from relrag_pipelines.sources.document.page_picture import missing_words, page_picture
from tests.cases import cases

LINES = ["The tenant pays nine hundred a month.", "Call Dana on 052-123-4567 about 3 keys.", "Signed in Haifa."]
REDACTED = (
    "The tenant pays nine hundred a month.\nCall Dana on <PHONE_NUMBER:k1:0a1b2c3d4e5f> about 3 keys.\n" + LINES[2]
)


def pdf(lines: list[str], *, rotate: int = 0, password: str | None = None, image: bool = False) -> bytes:
    out = io.BytesIO()
    canvas = Canvas(out, pagesize=(400, 400), encrypt=password)
    if rotate:
        canvas.setPageRotation(rotate)
    if image:
        noise = np.random.default_rng(1).integers(0, 255, (40, 40, 3), np.uint8)
        canvas.drawImage(ImageReader(io.BytesIO(_ppm(noise))), 100, 50, 200, 100)
    for number, line in enumerate(lines):
        canvas.drawString(40, 340 - 30 * number, line)
    canvas.showPage()
    canvas.save()
    return out.getvalue()


def _ppm(pixels: np.ndarray) -> bytes:
    return b"P6 %d %d 255\n" % (pixels.shape[1], pixels.shape[0]) + pixels.tobytes()


def pixels(png: bytes) -> np.ndarray:
    """The pixels of a PNG as page_picture writes it."""
    assert png.startswith(b"\x89PNG\r\n\x1a\n")
    place, data, size = 8, b"", (0, 0)
    while place < len(png):
        length, kind = struct.unpack(">I4s", png[place : place + 8])
        body = png[place + 8 : place + 8 + length]
        assert struct.unpack(">I", png[place + 8 + length : place + 12 + length])[0] == zlib.crc32(kind + body)
        size = struct.unpack(">II", body[:8]) if kind == b"IHDR" else size
        data += body if kind == b"IDAT" else b""
        place += 12 + length
    return (
        np.frombuffer(zlib.decompress(data), np.uint8)
        .reshape(size[1], 1 + 3 * size[0])[:, 1:]
        .reshape(size[1], size[0], 3)
    )


def yellow(png: bytes) -> np.ndarray:
    """Rows in which something is marked."""
    found = pixels(png)
    return np.flatnonzero(((found[:, :, 0] > 240) & (found[:, :, 2] < 160)).any(axis=1))


def rows(line: int) -> range:
    """About where a line is drawn: 1240 pixels for 400 points."""
    baseline = (60 + 30 * line) * 3.1
    return range(int(baseline - 40), int(baseline + 16))


def test_the_quote_is_marked_where_it_stands() -> None:
    shown = page_picture(pdf(LINES), 1, "the tenant pays nine-hundred a month")
    marked = yellow(shown.png)
    assert shown.matched_share == pytest.approx(5 / 6)  # nine-hundred is one word there
    assert set(marked) <= set(rows(0))
    assert len(marked) > 20
    assert (shown.pages, shown.covered_words, shown.is_scan) == (1, 0, False)


def test_nothing_is_marked_below_half_a_match() -> None:
    shown = page_picture(pdf(LINES), 1, "the tenant owns a red boat and two blue sleds of wood")
    assert shown.matched_share == 0
    assert not len(yellow(shown.png))


@pytest.mark.parametrize("turned", [90, 180, 270])
def test_a_turned_page_is_marked_as_it_is_shown(turned: int) -> None:
    upright = pixels(page_picture(pdf(LINES), 1, LINES[0]).png)
    shown = pixels(page_picture(pdf(LINES, rotate=turned), 1, LINES[0]).png)
    back = np.rot90(shown, turned // 90)
    marked, expected = (((found[:, :, 0] > 240) & (found[:, :, 2] < 160)) for found in (back, upright))
    assert (marked & expected).sum() > 0.9 * expected.sum()


def test_what_was_redacted_is_covered_and_nothing_else() -> None:
    shown = page_picture(pdf(LINES), 1, "", REDACTED)
    assert shown.covered_words == 1
    found, plain = pixels(shown.png), pixels(page_picture(pdf(LINES), 1).png)
    differs = (found != plain).any(axis=2)
    down, across = np.flatnonzero(differs.any(axis=1)), np.flatnonzero(differs.any(axis=0))
    assert set(down) <= set(rows(1))
    # the number is drawn between these; not one light pixel is left of it
    covered = found[down.min() : down.max() + 1, across.min() : across.max() + 1]
    assert (covered <= 25).all()
    assert across.max() - across.min() > 200


def _drawn(canvas: Canvas) -> None:
    """What says nothing of what it shows, over the whole page but for its frame: an image in a form, and paths."""
    noise = np.random.default_rng(1).integers(0, 200, (40, 40, 3), np.uint8)
    canvas.beginForm("stamp")
    canvas.drawImage(ImageReader(io.BytesIO(_ppm(noise))), 0, 0, 1, 1)
    canvas.endForm()
    canvas.saveState()
    canvas.transform(360, 0, 0, 160, 20, 20)
    canvas.doForm("stamp")
    canvas.restoreState()
    canvas.bezier(20, 200, 100, 390, 300, 190, 390, 360)
    canvas.linearGradient(20, 200, 390, 250, ("red", "blue"), extend=False)


def test_what_cannot_be_compared_is_left_out_or_not_shown() -> None:
    text = "\n".join(LINES)
    plain = page_picture(pdf(LINES), 1, "", text)
    assert (pixels(plain.png) < 100).any()
    out = io.BytesIO()
    canvas = Canvas(out, pagesize=(400, 400))
    _drawn(canvas)
    for number, line in enumerate(LINES):
        canvas.drawString(40, 340 - 30 * number, line)
    canvas.save()
    assert (pixels(page_picture(out.getvalue(), 1).png)[1000] < 200).any()
    assert page_picture(out.getvalue(), 1, "", text).png == plain.png
    assert page_picture(pdf(LINES, image=True), 1, "", text).png == plain.png


def test_a_letter_that_no_text_tells_of_is_left_out() -> None:
    """Glyphs of which the file does not say what they are: their word stands on the page, and in no text of it."""
    shown = page_picture(_with_nameless(), 1, "", "Signed in Haifa.")
    assert (pixels(page_picture(_with_nameless(), 1).png)[rows(0)] < 100).any()
    assert (pixels(shown.png)[list(set(range(1240)) - set(rows(2)))] == 255).all()
    assert (pixels(shown.png)[rows(2)] < 100).any()


def _with_nameless() -> bytes:
    """A line in a font whose glyphs are boxes, without names or Unicode, and one in Helvetica."""
    glyph = b"600 0 0 0 600 700 d1 0 0 600 700 re f"
    content = b"BT /T 20 Tf 40 340 Td (\x01\x02\x01) Tj ET BT /H 12 Tf 40 280 Td (Signed in Haifa.) Tj ET"
    objects = [
        b"<</Type/Catalog/Pages 2 0 R>>",
        b"<</Type/Pages/Kids[3 0 R]/Count 1>>",
        b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 400 400]/Contents 4 0 R/Resources<</Font<</T 5 0 R/H 7 0 R>>>>>>",
        b"<</Length %d>>stream\n%s\nendstream" % (len(content), content),
        b"<</Type/Font/Subtype/Type3/FontBBox[0 0 600 700]/FontMatrix[.001 0 0 .001 0 0]/FirstChar 1/LastChar 2"
        b"/Widths[600 600]/Encoding<</Differences[1/g1/g2]>>/CharProcs<</g1 6 0 R/g2 6 0 R>>/Resources<<>>>>",
        b"<</Length %d>>stream\n%s\nendstream" % (len(glyph), glyph),
        b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
    ]
    body = b"".join(b"%d 0 obj%s endobj\n" % (number, one) for number, one in enumerate(objects, 1))
    return b"%PDF-1.4\n" + body + b"trailer<</Root 1 0 R/Size 8>>\n%%EOF"


def test_a_scan_is_not_shown() -> None:
    with pytest.raises(DocumentError, match="scan"):
        page_picture(pdf([], image=True), 1, "", "")
    assert page_picture(pdf([], image=True), 1, "the quote").is_scan


@pytest.mark.parametrize(*cases(__file__, "words_that_the_redacted_text_does_not_have"))
def test_words_that_the_redacted_text_does_not_have(words: str, redacted: str, covered: list[str]) -> None:
    given = words.split()
    found = [given[place] for place in missing_words(given, redacted)]
    assert set(covered) <= set(found)
    assert len(found) <= len(covered) + 1  # of equal numbers in a row either may be the one that stays


def test_what_cannot_be_opened_says_why() -> None:
    for data, number, fault in (
        (pdf(LINES, password="p"), 1, "encrypted"),
        (b"%PDF-1.4 nothing", 1, "damaged"),
        (pdf(LINES), 2, "no_page"),
    ):
        with pytest.raises(DocumentError) as stopped:
            page_picture(data, number)
        assert stopped.value.fault == fault
