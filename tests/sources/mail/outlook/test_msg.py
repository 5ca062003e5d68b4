"""Mails that Outlook saved: files written here after MS-OXMSG, damaged ones, and hostile ones."""

import base64
import hashlib
import random
import struct
from pathlib import Path

import pytest

from relrag_pipelines.privacy.keys import Keys
from relrag_pipelines.records import Failure, Record
from relrag_pipelines.sources import KINDS, ReadContext, Unit
from relrag_pipelines.sources.mail import read, recognise
from relrag_pipelines.sources.mail.outlook import msg
from relrag_pipelines.sources.mail.outlook.cfb import Compound, CompoundError
from relrag_pipelines.sources.mail_ids import plain_id
from tests import cost
from tests.sources.mail.outlook.outlook_files import Node, compound, message, packed_rtf, windows_time

SUBJECT, BODY, RTF, HTML, HEADERS = 0x0037, 0x1000, 0x1009, 0x1013, 0x007D
SENDER, SENDER_ADDRESS, SENT, ID, ANSWERED = 0x0042, 0x5D02, 0x0039, 0x1035, 0x1042
WHO, ADDRESS, DIRECTORY_ADDRESS, TO_OR_CC = 0x3001, 0x39FE, 0x3003, 0x0C15
METHOD, DATA, LONG_NAME, SHORT_NAME, MIME_TYPE, CONTENT_ID = 0x3705, 0x3701, 0x3707, 0x3704, 0x370E, 0x3712
CODE_PAGE, INTERNET_CODE_PAGE = 0x3FFD, 0x3FDE
EMBEDDED = 5

INNER = message(
    {SUBJECT: "inner", BODY: "inner text", SENDER: "Ota", SENDER_ADDRESS: "ota@b.example", ID: "<inner@b.example>"},
    attachments=[{LONG_NAME: "škola.txt", METHOD: 1, DATA: b"seven beds\n"}],
    top=False,
)
MAIL = message(
    {
        SUBJECT: "Sanitární čerpadlo",
        BODY: "Ahoj שלום\r\n\r\n-- \r\nDana\r\n",
        SENDER: "Levi, Dana",
        SENDER_ADDRESS: "Dana@Host.example",
        SENT: windows_time(1736928720),
        ID: "<parent@host.example>",
        ANSWERED: "<before@host.example>",
    },
    recipients=[
        {WHO: "Ota", ADDRESS: "ota@b.example", TO_OR_CC: 1},
        {WHO: "Petr", DIRECTORY_ADDRESS: "/O=FIRM/CN=PETR", TO_OR_CC: 1},
        {WHO: "eva@b.example", DIRECTORY_ADDRESS: "eva@b.example", TO_OR_CC: 2},
    ],
    attachments=[
        {LONG_NAME: "přehled.csv", SHORT_NAME: "PREHLE~1.CSV", METHOD: 1, DATA: b"a,b\n1,2\n" * 900},
        {WHO: "inner", METHOD: EMBEDDED, DATA: INNER},
        {SHORT_NAME: "logo.png", METHOD: 1, MIME_TYPE: "image/png", DATA: b"\x89PNG", CONTENT_ID: "logo@host"},
    ],
)


@pytest.fixture
def reading(keys: Keys) -> ReadContext:
    return ReadContext("mail", "UTC", keys.id_hash)


def items(data: bytes, tmp_path: Path, reading: ReadContext, name: str = "mail.msg") -> list[Record | Failure]:
    file = tmp_path / name
    file.write_bytes(data)
    return list(read(Unit(name, file, len(data), 0), reading))


def records(node: dict[str, Node], tmp_path: Path, reading: ReadContext) -> list[Record]:
    found = items(compound(node), tmp_path, reading)
    assert not [one for one in found if isinstance(one, Failure)]
    return [one for one in found if isinstance(one, Record)]


