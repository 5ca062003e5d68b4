"""Parses mail headers, valid or not: words, parameters, addresses, dates and ids.

Formats: RFC 5322 (addresses, dates, ids), RFC 2047 (encoded words), RFC 2231 (parameters), RFC 6532 (raw UTF-8).
"""

from __future__ import annotations

import binascii
import functools
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta, timezone
from email.utils import parsedate_tz
from typing import NamedTuple
from urllib.parse import unquote_to_bytes
from zoneinfo import ZoneInfo

from relrag_pipelines.sources.mail import charset, localised_dates

MAX_VALUE = 2**16
"""Longest value that is read, bytes."""

_MAX_DATE_LENGTH = 200
_DIRECTION = dict.fromkeys((0x200E, 0x200F, 0x061C, *range(0x202A, 0x202F), *range(0x2066, 0x206A), 0xFEFF))
"""marks of the direction of writing, of which nothing is seen"""
_NOT_IN_NAMES = _DIRECTION | {ord("<"): " ", ord(">"): " "}
"""brackets too: what is written between them passes for the address"""
_FOLD = re.compile(r"\r?\n(?=[ \t])")
_LINE_ENDS = re.compile(r"[\r\n]+")
_WORD = re.compile(r"=\?([^?*\s]+)(?:\*[^?\s]*)?\?([bBqQ])\?(.{0,2000}?)\?=", re.DOTALL)
_BETWEEN_WORDS = re.compile(r"(\?=)\s+(?==\?[^?\s]+\?[bBqQ]\?)")
_PARAMETER = re.compile(r';\s*([^\s=;"]+)\s*=\s*("(?:[^"\\]|\\.)*"|[^;]*)')
_CONTINUED = re.compile(r"([^*]+)\*(?:(\d{1,3})(\*)?)?")
_QUOTED = re.compile(r"\\(.)", re.DOTALL)
_TYPE = re.compile(r"\s*([\w.+-]+)\s*/\s*([\w.+-]+)")
_ADDRESS_TOKEN = re.compile(
    r'"(?:[^"\\]|\\.){0,300}"|\((?:[^()\\]|\\.){0,300}\)|<[^<>]*>|[,;:]|[^",;:<(]+|.', re.DOTALL
)
_PLAIN_ADDRESS = re.compile(r'\s*(?:"?([^"<>,;:()@=?\\]*?)"?\s*<)?([^\s<>,;:()@"]+@[^\s<>,;:()@"]+)>?\s*')
_BARE_ADDRESS = re.compile(r"[^\s<>,;@]{1,256}@[^\s<>,;]{1,256}")
_ID = re.compile(r"<([^<>]+)>")
_COMMENT = re.compile(r"\((?:[^()\\]|\\.){0,200}\)")
_AROUND_COLON = re.compile(r"\s*:\s*")
_ZONE_IN_QUOTES = re.compile(r"[\"'\[<]([A-Za-z+-][\w:+-]*)[\"'\]>]\s*$")
_DATE = re.compile(
    r"\s*(?:[A-Za-z]{2,9}\.?,?\s*)?(\d{1,2})[ -]+([A-Za-z]{3,9})\.?[ -]+(\d{2,4})"
    r"\s+(\d{1,2})[:.](\d\d)(?:[:.](\d\d))?\s*([AaPp][Mm]\b)?\s*((?:GMT|UTC)?[+-]\d{4}|(?:GMT|UTC)?[+-]\d{1,2}(?::\d\d)?(?!\d)|0\d[0-5]\d\b|1[0-4][0-5]\d\b|[A-Za-z]{1,5}\b)?"
)
"""of zones `+0200`, `GMT+2`, `+02:00`, and one that lost its sign"""
_ASCTIME = re.compile(
    r"\s*(?:[A-Za-z]{2,9}\.?,?\s+)?([A-Za-z]{3})[a-z]*\.?\s+(\d{1,2}),?"
    r"\s+(\d{1,2}:\d\d(?::\d\d)?)\s*([+-]\d{4}|[A-Za-z]{1,5})?\s+(\d{4})\b"
)
"""as the clocks of Unix write it: the year last"""
_ISO = re.compile(r"\s*\d{4}-\d\d-\d\d")
_NUMBERED_ZONE = re.compile(r"(?:GMT|UTC)?([+-]?)(\d{1,2}):?(\d\d)?")
_ZONE = re.compile(r"[+-]\d{4}|\b[A-Z]{1,5}\s*$")
_MONTHS = {
    "jan": 1, "feb": 2, "mar": 3, "apr": 4, "may": 5, "jun": 6,
    "jul": 7, "aug": 8, "sep": 9, "oct": 10, "nov": 11, "dec": 12,
}  # fmt: skip
_MONTH_NAMES = (
    *("january", "february", "march", "april", "may", "june", "july", "august"),
    *("september", "october", "november", "december"),
)
_ZONES = {
    "ut": 0, "utc": 0, "gmt": 0, "z": 0, "est": -300, "edt": -240, "cst": -360, "cdt": -300, "mst": -420, "mdt": -360,
    "pst": -480, "pdt": -420, "cet": 60, "cest": 120, "met": 60, "mest": 120, "bst": 60, "eet": 120, "eest": 180,
    "msk": 180, "ist": 120, "idt": 180, "jst": 540, "hst": -600,
}  # fmt: skip
"""minutes east of UTC"""


