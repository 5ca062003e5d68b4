"""Decodes text whose charset is not declared.

The order of evidence: a byte order mark, UTF-8 (which other charsets hardly ever satisfy by accident), what the file
itself declares, and last a guess. charset_normalizer gives the guesses; it measures noise and letter frequencies,
which leaves Western and Central European charsets tied on short texts. The tie is broken by alphabets: a right guess
puts all letters into the alphabet of one language, a wrong one mixes them. Where two languages meet in a text, the same
holds of each of its words. A file whose lines are of two charsets is read line by line, and a stray byte costs itself.
"""

from __future__ import annotations

import codecs
import functools
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace

from charset_normalizer import from_bytes

MAX_CONTROLS = 0.02
"""Share of control characters above which bytes are no text."""
MAX_CHAOS = 0.1
"""Noise, as charset_normalizer measures it, above which a guess is dropped."""
MIN_ALPHABET = 0.8
"""Share of the letters beyond ASCII that one alphabet must hold for a guess to count."""
MIN_WORDS = 0.6
"""Share of the words beyond ASCII that must each fit one alphabet, where the text as a whole fits none."""
STRAY_RATIO = 20
"""Bytes beyond ASCII needed for each byte that a charset doesn't define; one such byte is always tolerated."""
STRAY_COST = 0.1
"""How much lower a charset ranks that lacks some of the bytes."""
MARGIN = 0.02
"""Guesses whose score is this close to the best are its rivals."""
MIN_NULS = 0.2
"""Share of NULs in the UTF-16 of a European text."""
DAMAGE_RATIO = 20
"""How many intact UTF-8 sequences are needed for each damaged one."""
SAMPLE = 64 * 2**10
"""Bytes of lines beyond ASCII that a guess examines."""

_CONTROLS = bytes([*range(9), 0x0B, *range(0x0E, 0x20)])
_BEYOND_ASCII = re.compile(r"[^\x00-\x7f]")
_C1 = re.compile(r"[\x80-\x9f]")
_LETTER_ALONE = re.compile(rb"[\xe0-\xff](?![\x80-\xbf])")
"""a small letter in the most common older charsets; damaged UTF-8 mostly leaves smaller bytes"""
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
_EAST_ASIAN_CHARSETS = frozenset({"cp932", "euc_jp", "gb18030", "big5", "cp949"})
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
_WORD = re.compile(r"[^\W\d_]+")
_EAST_ASIAN = {"HIRAGANA", "KATAKANA", "KATAKANA-HIRAGANA", "CJK", "IDEOGRAPHIC"}


MIXED = "utf-8 and "
"""how the charset of a text begins of which some lines are UTF-8 and others are not; it names no codec"""


class CharsetError(Exception):
    """The bytes are not text (`fault` binary), or their charset cannot be determined (`fault` charset)."""

    def __init__(self, fault: str, message: str) -> None:
        super().__init__(message)
        self.fault = fault


@dataclass(frozen=True)
class DecodedText:
    """Text, and the charset that decoded it."""

    text: str
    charset: str
    rivals: tuple[str, ...] = ()
    """charsets that fit as well but give another text"""
    damaged_places: int = 0
    """number of U+FFFD characters that replace damaged bytes"""


def decode(data: bytes, declared: str | None = None) -> DecodedText:
    """The text of `data`; `declared` is the charset that the document itself names. Raises CharsetError."""
    for mark, charset in _MARKS:
        if data.startswith(mark):
            return DecodedText(_strictly(data, charset), charset.removesuffix("-sig"))
    if b"\0" in data:
        return _without_mark(data)
    for name in ("iso2022_jp" if b"\x1b$" in data else None, "utf-8", declared):
        if name and (text := _try(data, name)) is not None:
            return DecodedText(_refuse_binary(text), name)
    older = [line for line in data.splitlines(keepends=True) if _is_older(line)]
    mixed = _mixed_lines(data, older)
    if mixed and any(_LETTER_ALONE.search(line) for line in older):
        return mixed
    return _damaged_utf8(data) or mixed or _guess(data)


