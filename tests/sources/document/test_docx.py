"""DOCX: what stands in a document, in its order, and files that are none."""

import errno
import io
import os
import zipfile
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import docx
import pytest
from docx.oxml import parse_xml
from docx.oxml.ns import nsdecls
from lxml import etree

from relrag_pipelines.sources.document import extract, office
from relrag_pipelines.sources.document.document_text import DocumentText
from relrag_pipelines.sources.document.docx_math import to_text

MATH = 'xmlns:m="http://schemas.openxmlformats.org/officeDocument/2006/math"'


def saved(document: Any) -> bytes:
    buffer = io.BytesIO()
    document.save(buffer)
    return buffer.getvalue()


def changed(data: bytes, **parts: str | None) -> bytes:
    """The same package with parts replaced (`__` for `/`, `_dot_` for `.`); None leaves one out."""
    new = {name.replace("__", "/").replace("_dot_", "."): content for name, content in parts.items()}
    buffer = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as package:
        for part in old.namelist():
            if part not in new:
                package.writestr(part, old.read(part))
        for part, content in new.items():
            if content is not None:
                package.writestr(part, content)
    return buffer.getvalue()


def body(xml: str) -> bytes:
    """A document whose body is that XML."""
    document = docx.Document()
    element = document.element.body
    for child in parse_xml(f"<w:body {nsdecls('w', 'r')} {MATH}>{xml}</w:body>"):
        element.insert(len(element) - 1, child)
    return saved(document)


def faults(found: DocumentText) -> list[tuple[str, str]]:
    return [(failure.location, failure.fault) for failure in found.failures]


def test_headings_paragraphs_and_tables_in_order() -> None:
    document = docx.Document()
    document.add_heading("Lease", 0)
    document.add_paragraph("The tenant pays monthly.")
    table = document.add_table(2, 3)
    for row, values in zip(table.rows, [("month", "rent", "paid"), ("July", "", "yes")], strict=True):
        for cell, value in zip(row.cells, values, strict=True):
            cell.text = value
    document.add_heading("Deposit", 2)
    document.add_paragraph("Held until\nthe end.", style="List Bullet")
    document.sections[0].header.paragraphs[0].text = "Erez Properties"
    document.sections[0].footer.paragraphs[0].text = "page 1 of 2"
    found = extract(saved(document), "lease.docx")
    assert found.text.split("\n\n") == [
        "Erez Properties",
        "# Lease",
        "The tenant pays monthly.",
        "| month | rent | paid |\n| July | | yes |",
        "## Deposit",
        "Held until\nthe end.",
        "page 1 of 2",
    ]
    assert found.title == "Lease"


def test_merged_cells_do_not_shift_columns() -> None:
    document = docx.Document()
    table = document.add_table(3, 3)
    for place, cell in enumerate(cell for row in table.rows for cell in row.cells):
        cell.text = str(place)
    table.cell(0, 0).merge(table.cell(0, 1)).text = "wide"
    table.cell(1, 0).merge(table.cell(2, 0)).text = "tall"
    assert extract(saved(document), "a.docx").text.splitlines() == ["| wide | | 2 |", "| tall | 4 | 5 |", "| | 7 | 8 |"]


def test_a_table_of_one_column_only_frames_text() -> None:
    document = docx.Document()
    document.add_table(1, 1).rows[0].cells[0].text = "A letter\nin a frame"
    assert extract(saved(document), "a.docx").text == "A letter\nin a frame"


def test_a_table_within_a_cell_keeps_the_outer_columns() -> None:
    document = docx.Document()
    outer = document.add_table(1, 2)
    outer.rows[0].cells[1].text = "right"
    inner = outer.rows[0].cells[0].add_table(1, 2)
    inner.rows[0].cells[0].text, inner.rows[0].cells[1].text = "a", "b"
    assert extract(saved(document), "a.docx").text == "| \\| a \\| b \\| | right |"


