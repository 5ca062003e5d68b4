"""Opens the originals of records for the owner; each access is noted in private/reveals.jsonl before it is given."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from relrag_pipelines.settings import Settings
from relrag_query.owner.switch import WAIT_SECONDS
from relrag_query.service import Service, UnknownRef, original_file, reveal
from relrag_query.service.original_file import OriginalFile

OWNER = "the owner"
"""who opens it, if the settings name no owner"""
WHY = "opened the original"
SHOWN = {
    ".jpg": "image/jpeg",
    ".jpeg": "image/jpeg",
    ".png": "image/png",
    ".gif": "image/gif",
    ".webp": "image/webp",
    ".mp3": "audio/mpeg",
    ".m4a": "audio/mp4",
    ".ogg": "audio/ogg",
    ".opus": "audio/ogg",
    ".wav": "audio/wav",
    ".flac": "audio/flac",
}
"""suffix -> media type of what a browser shows and cannot run; all else is downloaded"""


@dataclass(frozen=True)
class OpenedOriginal:
    """The original of a record, and how a browser may show it."""

    file: Path
    media_type: str
    """empty if it may only be downloaded"""
    name: str
    content: bytes | None = None
    """of an attachment; None if the file is the original"""


def find(service: Service, ref: str) -> OpenedOriginal:
    """The original of a record, without a note. Raises UnknownRef and NoOriginal."""
    original = _locate(service, ref)
    media_type = SHOWN.get(PurePosixPath(original.name).suffix.lower(), "")
    return OpenedOriginal(original.path, media_type, original.name, original.content)


def open_original(service: Service, ref: str) -> OpenedOriginal:
    """The original of a record, after a note of the access. Raises UnknownRef, NoOriginal and lock.LockedByOther."""
    opened = find(service, ref)
    note_access(service.settings, owner_of(service.settings, "page"), ref)
    return opened


def owner_of(settings: Settings, where: str) -> str:
    """Who opens it, for the note: `Dana Levi (page)`."""
    return f"{settings.owner or OWNER} ({where})"


def note_access(settings: Settings, who: str, ref: str, why: str = WHY) -> None:
    """Notes who opens an original."""
    reveal.note(settings, who, why, [ref], WAIT_SECONDS)


def _locate(service: Service, ref: str) -> OriginalFile:
    with service.reading() as archive:
        record = archive.record(ref)
        if record is None:
            raise UnknownRef("the archive has no such record", code="record_absent")
        return original_file.locate(archive.settings, record)
