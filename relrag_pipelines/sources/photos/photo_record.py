"""The record of a photo."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime
from pathlib import PurePosixPath
from zoneinfo import ZoneInfo

from relrag_pipelines.records import Json, NamedPerson, Record
from relrag_pipelines.sources import ReadContext
from relrag_pipelines.sources.formats.members import Member
from relrag_pipelines.sources.photos.metadata import Metadata
from relrag_pipelines.sources.photos.places import place_names
from relrag_pipelines.text.reference_numbers import find_reference_numbers

TYPE = "photo"

_IN_NAME = re.compile(
    r"(?<!\d)((?:19|20)\d\d)[-_]?([01]\d)[-_]?([0-3]\d)(?:[-_ T]+([0-2]\d)[-_.:]?([0-5]\d)[-_.:]?([0-5]\d))?"
)
_NO_ALBUM = re.compile(
    r"dcim|\d{3}[a-z_]{4,6}|camera( roll)?|photos( from \d{4})?|google photos|google fotos|takeout|\d{4}(-\d\d)?|", re.I
)
"""folders in which a program puts pictures by itself"""


def photo_record(member: Member, metadata: Metadata, words: str, reading: ReadContext) -> Record:
    """The record of a photo, dated by what it states, else by its name, else by its file; `words` stand in it."""
    ts, quality = _time(member, metadata, ZoneInfo(reading.timezone))
    album = _album(member.path)
    places = list(metadata.places)
    if metadata.latitude is not None and metadata.longitude is not None:
        places += [name for name in place_names(metadata.latitude, metadata.longitude) if name not in places]
    title = next(iter(metadata.captions), "") or PurePosixPath(member.name).stem
    return Record(
        source_id=reading.hash(member.location),
        text="\n\n".join(filter(None, (_text(metadata, album, places, title), words))),
        numbers=find_reference_numbers(words) if words else [],
        rag_source_type=TYPE,
        subject=title[:200],
        ts=ts,
        date_quality=quality,
        thread_id=reading.hash(f"album {PurePosixPath(member.location).parent}") if album else None,
        content_type=PurePosixPath(member.name).suffix.lower(),
        file_name=member.name,
        source_uri=member.location,
        locations=[member.location],
        people=[NamedPerson("mentioned", name) for name in metadata.people],
        extra=_details(metadata, album, places),
    )


def _time(member: Member, metadata: Metadata, zone: ZoneInfo) -> tuple[int, str]:
    if metadata.taken_ts is not None:
        return metadata.taken_ts, "exact"
    try:
        taken = datetime.fromisoformat(metadata.taken)
        return int((taken if taken.tzinfo else taken.replace(tzinfo=zone)).timestamp()), "exact"
    except (ValueError, OverflowError):
        return _time_in_name(member.name, zone) or (member.mtime, "modified")


def _time_in_name(name: str, zone: ZoneInfo) -> tuple[int, str] | None:
    match = _IN_NAME.search(name)
    if match is None:
        return None
    try:
        day = date(int(match[1]), int(match[2]), int(match[3]))
        if match[4] is None:
            return int(datetime(day.year, day.month, day.day, tzinfo=UTC).timestamp()), "day"
        taken = datetime(day.year, day.month, day.day, int(match[4]), int(match[5]), int(match[6]), tzinfo=zone)
    except ValueError:
        return None
    return int(taken.timestamp()), "exact"


def _album(path: str) -> str:
    """The name of the folder that a photo lies in, unless a program named it."""
    name = PurePosixPath(path).parent.name
    return "" if _NO_ALBUM.fullmatch(name) else name


def _text(metadata: Metadata, album: str, places: list[str], title: str) -> str:
    named = {
        "Album": album,
        "Place": ", ".join(places),
        "Keywords": ", ".join(metadata.keywords),
        "People": ", ".join(metadata.people),
        "Camera": metadata.camera,
    }
    lines = [f"{name}: {value}" for name, value in named.items() if value]
    return "\n".join(["Photo", *(metadata.captions or [title]), *lines])


def _details(metadata: Metadata, album: str, places: list[str]) -> Json:
    details = {"album": album, "camera": metadata.camera, "places": places, "keywords": metadata.keywords}
    return {name: value for name, value in details.items() if value}
