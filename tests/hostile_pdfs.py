"""PDFs of a few lines that bring PDFium to its limits."""

from __future__ import annotations

import zlib

_FORM = b"/Type/XObject/Subtype/Form/BBox[0 0 9 9]/Resources<</XObject<</X 5 0 R>>>>"


def looped() -> bytes:
    """A form that draws itself fifty times: without a limit it takes 16 GB, then the process."""
    page = _page(b"/XObject<</X 5 0 R>>", _stream(b"", b"/X Do"))
    return _pdf([*page, _stream(_FORM, b"/X Do " * 50)])


def bomb(megabytes: int = 112) -> bytes:
    """Some 2,700 bytes for each megabyte of text, which takes twenty times as much memory."""
    drawn = b"BT /F 9 Tf (a) Tj ET\n"
    data = zlib.compress(drawn * (megabytes * 2**20 // len(drawn)), 9)
    font = b"/Font<</F<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>>>"
    return _pdf(_page(font, _stream(b"/Filter/FlateDecode", data)))


def _page(resources: bytes, contents: bytes) -> list[bytes]:
    return [
        b"<</Type/Catalog/Pages 2 0 R>>",
        b"<</Type/Pages/Kids[3 0 R]/Count 1>>",
        b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 800]/Contents 4 0 R/Resources<<%s>>>>" % resources,
        contents,
    ]


def _stream(about: bytes, data: bytes) -> bytes:
    return b"<<%s/Length %d>>stream\n%s\nendstream" % (about, len(data), data)


def _pdf(objects: list[bytes]) -> bytes:
    written, places = bytearray(b"%PDF-1.4\n"), []
    for number, body in enumerate(objects, 1):
        places.append(len(written))
        written += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    count = len(objects) + 1
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    end = b"xref\n0 %d\n0000000000 65535 f \n%strailer<</Size %d/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF\n"
    return bytes(written) + end % (count, table, count, len(written))
