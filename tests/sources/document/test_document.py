"""The record of a file: id, date, title, limits, faults; and texts that are kept as they are."""

import hashlib
import os
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relrag_pipelines.records import Failure, Record
from relrag_pipelines.sources import KINDS, ReadContext, Unit
from relrag_pipelines.sources.document import SUFFIXES, extract, recognise
from relrag_pipelines.sources.document.document_date import document_date
from relrag_pipelines.sources.document.document_text import DocumentText
from relrag_pipelines.sources.formats.text_cleaning import clean
from tests import ROOT

MTIME = 1_700_000_000 * 10**9 + 5


def keyed(text: str) -> str:
    return hashlib.blake2b(text.encode(), digest_size=8, key=b"test").hexdigest()


READING = ReadContext("papers", "Europe/Prague", keyed)


def items(folder: Path, path: str, data: bytes, reading: ReadContext = READING) -> list[Record | Failure]:
    """What the connector yields for a file of that path."""
    file = folder / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(data)
    os.utime(file, ns=(MTIME, MTIME))
    return list(KINDS["document"].read(Unit(path, file, len(data), MTIME), reading))


def record(folder: Path, path: str, data: bytes) -> Record:
    (found,) = items(folder, path, data)
    assert isinstance(found, Record)
    return found


def test_the_record_of_a_file(tmp_path: Path) -> None:
    data = b"---\ntitle: The lease\nauthor: Jonah\n---\n# Lease\r\n\r\nRef: contract no. 2025/0042\n"
    found = record(tmp_path, "home/lease.md", data)
    assert found == Record(
        source_id=keyed("home/lease.md"),
        text="---\ntitle: The lease\nauthor: Jonah\n---\n# Lease\n\nRef: contract no. 2025/0042\n",
        rag_source_type="documentation",
        from_="Jonah",
        subject="The lease",
        ts=1_700_000_000,
        date_quality="modified",
        content_type=".md",
        file_name="lease.md",
        source_uri="home/lease.md",
        locations=["home/lease.md"],
        numbers=["2025/0042"],
        extra={
            "suffix": ".md",
            "size": len(data),
            "bytes_hash": keyed(hashlib.sha256(data).hexdigest()),
            "author": "Jonah",
        },
    )


def test_an_edit_keeps_the_id_and_a_copy_keeps_the_hash_of_its_bytes(tmp_path: Path) -> None:
    first, edited = record(tmp_path, "a.txt", b"one"), record(tmp_path, "a.txt", b"two")
    copy = record(tmp_path, "b/c.txt", b"one")
    assert first.source_id == edited.source_id != copy.source_id
    assert first.extra["bytes_hash"] == copy.extra["bytes_hash"] != edited.extra["bytes_hash"]


DAY = int(datetime(2025, 1, 14, tzinfo=UTC).timestamp())
YEAR = int(datetime(2023, 1, 1, tzinfo=UTC).timestamp())
STATED = int(datetime(2023, 4, 3, tzinfo=UTC).timestamp())
PRAGUE = timezone(timedelta(hours=1))


