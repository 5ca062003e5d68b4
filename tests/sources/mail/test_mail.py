"""Mails as records: every sample, and the fields of mails and attachments."""

import base64
import io
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from relrag_pipelines.privacy.keys import Keys
from relrag_pipelines.records import Failure, Record
from relrag_pipelines.sources import ReadContext, Unit
from relrag_pipelines.sources.mail import gmail_labels, read
from relrag_pipelines.sources.mail_ids import plain_id
from tests.cases import case_values, cases
from tests.conftest import ROOT
from tests.proofs.mail_fuzz import fuzz, samples_in

NOT_MAIL = ("SOURCE.md", "LICENSE.txt", "MIT-LICENSE")


@pytest.fixture
def reading(keys: Keys) -> ReadContext:
    return ReadContext("mail", "UTC", keys.id_hash)


def items(file: Path, reading: ReadContext) -> list[Record | Failure]:
    return list(read(Unit(file.name, file, file.stat().st_size, 0), reading))


def samples(shared_data: Path) -> Iterator[Path]:
    return (path for path in sorted((shared_data / "mail").rglob("*")) if path.is_file() and path.name not in NOT_MAIL)


def test_every_sample_is_one_mail(shared_data: Path, reading: ReadContext) -> None:
    """Figures of SOURCE.md: 129 mails, 10 without From, 28 without Date and two whose date nobody can read.

    Who reads on behind a stray line of a head has one From and two Dates more.

    Of these thirty, three have a time in a Received header. One file is a text without any header.
    """
    mails, headless = [], []
    for file in samples(shared_data):
        found = items(file, reading)
        own = [one for one in found if isinstance(one, Record) and one.rag_source_type == "email"]
        assert len(own) == 1, file.name
        faults = {one.fault for one in found if isinstance(one, Failure)}
        headless += [file.name] * ("no_header" in faults)
        assert faults <= {"damaged", "no_header", "picture"}, file.name
        mails += own
    assert len(mails) == 129
    assert sum(mail.from_ is None for mail in mails) == 9
    assert headless == ["msg_19.txt"]
    assert sum(mail.ts is None or mail.date_quality == "received" for mail in mails) == 28
    assert sum(mail.date_quality == "received" for mail in mails) == 3


def read_bytes(data: bytes, tmp_path: Path, reading: ReadContext, name: str = "mail.eml") -> list[Record | Failure]:
    (tmp_path / name).write_bytes(data)
    return items(tmp_path / name, reading)


def records(data: bytes, tmp_path: Path, reading: ReadContext) -> list[Record]:
    return [one for one in read_bytes(data, tmp_path, reading) if isinstance(one, Record)]


@pytest.mark.parametrize(*cases(__file__, "labels_of_gmail"))
def test_labels_of_gmail(written: str, found: list[str]) -> None:
    assert gmail_labels.parse_labels([written.encode()]) == found


LONG = "Long text of the page. " * 20
WITH_FILES = b"""\
Message-ID: <parent@host.example>
In-Reply-To: <before@host.example>
References: <first@host.example> <before@host.example>
From: =?iso-8859-1?Q?Last=DFlName=2C_First?= <Comma.Name@Example.com>
To: "Dana \\"D\\" Levi" <dana@host.example>, Team: petr@host.example, ota@host.example;
Cc: dana@host.example
Subject: =?utf-8?Q?Sanit=C3=A1rn=C3?= =?utf-8?Q?=AD?= report
Date: Wed, 15 Jan 2025 10:12:00 +0200 (IST)
X-GM-THRID: 1820000000000000001
X-Gmail-Labels: =?UTF-8?Q?Posteingang,Ge=C3=B6ffnet,"Rechnungen, 2025"?=
Content-Type: multipart/mixed; boundary=x

--x
Content-Type: multipart/related; boundary=y

--y
Content-Type: text/html; charset=utf-8

<p>See the <b>table</b>.</p><img src="cid:logo@host">
--y
Content-Type: image/png; name=logo.png
Content-ID: <logo@host>
Content-Transfer-Encoding: base64

iVBORw0KGgo=
--y--
--x
Content-Type: text/csv; charset=utf-8
Content-Disposition: attachment; filename*0*=utf-8''p%C5%99; filename*1*=ehled.csv

a,b
1,2
--x
Content-Type: message/rfc822

Message-ID: <inner@host.example>
From: inner@host.example
Subject: inner
Date: Tue, 14 Jan 2025 08:00:00 GMT
Content-Type: multipart/mixed; boundary=z

--z

inner text
--z
Content-Type: image/jpeg
Content-Disposition: attachment; filename="=?utf-8?B?xaFrb2xhLmpwZw==?="

JPEG
--z--
--x--
"""


