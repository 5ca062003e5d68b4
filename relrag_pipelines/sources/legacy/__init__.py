"""Collections that older systems left in Qdrant: in a folder of qdrant-client's local mode, or on a server.

Below a folder every `storage.sqlite` is a unit. Of a collection on a server the unit is a small file, written by
`relrag backfill legacy`, that says by a hash whether something in it has changed. A document or call that stands in
several points is one record again. What the fields of a payload mean is in payload.py.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from relrag_pipelines.files.regular_files import walk
from relrag_pipelines.records import Failure, NamedPerson, Record
from relrag_pipelines.sources import Listing, ListingPlace, ReadContext, Unit, unit_of
from relrag_pipelines.sources.legacy.collection import CollectionError, LegacyCollection
from relrag_pipelines.sources.legacy.collection_layout import CollectionLayout
from relrag_pipelines.sources.legacy.local_collection import SNAPSHOT, STORAGE, LocalCollection, is_collection
from relrag_pipelines.sources.legacy.payload import MESSAGE, PointFields
from relrag_pipelines.text import reference_numbers

_AT_ONCE = 200
"""records that are fetched together"""
_MOST_OVERLAP, _LEAST_OVERLAP = 1_000, 16
"""characters that two parts in a row may share"""


def read(unit: Unit, reading: ReadContext) -> Iterator[Record | Failure]:
    """The records of a collection, after failures for its points that cannot be read."""
    try:
        on_server = reading.server_collection if reading.url else None
        collection = on_server() if on_server else LocalCollection(unit.file, reading.source)
        yield from _records(collection, CollectionLayout.of(collection.points(), reading.timezone), unit.path)
    except CollectionError as error:
        yield Failure("", "collection", str(error), whole_unit=True)


def units(place: ListingPlace) -> Listing:
    """The collections below a folder, without copies that a backfill made of them; or the one file that it is."""
    return Listing(tuple(_units(place.root, place.follow_links)))


def _units(root: Path, follow_links: bool) -> Iterator[Unit]:
    def refuse(error: OSError) -> None:
        raise error

    if root.is_file():
        yield unit_of(root, root.parent, follow_links=follow_links)
        return
    for inside, folders, files in walk(root, refuse, follow_links=follow_links):
        folders[:] = sorted(name for name in folders if not name.startswith(".") and SNAPSHOT not in name)
        if STORAGE in files:
            yield unit_of(inside / STORAGE, root, follow_links=follow_links)


def recognise(file: Path) -> bool:
    """Whether the file is a collection of qdrant-client's local mode."""
    return is_collection(file)


def _records(collection: LegacyCollection, layout: CollectionLayout, place: str) -> Iterator[Record | Failure]:
    for point_id in layout.unreadable:
        why = "what is stored is not a point as qdrant-client writes it; the older system may be able to write it anew"
        yield Failure(f"point {point_id}", "not_a_point", why)
    chat, said = "", list[str]()
    for record_keys in _batches(layout.records()):
        points = collection.fetch([key for keys in record_keys for key in keys])
        for keys in record_keys:
            parts = [fields for key in keys if key in points and (fields := layout.fields(points[key]))]
            if not parts:  # gone since the first pass
                continue
            first = parts[0]
            if first.type == MESSAGE and first.thread_id:
                chat, said = first.thread_id, [*(said if first.thread_id == chat else []), first.text]
            if first.is_window and first.thread_id == chat and is_repeated(first.text, said):
                continue
            record = _record(parts, f"{place}#{points[keys[0]].id}")
            if record.text or record.subject or record.file_name:
                yield record
            else:
                why = "the point has neither text nor title; see what its payload calls them"
                yield Failure(f"point {points[keys[0]].id}", "no_text", why)


def _batches(records: Iterable[list[int | str]]) -> Iterator[list[list[int | str]]]:
    records = iter(records)
    while some := list(itertools.islice(records, _AT_ONCE)):
        yield some


def is_repeated(window: str, messages: Iterable[str]) -> bool:
    """Whether each line of a window is one of the messages', with whatever stands before a colon or without it."""
    said = {line.strip() for text in messages for line in text.splitlines()}
    lines = [line.strip() for line in window.splitlines() if line.strip()]
    return all(any(part in said for part in _behind_colons(line)) for line in lines)


def _behind_colons(line: str) -> Iterator[str]:
    parts = line.split(": ")
    yield from (": ".join(parts[first:]) for first in range(len(parts)))


def join_parts(texts: Sequence[str]) -> str:
    """The text of several parts in a row, with what a part repeats of the one before left out."""
    whole = ""
    for text in texts:
        most = min(len(whole), len(text), _MOST_OVERLAP)
        shared = next((size for size in range(most, _LEAST_OVERLAP - 1, -1) if whole.endswith(text[:size])), 0)
        whole += text[shared:] if shared or not whole else f"\n\n{text}"
    return whole


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
