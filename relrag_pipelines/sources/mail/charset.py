"""Decodes the bytes of a mail: by the declared charset if it is valid and fits, else by detection.

Charsets are known by the labels of the WHATWG Encoding standard, by those of Python, and by numbers of code pages. What
is called by a standard's name is read in the superset that programs write under it, as browsers do.
"""

from __future__ import annotations

import codecs
import functools
import re
from collections.abc import Iterable

from relrag_pipelines.sources.formats import vendor_charsets
from relrag_pipelines.sources.formats.charset_detection import CharsetError, decode, decode_name

_WIDER = {
    "iso8859-1": "cp1252",
    "iso8859-8": "cp1255",
    "iso8859-9": "cp1254",
    "iso8859-11": "cp874",
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "euc_kr": "cp949",
    "shift_jis": "cp932",
    "tis-620": "cp874",
    "big5hkscs": "big5",
    "cp950": "big5",
}
"""What is called so is written in the wider charset; `big5` is read with the characters of the others."""
_LABELS = {
    "utf-8": "unicode11utf8 unicode20utf8 xunicode20utf8 utf8mb3 utf8mb4 xutf8",
    "utf-16": "unicode ucs2 csunicode iso10646ucs2 unicodefeff",
    "utf-16-be": "unicodefffe",
    "iso8859-7": "suneugreek",
    "iso8859-15": "csisolatin9",
    "cp1255": "visual logical",
    "koi8_r": "koi koi8",
    "koi8_u": "koi8ru",
    "mac_roman": "mac csmacintosh xmacroman xmac",
    "mac_cyrillic": "xmaccyrillic xmacukrainian xmacukraine",
    "mac_latin2": "xmacce xmaccentraleurroman",
    "mac_greek": "xmacgreek",
    "mac_turkish": "xmacturkish",
    "gb18030": "csgb2312 gb2312 gb231280 xgb2312 xgbk euccn xeuccn cngb",
    "big5": "cnbig5 xxbig5 xbig5 csbig5 big5eten big5hk xbig5hkscs",
    "euc_jp": "cseucpkdfmtjapanese xeucjp eucjpms eucjpwin xeucjplinux",
    "iso2022_jp": "xiso2022jp iso2022jpms csiso2022jp2 jis",
    "cp932": "xsjis sjiswin xmscp932 windows31j cswindows31j",
    "cp949": "cseuckr csksc56011987 isoir149 ksc56011987 ksc56011989 ksc5601 ksc56011992 ms949 uhc xuhc",
}
"""codec -> labels that Python does not know, letters and digits alone"""
_BY_LABEL = {label: codec for codec, labels in _LABELS.items() for label in labels.split()}
_CODE_PAGE = re.compile(r"(?:x|cs)?(?:win|windows|cp|ansi|ms|ibm|dos|oem|codepage)(\d{3,5})")
_ISO_8859 = re.compile(r"(?:x|cs)?iso8859(\d{1,2})[ei]?")
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
_JAPANESE_ESCAPE = b"\x1b$"


def text(data: bytes, declared: str | None = None) -> str:
    """The text; a byte that no charset fits becomes U+FFFD."""
    return read(data, declared)[0]


def name(data: bytes, declared: Iterable[str]) -> str:
    """Decodes a header with raw bytes; `declared` are the charsets of the mail's parts, nearest first."""
    try:
        return decode_name(
            data, [codec for label in declared if (codec := codec_name(label)) and codec not in _SEVEN_BITS]
        )
    except CharsetError:
        return text(data)


def read(data: bytes, declared: str | None = None) -> tuple[str, str]:
    """The text and its defect: empty, `unknown_charset` or `damaged_text`."""
    codec = codec_name(declared) if declared else None
    unknown = "unknown_charset" if declared and codec is None else ""
    if (plain := _as_declared(data, codec)) is not None:
        return plain, unknown
    if codec not in _SEVEN_BITS and data.isascii() and b"\0" not in data:
        return data.decode("ascii"), unknown
    try:
        decoded = decode(data, codec)
    except CharsetError:
        return data.decode(codec or "utf-8", "replace"), "damaged_text"
    return decoded.text, "damaged_text" if decoded.damaged_places else unknown


def _as_declared(data: bytes, codec: str | None) -> str | None:
    """The text in a charset that detection cannot recognise; None if the bytes are not valid in it."""
    if _JAPANESE_ESCAPE in data and codec not in _SEVEN_BITS and data.isascii():
        codec = "iso2022_jp"  # mails without a charset, and mails that call it ASCII
    if codec not in _SEVEN_BITS and (codec not in vendor_charsets.CODECS or data.isascii()):
        return None
    for name in ("utf-8", codec) if not data.isascii() else (codec,):
        try:
            return vendor_charsets.decode(data, name or "")
        except (ValueError, LookupError):
            continue
    return None


@functools.lru_cache(256)
def codec_name(declared: str) -> str | None:
    """Python's name of a charset, or of the superset that is meant; None if there is none of that name."""
    name = declared.strip().strip("\"'").lower()
    name = name.split()[0] if name else ""
    label = re.sub("[^a-z0-9]", "", name)
    if label in _BY_LABEL:
        return _BY_LABEL[label]
    if (codec := _codec(name)) is not None:
        return codec
    if iso := _ISO_8859.fullmatch(label):
        return _codec(f"iso8859-{iso[1]}")
    page = _CODE_PAGE.fullmatch(label)
    return code_page(int(page[1])) if page else None


def _codec(name: str) -> str | None:
    try:
        codec = codecs.lookup(name)
        "".encode(codec.name)  # codecs that are no charsets (base64, rot13) refuse this
    except (LookupError, ValueError, TypeError):
        return None
    return _WIDER.get(codec.name, codec.name)


@functools.lru_cache(256)
def code_page(number: int) -> str | None:
    """Python's name of a Windows code page; None if it is not one of text."""
    if number in _CODE_PAGES:
        return _CODE_PAGES[number]
    return _codec(f"iso8859-{number - 28590}" if 28591 <= number <= 28605 else f"cp{number}")