@pytest.mark.requirement("S0-39", "S0-41", "S3-14", "S3-15")
def test_a_mail_and_what_is_attached_to_it(tmp_path: Path, reading: ReadContext) -> None:
    mail, table, message, picture = records(WITH_FILES, tmp_path, reading)
    assert plain_id(mail.source_id) == "parent@host.example"
    assert mail.parent_ref == mail.source_id
    assert mail.parent_asset_id == "gmail:before@host.example"
    assert mail.from_ == "LastßlName, First <comma.name@example.com>"
    assert mail.to == [
        'Dana "D" Levi <dana@host.example>',
        "petr@host.example",
        "ota@host.example",
        "dana@host.example",
    ]
    assert (mail.subject, mail.ts, mail.content_type) == ("Sanitární report", 1736928720, "text/html")
    assert (mail.text, mail.total_siblings, mail.index_in_parent) == ("See the table.", 2, None)
    assert mail.extra["labels"] == ["inbox", "opened", "Rechnungen, 2025"]
    assert mail.extra["ornaments"] == 1
    assert mail.extra["cc"] == ["dana@host.example"]
    assert len(mail.extra["references"]) == 2

    assert (table.source_id, table.rag_source_type) == (f"{mail.source_id}:0", "email_attachment")
    assert (table.parent_asset_id, table.parent_ref) == (f"gmail:{mail.source_id}", mail.source_id)
    assert (table.index_in_parent, table.total_siblings) == (0, 2)
    assert (table.file_name, table.content_type, table.text) == ("přehled.csv", "text/csv", "a, b\na: 1; b: 2")
    assert (table.from_, table.subject, table.ts) == (mail.from_, mail.subject, mail.ts)

    assert (message.index_in_parent, message.content_type, message.text) == (1, "message/rfc822", "inner text")
    assert (message.from_, message.subject, message.total_siblings) == ("inner@host.example", "inner", 2)
    assert (picture.parent_asset_id, picture.file_name) == (f"gmail:{message.source_id}", "škola.jpg")
    assert (picture.text, picture.from_, picture.total_siblings) == ("", "inner@host.example", 1)


def test_a_mail_without_an_id_gets_the_same_one_wherever_it_lies(tmp_path: Path, reading: ReadContext) -> None:
    plain = b"From: a@b.example\nSubject: one\nDate: Mon, 6 Jan 2025 08:40:00 GMT\n\nFrom the top\nhello\n"
    boxed = b"From a@b Mon Jan  6 08:40:00 2025\nX-Status: RO\n" + plain.replace(b"\nFrom the", b"\n>From the") + b"\n"
    (own,) = records(plain, tmp_path, reading)
    (windows,) = records(plain.replace(b"\n", b"\r\n"), tmp_path, reading)
    (in_a_box,) = read_bytes(boxed, tmp_path, reading, "box.mbox")
    assert isinstance(in_a_box, Record)
    assert own.source_id == windows.source_id == in_a_box.source_id
    assert len(own.source_id) == 16
    (other,) = records(plain.replace(b"hello", b"goodbye"), tmp_path, reading)
    assert other.source_id != own.source_id


def test_two_mails_of_one_id_are_two_unless_they_are_the_same(tmp_path: Path, reading: ReadContext) -> None:
    box = b"".join(
        b"From a@b Mon Jan  6 08:40:00 2025\nMessage-ID: <a@b>\n\n%s\n\n" % text for text in (b"one", b"two", b"one")
    )
    found = [one for one in read_bytes(box, tmp_path, reading, "box.mbox") if isinstance(one, Record)]
    assert [one.text for one in found] == ["one", "two", "one"]
    assert found[0].source_id == found[2].source_id != found[1].source_id
    assert {plain_id(one.source_id) for one in found} == {"a@b"}
    assert len({one.locations[0] for one in found}) == 3


@pytest.mark.parametrize(
    ("head", "plain", "page", "text"),
    [
        ("alternative", "Plain words.", "<p>Plain words.</p>", "Plain words."),
        ("alternative", "", "<p>Only here.</p>", "Only here."),
        ("alternative", "Get a new reader.", f"<p>{LONG}</p>", LONG),
        ("mixed", "First.", "<p>Second.</p>", "First.\n\nSecond."),
    ],
)  # fmt: skip
def test_the_text_is_the_best_alternative(
    head: str, plain: str, page: str, text: str, tmp_path: Path, reading: ReadContext
) -> None:
    data = (
        f"Content-Type: multipart/{head}; boundary=x\n\n--x\nContent-Type: text/plain\n\n{plain}\n"
        f"--x\nContent-Type: text/html\n\n{page}\n--x--\n"
    )
    (mail,) = records(data.encode(), tmp_path, reading)
    assert mail.text == text.strip()