class Address(NamedTuple):
    """One person or place that a header names; either may be empty."""

    name: str
    address: str

    def __str__(self) -> str:
        if self.name and self.address and self.name.lower() != self.address:
            return f"{self.name} <{self.address}>"
        return self.address or self.name


def decode(value: bytes) -> str:
    """A value unfolded and stripped, on one line, with its encoded words decoded."""
    text = _text(value)
    return " ".join((_words(text) if "=?" in text else text).split())


def decode_plain(value: bytes, declared: Iterable[str] = ()) -> str:
    """A value unfolded, with encoded words as they are, since its parameters are split first.

    `declared` are charsets of the mail, by which raw bytes are read where they fit.
    """
    return _text(value, declared)


def content_type(value: bytes, default: str, declared: Iterable[str] = ()) -> tuple[str, dict[str, str]]:
    """The lower-case type and the parameters; the default without a value, an empty type for an invalid one."""
    if not value:
        return default, {}
    text = _text(value, declared)
    match = _TYPE.match(text)
    bare = text.split(";")[0].strip().lower()
    given = f"{match[1]}/{match[2]}".lower() if match else "text/plain" if bare == "text" else ""
    return given, parameters(text)


def parameters(text: str) -> dict[str, str]:
    """The parameters behind a value, those in pieces joined (RFC 2231), encoded words decoded; the first counts."""
    values: dict[str, str] = {}
    pieces: dict[str, list[tuple[int, bool, str]]] = {}
    for name, value in _PARAMETER.findall(text):
        name = name.lower()
        plain = _unquote(value)
        if "*" in name and (piece := _CONTINUED.fullmatch(name)):
            encoded = piece[2] is None or piece[3] is not None
            pieces.setdefault(piece[1], []).append((int(piece[2] or 0), encoded, plain))
        else:
            values.setdefault(name, _words(plain) if "=?" in plain else plain)
    return values | {name: _join_pieces(parts) for name, parts in pieces.items()}


def addresses(values: Iterable[bytes]) -> list[Address]:
    """Everyone in the headers, groups expanded, each address once."""
    by_key: dict[str, Address] = {}
    for value in values:
        for address in _addresses(_text(value)):
            by_key.setdefault(address.address or address.name, address)
    return list(by_key.values())


def message_ids(values: Iterable[bytes]) -> list[str]:
    """The ids in the headers as they are, without brackets, each once."""
    distinct: dict[str, None] = {}
    for value in values:
        text = _text(value)
        ids = _ID.findall(text) or [word.strip("<>") for word in text.split() if "@" in word]
        distinct |= dict.fromkeys(
            message_id for message_id in ("".join(message_id.split()) for message_id in ids) if message_id
        )
    return list(distinct)