@pytest.mark.requirement("S0-39", "S3-14", "S3-15")
def test_a_saved_mail_and_what_is_attached_to_it(tmp_path: Path, reading: ReadContext) -> None:
    mail, table, inner, beds, logo = records(MAIL, tmp_path, reading)
    assert (plain_id(mail.source_id), mail.parent_asset_id) == ("parent@host.example", "gmail:before@host.example")
    assert mail.from_ == "Levi, Dana <dana@host.example>"
    assert mail.to == ["Ota <ota@b.example>", "Petr", "eva@b.example"]
    assert mail.extra["cc"] == ["eva@b.example"]
    assert (mail.subject, mail.ts, mail.content_type) == ("Sanitární čerpadlo", 1736928720, "text/plain")
    assert (mail.text, mail.extra["apart"]) == ("Ahoj שלום", {"signature": "-- \nDana"})
    assert mail.total_siblings == 3

    assert (table.file_name, table.content_type, table.extra["size"]) == ("přehled.csv", "text/csv", 7200)
    assert (table.parent_asset_id, table.index_in_parent) == (f"gmail:{mail.source_id}", 0)
    assert table.text.startswith("a, b\na: 1; b: 2")
    assert (inner.text, inner.subject, inner.from_) == ("inner text", "inner", "Ota <ota@b.example>")
    assert (inner.index_in_parent, inner.content_type, inner.total_siblings) == (1, "message/rfc822", 3)
    assert (beds.parent_asset_id, beds.file_name, beds.text) == (
        f"gmail:{inner.source_id}",
        "škola.txt",
        "seven beds\n",
    )
    assert (logo.file_name, logo.content_type, logo.text) == ("logo.png", "image/png", "")


def test_the_headers_that_a_mail_came_with_say_more_than_its_properties(tmp_path: Path, reading: ReadContext) -> None:
    head = (
        "Microsoft Mail Internet Headers Version 2.0\r\nReceived: from mx\r\nMessage-ID: <own@host.example>\r\n"
        "References: <a@host.example>\r\n <b@host.example>\r\nIn-Reply-To: <b@host.example>\r\n"
        "From: =?utf-8?Q?=C5=A0=C3=A1rka?= <sarka@host.example>\r\nDate: Wed, 15 Jan 2025 10:12:00 +0200\r\n"
        "List-Id: <news.host.example>\r\nContent-Type: multipart/mixed; boundary=gone\r\n\r\n"
    )
    told = {HEADERS: head, SUBJECT: "s", BODY: "hello", SENDER: "x", SENT: windows_time(1), ID: "<other@host.example>"}
    (mail,) = records(message(told), tmp_path, reading)
    assert (plain_id(mail.source_id), mail.from_, mail.ts) == (
        "own@host.example",
        "Šárka <sarka@host.example>",
        1736928720,
    )
    assert mail.parent_asset_id == "gmail:b@host.example"
    assert len(mail.extra["references"]) == 2
    assert (mail.extra["bulk"], mail.text, mail.subject) == ("list_id", "hello", "s")


@pytest.mark.parametrize(
    ("told", "kind", "text"),
    [
        ({BODY: "plain"}, "text/plain", "plain"),
        ({HTML: "<p>příliš</p>".encode("cp1250"), INTERNET_CODE_PAGE: 1250}, "text/html", "příliš"),
        ({HTML: "<p>שלום</p>".encode(), INTERNET_CODE_PAGE: 65001}, "text/html", "שלום"),
        ({HTML: "<p>שלום</p>"}, "text/html", "שלום"),
        ({BODY: "Stub.", HTML: ("<p>" + "Long page. " * 40 + "</p>").encode()}, "text/html", "Long page. " * 40),
        ({RTF: packed_rtf(rb"{\rtf1\ansi\ansicpg1255 \'f9\'ec\'e5\'ed\par}")}, "text/plain", "שלום"),
        ({RTF: packed_rtf(rb"{\rtf1\fromhtml1{\*\htmltag64 <p>}page{\*\htmltag72 </p>}}")}, "text/html", "page"),
        ({BODY: "plain", RTF: b"damaged"}, "text/plain", "plain"),
        ({}, "text/plain", ""),
    ],
)
def test_the_text_is_the_best_that_is_kept(
    told: dict[int, str | bytes | int], kind: str, text: str, tmp_path: Path, reading: ReadContext
) -> None:
    (mail,) = records(message({SUBJECT: "s", **told}), tmp_path, reading)
    assert (mail.content_type, mail.text) == (kind, text.strip())