def test_history_and_signature_stand_apart(tmp_path: Path, reading: ReadContext) -> None:
    text = "Yes, Tuesday.\n\n-- \nDana, Acme\n\nOn Mon, 6 Jan 2025 at 10:00, Ota <ota@b.example> wrote:\n> Tuesday?\n"
    (mail,) = records(f"Subject: Re: when\n\n{text}".encode(), tmp_path, reading)
    assert mail.text == "Yes, Tuesday."
    assert mail.extra["apart"]["signature"] == "-- \nDana, Acme"
    assert mail.extra["apart"]["quoted"].endswith("> Tuesday?")


def test_a_mail_that_was_saved_and_attached_as_a_file_is_a_message(tmp_path: Path, reading: ReadContext) -> None:
    head = b"Subject: outer\nContent-Type: application/octet-stream; name=%s\nContent-Transfer-Encoding: base64\n\n"
    inner = base64.encodebytes(b"From: ota@b.example\nSubject: inner\n\ninner text\n")
    _, message = records(head % b"saved.eml" + inner, tmp_path, reading)
    assert (message.file_name, message.subject, message.text) == ("saved.eml", "inner", "inner text")
    for name, data in ((b"saved.eml", b"no mail"), (b"saved.bin", base64.b64decode(inner))):
        _, file = records(head % name + base64.encodebytes(data), tmp_path, reading)
        assert (file.subject, file.text) == ("outer", "")


def test_what_is_encrypted_is_a_failure_and_a_record(tmp_path: Path, reading: ReadContext) -> None:
    pgp = b"Subject: s\nContent-Type: multipart/encrypted; boundary=x\n\n--x\n\nVersion: 1\n--x--\n"
    mail, failure = sorted(read_bytes(pgp, tmp_path, reading), key=lambda one: isinstance(one, Failure))
    assert isinstance(mail, Record)
    assert isinstance(failure, Failure)
    assert (mail.subject, failure.fault) == ("s", "encrypted")
    sealed = b"Subject: s\nContent-Type: application/pkcs7-mime; smime-type=enveloped-data; name=smime.p7m\n\nMIIB\n"
    found = read_bytes(sealed, tmp_path, reading)
    assert [one.fault for one in found if isinstance(one, Failure)] == ["encrypted"]
    assert [one.file_name for one in found if isinstance(one, Record)] == [None, "smime.p7m"]


def test_bytes_of_a_mail_that_was_not_read_to_its_end_are_kept(tmp_path: Path, keys: Keys) -> None:
    kept: list[tuple[str, str, bytes]] = []
    reading = ReadContext("mail", "UTC", keys.id_hash, keep=lambda *given: kept.append(given))
    deep = b"".join(b"Content-Type: multipart/mixed; boundary=b%d\n\n--b%d\n" % (n, n) for n in range(200)) + b"\nx\n"
    found = read_bytes(deep, tmp_path, reading)
    assert [one.fault for one in found if isinstance(one, Failure)] == ["too_large"]
    assert kept == [("mail.eml", "", deep)]
    assert len(read_bytes(b"Subject: s\n\nhello\n", tmp_path, reading)) == len(kept) == 1


def test_hostile_mails_end_soon(tmp_path: Path, reading: ReadContext) -> None:
    parts = b"--x\nContent-Type: application/octet-stream; name=a.bin\n\nhello\n" * 10_000
    many = records(b"Content-Type: multipart/mixed; boundary=x\n\n" + parts + b"--x--\n", tmp_path, reading)
    assert len(many) == 10_001
    (headed,) = records(b"Subject: a\n" + b" x\n" * 3_000_000 + b"\nhello\n", tmp_path, reading)
    assert (headed.text, headed.extra["defects"]) == ("hello", ["head_too_long"])
    for head in (b"To: " + b'"\\"' * 30_000, b"Subject: " + b"=?utf-8?q?" * 8_000, b"To: " + b"(" * 60_000):
        assert len(records(head + b"\n\nhello\n", tmp_path, reading)) == 1


