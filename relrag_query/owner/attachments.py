"""All attachments of a mail or a thread as one zip, for the owner; who has it is noted first."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterator, Mapping

from relrag_pipelines.files.regular_files import read_plain
from relrag_query.archive import Archive
from relrag_query.owner.switch import WAIT_SECONDS
from relrag_query.service import Service, original_file, reveal
from relrag_query.service.original_file import NoOriginal

WHY = "opened the attachments"
NAME = "attachments.zip"
LEFT_OUT = "LEFT OUT.txt"
"""the file in the zip that names what it does not hold, and why"""
MAX_BYTES = 500_000_000
_MAX_RECORDS = 1_000
"""records of a thread, and attachments of a record, that are looked at"""


def pack(service: Service, ref: str, who: str) -> bytes:
    """The attachments of a record, or of all records of a `thread:`, as a zip.

    Raises NoOriginal if there are none or they are too large, and lock.LockedByOther.
    """
    with service.reading() as archive:
        refs = list(dict.fromkeys(_attached(archive, ref)))
        files, left_out = _read(archive, refs)
    if not files:
        raise NoOriginal("nothing is attached that can be opened")
    reveal.note(service.settings, who, WHY, refs, WAIT_SECONDS)
    return _zip(files, left_out)


def _attached(archive: Archive, ref: str) -> Iterator[str]:
    """The ids of the attachments."""
    refs = [ref]
    if ref.startswith("thread:"):
        refs = [member.asset_ref for member in archive.thread(ref.removeprefix("thread:"), _MAX_RECORDS)]
    for record in refs:
        for neighbor in archive.neighbors(record, ["attachment_of"], "in", _MAX_RECORDS):
            yield neighbor.asset_ref


def _read(archive: Archive, refs: list[str]) -> tuple[dict[str, bytes], list[str]]:
    """The files by names that differ; and a line for each that cannot be read."""
    files: dict[str, bytes] = {}
    left_out: list[str] = []
    for record in filter(None, map(archive.record, refs)):
        try:
            original = original_file.locate(archive.settings, record)
        except NoOriginal as error:
            left_out.append(f"{record.file_name or record.asset_id}: {error}")
            continue
        data = original.content
        if data is None:
            data = read_plain(original.path, archive.settings.unit_max_bytes)
        files[_free_name(original.name, files)] = data
        if sum(map(len, files.values())) > MAX_BYTES:
            raise NoOriginal(f"the attachments have more than {MAX_BYTES:,} bytes; open them one by one")
    return files, left_out


def _free_name(name: str, files: Mapping[str, bytes]) -> str:
    """The name, with a number before it if it is taken."""
    names = (name, *(f"{number} {name}" for number in range(2, len(files) + 3)))
    return next(free for free in names if free not in files)


def _zip(files: Mapping[str, bytes], left_out: list[str]) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_STORED) as packed:
        for name, data in files.items():
            packed.writestr(name, data)
        if left_out:
            packed.writestr(LEFT_OUT, "\n".join(left_out) + "\n")
    return stream.getvalue()
