"""Files that the owner uploads to the pages, stored in `incoming/` beside relrag.toml.

A file comes in pieces, each confirmed with the number of bytes that are stored, so that an upload goes on where a cut
connection left it. It is checked as a whole before it is stored in `incoming/`: its name, its type, and of a zip all
that is in it.
"""

from __future__ import annotations

import os
import re
import shutil
import time
import unicodedata
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pydantic import BaseModel, Field

from relrag_pipelines.errors import RelragError
from relrag_pipelines.files.atomic import link, make_private, replace_file
from relrag_pipelines.files.sealed_json import file_hash
from relrag_pipelines.ingest import uploaded_zip
from relrag_pipelines.ingest.ownership import recognises
from relrag_pipelines.ingest.zip_contents import ZipLimits, kinds_by_name
from relrag_pipelines.onboarding.environment import free_bytes
from relrag_pipelines.settings import Settings
from relrag_pipelines.sources.formats.archives import ZIP
from relrag_pipelines.workers import sandbox
from relrag_pipelines.workers.limits import Limits
from relrag_pipelines.workers.sandbox import ParserStopped
from relrag_query.display.amounts import size
from relrag_query.owner.folders import incoming
from relrag_query.owner.switch import changing, require_writes
from relrag_query.service import Service

PIECE_BYTES = 2**20
"""bytes of the largest piece"""
ID = r"[0-9a-f]{32}"
_FOLDER = "private/uploads"
_MAX_NAME_BYTES = 200
_KEPT_SECONDS = 7 * 24 * 3600
"""how long an upload that was cut can go on"""
_SPARE_BYTES = 2**28
"""free space that an upload leaves on the disk"""


class UploadRefused(RelragError):
    """A file that is not stored; the message says why."""


class TooLarge(UploadRefused):
    """A file above `upload_max_bytes`."""


class OutOfStep(UploadRefused):
    """A piece that does not follow the stored ones; the upload goes on from their end."""


class PieceReply(BaseModel):
    """How much of an upload is stored."""

    stored: int = Field(description="bytes; the next piece begins there")


class UploadReply(BaseModel):
    """A file that was stored."""

    name: str = Field(description="in `incoming/`; with a number if another file had the name")
    folder: str
    bytes: int


def stored_bytes(service: Service, upload: str) -> PieceReply:
    """How much of an upload is stored, for one that goes on."""
    require_writes(service)
    part = _part(service.settings, upload)
    return PieceReply(stored=part.stat().st_size if part.exists() else 0)


def add_piece(service: Service, upload: str, offset: int, piece: bytes) -> PieceReply:
    """Stores the next piece of an upload. Raises OutOfStep and TooLarge."""
    require_writes(service)
    settings = service.settings
    if offset == 0:
        _sweep(settings)
    if offset + len(piece) > settings.upload_max_bytes:
        discard(service, upload)
        most = size(settings.upload_max_bytes)
        raise TooLarge(f"this file is larger than {most} (upload_max_bytes)", code="upload_large", most=most)
    part = _part(settings, upload)
    make_private(part.parent)
    if free_bytes(part.parent) < len(piece) + _SPARE_BYTES:
        raise UploadRefused("the disk is full; make room there, and the upload goes on", code="disk_full")
    with os.fdopen(os.open(part, os.O_RDWR | os.O_CREAT, 0o600), "rb+") as file:
        if file.seek(0, os.SEEK_END) != offset:
            raise OutOfStep(f"{file.tell()} bytes of this file are stored; go on from there", code="upload_incomplete")
        file.write(piece)
    return PieceReply(stored=offset + len(piece))


def finish(service: Service, upload: str, name: str, total: int) -> UploadReply:
    """Checks an upload of `total` bytes and stores it under its name. Raises UploadRefused, and lock.LockedByOther."""
    require_writes(service)
    settings, part = service.settings, _part(service.settings, upload)
    name = clean_name(name)
    if not total:
        raise UploadRefused("this file is empty", code="file_empty")
    if not part.exists() or part.stat().st_size != total:
        raise OutOfStep("not all of this file has come; send the rest", code="upload_incomplete")
    with _named(part, name) as file:
        _check(settings, file)
        # without its name, which may be that of somebody who is forgotten later
        with changing(service, "upload", f"{file.suffix}, {size(total)}"):
            stored = _store(settings, file)
    part.unlink()
    return UploadReply(name=stored.name, folder=str(stored.parent), bytes=total)


