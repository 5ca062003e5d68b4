"""All attachments of a mail or a thread as one zip, for the owner; who has it is noted first."""

from __future__ import annotations

import io
import itertools
import time
import unicodedata
import zipfile
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import IO, BinaryIO, cast

from relrag_pipelines.files.regular_files import RefusedFile, open_plain
from relrag_pipelines.records import Record
from relrag_pipelines.settings import Settings
from relrag_query.archive import Archive
from relrag_query.owner.switch import WAIT_SECONDS
from relrag_query.service import Service, original_file, reveal
from relrag_query.service.original_file import NoOriginal, OriginalFile

WHY = "opened the attachments"
NAME = "attachments.zip"
LEFT_OUT = "LEFT OUT.txt"
"""the file in the zip that names what it does not hold, and why"""
_PIECE_BYTES = 2**20
_MAX_RECORDS = 1_000
"""records of a thread, and attachments of it or of a record, that are looked at"""
_LeftOut = list[tuple[str, NoOriginal]]
"""what a zip does not hold: how a line about it begins, and why"""


def pack(service: Service, ref: str, who: str, describe: Callable[[NoOriginal], str] = str) -> Iterator[bytes]:
    """The attachments of a record, or of all records of a `thread:`, as pieces of a zip; those of attached mails too.

    `describe` words why the zip does not hold a file.
    No more than one mail is held in memory. Raises NoOriginal at once if there are none, and between two pieces where
    a file cannot be read to its end; and lock.LockedByOther.
    """
    left_out: _LeftOut = []
    with service.reading() as archive:
        refs = _attached(archive, _roots(archive, ref, left_out), left_out)
        files = _opened(archive.settings, list(filter(None, map(archive.record, refs))), left_out)
    first = next(files, None)
    if first is None:
        raise NoOriginal("nothing is attached that can be opened", code="no_attachments")
    reveal.note(service.settings, who, WHY, refs, WAIT_SECONDS)
    return _zip(itertools.chain([first], files), left_out, describe)


def _roots(archive: Archive, ref: str, left_out: _LeftOut) -> list[str]:
    """The record, or the records of the thread, the newest first."""
    if not ref.startswith("thread:"):
        return [ref]
    members = archive.thread(ref.removeprefix("thread:"), _MAX_RECORDS + 1)
    if len(members) > _MAX_RECORDS:
        message = f"what is attached to all but the newest {_MAX_RECORDS:,} records of the thread"
        left_out.append(("", NoOriginal(message, code="thread_cut", most=_MAX_RECORDS)))
    return [member.asset_ref for member in members[:_MAX_RECORDS]]


def _attached(archive: Archive, roots: list[str], left_out: _LeftOut) -> list[str]:
    """The ids of the attachments, and of what is attached to these."""
    waiting, refs = deque(roots), dict[str, None]()
    while waiting and len(refs) <= _MAX_RECORDS:
        neighbors = archive.neighbors(waiting.popleft(), ["attachment_of"], "in", _MAX_RECORDS + 1)
        nearest = [neighbor.asset_ref for neighbor in neighbors if neighbor.asset_ref not in refs]
        waiting.extend(nearest)
        refs |= dict.fromkeys(nearest)
    if len(refs) > _MAX_RECORDS:
        message = f"all but the first {_MAX_RECORDS:,} attachments; open the others from their records"
        left_out.append(("", NoOriginal(message, code="attachments_cut", most=_MAX_RECORDS)))
    return list(refs)[:_MAX_RECORDS]


def _opened(settings: Settings, records: list[Record], left_out: _LeftOut) -> Iterator[tuple[str, BinaryIO]]:
    """Each file, opened when it is asked for, by names that differ on every file system."""
    taken = {_comparable(LEFT_OUT)}
    for record, original in _originals(settings, records):
        opened = original if isinstance(original, NoOriginal) else _open(original)
        if isinstance(opened, NoOriginal):
            named = record.file_name or record.subject or record.asset_id
            left_out.append((f"{' '.join(named.split())}: ", opened))
        elif isinstance(original, OriginalFile):
            yield _free_name(original.name, taken), opened


def _originals(settings: Settings, records: list[Record]) -> Iterator[tuple[Record, OriginalFile | NoOriginal]]:
    """Each record with its original, or with why it cannot be opened; found when it is asked for."""
    yield from original_file.locate_attachments(settings, filter(original_file.is_mail_attachment, records))
    for record in itertools.filterfalse(original_file.is_mail_attachment, records):
        try:
            yield record, original_file.locate(settings, record)
        except NoOriginal as error:
            yield record, error


def _open(original: OriginalFile) -> BinaryIO | NoOriginal:
    """An original, opened; or that it cannot be read."""
    try:
        return open_plain(original.path) if original.content is None else io.BytesIO(original.content)
    except (OSError, RefusedFile):
        return NoOriginal("the original cannot be read", code="original_cut")


def _free_name(name: str, taken: set[str]) -> str:
    """The name, with a number before it if it is taken; it is taken from now on."""
    names = itertools.chain([name], (f"{number} {name}" for number in itertools.count(2)))
    free = next(free for free in names if _comparable(free) not in taken)
    taken.add(_comparable(free))
    return free


def _comparable(name: str) -> str:
    """Equal for names that some file systems take for the same."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", name).casefold())


class _Pieces:
    """A stream that is written to and emptied: what a zip is written to that nobody stores."""

    def __init__(self) -> None:
        self._written: list[bytes] = []

    def write(self, data: bytes) -> int:
        """Takes a piece."""
        self._written.append(bytes(data))
        return len(data)

    def flush(self) -> None:
        """Does nothing: `take` empties it."""

    def take(self) -> bytes:
        """What was written since the last time."""
        data = b"".join(self._written)
        self._written.clear()
        return data


def _zip(
    files: Iterable[tuple[str, BinaryIO]], left_out: _LeftOut, describe: Callable[[NoOriginal], str]
) -> Iterator[bytes]:
    """A zip of these files, piece by piece; `left_out` is complete when the last of them has been read.

    Raises NoOriginal where one cannot be read to its end.
    """
    pieces = _Pieces()
    with zipfile.ZipFile(cast(IO[bytes], pieces), "w", zipfile.ZIP_STORED) as packed:
        for name, opened in files:
            with opened, packed.open(_member(name, opened), "w") as member:
                while data := _read_piece(opened):
                    member.write(data)
                    yield pieces.take()
        if left_out:
            lines = [f"{name}{describe(reason)}\n" for name, reason in left_out]
            packed.writestr(LEFT_OUT, "".join(lines))
    yield pieces.take()


def _read_piece(opened: BinaryIO) -> bytes:
    """The next piece; empty at the end. Raises NoOriginal, which a reader of pieces knows from faults of writing."""
    try:
        return opened.read(_PIECE_BYTES)
    except OSError as error:
        # the log of a server may hold the message, so no file is named
        raise NoOriginal(f"an original cannot be read to its end: {error.strerror}", code="original_cut") from None


def _member(name: str, opened: BinaryIO) -> zipfile.ZipInfo:
    """A file of a zip, with its size, which says whether its length takes more than 32 bits."""
    member = zipfile.ZipInfo(name, time.localtime()[:6])
    member.file_size = opened.seek(0, io.SEEK_END)
    opened.seek(0)
    return member