def test_tracked_changes_links_tabs_and_content_controls() -> None:
    xml = """
    <w:p><w:r><w:t xml:space="preserve">pay </w:t></w:r><w:del><w:r><w:delText>8,400</w:delText></w:r></w:del>
      <w:moveFrom><w:r><w:t>elsewhere</w:t></w:r></w:moveFrom><w:ins><w:r><w:t>7,980</w:t></w:r></w:ins><w:r><w:tab/><w:t>now</w:t></w:r></w:p>
    <w:sdt><w:sdtContent><w:p><w:r><w:t>from a control</w:t></w:r></w:p></w:sdtContent></w:sdt>
    <w:p><w:r><w:t>non</w:t><w:noBreakHyphen/><w:t>breaking</w:t></w:r></w:p>"""
    assert extract(body(xml), "a.docx").text == "pay 7,980\tnow\n\nfrom a control\n\nnon-breaking"


def test_addresses_of_links_and_comments_are_kept() -> None:
    document = docx.Document()
    link = document.part.relate_to("https://example.org/terms", docx.opc.constants.RELATIONSHIP_TYPE.HYPERLINK, True)
    paragraph = document.add_paragraph("See ")
    paragraph._p.append(
        parse_xml(f'<w:hyperlink {nsdecls("w", "r")} r:id="{link}"><w:r><w:t>the terms</w:t></w:r></w:hyperlink>')
    )
    document.add_comment(paragraph.runs, text="Are they signed?", author="Noa")
    assert extract(saved(document), "a.docx").text == (
        "See the terms (https://example.org/terms)\n\nComment by Noa: Are they signed?"
    )


def test_real_document_keeps_its_headings(shared_data: Path) -> None:
    found = extract(shared_data / "documents/markitdown/test.docx", "test.docx")
    assert found.title == "AutoGen: Enabling Next-Gen LLM Applications via Multi-Agent Conversation"
    headings = [line for line in found.text.splitlines() if line.startswith("#")]
    assert headings[:3] == [f"# {found.title}", "# Abstract", "# Introduction"]
    rows = [line for line in found.text.splitlines() if line.startswith("|")]
    assert len(rows) == 5
    assert {row.count("|") for row in rows} == {7}
    assert "314b0a30-5b04-470b-b9f7-eed2c2bec74a" in found.text
    assert found.author == "Adam Fourney"
    assert found.date == datetime(2025, 3, 20, 15, 40, tzinfo=UTC)


def test_real_equations_keep_their_operators(shared_data: Path) -> None:
    assert extract(shared_data / "documents/markitdown/equations.docx", "e.docx").text.splitlines()[::2] == [
        "For m=1,",
        "sin θ=mλ/a=((1)(550×10^(-6) mm))/(2.5 mm)=2.2×10^(-4)",
        "The angle is θ=sin^(-1) (2.2×10^(-4))=2.2×10^(-4)rad.",
        "From Eq. 36.1.3,",
        "a/λ=m/(sin θ)=1/(sin 45.0^∘)=1.41.",
    ]


def run(text: str) -> str:
    return f"<m:r><m:t>{text}</m:t></m:r>"


@pytest.mark.parametrize(
    ("xml", "text"),
    [
        (f"<m:rad><m:deg>{run('3')}</m:deg><m:e>{run('x+1')}</m:e></m:rad>", "√[3](x+1)"),
        (f"<m:rad><m:deg/><m:e>{run('2')}</m:e></m:rad>", "√(2)"),
        (
            f'<m:nary><m:naryPr><m:chr m:val="∑"/></m:naryPr><m:sub>{run("i=1")}</m:sub><m:sup>{run("n")}</m:sup>'
            f"<m:e>{run('i')}</m:e></m:nary>",
            "∑_(i=1)^n i",
        ),
        (f"<m:nary><m:sub/><m:sup/><m:e>{run('f')}</m:e></m:nary>", "∫ f"),  # the integral is what no sign means
        (
            f'<m:d><m:dPr><m:begChr m:val="["/><m:endChr m:val=""/></m:dPr><m:e>{run("a")}</m:e>'
            f"<m:e>{run('b')}</m:e></m:d>",
            "[a|b",
        ),
        (f"<m:sSubSup><m:e>{run('x')}</m:e><m:sub>{run('i')}</m:sub><m:sup>{run('2')}</m:sup></m:sSubSup>", "x_i^2"),
        (
            f"<m:m><m:mr><m:e>{run('1')}</m:e><m:e>{run('0')}</m:e></m:mr><m:mr><m:e>{run('0')}</m:e></m:mr></m:m>",
            "[1, 0; 0]",
        ),
        (f"<m:acc><m:e>{run('x')}</m:e></m:acc>", "x\u0302"),
        (f"<m:func><m:fName>{run('lim')}</m:fName><m:e>{run('x')}</m:e></m:func>", "lim x"),
        (f"<m:box><m:e>{run('kept')}</m:e></m:box>", "kept"),
    ],
)
def test_formulas_on_one_line(xml: str, text: str) -> None:
    assert to_text(etree.fromstring(f"<m:oMath {MATH}>{xml}</m:oMath>")) == text


