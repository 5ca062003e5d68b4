"""RTF bodies of Outlook mails: decompressed (MS-OXRTFCP), and turned back into the HTML or text that they encapsulate.

Most of it is HTML in disguise (MS-OXRTFEX): what was HTML stands in groups of their own, and what only rich text needs
is marked to be left out. striprtf, the permissive library for text, shows neither the HTML nor its absence, and reads
some input in quadratic time; RTFDE, for the HTML, is LGPL. Time and memory here are proportional to the input.
"""

from __future__ import annotations

import re
import struct
from dataclasses import dataclass, field, replace

from relrag_pipelines.sources.mail import charset

MAX_RTF = 32 * 2**20
"""Longest rich text that is read, bytes."""

_PACKED, _PLAIN = b"LZFu", b"MELA"
_DICTIONARY = (
    rb"{\rtf1\ansi\mac\deff0\deftab720{\fonttbl;}{\f0\fnil \froman \fswiss \fmodern \fscript \fdecor MS Sans SerifSymbo"
    rb"lArialTimes New RomanCourier{\colortbl\red0\green0\blue0"
    b"\r\n"
    rb"\par \pard\plain\f0\fs20\b\i\u\tab\tx"
)
_TOKEN = re.compile(
    r"\\(?:([a-zA-Z]{1,32})(-?\d{1,10})? ?|'([0-9a-fA-F]{2})|([^a-zA-Z]))|([{}])|[\r\n]+|([^\\{}\r\n]+)|\\", re.DOTALL
)
_SYMBOLS = {
    "par": "\n", "line": "\n", "sect": "\n", "page": "\n", "row": "\n", "tab": "\t", "cell": " | ", "nestcell": " | ",
    "lquote": "‘", "rquote": "’", "ldblquote": "“", "rdblquote": "”", "bullet": "•", "endash": "–", "emdash": "—",
    "enspace": " ", "emspace": " ", "qmspace": " ",
}  # fmt: skip
_SIGNS = {"~": "\xa0", "_": "-", "-": "", "\n": "\n", "\r": "\n", "\\": "\\", "{": "{", "}": "}"}
_LEFT_OUT = {
    "fonttbl", "colortbl", "stylesheet", "info", "pict", "header", "headerl", "headerr", "headerf", "footer", "footerl",
    "footerr", "footerf", "objdata", "xe", "tc", "txe", "rxe", "filetbl", "nonesttables",
}  # fmt: skip
"""destinations whose text is not part of the document"""
_FONT_CHARSETS = {
    0: "cp1252", 77: "mac_roman", 128: "cp932", 129: "cp949", 130: "johab", 134: "gb18030", 136: "cp950", 161: "cp1253",
    162: "cp1254", 163: "cp1258", 177: "cp1255", 178: "cp1256", 186: "cp1257", 204: "cp1251", 222: "cp874",
    238: "cp1250", 254: "cp437", 255: "cp850",
}  # fmt: skip
_LINK = re.compile(r"HYPERLINK\s+(?:\\l\s+)?\"([^\"]{1,2000})\"", re.IGNORECASE)


class RtfError(Exception):
    """The bytes are not compressed RTF as Outlook writes it; the message says what was found."""


def unpack(data: bytes) -> bytes:
    """Decompresses RTF; what is missing at the end is left out. Raises RtfError."""
    if len(data) < 16:
        raise RtfError("packed rich text ends within its header")
    packed_size, size, how = struct.unpack_from("<LL4s", data)
    if how == _PLAIN:
        return data[16 : 16 + min(size, MAX_RTF)]
    if how != _PACKED:
        raise RtfError("packed rich text is packed in an unknown way")
    out = bytearray(_DICTIONARY)
    offset, end, most = 16, min(len(data), packed_size + 4), len(_DICTIONARY) + min(size, MAX_RTF)
    while offset < end and len(out) < most:
        flags, offset = data[offset], offset + 1
        for bit in range(8):
            if offset >= end:
                break
            if not flags >> bit & 1:
                out.append(data[offset])
                offset += 1
                continue
            reference = int.from_bytes(data[offset : offset + 2])
            back = (len(out) - (reference >> 4)) % 4096
            if back == 0 or offset + 2 > end:  # it marks the end
                offset = end
                break
            offset += 2
            _repeat(out, back, (reference & 15) + 2)
    return bytes(out[len(_DICTIONARY) : most])


def _repeat(out: bytearray, back: int, length: int) -> None:
    """Appends `length` bytes, copied from `back` bytes before the end; spaces where that is before the beginning."""
    for _ in range(length):
        out.append(out[-back] if back <= len(out) else 0x20)


def read(data: bytes) -> tuple[str, str]:
    """The MIME type that the RTF encapsulates, text/html or text/plain, and the content. Raises RtfError."""
    if not data.lstrip()[:5].startswith(b"{\\rtf"):
        raise RtfError("the text does not begin as rich text does")
    reading = _RtfReader(data[:MAX_RTF].decode("latin-1"))
    reading.run()
    return ("text/html" if reading.html else "text/plain"), reading.text()