@pytest.mark.parametrize(
    ("date", "has_time", "name", "expected"),
    [
        (datetime(2025, 1, 14, 9, 30, tzinfo=PRAGUE), True, "2019-05-01.pdf", (DAY + 8 * 3600 + 1800, "exact")),
        (datetime(2025, 1, 14, 9, 30), True, "x.pdf", (DAY + 8 * 3600 + 1800, "exact")),  # noqa: DTZ001  local
        (datetime(2025, 1, 14), False, "x.md", (DAY, "day")),  # noqa: DTZ001  a day is its midnight in UTC
        (None, True, "scan 2025-01-14.pdf", (DAY, "day")),
        (None, True, "IMG_20250114_0930.pdf", (DAY, "day")),
        (None, True, "2025.01.14 letter.txt", (DAY, "day")),
        (None, True, "order 120250114.txt", (MTIME // 10**9, "modified")),  # part of a longer number
        (None, True, "2025-0114.txt", (MTIME // 10**9, "modified")),
        (None, True, "2025-02-30.txt", (MTIME // 10**9, "modified")),
        (datetime(1970, 1, 1, tzinfo=UTC), True, "x.pdf", (MTIME // 10**9, "modified")),  # the zero of a clock
        (datetime(2013, 12, 23, 23, 15, tzinfo=UTC), True, "2025-01-14.docx", (DAY, "day")),  # of python-docx
        (None, True, "ceník 2023.md", (YEAR, "year")),
        (None, True, "מחירון 2023.md", (YEAR, "year")),
        (None, True, "price list 2024.md", (MTIME // 10**9, "modified")),  # for the year after the file
    ],
)
def test_which_date_counts(date: datetime | None, has_time: bool, name: str, expected: tuple[int, str]) -> None:
    found = DocumentText("text/plain", date=date, date_has_time=has_time)
    assert document_date(found, name, MTIME, "Europe/Prague") == expected


PRINTED = datetime(2023, 11, 10, 9, 30, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "title", "date", "expected"),
    [
        ("Date: 3 April 2023\nQuote", "Quote", PRINTED, (STATED, "day")),  # a PDF is made when it is printed
        ("Datum: 3. 4. 2023\nNabídka", "Nabídka 2022", None, (STATED, "day")),
        ("תאריך: 3.4.2023\nהצעה", "הצעה", None, (STATED, "day")),
        ("Smlouva\n1.\nV Brně dne 3. 4. 2023", "Smlouva", None, (STATED, "day")),
        ("Date: 3 April 2023", "Quote", datetime(9999, 12, 31, tzinfo=UTC), (STATED, "day")),  # "never"
        # the fourth of March, as Americans write it
        ("Date: 3/4/2023", "Quote", datetime(2023, 3, 4, 9, tzinfo=UTC), (STATED - 30 * 86_400 + 9 * 3600, "exact")),
        ("Přítomni: Jan", "Výbor, 3. 4. 2023", None, (STATED, "day")),
        ("Date: 10 November 2023", "Quote", PRINTED, (int(PRINTED.timestamp()), "exact")),  # the day of that time
        ("Date: 3 May 2024", "Invitation", PRINTED, (int(PRINTED.timestamp()), "exact")),  # of what is to come
        ("Date: 3 May 2024", "Invitation", None, (MTIME // 10**9, "modified")),
        ("Text", "Party, 3. 5. 2024", None, (MTIME // 10**9, "modified")),
        ("Date: 3 April 1911", "Deed", None, (MTIME // 10**9, "modified")),
        ("who: Noa; date: 3 April 2023", "Birthdays", None, (MTIME // 10**9, "modified")),
    ],
)
def test_what_a_document_says_of_itself_counts_more(
    text: str, title: str, date: datetime | None, expected: tuple[int, str]
) -> None:
    found = DocumentText("text/plain", text, title, date=date)
    assert document_date(found, "scan.pdf", MTIME, "Europe/Prague") == expected


def test_a_file_of_a_year_that_no_calendar_has_is_dated_all_the_same() -> None:
    far = 10**12 * 10**9
    assert document_date(DocumentText("text/plain", "Hello"), "a.txt", far, "Europe/Prague") == (10**12, "modified")


def test_the_rows_of_a_table_say_nothing_of_the_table(tmp_path: Path) -> None:
    table = record(tmp_path, "costs.csv", b"date,what\n2023-01-12,strings\n")
    assert (table.text, table.date_quality) == ("date, what\ndate: 2023-01-12; what: strings", "modified")


@pytest.mark.parametrize(
    ("name", "text", "title"),
    [
        ("a.md", "intro\n\n# Heading #\n", "Heading"),
        ("a.md", "Heading\n=======\ntext", "Heading"),
        ("a.md", "```\n# a comment\n```\n## Heading\n", "Heading"),
        ("a.md", "---\ntitle: 'In front'\n---\n# Heading\n", "In front"),
        ("a.md", "just text", "just text"),
        ("a.txt", "\n  ***\nGuláš podle babičky\n\nKilo hovězího.", "Guláš podle babičky"),
        ("a.txt", "Dear Noa,\nthank you.", None),
        ("a.txt", "x" * 200, None),
    ],
)
def test_titles(name: str, text: str, title: str | None) -> None:
    found = extract(text.encode(), name)
    assert found.title == title
    assert found.text == text


def test_without_a_title_the_file_name_serves(tmp_path: Path) -> None:
    assert record(tmp_path, "letters/to noa.txt", b"Dear Noa,").subject == "to noa"


@pytest.mark.parametrize(
    ("path", "data", "fault", "told", "whole"),
    [
        ("a.txt", b"", "empty", "no bytes", False),  # emptied: what it held is deleted
        ("a.md", b" \n\n", "empty", "no text", False),
        ("a.txt", b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0\x03\0>\0", "binary", "NUL bytes in", True),
        ("a.txt", bytes(range(1, 32)) * 4, "binary", "control characters", True),
        ("a.csv", b"\xff\xfea", "charset", "utf-16 byte order mark", True),
        ("a.txt", bytes(range(128, 256)), "charset", "UTF-8", True),
        ("a.jpg", b"\xff\xd8\xff", "unsupported", '".jpg"', True),
    ],
)
def test_faults(tmp_path: Path, path: str, data: bytes, fault: str, told: str, whole: bool) -> None:
    (failure,) = items(tmp_path, path, data)
    assert isinstance(failure, Failure)
    assert (failure.location, failure.fault, failure.whole_unit) == ("", fault, whole)
    assert told in failure.message


def test_a_file_beyond_the_limit_is_not_opened(tmp_path: Path) -> None:
    reading = ReadContext("papers", "UTC", keyed, unit_max_bytes=10)
    (failure,) = items(tmp_path, "a.txt", b"x" * 11, reading)
    assert isinstance(failure, Failure)
    assert (failure.fault, failure.whole_unit) == ("too_large", True)
    assert failure.message == "11 bytes; unit_max_bytes is 10: raise it, or exclude the file"


def test_a_guess_between_charsets_is_kept_and_told(tmp_path: Path) -> None:
    failure, found = items(tmp_path, "a.txt", "שלום דניאלה".encode("cp1255"))
    assert isinstance(failure, Failure)
    assert isinstance(found, Record)
    assert (failure.fault, failure.whole_unit) == ("charset", False)
    assert failure.message.startswith("read as cp1255, but it may as well be cp1251")
    assert found.text == "שלום דניאלה"


def test_damaged_bytes_are_told_and_the_rest_is_kept(tmp_path: Path) -> None:
    failure, found = items(tmp_path, "a.txt", "žluťoučký kůň úpěl ďábelské ódy ".encode() * 4 + b"\xc4")
    assert isinstance(failure, Failure)
    assert isinstance(found, Record)
    assert failure.message.startswith("damaged in 1 places")
    assert found.text.endswith("ódy \ufffd")


def test_failures_tell_nothing_of_the_text(tmp_path: Path) -> None:
    for path in ("a.txt", "a.csv", "a.html", "a.docx", "a.pdf", "a.md"):
        for item in items(tmp_path, path, b"Secret\xfe\xff\x00\x01word"):
            assert isinstance(item, Failure)
            assert "Secret" not in item.message


@pytest.mark.parametrize("name", ["a.txt", "a.md", "a.html", "a.csv", "a.xlsx"])
def test_the_head_of_a_pdf_or_rtf_decides_not_its_suffix(name: str) -> None:
    pdf = (ROOT / "examples/archive/documents/invoices/INV-1187.pdf").read_bytes()
    assert extract(pdf, name).content_type == "application/pdf"
    assert extract(rb"{\rtf1\ansi The roof is paid.}", name).text.strip() == "The roof is paid."


def test_attachments_without_a_suffix_are_told_by_their_head() -> None:
    assert extract(b"  <!DOCTYPE html><p>hello", "attachment").text == "hello"
    assert extract(b"hello", "attachment").content_type == "text/plain"
    assert [failure.fault for failure in extract(b"%PDF-1.7", "attachment").failures] == ["damaged"]


def test_text_is_stored_composed_and_without_invisible_marks() -> None:
    assert clean("e\u0301\r\na\rb\x0cc\u2028d\u00ade\ufeff\x00\ufffe\x07") == "é\na\nb\nc\nde"
    assert clean("\ud83d\ude00 \ud800 \udc00") == "😀 \ufffd \ufffd"
    assert clean("\u200f‏שלום\u202c") == "\u200f\u200fשלום\u202c"  # marks of direction are text


@given(st.text(alphabet=st.characters(exclude_categories=[]), max_size=50))
def test_any_text_can_be_stored_once_clean(text: str) -> None:
    once = clean(text)
    once.encode()
    assert clean(once) == once


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    for name, data in {
        "a.pdf": b"%PDF-1.7",
        "b.docx": b"PK\x03\x04rest",
        "c.txt": "žluť".encode(),
        "d.txt": b"\0\0\0binary",
        "e.pdf": b"<html>not found",
        "f.docx": b"\xd0\xcf\x11\xe0",
        "g.md": b"",
        "h.png": b"text",
        "i.csv": "a;b".encode("utf-16"),
    }.items():
        (tmp_path / name).write_bytes(data)
    yield tmp_path


def test_recognise(folder: Path) -> None:
    assert sorted(file.name for file in folder.iterdir() if recognise(file)) == ["a.pdf", "b.docx", "c.txt", "i.csv"]


def test_the_table_of_kinds_names_the_suffixes_that_are_read() -> None:
    assert set(KINDS["document"].suffixes) == set(SUFFIXES)
    assert KINDS["document"].one_record_per_unit
