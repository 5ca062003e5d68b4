"""All attachments of a mail or a thread as one zip, for the owner; who has it is noted first."""

from __future__ import annotations

import io
import itertools
import unicodedata
import zipfile
from collections import deque
from collections.abc import Iterator, Mapping

from relrag_pipelines.files.regular_files import read_plain
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
MAX_BYTES = 500_000_000
_MAX_RECORDS = 1_000
"""records of a thread, and attachments of it or of a record, that are looked at"""


def pack(service: Service, ref: str, who: str) -> bytes:
    """The attachments of a record, or of all records of a `thread:`, as a zip; those of attached mails too.

    Raises NoOriginal if there are none or they are too large, and lock.LockedByOther.
    """
    left_out: list[str] = []
    with service.reading() as archive:
        refs = _attached(archive, _roots(archive, ref, left_out), left_out)
        files = _read(archive.settings, list(filter(None, map(archive.record, refs))), left_out)
    if not files:
        raise NoOriginal("nothing is attached that can be opened")
    reveal.note(service.settings, who, WHY, refs, WAIT_SECONDS)
    return _zip(files, left_out)


def _roots(archive: Archive, ref: str, left_out: list[str]) -> list[str]:
    """The record, or the records of the thread, the newest first."""
    if not ref.startswith("thread:"):
        return [ref]
    members = archive.thread(ref.removeprefix("thread:"), _MAX_RECORDS + 1)
    if len(members) > _MAX_RECORDS:
        left_out.append(f"what is attached to all but the newest {_MAX_RECORDS:,} records of the thread")
    return [member.asset_ref for member in members[:_MAX_RECORDS]]


def _attached(archive: Archive, roots: list[str], left_out: list[str]) -> list[str]:
    """The ids of the attachments, and of what is attached to these."""
    waiting, refs = deque(roots), dict[str, None]()
    while waiting and len(refs) <= _MAX_RECORDS:
        neighbors = archive.neighbors(waiting.popleft(), ["attachment_of"], "in", _MAX_RECORDS + 1)
        nearest = [neighbor.asset_ref for neighbor in neighbors if neighbor.asset_ref not in refs]
        waiting.extend(nearest)
        refs |= dict.fromkeys(nearest)
    if len(refs) > _MAX_RECORDS:
        left_out.append(f"all but the first {_MAX_RECORDS:,} attachments; open the others from their records")
    return list(refs)[:_MAX_RECORDS]


def _read(settings: Settings, records: list[Record], left_out: list[str]) -> dict[str, bytes]:
    """The files by names that differ on every file system."""
    files: dict[str, bytes] = {}
    taken, size = {_comparable(LEFT_OUT)}, 0
    for record, original in _originals(settings, records):
        data = original if isinstance(original, str) else _content(original, MAX_BYTES - size)
        if isinstance(original, str) or isinstance(data, str):
            named = record.file_name or record.subject or record.asset_id
            left_out.append(f"{' '.join(named.split())}: {data!s}")
            continue
        size += len(data)
        if size > MAX_BYTES:
            raise NoOriginal(f"the attachments have more than {MAX_BYTES:,} bytes; open them one by one")
        files[_free_name(original.name, taken)] = data
    return files


def _originals(settings: Settings, records: list[Record]) -> Iterator[tuple[Record, OriginalFile | str]]:
    """Each record with its original, or with why it cannot be opened; found when it is asked for."""
    yield from original_file.locate_attachments(settings, filter(original_file.is_mail_attachment, records))
    for record in itertools.filterfalse(original_file.is_mail_attachment, records):
        try:
            yield record, original_file.locate(settings, record)
        except NoOriginal as error:
            yield record, str(error)


def _content(original: OriginalFile, most: int) -> bytes | str:
    """The bytes of an original, of too large a file one more than `most`; or that it cannot be read."""
    try:
        return read_plain(original.path, most + 1) if original.content is None else original.content
    except OSError:
        return "the original cannot be read"


def _free_name(name: str, taken: set[str]) -> str:
    """The name, with a number before it if it is taken; it is taken from now on."""
    names = itertools.chain([name], (f"{number} {name}" for number in itertools.count(2)))
    free = next(free for free in names if _comparable(free) not in taken)
    taken.add(_comparable(free))
    return free


def _comparable(name: str) -> str:
    """Equal for names that some file systems take for the same."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", name).casefold())


def _zip(files: Mapping[str, bytes], left_out: list[str]) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_STORED) as packed:
        for name, data in files.items():
            packed.writestr(name, data)
        if left_out:
            packed.writestr(LEFT_OUT, "\n".join(left_out) + "\n")
    return stream.getvalue()
