"""What a picture's file says of it: EXIF by exifread (BSD), IPTC (IIM 4.2), and XMP (ISO 16684-1)."""

from __future__ import annotations

import io
import re
import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from lxml import etree

from relrag_pipelines.sources.formats.text_cleaning import clean

MAX_VALUE = 5_000
"""characters of a caption"""

_XMP = re.compile(rb"<x:xmpmeta.*?</x:xmpmeta>", re.DOTALL)
_PLACEHOLDERS = re.compile(
    r"(?:olympus|samsung|minolta|sony|kodak|default|dav|mde|hdr|ptr|sdr|dig|cof|rhdr|oppo|vivo)"
    r"[\w -]*(?:camera|pictures?)?"
    r"|screenshot|charset=\S+.*",
    re.IGNORECASE,
)
"""what cameras write as the description of every picture"""
_IPTC = {
    105: "captions",
    120: "captions",
    5: "captions",
    25: "keywords",
    90: "places",
    92: "places",
    95: "places",
    101: "places",
}
_XMP_NAMES = {
    "title": "captions",
    "description": "captions",
    "Headline": "captions",
    "UserComment": "captions",
    "subject": "keywords",
    "Location": "places",
    "City": "places",
    "State": "places",
    "Country": "places",
    "PersonInImage": "people",
}
_XMP_DATES = ("DateTimeOriginal", "DateCreated", "CreateDate")


@dataclass
class Metadata:
    """What is stated of a photo."""

    taken: str = ""
    """`2023-08-12T09:41:00`, with an offset where it is known; a local time without one"""
    taken_ts: int | None = None
    """the same as seconds since 1970, from a source that knows the zone"""
    camera: str = ""
    captions: list[str] = field(default_factory=list)
    keywords: list[str] = field(default_factory=list)
    places: list[str] = field(default_factory=list)
    """names of places, the narrowest first"""
    people: list[str] = field(default_factory=list)
    latitude: float | None = None
    """degrees; used to name the place, and stored nowhere"""
    longitude: float | None = None
    is_damaged: bool = False

    def add(self, name: str, value: str) -> None:
        """Adds a value to the list of that name, once, unless a camera writes it into every picture."""
        text = " ".join(clean(value).split())[:MAX_VALUE].strip()
        values: list[str] = getattr(self, name)
        if text and text not in values and not (name == "captions" and _PLACEHOLDERS.fullmatch(text)):
            values.append(text)


def read_metadata(head: bytes) -> Metadata:
    """What the beginning of a picture states; parts that are damaged are left out."""
    metadata = Metadata()
    for reader in (_read_exif, _read_iptc, read_xmp):
        try:
            reader(head, metadata)
        except Exception:  # noqa: BLE001  a damaged part must not hide the others; libraries raise all sorts
            metadata.is_damaged = True
    return metadata


def _read_exif(head: bytes, metadata: Metadata) -> None:
    import exifread

    tags = exifread.process_file(
        io.BytesIO(_exif_of_webp(head) or head), details=False, extract_thumbnail=False, builtin_types=True
    )
    maker, model = (_text(tags.get(f"Image {name}")) for name in ("Make", "Model"))
    metadata.camera = model if model.casefold().startswith(maker.casefold()) else f"{maker} {model}".strip()
    date, offset = _text(tags.get("EXIF DateTimeOriginal")), _text(tags.get("EXIF OffsetTimeOriginal"))
    match = re.match(r"(\d{4})[:-](\d\d)[:-](\d\d)[ T](\d\d:\d\d:\d\d)", date)
    if match and match[1] != "0000":
        zone = offset if re.fullmatch(r"[+-]\d\d:\d\d", offset) else ""
        metadata.taken = f"{match[1]}-{match[2]}-{match[3]}T{match[4]}{zone}"
    metadata.add("captions", _text(tags.get("Image ImageDescription")))
    for name, target in (("XPTitle", "captions"), ("XPComment", "captions"), ("XPSubject", "captions")):
        metadata.add(target, _windows_text(tags.get(f"Image {name}")))
    for keyword in _windows_text(tags.get("Image XPKeywords")).split(";"):
        metadata.add("keywords", keyword)
    metadata.latitude = _degrees(tags.get("GPS GPSLatitude"), _text(tags.get("GPS GPSLatitudeRef")) == "S", 90)
    metadata.longitude = _degrees(tags.get("GPS GPSLongitude"), _text(tags.get("GPS GPSLongitudeRef")) == "W", 180)


