"""Office documents of all formats: their samples, embedded files, misnamed files, and damaged ones."""

import io
import random
import zipfile
from pathlib import Path

import docx
import pytest

from relrag_pipelines.records import Failure, Record
from relrag_pipelines.sources import KINDS
from relrag_pipelines.sources.document import SUFFIXES, extract
from tests.conftest import ROOT
from tests.sources.document.test_document import items

SAMPLES = ROOT / "examples" / "samples" / "document"
LETTER = "hiermit kündige ich den Stellplatz Nr. 14 zum 31. Januar 2024. Die Kaution von 180 € bitte auf mein Konto."
SHOWN = "Datum: 3. 2. 2024; Položka: Krov a latě; Částka Kč: 48,250.50; DPH: 21%; Číslo: 00071"
VALUES = "Datum: 2024-02-03; Položka: Krov a latě; Částka Kč: 48250.5; DPH: 0.21; Číslo: 71"
SLIDE = (
    "Projet verger\nQuarante pommiers de Reinette\nBudget : 3 200 euros\n\n"
    "Notes:\nDire que le maire a donné son accord."
)


def sample(suffix: str) -> bytes:
    """The bytes of the sample with that suffix; that of PowerPoint 97 is packed, as it is mostly empty."""
    packed = SAMPLES / f"projet-verger{suffix}.zip"
    if packed.exists():
        with zipfile.ZipFile(packed) as archive:
            return archive.read(packed.stem)
    return next(file for file in SAMPLES.iterdir() if file.suffix == suffix).read_bytes()


@pytest.mark.parametrize(
    ("suffix", "title", "author", "pages", "lines"),
    [
        (".odt", "Kündigung des Stellplatzes", "Annegret Vogt", 0, [LETTER, "| November | 60 € |"]),
        (".rtf", "Kündigung des Stellplatzes", None, 0, ["Schlüssel: zwei Stück", "November 60 €", "שלום לך דנה"]),
        (".doc", "Kündigung des Stellplatzes", "Annegret Vogt", 0, [LETTER, "November\t60 €", "שלום לך דנה"]),
        (".epub", "Kündigung des Stellplatzes", "Annegret Vogt", 1, ["| November | 60 € |", "שלום לך דנה"]),
        (".xlsx", "Rozpočet chaty 2024", None, 2, ["# Výdaje", "Rozpočet chaty, stav k únoru", SHOWN]),
        (".ods", "Rozpočet chaty 2024", "Marek Havlík", 2, ["# Výdaje", "Rozpočet chaty, stav k únoru", SHOWN]),
        (".xls", "Výdaje", None, 2, ["# Výdaje", VALUES, "Firma: Tesařství Blaha; Obor: střecha"]),
        (".pptx", "Projet verger", "Solène Marchetti", 2, ["Plantation le 25 novembre"]),
        (".odp", "Projet verger", "Solène Marchetti", 2, ["Plantation le 25 novembre"]),
        (".ppt", "Projet verger", "Solène Marchetti", 0, ["Budget : 3 200 euros"]),
    ],
)  # fmt: skip
def test_the_samples(suffix: str, title: str, author: str | None, pages: int, lines: list[str]) -> None:
    found = extract(sample(suffix), f"a{suffix}")
    assert (found.title, found.author, len(found.pages), found.failures) == (title, author, pages, [])
    assert [line for line in lines if line in found.text.split("\n")] == lines
    assert found.content_type == SUFFIXES[suffix]


@pytest.mark.parametrize("suffix", [".pptx", ".odp"])
def test_a_slide_is_a_page_with_its_notes(suffix: str) -> None:
    found = extract(sample(suffix), f"a{suffix}")
    first, second = found.pages
    assert found.text[first.start : first.end] == SLIDE
    assert found.text[second.start : second.end] == "Calendrier\nPlantation le 25 novembre"
    assert found.page_count == 2


@pytest.mark.parametrize("suffix", [".xlsx", ".odt", ".epub", ".doc", ".rtf", ".pptx"])
def test_the_contents_decide_not_the_suffix(suffix: str) -> None:
    assert extract(sample(suffix), "a.docx").text == extract(sample(suffix), f"a{suffix}").text


