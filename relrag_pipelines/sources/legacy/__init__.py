"""Collections of older systems in Qdrant: in a folder of qdrant-client's local mode, or on a server.

Below a folder every `storage.sqlite` is a unit. A collection on a server is represented by a small file, written by
`relrag backfill legacy`, with a hash that changes when the collection does. The several points of a document or call
become one record again. payload.py explains the fields of a payload.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from relrag_pipelines.files.regular_files import walk
from relrag_pipelines.records import Failure, NamedPerson, Record
from relrag_pipelines.sources import Listing, ListingScope, ReadContext, Unit
from relrag_pipelines.sources.legacy.collection_layout import CollectionLayout
from relrag_pipelines.sources.legacy.local_collection import SNAPSHOT, STORAGE, LocalCollection, is_collection
from relrag_pipelines.sources.legacy.payload import MESSAGE, PointFields
from relrag_pipelines.sources.legacy_collection import CollectionError, LegacyCollection, LegacyPoint
from relrag_pipelines.sources.unit_files import unit_of
from relrag_pipelines.text import reference_numbers

_BATCH = 200
"""records that are fetched together"""
_MAX_OVERLAP, _MIN_OVERLAP = 1_000, 16
"""characters that successive parts may share"""


def read(unit: Unit, reading: ReadContext) -> Iterator[Record | Failure]:
    """The records of a collection, after failures for its points that cannot be read."""
    try:
        on_server = reading.server_collection if reading.url else None
        collection = on_server() if on_server else LocalCollection(unit.file, reading.source)
        yield from _records(collection, CollectionLayout.from_points(collection.points(), reading.timezone), unit.path)
    except CollectionError as error:
        yield Failure("", "collection", str(error), whole_unit=True)


def units(scope: ListingScope) -> Listing:
    """The collections below a folder, without the backfill's copies of them; or the path itself if it is a file."""
    return Listing(tuple(_units(scope.root, scope.follow_links)))


def _units(root: Path, follow_links: bool) -> Iterator[Unit]:
    def refuse(error: OSError) -> None:
        raise error

    if root.is_file():
        yield unit_of(root, root.parent, follow_links=follow_links)
        return
    for folder, folders, files in walk(root, refuse, follow_links=follow_links):
        folders[:] = sorted(name for name in folders if not name.startswith(".") and SNAPSHOT not in name)
        if STORAGE in files:
            yield unit_of(folder / STORAGE, root, follow_links=follow_links)


def recognise(file: Path) -> bool:
    """Whether the file is a collection of qdrant-client's local mode."""
    return is_collection(file)


def _records(collection: LegacyCollection, layout: CollectionLayout, path: str) -> Iterator[Record | Failure]:
    for point_id in layout.unreadable:
        why = "what is stored is not a point as qdrant-client writes it; the older system may be able to write it anew"
        yield Failure(f"point {point_id}", "not_a_point", why)
    chat, messages = "", list[str]()
    for record_keys in _batches(layout.records()):
        points = collection.fetch(list(itertools.chain.from_iterable(record_keys)))
        for keys in record_keys:
            parts = _readable_parts(layout, points, keys)
            if not parts:  # deleted since the first pass
                continue
            first = parts[0]
            if first.type == MESSAGE and first.thread_id:
                chat, messages = first.thread_id, [*(messages if first.thread_id == chat else []), first.text]
            if first.is_window and first.thread_id == chat and is_repeated(first.text, messages):
                continue
            yield _record_or_failure(parts, points[keys[0]], path)


def _readable_parts(
    layout: CollectionLayout, points: Mapping[int | str, LegacyPoint], keys: list[int | str]
) -> list[PointFields]:
    """The fields of the points with these keys that still exist and can be read."""
    fields = (layout.fields(points[key]) for key in keys if key in points)
    return list(filter(None, fields))


def _record_or_failure(parts: list[PointFields], point: LegacyPoint, path: str) -> Record | Failure:
    """The record of these parts, or a failure if it is empty; `point` is the first part's."""
    record = _record(parts, f"{path}#{point.id}")
    if record.text or record.subject or record.file_name:
        return record
    why = "the point has neither text nor title; see what its payload calls them"
    return Failure(f"point {point.id}", "no_text", why)


def _batches(records: Iterable[list[int | str]]) -> Iterator[list[list[int | str]]]:
    records = iter(records)
    while batch := list(itertools.islice(records, _BATCH)):
        yield batch


def is_repeated(window: str, messages: Iterable[str]) -> bool:
    """Whether each line of a window is a line of the messages, with or without a sender and colon before it."""
    message_lines = {line.strip() for text in messages for line in text.splitlines()}
    lines = [line.strip() for line in window.splitlines() if line.strip()]
    return all(any(part in message_lines for part in _behind_colons(line)) for line in lines)


def _behind_colons(line: str) -> Iterator[str]:
    parts = line.split(": ")
    yield from (": ".join(parts[first:]) for first in range(len(parts)))


def join_parts(texts: Sequence[str]) -> str:
    """The text of successive parts, without text that a part repeats from the part before."""
    joined = ""
    for text in texts:
        longest = min(len(joined), len(text), _MAX_OVERLAP)
        shared = next((size for size in range(longest, _MIN_OVERLAP - 1, -1) if joined.endswith(text[:size])), 0)
        joined += text[shared:] if shared or not joined else f"\n\n{text}"
    return joined


def _record(parts: Sequence[PointFields], location: str) -> Record:
    first = parts[0]
    texts = {part.position: part.text for part in parts} if len(parts) > 1 else {0: first.text}
    text = join_parts([texts[position] for position in sorted(texts)])
    universal = dict(first.universal)
    return Record(
        source_id=first.native_id,
        text=text,
        asset_id=first.asset_id,
        rag_source_type=first.type,
        from_=universal.pop("from", None),
        to=list(first.to),
        participants=list(first.participants),
        ts=first.ts,
        date_quality=first.date_quality,
        thread_id=first.thread_id,
        parent_asset_id=first.parent_asset_id,
        locations=[location],
        numbers=reference_numbers.find_reference_numbers(text),
        people=[NamedPerson(role, name) for role, name in first.people],
        extra=dict(first.extra),
        **universal,
        **first.about,
    )