def decode_name(data: bytes, declared: Iterable[str]) -> str:
    """A name of a few words, such as a file's, which cannot declare its charset.

    `declared` are the charsets of its surroundings, the nearest first. The first one in which its letters form one
    alphabet wins: most charsets fit any bytes, and a name is too short to tell `č` from `è`. Raises CharsetError.
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
    """Decodes bytes with NULs as UTF-16 if one byte order gives text; otherwise they are binary."""
    even, odd = data[::2].count(0), data[1::2].count(0)
    orders = [("utf-16-le", odd, even), ("utf-16-be", even, odd)]
    for charset, nuls, other_nuls in sorted(orders, key=lambda order: -order[1]):
        text = _try(data, charset)
        if text is not None and _is_utf16(text, nuls / len(data), other_nuls):
            return DecodedText(_refuse_binary(text), charset)
    raise CharsetError("binary", f"{even + odd} NUL bytes in {len(data)}")


def _is_utf16(text: str, share: float, other_nuls: int) -> bool:
    """Whether text decoded as UTF-16 is plausible, by the share of NULs in its bytes.

    European languages have many, all on one side of the pairs. Other languages have them only in blanks, digits and
    line ends, and their letters belong to one script.
    """
    if share > MIN_NULS and not other_nuls:
        return True
    letters = sum(map(str.isalpha, text))
    one_script = letters > len(text) / 2 and _alphabet_share(text) >= MIN_ALPHABET
    return one_script and "\0" not in text and all(map(_is_assigned, text))


def _is_assigned(character: str) -> bool:
    return unicodedata.category(character) not in ("Cn", "Co", "Cs")


def _refuse_binary(text: str) -> str:
    utf8 = text.encode("utf-8", "surrogatepass")  # each control character is one byte, which nothing else contains
    controls = len(utf8) - len(utf8.translate(None, _CONTROLS))
    if controls > MAX_CONTROLS * len(text):
        raise CharsetError("binary", f"{controls} control characters in {len(text)}")
    return text


def _damaged_utf8(data: bytes) -> DecodedText | None:
    """UTF-8 with a few wrong bytes; no other charset gives that many intact sequences by accident."""
    text = data.decode("utf-8", "replace")
    replaced = text.count("\ufffd")
    intact = len(_BEYOND_ASCII.findall(text)) - replaced
    return (
        DecodedText(_refuse_binary(text), "utf-8", damaged_places=replaced)
        if intact >= DAMAGE_RATIO * replaced
        else None
    )


def _mixed_lines(data: bytes, older: list[bytes]) -> DecodedText | None:
    """A file written in two charsets: some lines are UTF-8, the lines `older` have an older charset.

    The older charset must be single-byte: two bytes of an East Asian one may be UTF-8 by accident.
    """
    lines = data.splitlines(keepends=True)
    if not older or all(line.isascii() or _is_older(line) for line in lines):
        return None
    try:
        guess = _guess(b"".join(older))
    except CharsetError:
        return None
    if guess.charset in _EAST_ASIAN_CHARSETS:
        return None
    texts = [line.decode(guess.charset if _is_older(line) else "utf-8", "replace") for line in lines]
    text = "".join(texts)
    return DecodedText(text, f"{MIXED}{guess.charset}", guess.rivals, text.count("\ufffd"))


def _is_older(line: bytes) -> bool:
    """Whether a line has bytes beyond ASCII but no UTF-8 sequence."""
    return not line.isascii() and not _BEYOND_ASCII.search(line.decode("utf-8", "ignore"))


def _guess(data: bytes) -> DecodedText:
    _refuse_binary(data.decode("latin-1"))
    sample = _non_ascii_lines(data)
    for share_of, least in ((_alphabet_share, MIN_ALPHABET), (_word_share, MIN_WORDS)):
        if guess := _best(data, sorted(_scores(sample, share_of, least), reverse=True)):
            return guess
    raise CharsetError("charset", f"neither UTF-8 nor any of {len(_CANDIDATES)} older charsets fits")


def _scores(sample: bytes, share_of: Callable[[str], float], least: float) -> Iterator[tuple[float, int, str]]:
    """Score, rank and name of each plausible charset."""
    for strays, charsets in _charsets_by_strays(sample).items():
        for match in from_bytes(sample.translate(None, strays), cp_isolation=charsets):
            share = share_of(str(match))
            if match.chaos < MAX_CHAOS and share >= least:
                score = share + match.coherence / 2 - match.chaos - (STRAY_COST if strays else 0)
                yield score, -_CANDIDATES.index(match.encoding), match.encoding


def _charsets_by_strays(sample: bytes) -> dict[bytes, list[str]]:
    """The candidates grouped by the bytes of the sample that they don't define, if these are few."""
    beyond = len(sample.translate(None, bytes(range(128))))
    charsets: dict[bytes, list[str]] = {}
    for charset in _CANDIDATES:
        strays = bytes(byte for byte in _undefined(charset) if byte in sample)
        count = len(sample) - len(sample.translate(None, strays))
        if count <= max(1, beyond // STRAY_RATIO) and count < beyond:
            charsets.setdefault(strays, []).append(charset)
    return charsets


@functools.cache
def _undefined(charset: str) -> bytes:
    """Bytes that a single-byte charset doesn't define."""
    if charset in _EAST_ASIAN_CHARSETS:
        return b""
    return bytes(byte for byte in range(128, 256) if _try(bytes([byte]), charset) is None)


def _best(data: bytes, scored: list[tuple[float, int, str]]) -> DecodedText | None:
    """The text in the charset with the highest score, and its rivals; None if no charset fits all of the text."""
    best: DecodedText | None = None
    rivals = []
    for score, _, charset in scored:
        text = data.decode(charset, "replace")
        if _C1.search(text) or (charset in _EAST_ASIAN_CHARSETS and "\ufffd" in text):
            continue
        if best is None:
            best, lowest = DecodedText(text, charset, (), text.count("\ufffd")), score - MARGIN
        elif score >= lowest and text != best.text:
            rivals.append(charset)
    return best and replace(best, rivals=tuple(rivals))


def _non_ascii_lines(data: bytes) -> bytes:
    """Lines with non-ASCII bytes; the others fit every charset."""
    size, lines = 0, []
    for line in data.splitlines(keepends=True):
        if not line.isascii():
            lines.append(line)
            size += len(line)
            if size >= SAMPLE:
                break
    return b"".join(lines)


def _word_share(text: str) -> float:
    """Share of the non-ASCII words whose letters all fit one alphabet or script; 1 without any."""
    words = Counter(word for word in _WORD.findall(text) if not word.isascii())
    fitting = sum(count for word, count in words.items() if _alphabet_share(word) == 1)
    return fitting / (words.total() + len(_SYMBOL_IN_WORD.findall(text))) if words else 1.0


def _alphabet_share(text: str) -> float:
    """Share of the non-ASCII letters in the alphabet or script that holds most of them; 1 without any.

    A symbol within a word counts as a letter that was decoded wrongly.
    """
    letters = Counter(character for character in text if character > "\x7f" and character.isalpha())
    if not letters:
        return 1.0
    alphabets = [sum(letters[letter] for letter in alphabet if letter in letters) for alphabet in _ALPHABETS]
    scripts: Counter[str] = Counter()
    for letter, count in letters.items():
        if letter >= "\u0370":
            script = unicodedata.name(letter, "?").split()[0].split("-")[0]
            scripts["CJK" if script in _EAST_ASIAN else script] += count
    return max([*alphabets, *scripts.values()]) / (letters.total() + len(_SYMBOL_IN_WORD.findall(text)))
