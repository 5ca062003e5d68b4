"""Files beside a photo: the JSON of Google Takeout, and XMP."""

from __future__ import annotations

from typing import Any

import orjson

from relrag_pipelines.records import Json
from relrag_pipelines.sources.photos.metadata import Metadata, read_xmp
from relrag_pipelines.workers.sandbox import Limits, ParserStopped, call


def merge(metadata: Metadata, data: bytes, name: str, limits: Limits) -> Metadata:
    """The metadata with what a file beside the photo states; one that cannot be read marks it as damaged."""
    if name.lower().endswith(".xmp"):
        try:
            return call(limits, len(data), _with_xmp, data, metadata)
        except (ParserStopped, RuntimeError, ValueError):
            metadata.is_damaged = True
            return metadata
    try:
        stated = orjson.loads(data)
    except orjson.JSONDecodeError:
        metadata.is_damaged = True
        return metadata
    if isinstance(stated, dict):
        _add_google(metadata, stated)
    return metadata


def _with_xmp(data: bytes, metadata: Metadata) -> Metadata:
    read_xmp(data, metadata)
    return metadata


def _add_google(metadata: Metadata, stated: Json) -> None:
    description = stated.get("description")
    metadata.add("captions", description if isinstance(description, str) else "")
    people = stated.get("people")
    for person in people if isinstance(people, list) else ():
        name = person.get("name") if isinstance(person, dict) else None
        metadata.add("people", name if isinstance(name, str) else "")
    seconds = _field(stated, "photoTakenTime", "timestamp")
    if isinstance(seconds, str) and seconds.lstrip("-").isdigit() and len(seconds) < 12:
        metadata.taken_ts = int(seconds)
    _add_location(metadata, stated)


def _add_location(metadata: Metadata, stated: Json) -> None:
    """Adds the coordinates; Google writes 0, 0 for an unknown location."""
    latitude, longitude = (_field(stated, "geoData", name) for name in ("latitude", "longitude"))
    if isinstance(latitude, float) and isinstance(longitude, float) and (latitude or longitude):
        metadata.latitude, metadata.longitude = latitude, longitude


def _field(stated: Json, *names: str) -> Any:
    value: Any = stated
    for name in names:
        value = value.get(name) if isinstance(value, dict) else None
    return value