@dataclass(frozen=True)
class _State:
    """The state within one group."""

    left_out: bool = False
    only_rich: bool = False
    """between \\htmlrtf and \\htmlrtf0: not in the HTML"""
    tag: bool = False
    """within a group of HTML"""
    fonts: bool = False
    """within the table of fonts"""
    link: bool = False
    """within the instruction of a field, which may be a link"""
    ignorable: bool = False
    """begun by \\*: left out, unless it is known"""
    skip: int = 1
    """how many characters stand behind one of Unicode in place of it"""
    font: int | None = None


@dataclass
class _RtfReader:
    """Reads RTF, and collects its text."""

    source: str
    """a character a byte"""
    html: bool = False
    _out: list[str] = field(default_factory=list)
    _waiting: bytearray = field(default_factory=bytearray)
    _codec: str = "cp1252"
    _fonts: dict[int, str] = field(default_factory=dict)
    _default_codec: str = "cp1252"
    _default_font: int | None = None
    _state: _State = field(default_factory=_State)
    _instruction: list[str] = field(default_factory=list)
    _links: list[tuple[int, str]] = field(default_factory=list)
    """depth of the field, and where it leads"""
    _to_skip: int = 0

    def run(self) -> None:
        outer: list[_State] = []
        offset = 0
        while token := _TOKEN.match(self.source, offset):
            offset = token.end()
            word, number, code, sign, brace, run = token.groups()
            if brace == "{":
                outer.append(self._state)
                self._to_skip = 0
            elif brace:
                self._close(len(outer), outer[-1] if outer else self._state)
                if outer:
                    self._state = outer.pop()
                if not outer:
                    break
            elif word == "bin":
                offset += max(0, int(number or 0))
            elif word or sign:
                self._to_skip = 0
                self._word(word, None if number is None else int(number)) if word else self._sign(sign)
            elif code and self._to_skip:
                self._to_skip -= 1
            elif code:
                self._add(bytes.fromhex(code))
            elif run:
                cut, self._to_skip = self._to_skip, max(0, self._to_skip - len(run))
                self._add(run[cut:].encode("latin-1"))

    def text(self) -> str:
        """The text read so far."""
        self._flush()
        return "".join(self._out).encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")

    def _close(self, depth: int, outside: _State) -> None:
        if self._state.link and not outside.link:
            if leads := _LINK.search("".join(self._instruction)):
                self._links.append((depth - 1, leads[1].removeprefix("mailto:")))
            self._instruction.clear()
        while self._links and self._links[-1][0] >= depth:
            leads_to = self._links.pop()[1]
            self._flush()
            if not "".join(self._out[-8:]).rstrip().endswith(leads_to):
                self._add_text(f" ({leads_to})")

    def _word(self, word: str, number: int | None) -> None:
        if word in _SYMBOLS:
            self._add_text("\r\n" if self.html and _SYMBOLS[word] == "\n" else _SYMBOLS[word])
        elif word == "u" and number is not None:
            self._add_text(chr(number % 65536))
            self._to_skip = self._state.skip
        elif word == "fromhtml":
            self.html = True
        elif word == "ansicpg" and number is not None:
            self._default_codec = charset.code_page(number) or self._default_codec
        elif word in ("f", "deff", "fcharset", "plain"):
            self._font(word, number)
        else:
            self._change_state(word, number)

    def _change_state(self, word: str, number: int | None) -> None:
        """Applies a control word that holds until its group ends."""
        state = self._state
        if word == "uc":
            self._state = replace(state, skip=max(0, min(number or 0, 10)))
        elif word == "htmlrtf":
            self._state = replace(state, only_rich=number != 0)
        elif word == "htmltag":
            self._state = replace(state, tag=True, ignorable=False)
        elif word == "fldinst":
            self._state = replace(state, link=True, ignorable=False)
        elif word in _LEFT_OUT:
            self._state = replace(state, left_out=True, fonts=word == "fonttbl")
        elif state.ignorable:
            self._state = replace(state, left_out=True, ignorable=False)

    def _font(self, word: str, number: int | None) -> None:
        if word == "deff":
            self._default_font = number
        elif word == "fcharset" and self._state.fonts:
            if self._state.font is not None and number in _FONT_CHARSETS:
                self._fonts[self._state.font] = _FONT_CHARSETS[number]
        elif self._state.font != (font := number if word == "f" else self._default_font):
            self._state = replace(self._state, font=font)

    def _sign(self, sign: str) -> None:
        if sign == "*":
            self._state = replace(self._state, ignorable=True)
        elif sign in _SIGNS:
            self._add_text(_SIGNS[sign])

    def _is_visible(self) -> bool:
        return not (self._state.left_out or self._state.only_rich)

    def _add_text(self, text: str) -> None:
        """Adds characters."""
        if self._state.link:
            self._instruction.append(text)
        elif self._is_visible():
            self._flush()
            self._out.append(text)

    def _add(self, data: bytes) -> None:
        """Adds bytes in the charset of the font."""
        if self._state.link:
            self._instruction.append(data.decode("latin-1"))
        elif self._is_visible():
            font = self._default_font if self._state.font is None else self._state.font
            named = None if self._state.tag else self._fonts.get(-1 if font is None else font)
            codec = named or self._default_codec
            if codec != self._codec:
                self._flush()
                self._codec = codec
            self._waiting += data

    def _flush(self) -> None:
        if self._waiting:
            self._out.append(self._waiting.decode(self._codec, "replace"))
            self._waiting.clear()
