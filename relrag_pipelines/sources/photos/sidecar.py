"""Files beside a photo: the JSON of Google Takeout, and XMP.

Google calls the JSON `IMG.jpg.json`, since 2024 `IMG.jpg.supplemental-metadata.json`. The number of a copy stands
behind the whole: `IMG(1).jpg` has `IMG.jpg(1).json`, or `IMG.jpg.supplemental-metadata(1).json`. Names are cut to 46
characters before their number: `IMG.jpg.supplemental-me.json`, `A long title of a pict.json`.
"""

from __future__ import annotations

import bisect
import itertools
import re
from collections import defaultdict
from collections.abc import Iterable
from pathlib import PurePosixPath
from typing import Any

import orjson

from relrag_pipelines.records import Json
from relrag_pipelines.sources.photos.metadata import Metadata, read_xmp
from relrag_pipelines.workers.limits import Limits
from relrag_pipelines.workers.sandbox import ParserStopped, call

SUFFIXES = (".json", ".xmp")

_WORD = "supplemental-metadata"
_CUT_AT = 46
"""characters of a name at which Google cuts it, without number and suffix"""
_NUMBER = re.compile(r"\(\d{1,5}\)\Z")


def sidecars_by_photo(names: Iterable[str], suffixes: tuple[str, ...]) -> dict[str, list[str]]:
    """Photo -> the files beside it, in order; `names` are paths, `suffixes` those of photos in lower case."""
    paths = [PurePosixPath(name) for name in sorted(set(names))]
    folders: defaultdict[PurePosixPath, list[PurePosixPath]] = defaultdict(list)
    for path in paths:
        if path.name.lower().endswith(suffixes):
            folders[path.parent].append(path)
    photos = {folder: _Photos(files) for folder, files in folders.items()}
    sidecars: dict[str, list[str]] = {}
    for path in paths:
        is_beside = path.parent in photos and path.name.lower().endswith(SUFFIXES)
        if photo := photos[path.parent].of_sidecar(path) if is_beside else None:
            sidecars.setdefault(str(photo), []).append(str(path))
    return sidecars


class _Photos:
    """The photos of a folder, by what the names of their sidecars show."""

    def __init__(self, files: list[PurePosixPath]) -> None:
        self._by_name = {file.name: file for file in files}
        self._by_stem: defaultdict[str, list[PurePosixPath]] = defaultdict(list)
        self._without_number: list[tuple[str, str, PurePosixPath]] = []
        for file in files:
            stem, number = _split_number(file.stem)
            self._by_stem[file.stem].append(file)
            self._without_number.append((f"{stem}{file.suffix}", number, file))
        self._without_number.sort()

    def of_sidecar(self, path: PurePosixPath) -> PurePosixPath | None:
        """The photo that a file belongs to; None if there is none, or its name leaves several."""
        base, number = _split_number(path.stem)
        for name in (PurePosixPath(base), PurePosixPath(_without_word(base))):
            if photo := self._by_name.get(f"{name.stem}{number}{name.suffix}"):
                return photo
        matches = self._by_stem.get(path.stem, [])
        if not matches and len(base) >= _CUT_AT - 1:
            matches = self._beginning_with(_without_word(base), number)
        return matches[0] if len(matches) == 1 else None

    def _beginning_with(self, beginning: str, number: str) -> list[PurePosixPath]:
        """The photos of a number whose name was cut to this beginning."""
        index = bisect.bisect_left(self._without_number, (beginning,))
        rows = itertools.takewhile(
            lambda row: row[0].startswith(beginning), itertools.islice(self._without_number, index, None)
        )
        return [file for _, own_number, file in rows if own_number == number]


def _split_number(stem: str) -> tuple[str, str]:
    """A name and the number of its copy: `IMG` and `(1)`."""
    match = _NUMBER.search(stem)
    return (stem[: match.start()], match[0]) if match else (stem, "")


def _without_word(base: str) -> str:
    """The name without the word that Google adds, or the beginning of it that was left."""
    name, mark, word = base.rpartition(".")
    return name if mark and _WORD.startswith(word) else base


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