def date(value: bytes, local_zone: str) -> int | None:
    """Seconds since 1970, UTC; a time without a zone is local; None for an invalid date."""
    text = _text(value)[:_MAX_DATE_LENGTH]
    text = _AROUND_COLON.sub(":", _COMMENT.sub("", _words(text) if "=?" in text else text))
    text = _ZONE_IN_QUOTES.sub(r"\1", text)
    try:
        moment = _moment(text)
        if moment and moment.tzinfo is None:
            moment = moment.replace(tzinfo=_zone(local_zone))
        return None if moment is None else int(moment.timestamp())
    except (ValueError, OverflowError, TypeError, IndexError):
        return None


@functools.lru_cache(8)
def _zone(name: str) -> ZoneInfo:
    return ZoneInfo(name)


def _text(value: bytes, declared: Iterable[str] = ()) -> str:
    value = value[:MAX_VALUE]
    if not value.isascii():
        text = charset.name(value, declared)
    else:
        text = charset.text(value) if b"\x1b" in value else value.decode("ascii")
    return _LINE_ENDS.sub(" ", _FOLD.sub("", text)) if "\n" in text or "\r" in text else text


def _words(text: str) -> str:
    """Encoded words decoded; neighbours of one charset together, since some break a letter in two."""
    text = _BETWEEN_WORDS.sub(r"\1", text)
    written, end, waiting, named = [], 0, b"", ""
    for word in _WORD.finditer(text):
        between = text[end : word.start()]
        if waiting and (between or word[1].lower() != named):
            written.append(charset.text(waiting, named))
            waiting = b""
        written.append(between)
        named, end = word[1].lower(), word.end()
        waiting += _word_bytes(word[2].lower(), word[3])
    if waiting:
        written.append(charset.text(waiting, named))
    return "".join([*written, text[end:]])


def _word_bytes(encoding: str, encoded: str) -> bytes:
    data = encoded.encode("utf-8", "replace")
    if encoding == "q":
        return binascii.a2b_qp(data, header=True)
    letters = re.sub(rb"[^A-Za-z0-9+/]", b"", data)
    letters = letters[:-1] if len(letters) % 4 == 1 else letters
    return binascii.a2b_base64(letters + b"=" * (-len(letters) % 4))


def _unquote(value: str) -> str:
    value = value.strip()
    if len(value) > 1 and value[0] == value[-1] == '"':
        return _QUOTED.sub(r"\1", value[1:-1]) if "\\" in value else value[1:-1]
    return value.strip('"')


def _join_pieces(parts: list[tuple[int, bool, str]]) -> str:
    """The pieces of a parameter in order; those with percents are decoded together, in the charset of the first."""
    named, data = "", b""
    for number, (_, encoded, value) in enumerate(sorted(parts, key=lambda part: part[0])):
        if encoded and number == 0 and value.count("'") >= 2:
            named, _, value = value.split("'", 2)
        data += unquote_to_bytes(value) if encoded else value.encode("utf-8", "replace")
    text = charset.text(data, named)
    return _words(text) if "=?" in text else text


def _addresses(text: str) -> Iterator[Address]:
    if (plain := _PLAIN_ADDRESS.fullmatch(text)) and (plain[1] is None or text.rstrip().endswith(">")):
        yield Address(_name(plain[1] or ""), normalise(plain[2]))
        return
    mailbox = _Mailbox()
    for piece in _ADDRESS_TOKEN.findall(text):
        yield from mailbox.take(piece)
    yield from mailbox.end()


@dataclass
class _Mailbox:
    """The pieces of an address that have been read."""

    words: list[str] = field(default_factory=list)
    angle: str | None = None
    """what stands in angle brackets"""
    comment: str = ""
    before: int = 0
    """number of words before the angle brackets"""

    def take(self, piece: str) -> Iterator[Address]:
        """Reads a piece; yields the address that it ends."""
        if piece in ",;":
            yield from self.end()
        elif piece == ":" and self._may_be_group():
            self.words = []
        elif piece[0] == "<" and len(piece) > 1:
            yield from self._take_angle(piece[1:-1])
        elif piece[0] == "(" and len(piece) > 1:
            self.comment = piece[1:-1]
        else:
            self.words.append(" " if piece == "<" else piece)  # a bracket that is never closed

    def end(self) -> Iterator[Address]:
        """The address; the next one begins empty."""
        yield from _address(self.words, self.angle, self.comment)
        self.words, self.angle, self.comment = [], None, ""

    def _may_be_group(self) -> bool:
        """Whether the words so far may be the name of a group."""
        return self.angle is None and not any("@" in word for word in self.words)

    def _take_angle(self, angle: str) -> Iterator[Address]:
        if self.angle is not None:  # a comma is missing
            yield from _address(self.words[: self.before], self.angle, self.comment)
            self.words, self.comment = self.words[self.before :], ""
        self.angle, self.before = angle, len(self.words)


