"""JSON of any size, read as a stream: values with their path, and the items of long arrays in batches.

An export of chats is a few fields around arrays of messages. Everything but arrays is walked token by token; an array
is cut into pieces of whole items, which orjson parses at once: item by item, or event by event as ijson reads it, a
message takes several times as long. Memory is bounded by BLOCK and LONGEST, whatever the size of the file.

A piece is only used if it parses: a list of whole values between brackets is JSON, and nothing else is. What does not
parse is tried item by item, with the faults that exports are known for repaired; what remains is reported and left out.
JSON is as in RFC 8259.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, BinaryIO

import orjson

BLOCK = 2**18
"""bytes that are read at once"""
LONGEST = 2**23
"""bytes of one item, above which it is left out"""
_NAMED_DEPTH = 32
"""levels of objects outside of the items whose values have a path; no export has deeper ones, which are skipped"""
_DEPTH = 8
"""levels of an item that one pattern covers"""

_STRING = rb'"(?:[^"\\]++|\\.)*+"'
_INSIDE = rb'(?:[^"{}\[\]]++|%s)*+' % _STRING
for _ in range(_DEPTH):
    _INSIDE = rb'(?:[^"{}\[\]]++|%s|[{\[]%s[}\]])*+' % (_STRING, _INSIDE)
_VALUE = rb'(?:[{\[]%s[}\]]|%s|[^\s,:"{}\[\]]++)' % (_INSIDE, _STRING)
_ITEM = re.compile(rb"[\s,]*+(%s)(?=\s*+[,\]}])" % _VALUE, re.DOTALL)
_ITEMS = re.compile(rb"(?:[\s,]*+%s(?=\s*+[,\]}]))*+" % _VALUE, re.DOTALL)
_TOKEN = re.compile(rb'[\s,]*+(?:([{}\[\]:])|(%s)|([^\s,:"{}\[\]]++)(?=[\s,\]}]))' % _STRING, re.DOTALL)
_BRACKETS = re.compile(rb"%s|[{}\[\]]" % _STRING, re.DOTALL)
_BRACKETS_SO_FAR = re.compile(rb'"(?:[^"\\]++|\\.)*+(?:"|\\?\Z)|[{}\[\]]', re.DOTALL)
"""the same of data that may end within a string"""
_SEPARATOR = re.compile(rb'[}\]"](?P<gap>\s*+,\s*+)\{\s*+%s' % _STRING, re.DOTALL)
_SPACE = re.compile(rb"[\s,]*+")
_BAD_ESCAPE = re.compile(rb"\\(?:x([0-9a-fA-F]{2})|([^\"\\/bfnrtu]))")
_NO_JSON = "an item is no JSON; it is left out, export it again"
_BOM = b"\xef\xbb\xbf"

Path = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Value:
    """A string, number, true, false or null outside of the arrays that are read in batches."""

    path: Path
    value: Any


@dataclass(frozen=True, slots=True)
class Begin:
    """An object begins in an array whose items are walked."""

    path: Path


@dataclass(frozen=True, slots=True)
class Items:
    """Items in a row of an array."""

    path: Path
    first: int
    """position of the first in its array, from 1"""
    items: list[Any]


@dataclass(frozen=True, slots=True)
class Damage:
    """What is no JSON."""

    path: Path
    position: int
    """position of the item in its array, from 1; 0 outside of the arrays"""
    fault: str
    message: str
    fatal: bool = False
    """nothing behind it can be read"""


Event = Value | Begin | Items | Damage


class _Location:
    """Where in the file the walk is."""

    def __init__(self) -> None:
        self.containers: list[tuple[bool, str]] = []
        """of each open container whether it is an object, and its name"""
        self.name, self._has_name = "", False

    def path(self) -> Path:
        """The names of the open containers and of the value."""
        return tuple(part for part in (*(name for _, name in self.containers), self.name) if part)

    def is_in_array(self) -> bool:
        """Whether the innermost container is an array."""
        return bool(self.containers) and not self.containers[-1][0]

    def takes_name(self, token: bytes) -> bool:
        """Whether a token is the name of a value; it is noted then."""
        is_in_object = bool(self.containers) and self.containers[-1][0]
        if not is_in_object or self._has_name or token in b"{}[]":
            return False
        self.name, self._has_name = str(_scalar(token)), True
        return True

    def forget_name(self) -> None:
        """Goes on behind a value, or a bracket."""
        self.name, self._has_name = "", False


class JsonStream:
    """Reads one file; `walked` are the names of arrays whose items are walked, and not read in batches.

    An item of more than `longest` bytes is left out.
    """

    def __init__(self, stream: BinaryIO, walked: frozenset[str] = frozenset(), longest: int = LONGEST) -> None:
        self._stream, self._walked, self._longest = stream, walked, longest
        self._data, self._position, self._is_at_end = b"", 0, False
        self._layouts: dict[Path, _Layout] = {}

    def events(self) -> Iterator[Event]:
        """All of the file, in its order; ends at what cannot be read, with a Damage that says so."""
        location = _Location()
        self._read_block()
        self._position = len(_BOM) if self._data.startswith(_BOM) else 0
        while (token := self._token()) is not None:
            if token == b":" or location.takes_name(token):
                continue
            if token in b"}]" and not location.containers:
                break
            yield from self._value(location, token)
            location.forget_name()
            if not location.containers:
                return
        yield Damage((), 0, "truncated", "the file is no JSON, or ends before it should; export it again", fatal=True)

    def _value(self, location: _Location, token: bytes) -> Iterator[Event]:
        """The events of a value or of a bracket."""
        is_near = len(location.containers) <= _NAMED_DEPTH
        path = location.path() if is_near else ()
        if token == b"[" and location.name not in self._walked:
            events = self._batches(path)
            yield from events if is_near else (event for event in events if _is_fatal(event))
        elif token in b"{[":
            if is_near and token == b"{" and location.is_in_array():
                yield Begin(path)
            location.containers.append((token == b"{", location.name))
        elif token in b"}]":
            location.containers.pop()
        elif is_near:
            yield Value(path, _scalar(token))

    def _read_block(self) -> bool:
        """Appends a block to the data that are not used yet; False at the end of the file.

        It is as long as these data, so that a long item is not searched for its end once more for each block.
        """
        size = max(BLOCK, min(len(self._data) - self._position, self._longest))
        block = b"" if self._is_at_end else self._stream.read(size)
        self._is_at_end = not block
        self._data = self._data[self._position :] + block
        self._position = 0
        return bool(block)

    def _token(self) -> bytes | None:
        """The next bracket, colon, string or other value; None at the end, and where a string does not end."""
        while (match := _TOKEN.match(self._data, self._position)) is None or match.end() == len(self._data):
            if len(self._data) - self._position > LONGEST or not self._read_block():
                break
        if match is None:
            match = _TOKEN.match(self._data, self._position)
        if match is None:
            return None
        self._position = match.end()
        return match[1] or match[2] or match[3]

    def _batches(self, path: Path) -> Iterator[Items | Damage]:
        """The items of an array whose bracket has been read, to its end."""
        count, layout = 0, self._layouts.setdefault(path, _Layout())
        while not self._ends_array():
            if items := self._items_by_layout(layout):
                yield Items(path, count + 1, items)
                count += len(items)
            elif events := self._next_items(path, count + 1, layout):
                for event in events:
                    count += len(event.items) if isinstance(event, Items) else 1
                    yield event
            elif len(self._data) - self._position > self._longest or not self._read_block():
                count += 1
                event = self._odd_item(path, count, layout)
                yield event
                if isinstance(event, Damage) and event.fatal:
                    return

    def _ends_array(self) -> bool:
        """Whether the closing bracket comes next; it is read then."""
        while (space := _SPACE.match(self._data, self._position)) and space.end() == len(self._data):
            if not self._read_block():
                return False
        self._position = space.end() if space else self._position
        if not self._data.startswith((b"]", b"}"), self._position):
            return False
        self._position += 1
        return True

    def _items_by_layout(self, layout: _Layout) -> list[Any]:
        """The whole items up to where the array's layout shows an end; empty where that is no end of an item."""
        if len(self._data) - self._position < BLOCK // 2:
            self._read_block()
        layout.learn(self._data, self._position)
        end = layout.guess_end(self._data, self._position)
        items = _list(self._data[self._position : end]) if end else []
        if end and not items:
            layout.distrust()
        self._position = end if items else self._position
        return items

    def _items_by_lines(self, path: Path, first: int, layout: _Layout) -> list[Items | Damage]:
        """The items of a piece of which one is damaged, cut where the layout has a line between two.

        A string of JSON holds no line end, so a quote that is missing costs the items that it joins and no more.
        """
        end = layout.guess_end(self._data, self._position) if layout.has_lines else 0
        if end <= self._position:
            return []
        pieces = layout.cut(self._data[self._position : end])
        self._position = end
        return [_parse_one(path, position, piece.strip(b", \n\r\t")) for position, piece in enumerate(pieces, first)]

    def _next_items(self, path: Path, first: int, layout: _Layout) -> list[Items | Damage]:
        """The items that are complete in the data; empty where more of the file has to be read."""
        events = self._items_by_lines(path, first, layout) or self._whole_items(path, first, layout)
        return events or self._deep_item(path, first)

    def _deep_item(self, path: Path, position: int) -> list[Items | Damage]:
        """A complete item that is deeper than the pattern goes."""
        end = _end_of_item(self._data, self._position, _BRACKETS_SO_FAR)
        if not end:
            return []
        item = self._data[self._position : end].lstrip(b", \n\r\t")
        self._position = end
        return [_parse_one(path, position, item)]

    def _whole_items(self, path: Path, first: int, layout: _Layout) -> list[Items | Damage]:
        """The complete items at the beginning of the data."""
        start = self._position
        match = _ITEMS.match(self._data, start)
        self._position = match.end() if match else start
        piece = self._data[start : self._position]
        return list(_parse(path, first, piece)) if piece else []

    def _odd_item(self, path: Path, position: int, layout: _Layout) -> Items | Damage:
        """Reads an item that is deeper than the pattern goes; goes on behind one that does not end."""
        if end := _end_of_item(self._data, self._position):
            item = _parse_one(path, position, self._data[self._position : end].lstrip(b", \n\r\t"))
            self._position = end
            return item
        following = layout.next_item(self._data, self._position + 1)
        if following:
            self._position = following
            return Damage(path, position, "not_json", _NO_JSON)
        self._position = len(self._data)
        message = "the file ends within an item, or is damaged from there on; export it again"
        return Damage(path, position, "truncated", message, fatal=True)


