"""Heads with stray lines, and transfer encodings as programs write them."""

from __future__ import annotations

import base64

import pytest

from relrag_pipelines.sources.mail import mime
from tests.cases import cases

TEXT = "The bridge near Třebíč is closed until Friday, take the ferry."
BEFORE, AFTER = b"Return-Path: <a@example.org>\n", b"From: Jana <jana@example.org>\nSubject: Bridge\n\nbody\n"


@pytest.mark.parametrize(
    "line",
    [
        b"no colon in this line",
        b">From jana@example.org Mon Feb  3 09:00:00 2025",
        "Přílohy: dvě".encode(),
        b"X Y: a blank in its name",
        b": no name",
        b"by mx.example.org (a fold that lost its blank)",
    ],
)
def test_a_stray_line_does_not_end_the_head(line: bytes) -> None:
    mail = mime.parse(BEFORE + line + b"\n" + AFTER)
    assert (mail.get("from"), mail.get("subject"), mail.defects) == (
        "Jana <jana@example.org>",
        "Bridge",
        ["stray_line"],
    )
    assert mail.content() == b"body\n"


@pytest.mark.parametrize(
    "text",
    [
        b"Hello Ota,\nFrom: is a word here\n\nbye\n",
        b"Dear Bob,\ncome to my party.\nSender: unknown, the gift is on the table\nSee you, Anna\n",
        b"Hello,\nDate: Friday 5 March\nPlace: the barn\nbring cake\n\nAnna\n",
    ],
)
def test_a_text_without_a_line_above_it_is_no_head(text: bytes) -> None:
    mail = mime.parse(b"From: jana@example.org\nSubject: Bridge\n" + text)
    assert mail.defects == ["no_separator"]
    assert mail.content() == text


def test_a_fold_that_lost_its_blank_belongs_to_the_header_above() -> None:
    mail = mime.parse(b"Subject: Minutes of the meeting\non the roof repair\nTo: ota@example.org\n\nbody\n")
    assert (mail.get("subject"), mail.get("to")) == ("Minutes of the meeting on the roof repair", "ota@example.org")


@pytest.mark.parametrize(*cases(__file__, "test_encodings_as_programs_name_them"))
def test_encodings_as_programs_name_them(name: str, kind: str) -> None:
    encoded = {
        "base64": base64.encodebytes(TEXT.encode()),
        "quoted-printable": TEXT.encode().replace("ř".encode(), b"=C5=99"),
        "": TEXT.encode(),
    }
    part = mime.parse(f"Subject: s\nContent-Transfer-Encoding: {name}\n\n".encode() + encoded[kind])
    assert (part.content().decode().strip(), part.defects) == (TEXT, [])


def test_an_encoding_that_nobody_knows_is_noted() -> None:
    part = mime.parse(b"Content-Transfer-Encoding: rot13\n\nuryyb\n")
    assert (part.content(), part.defects) == (b"uryyb\n", ["unknown_encoding"])


def test_base64_in_pieces_is_read_to_its_end() -> None:
    pieces = b"\n".join(map(base64.b64encode, (b"one. ", b"second piece. ", b"third")))
    assert mime.parse(b"Content-Transfer-Encoding: base64\n\n" + pieces).content() == b"one. second piece. third"


def test_what_a_list_wrote_below_base64_stays() -> None:
    body = base64.encodebytes(b"Hello list") + b"_______________\nBridge list: leave it at any time\n"
    assert mime.parse(b"Content-Transfer-Encoding: base64\n\n" + body).content() == (
        b"Hello list\n_______________\nBridge list: leave it at any time\n"
    )


def test_a_soft_break_may_have_blanks_behind_it() -> None:
    part = mime.parse(b"Content-Transfer-Encoding: quoted-printable\n\nna=  \r\nive and caf=C3=A9=\t\n!\n")
    assert part.content().decode() == "naive and café!\n"