def _address(words: list[str], angle: str | None, comment: str) -> Iterator[Address]:
    phrase = " ".join("".join(_unquote(word) if word[0] == '"' else word for word in words).split())
    if angle is None and "@" in phrase and " " not in phrase:
        name, address = comment, phrase
    elif angle is None and (match := _BARE_ADDRESS.search(phrase)):
        name, address = phrase.replace(match[0], " "), match[0]
    else:
        name, address = phrase or comment, angle or ""
    parsed = Address(_name(name), normalise(address))
    if parsed.name or parsed.address:
        yield parsed


def _name(name: str) -> str:
    plain = (_words(name) if "=?" in name else name).translate(_NOT_IN_NAMES)
    return " ".join(plain.split()).strip("\"'")


def normalise(address: str) -> str:
    """An address in lower case, without quotes, spaces or a route before it."""
    address = _words(address) if "=?" in address else address
    address = _COMMENT.sub("", address) if "(" in address else address
    address = "".join(address.translate(_DIRECTION).split()).strip("\"'<>").rpartition(":")[2].lower()
    address = address.strip("[]") if address.startswith("[") else address
    return "" if address.startswith("@") else address


def _moment(text: str) -> datetime | None:
    if turned := _ASCTIME.match(text):
        month, day, time, zone, year = turned.groups("")
        text = f"{day} {month} {year} {time} {zone}"
    if match := _DATE.match(text):
        return _standard_moment(text, match)
    if _ISO.match(text):
        try:
            return datetime.fromisoformat(text.strip())
        except ValueError:
            return localised_dates.parse(text)
    parsed = parsedate_tz(text)
    if parsed is None or parsed[0] < 1970:
        return localised_dates.parse(text)
    moment = datetime(*parsed[:6])  # noqa: DTZ001
    if not _ZONE.search(text):  # which the library takes for UTC
        return moment
    return moment.replace(tzinfo=UTC if parsed[9] is None else timezone(timedelta(seconds=parsed[9])))


def _standard_moment(text: str, match: re.Match[str]) -> datetime | None:
    """The time in a text that has the form of RFC 5322, if its month is known."""
    day, month, year, hour, minute, second, half, zone = match.groups()
    number = _MONTHS.get(month[:3].lower())
    localised = None if _is_standard_month(month) else localised_dates.parse(text)
    if localised or number is None:
        return localised
    moment = datetime(_full_year(year), number, int(day), _hour(hour, half), int(minute), min(int(second or 0), 59))  # noqa: DTZ001
    return moment.replace(tzinfo=_offset(zone)) if zone else moment


def _full_year(year: str) -> int:
    """A year with its century, by RFC 5322: three digits count from 1900, two are in 1950 to 2049."""
    if len(year) == 4:
        return int(year)
    return int(year) + (1900 if len(year) == 3 or int(year) > 49 else 2000)


def _is_standard_month(month: str) -> bool:
    """Whether it is the name of a month in RFC 5322, or its beginning."""
    return any(name.startswith(month.lower()) for name in _MONTH_NAMES)


def _hour(hour: str, half: str | None) -> int:
    if half is None or int(hour) > 12:
        return int(hour)
    return int(hour) % 12 + 12 * (half.lower() == "pm")


def _offset(zone: str) -> timezone:
    if numbered := _NUMBERED_ZONE.fullmatch(zone):
        minutes = int(numbered[2]) * 60 + int(numbered[3] or 0)
        return timezone(timedelta(minutes=-minutes if numbered[1] == "-" else minutes))
    return timezone(timedelta(minutes=_ZONES.get(zone.lower(), 0)))
