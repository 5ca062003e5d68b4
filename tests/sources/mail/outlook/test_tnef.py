"""winmail.dat: files and text, built here byte by byte after MS-OXTNEF."""

import base64
import contextlib
import struct
from pathlib import Path

import pytest

from relrag_pipelines.privacy.keys import Keys
from relrag_pipelines.records import Record
from relrag_pipelines.sources import ReadContext, Unit
from relrag_pipelines.sources.mail import read
from relrag_pipelines.sources.mail.outlook import mapi_properties
from relrag_pipelines.sources.mail.outlook.tnef import TnefError, unpack
from tests.sources.mail.outlook.outlook_files import packed_rtf


def attribute(level: int, kind: int, value: bytes) -> bytes:
    return struct.pack("<BLL", level, kind, len(value)) + value + struct.pack("<H", sum(value) % 65536)


def long_name(name: str) -> bytes:
    """A property of fixed size, one with a name of its own, then the long file name."""
    method = struct.pack("<HHL", 0x0003, 0x3705, 1)
    named = (
        struct.pack("<HH", 0x001E, 0x8001) + b"g" * 16 + struct.pack("<LL", 1, 6) + "abc".encode("utf-16-le") + b"\0\0"
    )
    named += struct.pack("<LL", 1, 3) + b"xy\0" + b"\0"
    value = (name + "\0").encode("utf-16-le")
    long = struct.pack("<HHLL", 0x001F, 0x3707, 1, len(value)) + value + b"\0" * (-len(value) % 4)
    return struct.pack("<L", 3) + method + named + long


HEAD = struct.pack("<LH", 0x223E9F78, 1)
WINMAIL = (
    HEAD
    + attribute(1, 0x00069007, struct.pack("<LL", 1250, 0))
    + attribute(1, 0x0002800C, "Příloha je uvnitř.\0".encode("cp1250"))
    + attribute(2, 0x00069002, b"\0" * 14)
    + attribute(2, 0x00018010, b"PREHLE~1.TXT\0")
    + attribute(2, 0x0006800F, b"seven beds\n")
    + attribute(2, 0x00069005, long_name("přehled.txt"))
    + attribute(2, 0x00069002, b"\0" * 14)
    + attribute(2, 0x00018010, b"logo.bmp\0")
    + attribute(2, 0x0006800F, b"BM")
)


def test_files_and_text_are_unpacked() -> None:
    packed = unpack(WINMAIL)
    assert packed.properties.text(mapi_properties.BODY) == "Příloha je uvnitř."
    table, logo = (one.properties for one in packed.attachments)
    assert (table.text(mapi_properties.LONG_NAME), table.text(mapi_properties.SHORT_NAME)) == (
        "přehled.txt",
        "PREHLE~1.TXT",
    )
    assert (table.bytes(mapi_properties.DATA), logo.bytes(mapi_properties.DATA)) == (b"seven beds\n", b"BM")


def properties(*found: tuple[int, int, bytes]) -> bytes:
    """Properties of variable length: type, number, value."""
    sized = (
        struct.pack("<HHLL", kind, number, 1, len(value)) + value + b"\0" * (-len(value) % 4)
        for kind, number, value in found
    )
    return struct.pack("<L", len(found)) + b"".join(sized)


def in_a_mail(data: bytes, tmp_path: Path, keys: Keys) -> list[Record]:
    head = b"Subject: s\nContent-Type: application/ms-tnef; name=winmail.dat\nContent-Transfer-Encoding: base64\n\n"
    file = tmp_path / "a.eml"
    file.write_bytes(head + base64.encodebytes(data))
    unit = Unit("a.eml", file, file.stat().st_size, 0)
    return [one for one in read(unit, ReadContext("m", "UTC", keys.id_hash)) if isinstance(one, Record)]


def test_text_that_is_rich_text_or_html_only(tmp_path: Path, keys: Keys) -> None:
    rich = packed_rtf(rb"{\rtf1\ansi\ansicpg1255 \'f9\'ec\'e5\'ed\par}")
    for told, text in (
        (properties((0x0102, mapi_properties.RTF, rich)), "שלום"),
        (properties((0x0102, mapi_properties.HTML, b"<p>page</p>"), (0x0102, mapi_properties.RTF, rich)), "page"),
        (
            properties(
                (0x001F, mapi_properties.BODY, "plain".encode("utf-16-le")), (0x0102, mapi_properties.RTF, rich)
            ),
            "plain",
        ),
    ):
        (mail,) = in_a_mail(HEAD + attribute(1, 0x00069003, told), tmp_path, keys)
        assert mail.text == text


def test_a_message_that_is_attached(tmp_path: Path, keys: Keys) -> None:
    """MS-OXTNEF 2.1.3.3: the data of such an attachment is the id of IMessage, then TNEF again."""
    said = properties(
        (0x001E, 0x0037, b"inner"), (0x001E, mapi_properties.BODY, b"inner text"), (0x001E, 0x0042, b"Ota")
    )
    inner = bytes.fromhex("0703020000000000c000000000000046") + HEAD + attribute(1, 0x00069003, said)
    attached = attribute(2, 0x00069002, b"\0" * 14) + attribute(
        2, 0x00069005, properties((0x000D, mapi_properties.DATA, inner))
    )
    mail, message = in_a_mail(WINMAIL[:6] + attached, tmp_path, keys)
    assert (mail.total_siblings, message.content_type) == (1, "message/rfc822")
    assert (message.subject, message.text, message.from_) == ("inner", "inner text", "Ota")


@pytest.mark.parametrize("data", [b"", b"MZ", WINMAIL[:-3], WINMAIL[:40], b"\x78\x9f\x3e\x22" + b"\xff" * 50])
def test_damaged_ones_are_refused(data: bytes) -> None:
    with pytest.raises(TnefError):
        unpack(data)


@pytest.mark.parametrize("size", range(6, len(WINMAIL), 7))
def test_every_cut_is_read_or_refused(size: int) -> None:
    with contextlib.suppress(TnefError):
        unpack(WINMAIL[:size])


def test_a_mail_with_a_winmail_dat_has_its_files_attached(tmp_path: Path, keys: Keys) -> None:
    mail, table, logo = in_a_mail(WINMAIL, tmp_path, keys)
    assert (mail.text, mail.total_siblings) == ("Příloha je uvnitř.", 2)
    assert (table.file_name, table.text, table.content_type) == ("přehled.txt", "seven beds\n", "text/plain")
    assert (logo.file_name, logo.text) == ("logo.bmp", "")
