"""The lines of a calendar: unfolded, and each split into name, parameters and value."""

from __future__ import annotations

import itertools
import quopri
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from icalendar.parser import Contentline
from icalendar.parser.property import unescape_backslash

from relrag_pipelines.sources.formats.text_cleaning import clean

_FOLD = re.compile(r"(?<!\n)\n+[ \t]")
_MAX_COLONS = 20
"""colons of a line that are tried as the one before its value"""
_NAME = re.compile(r"[ \t]*([A-Za-z0-9-]+)[ \t]*(?=[;:])")
_PARAMETER = re.compile(r';[ \t]*([A-Za-z0-9-]+)[ \t]*=[ \t]*("[^;:]*"|[^;]*)')
_PLAIN = re.compile(r"([A-Za-z0-9-]+)((?:;[A-Za-z0-9-]+=[^\"';:,\\^\x00-\x1f]*)*):([^\x00-\x08\x0a-\x1f]*)")
_ENCODED = re.compile(r"^[A-Za-z0-9-]+;[^:\n]*QUOTED-PRINTABLE[^:\n]*:", re.IGNORECASE)


@dataclass(frozen=True)
class Property:
    """One property of a component: `DTSTART;TZID=Europe/Prague:20250707T100000`."""

    name: str
    """in capitals"""
    parameters: dict[str, str]
    """names in capitals; list values joined by commas, without enclosing quotation marks"""
    value: str
    """decoded, with its escape sequences"""

    @property
    def text(self) -> str:
        """The value as a person reads it."""
        value = unescape_backslash(self.value) if "\\" in self.value else self.value
        return value if value.isascii() and value.isprintable() else clean(value)


def unfold(text: str) -> Iterator[str]:
    """Logical lines of a text with \\n line ends: folded lines are joined, empty ones left out."""
    pending: list[str] = []
    for line in _FOLD.sub("", text).split("\n"):
        if not pending and line and line[-1] != "=" and not line.isspace():
            yield line
            continue
        if line.endswith("=") and (pending or _ENCODED.match(line)):
            pending.append(line[:-1])  # the soft line break of vCalendar 1.0
            continue
        joined = "".join([*pending, line])
        pending = []
        if joined.strip():
            yield joined
    if pending:
        yield "".join(pending)


def read_property(line: str, fits: Callable[[str], bool] | None = None) -> Property | None:
    """The property on a line; None if there is none.

    A parameter may contain unquoted colons (`TZID=tzone://Microsoft/Utc`), so the value begins after the first colon
    whose rest passes the test `fits`; if none passes, where the format's rules say.
    """
    strict = _read_plainly(line) or _read_strictly(line)
    if strict and (fits is None or fits(strict.value)):
        return strict
    return _read_leniently(line, fits) or strict


def _read_plainly(line: str) -> Property | None:
    """A line without quotation marks, escapes or lists among its parameters, as nearly all are."""
    match = _PLAIN.fullmatch(line)
    if match is None:
        return None
    if not match[2]:
        return Property(match[1].upper(), {}, match[3])
    pairs = (part.partition("=") for part in match[2][1:].split(";"))
    parameters = {key.upper(): value.strip() for key, _, value in pairs}
    return Property(match[1].upper(), parameters, _decode(match[3], parameters))


def _read_strictly(line: str) -> Property | None:
    try:
        name, parameters, value = Contentline(line).raw_parts()  # type: ignore[no-untyped-call]
    except ValueError:
        return None
    joined = {key.upper(): _join(values) for key, values in parameters.items()}
    return Property(name.upper(), joined, _decode(value, joined))


def _read_leniently(line: str, fits: Callable[[str], bool] | None) -> Property | None:
    """A line whose parameters contain colons or quotation marks that the format forbids."""
    match = _NAME.match(line)
    if not match:
        return None
    for colon in itertools.islice((match_.start() for match_ in re.finditer(":", line)), _MAX_COLONS):
        value = line[colon + 1 :]
        if fits is None or fits(value):
            pairs = _PARAMETER.findall(line[match.end() : colon])
            parameters = {key.upper(): _strip_quotes(quoted) for key, quoted in pairs}
            return Property(match[1].upper(), parameters, _decode(value, parameters))
    return None


def _join(values: str | list[str]) -> str:
    """The text of a parameter; icalendar returns a value with an unquoted comma as a list."""
    return _strip_quotes(values if isinstance(values, str) else ", ".join(part.strip() for part in values))


def _strip_quotes(text: str) -> str:
    text = text.strip()
    if len(text) > 1 and text[0] == text[-1] and text[0] in "\"'":
        return text[1:-1].strip()
    return text


def _decode(value: str, parameters: dict[str, str]) -> str:
    """The decoded value: vCalendar 1.0 may write it as quoted-printable, in a charset that it names."""
    if parameters.get("ENCODING", "").upper() != "QUOTED-PRINTABLE":
        return value
    data = quopri.decodestring(value.encode("utf-8"))
    try:
        return data.decode(parameters.get("CHARSET") or "utf-8", "replace")
    except LookupError:
        return data.decode("utf-8", "replace")