class _Layout:
    """How the items of an array are written, as its first ones show: it tells where to look for the end of one.

    Each program writes objects with the same first field, and with the same space between them.
    """

    def __init__(self) -> None:
        self._separator = b""
        self._closing: re.Pattern[bytes] | None = None
        self._is_trusted = True

    def learn(self, data: bytes, start: int) -> None:
        """Takes the separator of the first two items."""
        if self._separator or not (first := _ITEM.match(data, start)):
            return
        match = _SEPARATOR.match(data, first.end() - 1)
        if match is None:
            return
        self._separator = match[0]
        indent = len(match["gap"].rpartition(b"\n")[2])
        if b"\n" in match["gap"] and indent:
            self._closing = re.compile(rb"\n[ \t]{0,%d}\]" % (indent - 1))

    @property
    def has_lines(self) -> bool:
        """Whether a line ends between two items."""
        return self._closing is not None

    def cut(self, data: bytes) -> list[bytes]:
        """The pieces between separators."""
        begins = [match.start() + 1 for match in re.finditer(re.escape(self._separator), data)]
        return [data[begin:end] for begin, end in zip([0, *begins], [*begins, len(data)], strict=True)]

    def distrust(self) -> None:
        """Makes no more guesses, where the file is on one line and so shows no end of an array."""
        self._is_trusted = self._closing is not None

    def guess_end(self, data: bytes, start: int) -> int:
        """Where the last whole item of the array may end; 0 if nothing is known."""
        if not self._separator or not self._is_trusted:
            return 0
        closing = self._closing.search(data, start) if self._closing else None
        return data.rfind(self._separator, start, closing.start() if closing else len(data)) + 1

    def next_item(self, data: bytes, start: int) -> int:
        """Offset of the item after a damaged one; 0 if there is none."""
        if not self._separator:
            return 0
        separator = data.find(self._separator, start)
        return data.index(b"{", separator) if separator >= 0 else 0