def _exif_of_webp(head: bytes) -> bytes:
    """The EXIF of a WebP file that lacks the prefix which exifread asks for; empty if there is none."""
    begin = head.find(b"EXIF", 12) + 8 if head[8:12] == b"WEBP" else 0
    return head[begin:] if begin > 8 and head[begin : begin + 4] in (b"II*\0", b"MM\0*") else b""


def _text(value: Any) -> str:
    return value.strip("\0 ") if isinstance(value, str) else ""


def _windows_text(value: Any) -> str:
    """A value that Windows writes as UTF-16."""
    if isinstance(value, str):
        return (
            value.replace("\0", "")
            if value.isascii()
            else value.encode("latin-1", "replace").decode("utf-16-le", "replace")
        )
    if isinstance(value, (list, tuple)):
        return (
            bytes(number & 255 for number in value if isinstance(number, int))
            .decode("utf-16-le", "replace")
            .strip("\0")
        )
    return value.decode("utf-16-le", "replace") if isinstance(value, bytes) else ""


def _degrees(value: Any, is_negative: bool, most: float) -> float | None:
    if not isinstance(value, (list, tuple)) or len(value) != 3:
        return None
    degrees = sum(float(part) / 60**power for power, part in enumerate(value))
    return (-degrees if is_negative else degrees) if 0 < degrees <= most else None


def _read_iptc(head: bytes, metadata: Metadata) -> None:
    begin = head.find(b"Photoshop 3.0\0")
    for _ in range(1 if begin >= 0 else 0):
        block = head.find(b"8BIM\x04\x04", begin, begin + 2**16)
        if block < 0:
            return
        for number, value in _iptc_values(head[block : block + 2**16]):
            if target := _IPTC.get(number):
                metadata.add(target, _decoded(value))


def _iptc_values(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Number and bytes of the values of the second record."""
    position = data.find(b"\x1c")
    while position >= 0 and position + 5 <= len(data) and data[position] == 0x1C:
        record, number, length = struct.unpack_from(">BBH", data, position + 1)
        position += 5
        if record == 2 and length < 2**15:
            yield number, data[position : position + length]
        position += length


def _decoded(value: bytes) -> str:
    try:
        return value.decode()
    except UnicodeDecodeError:
        return value.decode("latin-1")


def _xmp_values(element: etree._Element) -> list[tuple[str, str]]:
    """Local name and value of an element's attributes, and of the items of its list or its text."""
    values = [(etree.QName(name).localname, value) for name, value in element.attrib.items()]
    if isinstance(element.tag, str):
        items = [item.text or "" for item in element.iter("{*}li")] or [element.text or ""]
        values += [(etree.QName(element).localname, item) for item in items]
    return values


def read_xmp(data: bytes, metadata: Metadata) -> None:
    """Adds what the XMP in a picture, or in a file of its own, states."""
    match = _XMP.search(data)
    if match is None:
        return
    parser = etree.XMLParser(resolve_entities=False, no_network=True, recover=True, remove_comments=True)
    tree = etree.fromstring(match[0], parser)
    for element in () if tree is None else tree.iter():
        for name, value in _xmp_values(element):
            if target := _XMP_NAMES.get(name):
                metadata.add(target, value)
            elif name in _XMP_DATES and not metadata.taken:
                metadata.taken = value.strip()[:32]
