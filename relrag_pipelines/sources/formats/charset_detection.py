"""Decodes text whose charset is not declared.

The order of evidence: a byte order mark, UTF-8 (which other charsets hardly ever satisfy by accident), what the file
itself declares, and last a guess. charset_normalizer gives the guesses; it measures noise and letter frequencies,
which leaves Western and Central European charsets tied on short texts. The tie is broken by alphabets: a right guess
puts all letters into the alphabet of one language, a wrong one mixes them.
"""

from __future__ import annotations

import codecs
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from charset_normalizer import from_bytes

MAX_CONTROLS = 0.02
"""Share of control characters above which bytes are no text."""
MAX_CHAOS = 0.1
"""Noise, as charset_normalizer measures it, above which a guess is dropped."""
MIN_ALPHABET = 0.8
"""Share of the letters beyond ASCII that one alphabet must hold for a guess to count."""
MARGIN = 0.02
"""Guesses this close to the best one are its rivals."""
DAMAGE_RATIO = 20
"""How many whole UTF-8 sequences must stand beside each damaged one."""
SAMPLE = 64 * 2**10
"""How much of a file is guessed from, bytes; only lines with bytes beyond ASCII are."""

_CONTROLS = bytes([*range(9), 0x0B, *range(0x0E, 0x20)])
_BEYOND_ASCII = re.compile(r"[^\x00-\x7f]")
_C1 = re.compile(r"[\x80-\x9f]")
_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_CANDIDATES = [
    *("cp1252", "cp1250", "iso8859_2", "cp1255", "cp1251", "koi8_r", "cp1253", "cp1254", "cp1256", "cp1257"),
    *("cp932", "euc_jp", "gb18030", "big5", "cp949", "cp852", "cp850", "mac_roman"),
]
_ALPHABETS = [
    frozenset(letters + letters.upper())
    for letters in (
        "áčďéěíňóřšťúůýž",  # Czech
        "áäčďéíĺľňóôŕšťúýž",  # Slovak
        "ąćęłńóśźż",  # Polish
        "áéíóöőúüű",  # Hungarian
        "ćčđšž",  # Croatian, Slovene
        "ăâîşţșț",  # Romanian
        "äöüß",  # German
        "àâæçèéêëîïôœùûüÿ",  # French
        "áéíñóúü",  # Spanish
        "àáâãçéêíóôõúü",  # Portuguese
        "àèéìíîòóùú",  # Italian
        "áéëïóöúü",  # Dutch
        "åäöé",  # Swedish, Finnish
        "æøåé",  # Danish, Norwegian
        "áæéíðóöúýþ",  # Icelandic
        "äõöüšž",  # Estonian
        "āčēģīķļņšūž",  # Latvian
        "ąčęėįšųūž",  # Lithuanian
        "çğıİöşü",  # Turkish
    )
]
_SYMBOL_IN_WORD = re.compile(r"(?<=[^\W\d_])[^\x00-\x7f\w\s‘’–—·…־׳״]+(?=[^\W\d_])")
_EAST_ASIAN = {"HIRAGANA", "KATAKANA", "KATAKANA-HIRAGANA", "CJK", "IDEOGRAPHIC"}


class CharsetError(Exception):
    """The bytes are not text (`fault` binary), or their charset cannot be told (`fault` charset)."""

    def __init__(self, fault: str, found: str) -> None:
        super().__init__(found)
        self.fault = fault


@dataclass(frozen=True)
class DecodedText:
    """Text, and the charset that decoded it."""

    text: str
    charset: str
    rivals: tuple[str, ...] = ()
    """charsets that fit as well and give another text"""
    damaged_places: int = 0
    """places where bytes were damaged; U+FFFD stands there"""


def decode(data: bytes, declared: str | None = None) -> DecodedText:
    """The text of `data`; `declared` is the charset that the document itself names. Raises CharsetError."""
    for mark, charset in _MARKS:
        if data.startswith(mark):
            return DecodedText(_strictly(data, charset), charset.removesuffix("-sig"))
    if b"\0" in data:
        return _without_mark(data)
    for known in ("iso2022_jp" if b"\x1b$" in data else None, "utf-8", declared):
        if known and (text := _try(data, known)) is not None:
            return DecodedText(_refuse_binary(text), known)
    return _damaged_utf8(data) or _guess(data)


