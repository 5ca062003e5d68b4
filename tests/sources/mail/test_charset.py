"""Charsets of mails: their labels, and the characters of vendors under the names of standards."""

import pytest

from relrag_pipelines.sources.formats.vendor_charsets import decode
from relrag_pipelines.sources.mail import headers
from relrag_pipelines.sources.mail.charset import codec_name, read
from tests.cases import cases


@pytest.mark.parametrize(*cases(__file__, "labels"))
def test_labels(codec: str | None, labels: str) -> None:
    assert {label: codec_name(label) for label in labels.split()} == dict.fromkeys(labels.split(), codec)


@pytest.mark.parametrize(
    ("label", "data", "text"),
    [
        ("ISO-2022-JP", b"JP0 \x1b$B-!-\"-#\x1b(B", "JP0 ①②③"),
        ("ISO-2022-JP", b"\x1b$B|b66$5$s\x1b(B", "髙橋さん"),
        ("ISO-2022-JP", b"\x1b$B-j\x1b(B \x1b$B-d\x1b(B\x1b$@F|\x1b(J.", "㈱ ℡日."),
        ("ISO-2022-JP", b"\x1b(I1236\x1b(B \x1b$B-!", "ｱｲｳｶ ①"),
        ("ISO-2022-JP", b"\x1b$B-!\x1b(B \xb1\xb2", "① ｱｲ"),
        ("ISO-2022-JP", b"\x1b$B-!\nplain\n\x1b$BF|\x1b(B", "①\nplain\n日"),
        ("ISO-2022-JP", b"\x1b$B-!\x1b$(D0&\x1b(B", "①丟"),
        ("", b"\x1b$BF|K\\\x1b(B", "日本"),
        ("us-ascii", b"\x1b$B-!\x1b(B", "①"),
        ("ISO-2022-JP", "日本①".encode(), "日本①"),
        ("EUC-JP", b"\xad\xa1\xc6\xfc\xfc\xe2", "①日髙"),
        ("Shift_JIS", b"\x87\x40 \xfb\xfc", "① 髙"),
        ("euc-kr", "똠방각하 가".encode("cp949"), "똠방각하 가"),
        ("ks_c_5601-1987", "펲시콜라".encode("cp949"), "펲시콜라"),
        ("gb2312", "镕 € 㐀".encode("gb18030"), "镕 € 㐀"),
        ("gb2312", b"\x80 5", "€ 5"),
        ("big5", b"\xf9\xd6\xf9\xd7", "碁銹"),
        ("big5", "㗎".encode("big5hkscs"), "㗎"),
        ("iso-8859-1", b"\x93caf\xe9\x94 \x80 5", "“café” € 5"),
        ("iso-8859-9", b"\x93\xfe\xf0\xfd\x94", "“şğı”"),
        ("iso-8859-8-i", b"\xf9\xec\xe5\xed\x97", "שלום—"),
        ("tis-620", b"\xa1\x85", "ก…"),
    ],
)  # fmt: skip
def test_characters_of_vendors(label: str, data: bytes, text: str) -> None:
    assert read(data, label) == (text, "")


def test_every_japanese_character_of_windows_survives_in_each_charset() -> None:
    """Of 7,336 characters six are written in two ways by Unicode: the rest is as code page 932 has it."""
    differ, seen = set(), 0
    for row in range(0x21, 0x7F):
        for cell in range(0x21, 0x7F):
            trail = cell + 0x7E if row % 2 == 0 else cell + (0x1F if cell < 0x60 else 0x20)
            lead = (row + 1) // 2 + (0x70 if row < 0x5F else 0xB0)
            try:
                expected = bytes((lead, trail)).decode("cp932")
            except ValueError:
                continue
            seen += 1
            jis = decode(b"\x1b$B" + bytes((row, cell)) + b"\x1b(B", "iso2022_jp")
            assert jis == decode(bytes((row | 0x80, cell | 0x80)), "euc_jp")
            differ |= {expected} if jis != expected else set()
    assert seen == 7_336
    assert differ == set("～∥－￠￡￢")


@pytest.mark.parametrize("data", [b"\x1b$B\x21", b"\x1b$(D~~", b"\x1b$B\x7f\x7f\x1b(B"])
def test_what_no_vendor_wrote_is_damaged(data: bytes) -> None:
    assert read(data, "iso-2022-jp")[1] == "damaged_text"


def test_vendor_characters_in_headers() -> None:
    assert headers.decode(b"=?ISO-2022-JP?B?GyRCLSF8YhsoQg==?=") == "①髙"
    assert headers.decode(b"\x1b$B-!|b\x1b(B") == "①髙"
    assert headers.decode(b"=?ks_c_5601-1987?B?jGM=?=") == "똠"
    assert headers.decode(b"=?gb2312?B?55g=?=") == "鐦"