@pytest.mark.parametrize(
    ("data", "name", "text"),
    [
        (b"<html><body><table><tr><td>Rent</td><td>900</td></tr></table></body></html>", "a.xls", "Rent 900"),
        (b"Item;Price\nRent;900\nHeat;80\n", "a.xls", "Item, Price\nItem: Rent; Price: 900\nItem: Heat; Price: 80"),
        (b"<html><p>A letter</p></html>", "a.doc", "A letter"),
        ("Vážená paní".encode(), "a.doc", "Vážená paní"),
    ],
)
def test_texts_with_the_suffix_of_an_office_document(data: bytes, name: str, text: str) -> None:
    assert extract(data, name).text.strip() == text


@pytest.mark.parametrize(
    ("data", "name", "fault", "message"),
    [
        (b"\0\1\2\3" * 9, "a.ods", "damaged", "download it again"),
        (b"PK\x03\x04" + bytes(50), "a.pptx", "damaged", "not a zip"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600), "a.ppt", "wrong_format", "save it as"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + "Workbook".encode("utf-16-le"), "a.xls", "damaged", "open it in its"),
        (b"", "a.rtf", "empty", "no bytes"),
    ],
)
def test_what_is_no_document_says_what_to_do(data: bytes, name: str, fault: str, message: str) -> None:
    (failure,) = extract(data, name).failures
    assert failure.fault == fault
    assert message in failure.message


def test_an_encrypted_opendocument_is_named() -> None:
    found = extract(
        _with_parts(sample(".odt"), {"META-INF/manifest.xml": b"<m><manifest:encryption-data/></m>"}), "a.odt"
    )
    assert [failure.fault for failure in found.failures] == ["encrypted"]


def _with_parts(data: bytes, parts: dict[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as package:
        for name in old.namelist():
            if name not in parts:
                package.writestr(name, old.read(name))
        for name, part in parts.items():
            package.writestr(name, part)
    return buffer.getvalue()


def test_embedded_files_are_records_attached_to_their_document(tmp_path: Path) -> None:
    letter = docx.Document()
    letter.add_paragraph("The budget is within.")
    buffer = io.BytesIO()
    letter.save(buffer)
    parts = {
        "word/embeddings/budget.xlsx": sample(".xlsx"),
        "word/embeddings/broken.pptx": b"PK\x03\x04 cut off",
        "word/embeddings/picture.bin": b"\0\1",
    }
    found = items(tmp_path, "a.docx", _with_parts(buffer.getvalue(), parts))
    container, sheet, failure = found
    assert isinstance(container, Record)
    assert isinstance(sheet, Record)
    assert isinstance(failure, Failure)
    assert container.text.strip() == "The budget is within."
    assert (sheet.parent_asset_id, sheet.index_in_parent, sheet.total_siblings) == (
        f"document:{container.source_id}",
        0,
        2,
    )
    assert (sheet.file_name, sheet.subject) == ("budget.xlsx", "Rozpočet chaty 2024")
    assert SHOWN in sheet.text
    assert (failure.location, failure.fault, failure.whole_unit) == ("embedded broken.pptx", "damaged", False)


def test_a_sheet_that_repeats_itself_a_million_times_is_read_in_bounds() -> None:
    many = b'table:number-rows-repeated="1048576" table:number-columns-repeated="16384"'
    with zipfile.ZipFile(io.BytesIO(sample(".ods"))) as package:
        content = package.read("content.xml").replace(b"<table:table-row", b"<table:table-row " + many, 1)
    found = extract(_with_parts(sample(".ods"), {"content.xml": content}), "a.ods")
    assert found.readable
    assert len(found.text) < 100_000


@pytest.mark.parametrize("suffix", [".xlsx", ".pptx", ".odt", ".ods", ".odp", ".epub", ".rtf", ".doc", ".xls"])
def test_damaged_files_become_failures_or_texts(suffix: str) -> None:
    pick, whole = random.Random(suffix), sample(suffix)
    for _ in range(20):
        data = bytearray(whole)
        for _ in range(pick.choice((1, 8, 64))):
            data[pick.randrange(len(data))] = pick.randrange(256)
        found = extract(bytes(data[: pick.choice((len(data), len(data) // 2))]), f"a{suffix}")
        assert found.text or found.failures
        assert all(failure.fault != "internal" for failure in found.failures)


def test_every_sample_is_of_kind_document() -> None:
    files = [file for file in SAMPLES.iterdir() if file.suffix != ".zip"]
    assert len(files) == 9
    assert all(KINDS["document"].recognise(file) for file in files)
