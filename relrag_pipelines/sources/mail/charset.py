"""Decodes the bytes of a mail: by the declared charset if it is valid and fits, else by detection."""

from __future__ import annotations

import codecs
import functools
from collections.abc import Iterable

from relrag_pipelines.sources.formats.charset_detection import CharsetError, decode, decode_name

_WIDER = {
    "iso8859-1": "cp1252",
    "iso8859-8": "cp1255",
    "iso8859-9": "cp1254",
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "euc_kr": "cp949",
    "shift_jis": "cp932",
    "tis-620": "cp874",
}
"""What is called so is written in the wider charset, as browsers read it."""
_ALIASES = {"iso-8859-8-i": "cp1255", "iso-8859-8-e": "cp1255", "x-sjis": "cp932", "x-gbk": "gb18030"}
_CODE_PAGES = {
    1200: "utf-16-le",
    10000: "mac_roman",
    20127: "ascii",
    20866: "koi8_r",
    20932: "euc_jp",
    21866: "koi8_u",
    38598: "cp1255",
    50220: "iso2022_jp",
    50221: "iso2022_jp",
    50222: "iso2022_jp",
    50225: "iso2022_kr",
    51932: "euc_jp",
    51936: "gb18030",
    51949: "cp949",
    52936: "hz",
    54936: "gb18030",
    65000: "utf-7",
    65001: "utf-8",
}
"""Numbers of Windows' code pages that Python knows by another name"""
_SEVEN_BITS = {"utf-7", "hz", "iso2022_jp", "iso2022_jp_1", "iso2022_jp_2", "iso2022_kr"}
"""ASCII bytes that mean something else"""


def text(data: bytes, declared: str | None = None) -> str:
    """The text; a byte that no charset fits becomes U+FFFD."""
    return read(data, declared)[0]


def name(data: bytes, declared: Iterable[str]) -> str:
    """The text of a header with raw bytes, in a mail whose parts have these charsets, the nearest first."""
    try:
        return decode_name(data, [codec for one in declared if (codec := codec_name(one)) and codec not in _SEVEN_BITS])
    except CharsetError:
        return text(data)


def read(data: bytes, declared: str | None = None) -> tuple[str, str]:
    """The text, and what is wrong with it: empty, `unknown_charset` or `damaged_text`."""
    codec = codec_name(declared) if declared else None
    unknown = "unknown_charset" if declared and codec is None else ""
    if codec in _SEVEN_BITS:
        try:
            return data.decode(codec), ""
        except ValueError:
            pass
    elif data.isascii() and b"\0" not in data:
        return data.decode("ascii"), ""
    try:
        found = decode(data, codec)
    except CharsetError:
        return data.decode(codec or "utf-8", "replace"), "damaged_text"
    return found.text, "damaged_text" if found.damaged_places else unknown


@functools.lru_cache(256)
def codec_name(declared: str) -> str | None:
    """Python's name of a charset, or of the superset that is meant; None if there is none of that name."""
    name = declared.strip().strip("\"'").lower()
    name = name.split()[0] if name else ""
    if name in _ALIASES:
        return _ALIASES[name]
    try:
        found = codecs.lookup(name)
        b"".decode(found.name)  # codecs that are no charsets (base64, rot13) refuse this
    except (LookupError, ValueError, TypeError):
        return None
    return _WIDER.get(found.name, found.name)


@functools.lru_cache(256)
def code_page(number: int) -> str | None:
    """Python's name of a Windows code page; None if it is not one of text."""
    if number in _CODE_PAGES:
        return _CODE_PAGES[number]
    return codec_name(f"iso8859-{number - 28590}" if 28591 <= number <= 28605 else f"cp{number}")
