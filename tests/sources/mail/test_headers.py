"""Headers as mail programs write them, and as broken ones do."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relrag_pipelines.sources.mail import headers, mime
from relrag_pipelines.sources.mail.body import name_of
from tests import cost


@pytest.mark.parametrize(
    ("value", "found"),
    [
        ("A@B.EXAMPLE", ["a@b.example"]),
        ("Dana <a@b.example>", ["Dana <a@b.example>"]),
        ("a@b.example (Dana Levi)", ["Dana Levi <a@b.example>"]),
        ("Dana (work) <a@b.example>", ["Dana <a@b.example>"]),
        ('"Levi, Dana" <a@b.example>, Ota <o@b.example>', ["Levi, Dana <a@b.example>", "Ota <o@b.example>"]),
        ('"Dana \\"DL\\" Levi" <a@b.example>', ['Dana "DL" Levi <a@b.example>']),
        ("\"'a@b.example'\" <a@b.example>", ["a@b.example"]),
        ("Dana O'Neil <o'neil@b.example>", ["Dana O'Neil <o'neil@b.example>"]),
        ("undisclosed-recipients:;", []),
        ("A: a@b.example, Ota <o@b.example>;, B: c@d.example;", ["a@b.example", "Ota <o@b.example>", "c@d.example"]),
        ("<@relay.example:a@b.example>, <mailto:c@d.example>", ["a@b.example", "c@d.example"]),
        ("a@b.example; c@d.example,, \r\n\t e@f.example,", ["a@b.example", "c@d.example", "e@f.example"]),
        ("Dana <a@b.example> Ota <o@b.example>", ["Dana <a@b.example>", "Ota <o@b.example>"]),
        ("Dana <a@b.example", ["Dana <a@b.example>"]),
        ("Dana a@b.example>", ["Dana <a@b.example>"]),
        ("<<a@b.example>>", ["a@b.example"]),
        ("Dana [a@b.example]", ["Dana <a@b.example>"]),
        ("a@[192.0.2.1]", ["a@[192.0.2.1]"]),
        ("Dana Levi", ["Dana Levi"]),
        ("Dana <>", ["Dana"]),
        (" , ;", []),
        ("=?utf-8?Q?Levi=2C_Dana?= <a@b.example>", ["Levi, Dana <a@b.example>"]),
        ('"=?utf-8?Q?=C5=A0=C3=A1rka?=" <a@b.example>', ["Šárka <a@b.example>"]),
        ("=?utf-8?q?Dana Levi?=<a@b.example>", ["Dana Levi <a@b.example>"]),
        ("=?iso-8859-8-i?Q?=F9=EC=E5=ED?= <a@b.example>", ["שלום <a@b.example>"]),
        ("=?x-unknown?Q?=C5=A0?= <a@b.example>", ["Š <a@b.example>"]),
        ("=?utf-8?Q?Dana_=3Cceo=40b.example=3E?= <a@b.example>", ["Dana ceo@b.example <a@b.example>"]),
        ("\u202bדנה לוי\u202c <\u200ea@b.example\u200e>", ["דנה לוי <a@b.example>"]),
        ("josé <josé@exämple.example>", ["josé <josé@exämple.example>"]),
    ],
)
def test_addresses(value: str, found: list[str]) -> None:
    assert list(map(str, headers.addresses([value.encode()]))) == found


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("=?utf-8?B?xb1sdcWlb3XEjWvDvQ==?=", "Žluťoučký"),
        ("=?utf-8?Q?P=C5?= =?utf-8?Q?=99=C3=ADloha?=", "Příloha"),
        ("=?utf-8?Q?=F0=9F?=\r\n =?utf-8?Q?=98=82?=", "😂"),
        ("Re: =?iso-8859-2?Q?=C8erpadlo?= v domku", "Re: Čerpadlo v domku"),
        ("=?utf-8?Q?a?= b =?utf-8?Q?c?=", "a b c"),
        ("=?utf-8*cs?Q?=C4=8Dau?=", "čau"),
        ("=?us-ascii?Q?=C4=8Dau?=", "čau"),
        ("=?gb2312?B?xOO6ww==?= =?ks_c_5601-1987?B?x9GxuQ==?=", "你好한국"),
        ("=?iso-2022-jp?B?GyRCRnxLXBsoQg==?=", "日本"),
        ("=?utf-7?Q?+AOk-?=", "é"),
        ("Not =? encoded ?= at =?utf-8?X?all?=", "Not =? encoded ?= at =?utf-8?X?all?="),
        ("čerpadlo  raw\r\n\tfolded", "čerpadlo raw folded"),
    ],
)
def test_encoded_words(value: str, text: str) -> None:
    assert headers.decode(value.encode()) == text


@pytest.mark.parametrize(
    ("value", "utc"),
    [
        ("Wed, 15 Jan 2025 10:12:00 +0200 (IST)", "2025-01-15 08:12"),
        ("15 Jan 25 10:12 EST", "2025-01-15 15:12"),
        ("Wed, 15 Jan 125 10:12:00 -0000", "2025-01-15 10:12"),
        ("Wed, 15-January-2025 10.12.00 +01:00", "2025-01-15 09:12"),
        ("Wed, 15 Jan 2025 10 : 12 : 00 CET", "2025-01-15 09:12"),
        ("Wed, 15 Jan 2025 10:12:00", "2025-01-15 09:12"),
        ("Wed Jan 15 10:12:00 2025", "2025-01-15 09:12"),
        ("Wed Jan 15 10:12:00 PST 2025", "2025-01-15 18:12"),
        ("Jan 15, 2025 10:12", "2025-01-15 09:12"),
        ("Wed, 15 Jan 2025 01:12:00 PM +0100", "2025-01-15 12:12"),
        ("Wed, 15 Jan 2025 12:12:00 AM +0000", "2025-01-15 00:12"),
        ("2025-01-15T10:12:00+02:00", "2025-01-15 08:12"),
        ("Thu, 1 Jan 1970 00:00:00 +0000", "1970-01-01 00:00"),
        ("Wed, 15 Jan 2025 10:12:00 +9999", None),
        ("Wed, 32 Jan 2025 10:12:00 +0000", None),
        ("Wed, 15 Foo 2025 10:12:00 +0000", None),
        ("Wed, 15 Jan 2025 25:12:00 +0000", None),
        ("15/01/2025 10:12:00", None),
        ("today", None),
        ("", None),
    ],
)
def test_dates(value: str, utc: str | None) -> None:
    """What has no zone is local, in Prague here; what nobody can read is none."""
    found = headers.date(value.encode(), "Europe/Prague")
    assert (None if found is None else f"{datetime.fromtimestamp(found, UTC):%Y-%m-%d %H:%M}") == utc


@pytest.mark.parametrize(
    ("kind", "disposition", "name"),
    [
        ("a/b; name=with space.txt", "", "with space.txt"),
        ('a/b; name="=?utf-8?Q?p=C5=99ehled.pdf?="', "", "přehled.pdf"),
        ("a/b; name==?utf-8?Q?p=C5=99ehled.pdf?=", "", "přehled.pdf"),
        ("a/b; name=other.pdf", "attachment; FILENAME=right.pdf", "right.pdf"),
        ("a/b", "attachment; filename*=UTF-8'cs'p%C5%99ehled.pdf", "přehled.pdf"),
        ("a/b", "attachment; filename*0*=utf-8''p%C5%99; filename*1=eh; filename*2*=led%2Epdf", "přehled.pdf"),
        ("a/b", "attachment;\n filename*1*=%E5%ED.pdf;\n filename*0*=windows-1255''%F9%EC", "שלום.pdf"),
        ("a/b", 'attachment; filename*0="=?utf-8?Q?p=C5=99eh"; filename*1="led.pdf?="', "přehled.pdf"),
        ("a/b", "attachment; filename=plain.pdf; filename*=utf-8''p%C5%99.pdf", "př.pdf"),
        ("a/b", 'attachment; filename="=?utf-8?B?w6nDqcOp?=\n =?utf-8?B?LnBkZg==?="', "ééé.pdf"),
        ("a/b", 'attachment; filename="=?windows-1255?B?+ezl7S5wZGY=?="', "שלום.pdf"),
        ("a/b", 'attachment; filename="a;b \\"c\\".pdf"', 'a;b "c".pdf'),
        ("a/b", 'attachment; filename="C:\\\\Users\\\\dana\\\\a.pdf"', "a.pdf"),
        ("a/b", 'attachment; filename="../../etc/passwd"', "passwd"),
        ("a/b", "filename=only.pdf", "only.pdf"),
        ("a/b", "attachment; filename", ""),
    ],
)
def test_names_of_files(kind: str, disposition: str, name: str) -> None:
    """RFC 2231, RFC 2047 where it is not allowed but usual, raw bytes, and places on other machines."""
    head = f"Content-Type: {kind}\n" + (f"Content-Disposition: {disposition}\n" if disposition else "")
    assert name_of(mime.parse(f"{head}\nx".encode())) == name


@pytest.mark.parametrize(
    ("value", "ids"),
    [
        ("<a@b> <c@d><a@b>", ["a@b", "c@d"]),
        ("<a@\r\n b>,\t<no-at>", ["a@b", "no-at"]),
        ('"your mail" of Wed (x) <a@b>', ["a@b"]),
        ("a@b c@d", ["a@b", "c@d"]),
        ("<a@b", ["a@b"]),
        ("your mail <>", []),
    ],
)
def test_ids(value: str, ids: list[str]) -> None:
    assert headers.message_ids([value.encode()]) == ids


@given(st.text(alphabet='a@b.c<>,;:"()\\ =?utf-8Q\u200f', max_size=80))
def test_any_addresses_are_read(text: str) -> None:
    for one in headers.addresses([text.encode()]):
        assert one.name or one.address
        assert not set("<>\u200f") & set(one.name)
        assert one.address == one.address.lower()


@pytest.mark.slow
@pytest.mark.parametrize("piece", ["<", '"', "(", "a@b ", "a, ", "=?utf-8?q?", "<a@b>", "\\", ":", "=?x?q?a?= "])
def test_hostile_addresses_cost_time_in_proportion(piece: str) -> None:

    def value(size: int) -> list[bytes]:
        return [(piece * size).encode()[:size]]

    assert cost.exponent(headers.addresses, value, headers.MAX_VALUE) < cost.LINEAR