def test_placeholders_of_python_docx_are_no_metadata() -> None:
    document = docx.Document()
    document.add_paragraph("Minutes of the house committee")
    found = extract(saved(document), "a.docx")
    assert (found.title, found.author) == ("Minutes of the house committee", None)


def test_parts_that_are_named_but_missing_do_no_harm() -> None:
    document = docx.Document()
    document.add_paragraph("still here")
    data = saved(document)
    with zipfile.ZipFile(io.BytesIO(data)) as package:
        relations = package.read("word/_rels/document.xml.rels").decode()
    kind = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    lost = f'<Relationship Id="rId99" Type="{kind}/image" Target="NULL"/><Relationship Id="rId98" Type="{kind}/header" '
    relations = relations.replace("</Relationships>", f'{lost}Target="gone.xml"/></Relationships>')
    found = extract(
        changed(data, word___rels__document_dot_xml_dot_rels=relations, word__styles_dot_xml=None), "a.docx"
    )
    assert (found.text, found.failures) == ("still here", [])


def test_a_broken_part_is_read_as_far_as_it_goes() -> None:
    document = docx.Document()
    document.add_paragraph("before the break")
    data = saved(document)
    with zipfile.ZipFile(io.BytesIO(data)) as package:
        xml = package.read("word/document.xml").decode()
    found = extract(changed(data, word__document_dot_xml=xml[: xml.index("</w:p>") + 6] + "<w:p"), "a.docx")
    assert found.text == "before the break"
    assert faults(found) == [("word/document.xml", "broken_part")]


def test_entities_are_not_expanded() -> None:
    bomb = '<!DOCTYPE a [<!ENTITY a "boom"><!ENTITY b "&a;&a;">]>'
    w = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
    xml = f'{bomb}<w:document xmlns:w="{w}"><w:body><w:p><w:r><w:t>x&b;</w:t></w:r></w:p></w:body></w:document>'
    assert "boom" not in extract(changed(body(""), word__document_dot_xml=xml), "a.docx").text


@pytest.mark.parametrize(
    ("data", "fault", "told"),
    [
        (b"not a zip", "damaged", "not a zip"),
        (body("<w:p/>")[:400], "damaged", "not a zip"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + "EncryptedPackage".encode("utf-16-le"), "encrypted", "password"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + "WordDocument".encode("utf-16-le"), "damaged", "open it in its program"),
        (changed(body(""), word__document_dot_xml=None), "wrong_format", "not a Word document"),
        (changed(body(""), word__document_dot_xml=""), "damaged", "broken inside"),
        (changed(body(""), word__document_dot_xml="0" * 5_000_000), "too_large", "archive_max_ratio is 100"),
    ],
)
def test_files_that_are_no_document(data: bytes, fault: str, told: str) -> None:
    found = extract(data, "a.docx")
    assert not found.readable
    assert faults(found) == [("", fault)]
    assert told in found.failures[0].message
    assert found.failures[0].whole_unit


def test_a_document_that_expands_beyond_the_bytes_allowed_is_refused() -> None:
    found = extract(body("<w:p/>"), "a.docx", max_bytes=10_000)
    assert faults(found) == [("", "too_large")]
    assert "archive_max_bytes is 10000" in found.failures[0].message


def test_a_document_that_the_disk_does_not_give_is_not_taken_for_damaged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "lease.docx"
    file.write_bytes(body("<w:p><w:r><w:t>nine hundred</w:t></w:r></w:p>"))

    def failing(self: zipfile.ZipExtFile, size: int = -1) -> bytes:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    monkeypatch.setattr(zipfile.ZipExtFile, "read", failing)
    with pytest.raises(OSError, match="Input/output error"):
        office.extract(file, b"PK\x03\x04", 100, 2**30)
