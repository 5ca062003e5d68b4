"""Compound files, the container of .msg: storages and streams within one file.

The format is MS-CFB. olefile, the library for it, walks the directory recursively, compares each stream with all
before it and finds names one by one: minutes for a hostile file of 10 MB. Here every sector and every entry of the
directory is looked at once.
"""

from __future__ import annotations

import struct
from array import array
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import groupby

SIGNATURE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"

_HEADER = struct.Struct("<8s16xHHHHH6xLLLLLLLLL")
_FAT_IN_HEADER = struct.Struct("<109L")
_ENTRY = struct.Struct("<64sHBxLLL36xLQ")
_ENTRY_SIZE, _MINI_SHIFT = 128, 6
_LAST_SECTOR = 0xFFFFFFFA
"""higher numbers mark the end of a chain, and sectors of the table itself"""
_STORAGE, _STREAM, _ROOT = 1, 2, 5


class CompoundError(Exception):
    """The bytes are not a compound file, or are damaged; the message says what was found."""


@dataclass(frozen=True)
class Stream:
    """Where a stream lies."""

    start: int
    size: int
    """bytes"""


@dataclass
class Storage:
    """The contents of a storage, by name."""

    streams: dict[str, Stream] = field(default_factory=dict)
    storages: dict[str, Storage] = field(default_factory=dict)


class Compound:
    """An open compound file. Raises CompoundError where its tables cannot be read."""

    def __init__(self, data: bytes) -> None:
        if not data.startswith(SIGNATURE):
            raise CompoundError("it does not begin as compound files do")
        if len(data) < 512:
            raise CompoundError("it ends within its header")
        _, _, major, order, shift, mini = _HEADER.unpack_from(data)[:6]
        if order != 0xFFFE or (major, shift) not in ((3, 9), (4, 12)) or mini != _MINI_SHIFT:
            raise CompoundError(f"its header names version {major} with sectors of 2^{shift % 64} bytes")
        self._data, self._shift, self._version = data, shift, major
        self._sectors = (len(data) - 1) >> shift
        """how many there are behind the header, the last perhaps not whole"""
        self._unread = len(data)
        _, directory, _, self._cutoff, minifat, _, difat, _ = _HEADER.unpack_from(data)[7:]
        self._fat = self._table(difat)
        entries = self._bytes(directory, None)
        self._minifat = _numbers(self._bytes(minifat, None))
        self.root, root = self._tree(entries)
        self._mini = self._bytes(root.start, root.size) if root.size else b""

    def read(self, stream: Stream) -> bytes:
        """The bytes of a stream. Raises CompoundError where some are missing.

        Streams do not overlap, so one file does not give more than its own size.
        """
        self._unread -= stream.size
        if self._unread < 0:
            raise CompoundError("its streams are larger than the file")
        if stream.size >= self._cutoff:
            return self._bytes(stream.start, stream.size)
        sector_count = (stream.size + (1 << _MINI_SHIFT) - 1) >> _MINI_SHIFT
        chain = _chain(self._minifat, stream.start, sector_count)
        content = b"".join(self._mini[sector << _MINI_SHIFT : (sector + 1) << _MINI_SHIFT] for sector in chain)[
            : stream.size
        ]
        if len(content) < stream.size:
            raise CompoundError("it ends before all that it announces")
        return content

    def _table(self, difat: int) -> array[int]:
        """The file allocation table: for each sector the one that follows it."""
        numbers = list(_FAT_IN_HEADER.unpack_from(self._data, _HEADER.size))
        each = (1 << self._shift) // 4
        seen = 0
        while difat < self._sectors and seen < self._sectors:
            *more, difat = _numbers(self._sector(difat).ljust(4 * each, b"\xff"))
            numbers += more
            seen += each
        table = array("I")
        for number in numbers:
            if number < self._sectors and len(table) < self._sectors:
                table.extend(_numbers(self._sector(number)))
        return table

    def _sector(self, number: int) -> bytes:
        start = (number + 1) << self._shift
        return self._data[start : start + (1 << self._shift)]

    def _bytes(self, start: int, size: int | None) -> bytes:
        """The bytes of a chain of sectors; without a size, all of it."""
        sector_count = self._sectors if size is None else (size + (1 << self._shift) - 1) >> self._shift
        chain = _chain(self._fat, start, min(sector_count, self._sectors))
        pieces = []
        for _, run in groupby(enumerate(chain), key=lambda pair: pair[1] - pair[0]):
            numbers = [number for _, number in run]
            pieces.append(self._data[(numbers[0] + 1) << self._shift : (numbers[-1] + 2) << self._shift])
        content = b"".join(pieces)
        if size is not None and len(content) < size:
            raise CompoundError("it ends before all that it announces")
        return content[:size]

    def _tree(self, directory: bytes) -> tuple[Storage, Stream]:
        """The root storage, and the stream in which the small ones lie."""
        count = len(directory) // _ENTRY_SIZE
        if not count:
            raise CompoundError("it has no directory")
        *_, first, start, size = _ENTRY.unpack_from(directory)
        root = Storage()
        waiting = [(first, root)]
        seen = bytearray(count)
        while waiting:
            number, inside = waiting.pop()
            if number >= count or seen[number]:
                continue
            seen[number] = 1
            raw, length, kind, left, right, child, begins, bytes_ = _ENTRY.unpack_from(directory, number * _ENTRY_SIZE)
            waiting += [(left, inside), (right, inside)]
            name = raw[: max(0, min(length, 64) - 2)].decode("utf-16-le", "replace")
            if kind == _STORAGE:
                waiting.append((child, inside.storages.setdefault(name, Storage())))
            elif kind == _STREAM:
                inside.streams.setdefault(name, Stream(begins, self._size(bytes_)))
        return root, Stream(start, self._size(size))

    def _size(self, size: int) -> int:
        # in version 3 the upper half may hold anything
        return size & 0xFFFFFFFF if self._version == 3 else size


def _chain(table: array[int], number: int, most: int) -> Iterator[int]:
    """The sectors of a chain, `most` of them; one that runs in a circle ends there as well."""
    while number < len(table) and most > 0:
        yield number
        number = table[number]
        most -= 1


def _numbers(data: bytes) -> array[int]:
    numbers = array("I")
    numbers.frombytes(data[: len(data) // 4 * 4])
    return numbers
