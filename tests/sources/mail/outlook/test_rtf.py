"""Rich text: unpacked after MS-OXRTFCP, and what it stands for after MS-OXRTFEX."""

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relrag_pipelines.sources.mail.html_body import to_text
from relrag_pipelines.sources.mail.outlook.rtf import RtfError, read, unpack
from tests import cost
from tests.cases import cases
from tests.sources.mail.outlook.outlook_files import packed_rtf

HELLO = bytes.fromhex(
    "2d0000002b0000004c5a4675f1c5c7a703000a007263706731323542320af32068656c090020627705b06c647d0a800fa0"
)
WXYZ = bytes.fromhex("1a0000001c0000004c5a4675e2d44b51410004205758595a0d6e7d010eb0")


def test_the_examples_of_the_specification() -> None:
    """MS-OXRTFCP 3.1.1 and 3.1.2: text that refers to the dictionary, and text that refers to what it just wrote."""
    assert unpack(HELLO) == b"{\\rtf1\\ansi\\ansicpg1252\\pard hello world}\r\n"
    assert unpack(WXYZ) == b"{\\rtf1 WXYZWXYZWXYZWXYZWXYZ}"


def test_what_is_not_packed_stands_as_it_is() -> None:
    assert unpack(b"\x0f\0\0\0\x08\0\0\0MELA\0\0\0\0{\\rtf1 }") == b"{\\rtf1 }"


@pytest.mark.parametrize("data", [b"", b"short", HELLO[:8] + b"ZIPP" + HELLO[12:]])
def test_what_is_packed_otherwise_is_refused(data: bytes) -> None:
    with pytest.raises(RtfError):
        unpack(data)


@pytest.mark.parametrize("size", range(16, len(HELLO)))
def test_what_was_cut_short_gives_its_beginning(size: int) -> None:
    assert b"{\\rtf1\\ansi\\ansicpg1252\\pard hello world}\r\n".startswith(unpack(HELLO[:size]))


@given(st.binary(max_size=5000))
def test_packing_and_unpacking(data: bytes) -> None:
    assert unpack(packed_rtf(data)) == data


@pytest.mark.parametrize(*cases(__file__, "rich_text"))
def test_rich_text(rich: bytes, text: str) -> None:
    assert read(rich) == ("text/plain", text)


def test_html_in_disguise() -> None:
    rich = (
        rb"{\rtf1\ansi\ansicpg1252\fromhtml1 \deff0{\fonttbl{\f0\fswiss Arial;}{\f1\fswiss\fcharset177 Arial;}}"
        rb"{\*\generator Microsoft Exchange Server;}{\*\formatConverter converted from html;}\viewkind5\viewscale100"
        rb"{\*\htmltag19 <html>}{\*\htmltag50 <body>}\htmlrtf \lang1033 \htmlrtf0 {\*\htmltag64 <p class=\'22x\'22>}"
        rb"\htmlrtf {\htmlrtf0 The {\*\htmltag84 <b>}\htmlrtf {\b \htmlrtf0 pump\htmlrtf }\htmlrtf0 {\*\htmltag92 </b>}"
        rb"\htmlrtf0  is {\*\htmltag84 &lt;}\htmlrtf <\htmlrtf0  old, {\f1 \'f9\'ec\'e5\'ed}.\htmlrtf\par}\htmlrtf0"
        rb"{\*\htmltag72 </p>}{\*\mhtmltag84 <a href=wrong>}{\*\htmltag84 <a href=\'22https://a.example/\'22>}"
        rb"\htmlrtf {\field{\*\fldinst{HYPERLINK https://a.example/}}{\fldrslt\cf1\ul \htmlrtf0 "
        rb"offer\htmlrtf }\htmlrtf0"
        rb"\htmlrtf }\htmlrtf0 {\*\htmltag92 </a>}{\*\htmltag58 </body>}{\*\htmltag27 </html>}}"
    )
    kind, page = read(rich)
    assert kind == "text/html"
    assert '<p class="x">The <b>pump</b>' in page
    assert to_text(page) == "The pump is < old, שלום.\n\noffer (https://a.example/)"


@pytest.mark.parametrize("data", [b"", b"plain", b"\\rtf1"])
def test_what_is_no_rich_text_is_refused(data: bytes) -> None:
    with pytest.raises(RtfError):
        read(data)


PIECES = (*("{", "}", "\\par ", "\\'e9", "\\u1513?", "\\*", "\\htmlrtf ", "\\htmlrtf0 ", "{\\*\\htmltag <b>}"),)
MORE = ("\\bin3 ", "\\f1", "\\fcharset177", "{\\fonttbl", '{\\*\\fldinst HYPERLINK "x"}', "word", "\\", "\n", "\\uc0")


@given(st.lists(st.sampled_from((*PIECES, *MORE)), max_size=40), st.booleans())
def test_any_rich_text_is_read(pieces: list[str], html: bool) -> None:
    kind, text = read(("{\\rtf1\\fromhtml1" if html else "{\\rtf1").encode() + "".join(pieces).encode())
    assert kind in ("text/plain", "text/html")
    text.encode("utf-8")


@given(st.binary(max_size=300))
def test_any_bytes_are_unpacked_or_refused(data: bytes) -> None:
    with contextlib.suppress(RtfError):
        read(unpack(len(data).to_bytes(4, "little") + b"\xff\xff\0\0LZFu\0\0\0\0" + data))


@pytest.mark.slow
@pytest.mark.parametrize(
    "piece",
    ["{", "{\\field{\\*\\fldinst HYPERLINK ", "\\'e9", "\\u1513?", "HYPERLINK   ", "}", "\\f1", "\\bin9999999999 "],
)
def test_hostile_rich_text_costs_time_in_proportion(piece: str) -> None:

    def rich(size: int) -> bytes:
        return b"{\\rtf1" + piece.encode() * (size // len(piece))

    assert cost.exponent(read, rich, 1_000_000) < cost.LINEAR