def test_text_that_is_not_unicode_is_in_the_code_page_of_the_mail(tmp_path: Path, reading: ReadContext) -> None:
    told = {SUBJECT: "čerpadlo", BODY: "příliš", SENDER: "Šárka", CODE_PAGE: 1250}
    attached = [{LONG_NAME: "přehled.bin", METHOD: 1, DATA: b"x"}]
    mail, file = records(message(told, attachments=attached, unicode="cp1250"), tmp_path, reading)
    assert (mail.subject, mail.text, mail.from_, file.file_name) == ("čerpadlo", "příliš", "Šárka", "přehled.bin")


def test_a_large_attachment(tmp_path: Path, reading: ReadContext) -> None:
    """From 7 MB on the header has no room for the places of the allocation table; from 15 MB on one sector has none."""
    data = random.Random(3).randbytes(16_000_000)
    told = message({SUBJECT: "s"}, attachments=[{LONG_NAME: "film.bin", METHOD: 1, DATA: data}])
    _, film = records(told, tmp_path, reading)
    assert film.extra == {"size": len(data), "bytes_hash": reading.hash(hashlib.sha256(data).hexdigest())}


def test_rich_text_that_cannot_be_unpacked_is_a_failure(tmp_path: Path, reading: ReadContext) -> None:
    failure, mail = items(compound(message({SUBJECT: "s", RTF: b"no rich text at all"})), tmp_path, reading)
    assert isinstance(failure, Failure)
    assert isinstance(mail, Record)
    assert (failure.fault, mail.extra["defects"]) == ("damaged", ["damaged_rtf"])


def test_a_mail_that_is_signed_in_the_open_has_its_text(tmp_path: Path, reading: ReadContext) -> None:
    """Outlook keeps it whole, as it came, in one attachment."""
    whole = b"Content-Type: multipart/signed; boundary=x\n\n--x\n\nhello\n--x\n"
    whole += b"Content-Type: application/pkcs7-signature\n\nA\n--x--\n"
    attached = [{LONG_NAME: "smime.p7m", METHOD: 1, MIME_TYPE: "multipart/signed", DATA: whole}]
    (mail,) = records(message({SUBJECT: "s"}, attachments=attached), tmp_path, reading)
    assert (mail.text, mail.extra["signed"]) == ("hello", True)


def test_what_is_encrypted_is_a_failure(tmp_path: Path, reading: ReadContext) -> None:
    for kind in ("application/pkcs7-mime", "application/x-microsoft-rpmsg-message"):
        attached = [{LONG_NAME: "smime.p7m", METHOD: 1, MIME_TYPE: kind, DATA: b"sealed"}]
        found = items(compound(message({SUBJECT: "s"}, attachments=attached)), tmp_path, reading)
        assert [one.fault for one in found if isinstance(one, Failure)] == ["encrypted"]


def test_a_saved_mail_within_a_mail_is_a_message(tmp_path: Path, reading: ReadContext) -> None:
    head = b"Subject: outer\nContent-Type: application/vnd.ms-outlook; name=saved.msg\n"
    head += b"Content-Transfer-Encoding: base64\n\n"
    found = items(head + base64.encodebytes(compound(MAIL)), tmp_path, reading, "mail.eml")
    outer, saved, table, inner, beds, logo = (one for one in found if isinstance(one, Record))
    assert (outer.subject, saved.subject, saved.file_name) == ("outer", "Sanitární čerpadlo", "saved.msg")
    assert saved.text == "Ahoj שלום"
    assert (table.file_name, inner.subject, beds.text, logo.file_name) == (
        "přehled.csv",
        "inner",
        "seven beds\n",
        "logo.png",
    )


def nested(depth: int) -> dict[str, Node]:
    found = message({SUBJECT: "0", BODY: "deepest"}, top=False)
    for number in range(1, depth):
        found = message({SUBJECT: str(number)}, attachments=[{METHOD: EMBEDDED, DATA: found}], top=False)
    return message({SUBJECT: "outer"}, attachments=[{METHOD: EMBEDDED, DATA: found}])