def _is_fatal(event: Event) -> bool:
    return isinstance(event, Damage) and event.fatal


def _list(piece: bytes) -> list[Any]:
    """The items of a piece that holds whole ones; empty otherwise."""
    try:
        items: list[Any] = orjson.loads(b"[%s]" % piece.strip(b", \n\r\t"))
    except orjson.JSONDecodeError:
        return []
    return items


def _parse(path: Path, first: int, piece: bytes) -> Iterator[Items | Damage]:
    """The items of a piece; those before and behind a damaged one if not all of them parse."""
    if items := _list(piece):
        yield Items(path, first, items)
        return
    for position, match in enumerate(_ITEM.finditer(piece + b","), first):
        yield _parse_one(path, position, match[1])


def _parse_one(path: Path, position: int, item: bytes) -> Items | Damage:
    try:
        return Items(path, position, [parse_item(item)])
    except (ValueError, RecursionError):
        return Damage(path, position, "not_json", _NO_JSON)


def parse_item(item: bytes) -> Any:
    """One value, repaired where it has faults that exports are known for; ValueError where it is no JSON.

    Repaired are bytes that are no UTF-8, half of a surrogate pair, control characters within strings, and escapes that
    JSON does not have: Telegram writes a control character as `\\x1F`.
    """
    try:
        return orjson.loads(item)
    except orjson.JSONDecodeError:
        repaired = _BAD_ESCAPE.sub(rb"\\u00\1", item) if b"\\x" in item else item
        return json.loads(repaired.decode("utf-8", "replace"), strict=False)


def _scalar(token: bytes) -> Any:
    try:
        return parse_item(token)
    except ValueError:
        return None


def _end_of_item(data: bytes, start: int, brackets: re.Pattern[bytes] = _BRACKETS) -> int:
    """Where an item ends that is nested deeper than the pattern goes; 0 if it does not end, or is too deep."""
    depth = 0
    for match in brackets.finditer(data, start):
        depth += {b"{": 1, b"[": 1, b"}": -1, b"]": -1}.get(match[0], 0)
        if depth < 1:
            return match.end() if match.start() > start else 0
    return 0