def decode_name(data: bytes, declared: Iterable[str]) -> str:
    """A name of a few words, such as a file's, in none of the charsets that it could declare itself.

    `declared` are those of what it came with, the nearest first. The first of them counts by which its letters are of
    one alphabet: most fit any bytes, and a name is too short for a guess to tell `č` from `è`. Raises CharsetError.
    """
    if _try(data, "utf-8") is None and b"\0" not in data:
        for charset in declared:
            text = _try(data, charset)
            if text is not None and not _C1.search(text) and _alphabet_share(text) >= MIN_ALPHABET:
                return _refuse_binary(text)
    return decode(data).text


def _strictly(data: bytes, charset: str) -> str:
    try:
        return data.decode(charset)
    except UnicodeDecodeError as error:
        raise CharsetError("charset", f"a {charset} byte order mark, but no {charset} at byte {error.start}") from None


def _try(data: bytes, charset: str) -> str | None:
    try:
        return data.decode(charset)
    except (ValueError, LookupError):  # LookupError: no such charset; ValueError: bytes, or a name, that it refuses
        return None


def _without_mark(data: bytes) -> DecodedText:
    """Bytes with NULs are UTF-16 where these stand on one side of the pairs only, else no text."""
    even, odd = data[::2].count(0), data[1::2].count(0)
    for charset, here, there in (("utf-16-le", odd, even), ("utf-16-be", even, odd)):
        mostly_here = here > 0.2 * len(data) and there == 0
        if mostly_here and (text := _try(data, charset)) is not None:
            return DecodedText(_refuse_binary(text), charset)
    raise CharsetError("binary", f"{even + odd} NUL bytes in {len(data)}")


def _refuse_binary(text: str) -> str:
    written = text.encode("utf-8", "surrogatepass")  # in which a control character is one byte, and that byte no other
    controls = len(written) - len(written.translate(None, _CONTROLS))
    if controls > MAX_CONTROLS * len(text):
        raise CharsetError("binary", f"{controls} control characters in {len(text)}")
    return text


def _damaged_utf8(data: bytes) -> DecodedText | None:
    """UTF-8 with a few wrong bytes is still UTF-8: no other charset gives that many whole sequences by accident."""
    text = data.decode("utf-8", "replace")
    replaced = text.count("\ufffd")
    whole = len(_BEYOND_ASCII.findall(text)) - replaced
    return (
        DecodedText(_refuse_binary(text), "utf-8", damaged_places=replaced)
        if whole >= DAMAGE_RATIO * replaced
        else None
    )


def _guess(data: bytes) -> DecodedText:
    _refuse_binary(data.decode("latin-1"))
    scored = []
    for match in from_bytes(_telling_lines(data), cp_isolation=_CANDIDATES):
        share = _alphabet_share(str(match))
        if match.chaos < MAX_CHAOS and share >= MIN_ALPHABET:
            scored.append(
                (share + match.coherence / 2 - match.chaos, -_CANDIDATES.index(match.encoding), match.encoding)
            )
    best: DecodedText | None = None
    rivals = []
    for score, _, charset in sorted(scored, reverse=True):
        text = _try(data, charset)
        if text is None or _C1.search(text):
            continue
        if best is None:
            best, lowest = DecodedText(text, charset), score - MARGIN
        elif score >= lowest and text != best.text:
            rivals.append(charset)
    if best is None:
        raise CharsetError("charset", f"neither UTF-8 nor any of {len(_CANDIDATES)} older charsets fits")
    return DecodedText(best.text, best.charset, tuple(rivals))


def _telling_lines(data: bytes) -> bytes:
    """Lines with non-ASCII bytes; the others fit every charset."""
    size, lines = 0, []
    for line in data.splitlines(keepends=True):
        if not line.isascii():
            lines.append(line)
            size += len(line)
            if size >= SAMPLE:
                break
    return b"".join(lines)


def _alphabet_share(text: str) -> float:
    """Share of the letters beyond ASCII that lie in the one alphabet or script that holds most; 1 without any.

    A symbol within a word is a letter that was read wrongly.
    """
    letters = Counter(character for character in text if character > "\x7f" and character.isalpha())
    if not letters:
        return 1.0
    held = [sum(letters[letter] for letter in alphabet if letter in letters) for alphabet in _ALPHABETS]
    scripts: Counter[str] = Counter()
    for letter, count in letters.items():
        if letter >= "\u0370":
            script = unicodedata.name(letter, "?").split()[0].split("-")[0]
            scripts["CJK" if script in _EAST_ASIAN else script] += count
    return max([*held, *scripts.values()]) / (letters.total() + len(_SYMBOL_IN_WORD.findall(text)))