def test_a_bomb_that_is_attached_is_a_failure_and_is_found_by_name(tmp_path: Path, reading: ReadContext) -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("word/document.xml", bytes(50_000_000))
    head = b"Subject: s\nContent-Type: application/octet-stream; name=%s\nContent-Transfer-Encoding: base64\n\n"
    data = base64.encodebytes(packed.getvalue())
    _, failure, bomb = read_bytes(head % b"bomb.docx" + data, tmp_path, reading)
    assert isinstance(failure, Failure)
    assert isinstance(bomb, Record)
    assert (failure.fault, bomb.file_name, bomb.text) == ("too_large", "bomb.docx", "")
    _, unknown = records(head % b"bomb.zip" + data, tmp_path, reading)
    assert (unknown.file_name, unknown.text) == ("bomb.zip", "")


@pytest.mark.parametrize(
    "charset", ["no-such-thing-8", "rot13", "base64", "utf-8-x", "", '"', "\x00", "hex", "x" * 5000]
)
def test_a_charset_that_is_none_is_noted_and_the_text_read(charset: str, tmp_path: Path, reading: ReadContext) -> None:
    data = f"Subject: s\nContent-Type: text/plain; charset={charset}\n\nPříliš žluťoučký kůň\n".encode()
    (mail,) = records(data, tmp_path, reading)
    assert mail.text == "Příliš žluťoučký kůň"
    assert mail.extra.get("defects", ["unknown_charset"]) == ["unknown_charset"]


def test_mutated_mails_are_read() -> None:
    samples = samples_in(ROOT / "examples" / "archive" / "mail")
    outcomes = fuzz([WITH_FILES, *(one[:20_000] for one in samples)], 400, seed=1)
    assert outcomes["read"] > 380


def test_numbers_are_those_of_subject_and_text(tmp_path: Path, reading: ReadContext) -> None:
    file = tmp_path / "order.eml"
    file.write_bytes(b"Message-ID: <o@host>\nSubject: Your order 204881736\n\nYour invoice is INV-1187.\n")
    (record,) = items(file, reading)
    assert isinstance(record, Record)
    assert record.numbers == ["204881736", "INV-1187"]


RAW_NAMES = case_values(__file__, "raw_names")


@pytest.mark.parametrize(("name", "charset", "declared", "reason"), RAW_NAMES, ids=[one[3] for one in RAW_NAMES])
@pytest.mark.parametrize("header", ["disposition", "type"])
def test_raw_bytes_in_the_name_of_a_file(
    header: str, name: str, charset: str, declared: str, reason: str, tmp_path: Path, reading: ReadContext
) -> None:
    """What no standard allows and many programs write: neither RFC 2231 nor RFC 2047."""
    disposition = b'; filename="%s"' % name.encode(charset) if header == "disposition" else b""
    content_type = b'; name="%s"' % name.encode(charset) if header == "type" else b""
    mail = [
        b"Message-ID: <1@host.example>",
        b"Content-Type: multipart/mixed; boundary=B\n",
        b"--B",
        b"Content-Type: text/plain; charset=" + declared.encode() + b"\n",
        b"see the file",
        b"--B",
        b"Content-Type: application/pdf" + content_type,
        b"Content-Disposition: attachment" + disposition + b"\n",
        b"x",
        b"--B--",
    ]
    _, attached = records(b"\n".join(mail), tmp_path, reading)
    assert attached.file_name == name, reason


def test_a_date_before_there_was_mail_counts_less_than_a_server(tmp_path: Path, reading: ReadContext) -> None:
    odd = b"Date: Mon, 3 Feb 0025 09:00:00\nSubject: s\n"
    received = b"Received: from a by b; Tue, 4 Feb 2025 10:00:00 +0000\n"
    (record,) = records(received + odd + b"\nhello\n", tmp_path, reading)
    assert (record.ts, record.date_quality) == (1738663200, "received")


@pytest.mark.parametrize(
    ("head", "fault"),
    [
        (b"Content-Transfer-Encoding: rot13\n", "damaged"),
        (b"Content-Type: application/ms-tnef; name=winmail.dat\n", "damaged"),
        (b"Content-Transfer-Encoding: x-uuencode\n", "damaged"),
    ],
)
def test_what_is_not_decoded_is_a_failure(head: bytes, fault: str, tmp_path: Path, reading: ReadContext) -> None:
    found = read_bytes(b"Subject: s\n" + head + b"\nbegin 644 a\n~~~ no code\nend\n", tmp_path, reading)
    assert [one.fault for one in found if isinstance(one, Failure)] == [fault]
    assert len([one for one in found if isinstance(one, Record)]) >= 1