def discard(service: Service, upload: str) -> PieceReply:
    """Removes what is stored of an upload."""
    require_writes(service)
    _part(service.settings, upload).unlink(missing_ok=True)
    return PieceReply(stored=0)


def clean_name(name: str) -> str:
    """The name of a file in `incoming/`. Raises UploadRefused for one that is a path, hidden or no text."""
    name = unicodedata.normalize("NFC", name).strip()
    controls = any(unicodedata.category(character) in ("Cc", "Cf", "Cs", "Co", "Cn") for character in name)
    if not name or name.startswith((".", "~$")) or re.search(r"[/\\:]", name) or controls:
        raise UploadRefused(
            "this name is a path, hidden, or has characters that are no text; rename the file", code="name_refused"
        )
    if len(name.encode()) > _MAX_NAME_BYTES:
        raise UploadRefused(
            f"this name is longer than {_MAX_NAME_BYTES} bytes; rename the file", code="name_long", most=_MAX_NAME_BYTES
        )
    return name


def _part(settings: Settings, upload: str) -> Path:
    """The file of the pieces of an upload. Raises UploadRefused for an id that is none."""
    if not re.fullmatch(ID, upload):
        raise UploadRefused("an upload has an id of 32 hexadecimal digits", code="upload_id")
    return settings.home_path / _FOLDER / f"{upload}.part"


@contextmanager
def _named(part: Path, name: str) -> Iterator[Path]:
    """The upload under its own name, in a folder of its own, since suffix and neighbours tell the kind of a file."""
    folder = part.with_suffix("")
    shutil.rmtree(folder, ignore_errors=True)
    make_private(folder)
    file = folder / name
    try:
        link(part, file)
        yield file
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _check(settings: Settings, file: Path) -> None:
    """Raises UploadRefused for a file that no kind reads, and for a zip that expands too far."""
    if file.suffix.lower() == ZIP:
        _check_zip(settings, file)
        return
    kinds = kinds_by_name(file.name, file.parent)
    if not kinds and not file.suffix:
        raise UploadRefused("relrag reads no files of this name, which has no suffix", code="suffix_absent")
    if not kinds:
        raise UploadRefused(
            f"relrag reads no files with the suffix {file.suffix}", code="suffix_unread", suffix=file.suffix
        )
    if not any(recognises(kind, file) for kind in kinds):
        raise UploadRefused(
            "what is in this file is not what its name says; it may be damaged or encrypted", code="content_differs"
        )


def _check_zip(settings: Settings, file: Path) -> None:
    limits = ZipLimits(settings.archive_max_ratio, settings.archive_max_bytes)
    bounds = Limits(settings.parser_max_seconds, settings.parser_max_bytes)
    try:
        problem = sandbox.call(bounds, file.stat().st_size, uploaded_zip.problem, file, limits)
    except ParserStopped:
        raise UploadRefused("this zip takes too long to unpack", code="zip_slow") from None
    if problem:
        raise UploadRefused(problem.message, code=problem.code)


def _store(settings: Settings, file: Path) -> Path:
    """Moves a checked file into `incoming/`; one that is there already, byte for byte, is not stored twice."""
    folder = incoming(settings)
    make_private(folder)
    digest = file_hash(file)
    for target in _targets(folder, file.name):
        if not target.exists():
            with replace_file(target) as temporary:
                shutil.copyfile(file, temporary)
            return target
        if target.is_file() and file_hash(target) == digest:
            return target
    raise AssertionError("names with numbers never end")


def _targets(folder: Path, name: str) -> Iterator[Path]:
    """The paths that a file may be stored at, best first: report.pdf, report (2).pdf ..."""
    path, number = folder / name, 2
    yield path
    while True:
        yield path.with_name(f"{path.stem} ({number}){path.suffix}")
        number += 1


def _sweep(settings: Settings) -> None:
    """Removes uploads that were given up."""
    for part in (settings.home_path / _FOLDER).glob("*.part"):
        if time.time() - part.stat().st_mtime > _KEPT_SECONDS:
            part.unlink(missing_ok=True)
