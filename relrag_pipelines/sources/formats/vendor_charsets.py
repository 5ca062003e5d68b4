"""Charsets of East Asia as programs write them: under a standard's name, with the characters of a vendor beside it.

What calls itself ISO-2022-JP or EUC-JP comes from Windows and iPhones with the characters of NEC and IBM (① and 髙),
half-width katakana, and parts of JIS X 0212; Big5 with those of Hong Kong and of ETEN; GB 2312 with the euro of code
page 936. Browsers read them so (WHATWG Encoding). Each decoder is strict: what no vendor wrote is refused.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable, Iterator

_ESCAPE = re.compile(rb"\x1b(\([ABHIJ]|\$[@AB]|\$\([CDOPQ]|\.[AF])|(\x0e)|(\x0f)|(\n)")
"""what changes the set of characters, and line ends, behind which every set is ASCII again"""
_ASCII = b"(B"
_TWO_BYTES = {b"$@", b"$B"}
_KATAKANA, _SHIFTED_OUT = b"(I", b"\x0e"
_OTHER_SETS = {
    b"$A": (b"", "gb2312"),
    b"$(C": (b"", "euc_kr"),
    b"$(D": (b"\x8f", "euc_jp"),
    b"$(O": (b"", "euc_jisx0213"),
    b"$(P": (b"\x8f", "euc_jisx0213"),
    b"$(Q": (b"", "euc_jis_2004"),
}
"""set -> what stands before each character of two bytes in the 8-bit form of a charset that has it, and that charset"""


def decode(data: bytes, codec: str) -> str:
    """The text; `codec` is Python's name of a charset. Raises ValueError for what is not in it."""
    decoder = _DECODERS.get(codec)
    return decoder(data) if decoder else data.decode(codec)


def _iso_2022_jp(data: bytes) -> str:
    try:
        return data.decode("iso2022_jp_ext")
    except UnicodeDecodeError:
        return "".join(_segments(data))


def _segments(data: bytes) -> Iterator[str]:
    """The pieces between escapes, each read by its set."""
    current, offset = _ASCII, 0
    for escape in _ESCAPE.finditer(data):
        yield _segment(data[offset : escape.start()], current)
        offset = escape.end()
        if escape[4]:
            yield "\n"
        current = escape[1] or escape[2] or _ASCII
    yield _segment(data[offset:], current)


def _segment(data: bytes, current: bytes) -> str:
    if not data:
        return ""
    if current in _TWO_BYTES:
        return _high(data).decode("euc_jp", _JIS)
    if current in (_KATAKANA, _SHIFTED_OUT):
        return _high(data).decode("cp932")
    if current in _OTHER_SETS:
        lead, codec = _OTHER_SETS[current]
        high = _high(data)
        return b"".join(lead + high[at : at + 2] for at in range(0, len(high), 2)).decode(codec)
    if data.isascii():
        return data.decode("ascii")
    return data.decode("cp932")  # katakana of eight bits between ASCII


def _high(data: bytes) -> bytes:
    return bytes(byte | 0x80 for byte in data)


def _replace_jis(error: UnicodeError) -> tuple[str, int]:
    """A character of two bytes that EUC-JP lacks, by its place in code page 932, which has those of NEC and IBM."""
    if not isinstance(error, UnicodeDecodeError):
        raise error
    row, cell = (byte & 0x7F for byte in error.object[error.start : error.start + 2].ljust(2, b"\0"))
    if not (0x21 <= row <= 0x7E and 0x21 <= cell <= 0x7E):
        raise error
    lead = (row + 1) // 2 + (0x70 if row < 0x5F else 0xB0)
    trail = cell + 0x7E if row % 2 == 0 else cell + (0x1F if cell < 0x60 else 0x20)
    return bytes((lead, trail)).decode("cp932"), error.start + 2


def _replace_big5(error: UnicodeError) -> tuple[str, int]:
    """A character that Hong Kong's Big5 lacks, by code page 950, which has those of ETEN."""
    if not isinstance(error, UnicodeDecodeError):
        raise error
    return error.object[error.start : error.start + 2].decode("cp950"), error.start + 2


def _replace_euro(error: UnicodeError) -> tuple[str, int]:
    """The euro of code page 936."""
    if not isinstance(error, UnicodeDecodeError) or error.object[error.start] != 0x80:
        raise error
    return "€", error.start + 1


_JIS, _BIG5, _EURO = "relrag-jis", "relrag-big5", "relrag-euro"
codecs.register_error(_JIS, _replace_jis)
codecs.register_error(_BIG5, _replace_big5)
codecs.register_error(_EURO, _replace_euro)
_DECODERS: dict[str, Callable[[bytes], str]] = {
    **dict.fromkeys(
        ("iso2022_jp", "iso2022_jp_1", "iso2022_jp_2", "iso2022_jp_3", "iso2022_jp_2004", "iso2022_jp_ext"),
        _iso_2022_jp,
    ),
    "euc_jp": lambda data: data.decode("euc_jp", _JIS),
    "big5": lambda data: data.decode("big5hkscs", _BIG5),
    "gb18030": lambda data: data.decode("gb18030", _EURO),
}
CODECS = frozenset(_DECODERS)
"""names of the charsets that are read with a vendor's characters"""