def test_messages_within_each_other(tmp_path: Path, reading: ReadContext) -> None:
    found = records(nested(10), tmp_path, reading)
    assert len(found) == 11
    assert found[-1].text == "deepest"
    deep = items(compound(nested(200)), tmp_path, reading)
    assert [one.fault for one in deep if isinstance(one, Failure)] == ["too_large"]
    assert 10 < len(deep) < 50
    data = b"inside"
    for _ in range(40):
        data = compound(message({SUBJECT: "s"}, attachments=[{LONG_NAME: "a.msg", METHOD: 1, DATA: data}]))
    assert "too_large" in {one.fault for one in items(data, tmp_path, reading) if isinstance(one, Failure)}


DATA_OF_MAIL = compound(MAIL)


@pytest.mark.parametrize("size", range(8, len(DATA_OF_MAIL) - 512, 509))
def test_every_cut_is_a_failure_and_its_bytes_are_kept(size: int, tmp_path: Path, keys: Keys) -> None:
    kept: list[bytes] = []
    reading = ReadContext("mail", "UTC", keys.id_hash, keep=lambda unit, place, data: kept.append(data))
    faults = {one.fault for one in items(DATA_OF_MAIL[:size], tmp_path, reading) if isinstance(one, Failure)}
    assert faults == {"damaged"}
    assert kept == [DATA_OF_MAIL[:size]]


def test_what_can_be_read_of_a_damaged_mail_is_kept(tmp_path: Path, reading: ReadContext) -> None:
    """The chain of the large attachment leads nowhere; everything else is sound."""
    file = Compound(DATA_OF_MAIL)
    start = file.root.storages["__attach_version1.0_#00000000"].streams["__substg1.0_37010102"].start
    place = DATA_OF_MAIL.index(struct.pack("<LL", start + 1, start + 2))
    damaged = DATA_OF_MAIL[:place] + b"\xff" * 4 + DATA_OF_MAIL[place + 4 :]
    found = items(damaged, tmp_path, reading)
    assert [one.fault for one in found if isinstance(one, Failure)] == ["damaged", "empty"]
    mail, table, inner, *_ = (one for one in found if isinstance(one, Record))
    assert (mail.text, table.file_name, table.text, inner.text) == ("Ahoj שלום", "přehled.csv", "", "inner text")


def test_other_compound_files_are_refused(tmp_path: Path, reading: ReadContext) -> None:
    (failure,) = items(compound({"WordDocument": b"x"}), tmp_path, reading)
    assert isinstance(failure, Failure)
    assert "it is a compound file without a mail in it" in failure.message
    assert failure.whole_unit, "what was read of the file before stays"
    for data in (b"", b"MZ", compound({})[:100], DATA_OF_MAIL[:30] + b"\x0d" + DATA_OF_MAIL[31:]):
        with pytest.raises(CompoundError):
            msg.parse(data)


def test_hostile_compound_files_end_soon(tmp_path: Path, reading: ReadContext) -> None:
    def crowd(count: int) -> bytes:
        many: dict[str, Node] = {f"__attach_version1.0_#{number:08X}": {"x": b""} for number in range(count)}
        return compound(message({SUBJECT: "s"}) | many)

    assert len(items(crowd(4_000), tmp_path, reading)) == 4_001
    assert cost.exponent(lambda data: items(data, tmp_path, reading), crowd, 4_000) < cost.LINEAR
    circle = bytearray(compound({"a": b"x" * 5000, "__properties_version1.0": b"x" * 5000}))
    table = len(circle) - 512
    for sector in range(128):  # every sector follows itself
        struct.pack_into("<L", circle, table + 4 * sector, sector)
    items(bytes(circle), tmp_path, reading)
    # streams that share their sectors give no more than the file holds
    shared = bytearray(compound({f"__substg1.0_{0x3701:04X}{one:04X}": b"" for one in range(200)} | MAIL))
    items(bytes(shared), tmp_path, reading)


def test_it_is_told_from_other_files(tmp_path: Path) -> None:
    (tmp_path / "a.msg").write_bytes(DATA_OF_MAIL)
    (tmp_path / "b.msg").write_bytes(b"Subject: s\nFrom: a@b\n\nhello\n")
    (tmp_path / "c.msg").write_bytes(b"GIF89a")
    assert [recognise(tmp_path / f"{name}.msg") for name in "abc"] == [True, True, False]
    assert KINDS["gmail"].matches("mail/Dana's offer.MSG")
