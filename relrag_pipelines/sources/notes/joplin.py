"""Notes of Joplin: its export file (.jex), a tar archive, and the same items in a folder (RAW).

An item is a Markdown file called by its id: a title, a text, and behind the last empty line its fields, of which
`type_` tells notes (1) from notebooks (2), tags (5) and their use (6). Links lead to ids: `[text](:/<id>)`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime

from relrag_pipelines.records import Failure, Record
from relrag_pipelines.sources import ReadContext, Unit
from relrag_pipelines.sources.formats.members import Member
from relrag_pipelines.sources.formats.safe_tar import SafeTar, read_directory
from relrag_pipelines.sources.formats.safe_zip import ZipRejected
from relrag_pipelines.sources.formats.text_cleaning import clean
from relrag_pipelines.sources.formats.versions import changed
from relrag_pipelines.text import reference_numbers

SUFFIX = ".jex"
_NOTE, _NOTEBOOK, _TAG, _NOTE_TAG = "1", "2", "5", "6"
_ITEM_NAME = re.compile(r"(?:^|/)[0-9a-f]{32}\.md\Z")
_LINK = re.compile(r"!?\[([^\[\]\n]*)\]\(:/([0-9a-f]{32})[^()\n]*\)")
_MAX_BYTES = 32 * 2**20


@dataclass(frozen=True)
class Item:
    """An item of an export."""

    title: str
    text: str
    fields: dict[str, str]

    @property
    def type(self) -> str:
        """`1` for a note."""
        return self.fields.get("type_", "")

    def time(self, name: str) -> int | None:
        """A time of it, seconds UTC, as the user set it; None where there is none."""
        return _time(self.fields.get(f"user_{name}") or self.fields.get(name, ""))


@dataclass
class _Names:
    """The notebooks and tags of an export."""

    notebooks: dict[str, str] = field(default_factory=dict)
    """id -> name"""
    tags: dict[str, str] = field(default_factory=dict)
    """id -> name"""
    tags_of_notes: dict[str, list[str]] = field(default_factory=dict)
    """id of a note -> ids of its tags"""

    def add(self, item: Item) -> None:
        """Notes what an item says of notebooks and tags."""
        own_id = item.fields.get("id", "")
        if item.type == _NOTEBOOK:
            self.notebooks[own_id] = item.title
        elif item.type == _TAG:
            self.tags[own_id] = item.title
        elif item.type == _NOTE_TAG:
            self.tags_of_notes.setdefault(item.fields.get("note_id", ""), []).append(item.fields.get("tag_id", ""))

    def labels(self, item: Item) -> list[str]:
        """The notebook and the tags of a note."""
        tags = (self.tags.get(tag, "") for tag in self.tags_of_notes.get(item.fields.get("id", ""), ()))
        return [name for name in (self.notebooks.get(item.fields.get("parent_id", ""), ""), *tags) if name]


def is_item(path: str, data: bytes) -> bool:
    """Whether a file is an item of Joplin: by its name and the fields at its end."""
    return _ITEM_NAME.search(path) is not None and parse(data) is not None


def is_archive(unit: Unit) -> bool:
    """Whether a unit is an export file."""
    return unit.file.suffix.lower() == SUFFIX


def parse(data: bytes) -> Item | None:
    """The item that a file holds; None for a file in another form."""
    text = data.decode("utf-8", "replace").replace("\r\n", "\n").rstrip()
    content, _, end = text.rpartition("\n\n")
    fields = dict(line.partition(": ")[::2] for line in end.split("\n"))
    if not end.rpartition("\n")[2].startswith("type_: "):
        return None
    title, _, body = content.partition("\n")
    return Item(clean(title).strip(), clean(body).strip(), fields)


def read_item(data: bytes, member: Member, reading: ReadContext) -> Iterator[Record | Failure]:
    """The note that a file of a folder holds; nothing for another item."""
    item = parse(data)
    if item is not None and item.type == _NOTE:
        yield note(item, member.location, member.name, reading, [])


def read_archive(unit: Unit, reading: ReadContext) -> Iterator[Record | Failure]:
    """The notes of an export file."""
    try:
        archive = read_directory(unit.file)
    except ZipRejected as refused:
        yield refused.failure
        return
    yield from archive.failures
    names = _Names()
    for _, item in _items(archive):
        if isinstance(item, Item):
            names.add(item)
    is_empty = True
    for name, item in _items(archive):
        if isinstance(item, Failure):
            yield item
        elif item.type == _NOTE:
            yield note(item, f"{unit.path}!{name}", name, reading, names.labels(item))
        is_empty = is_empty and not isinstance(item, Failure) and item.type != _NOTE
    if is_empty and not archive.failures:
        yield Failure("", "empty", "the export holds no note; if there are some, export them again")


def _items(archive: SafeTar) -> Iterator[tuple[str, Item | Failure]]:
    """The items of an export by their names; a failure for a file that is too long or has another form."""
    for name in filter(_ITEM_NAME.search, archive.members):
        if archive.size(name) > _MAX_BYTES:
            why = f"the item has more than {_MAX_BYTES // 2**20} MiB; split the note, and export it again"
            yield name, Failure(name, "too_large", why)
            continue
        with archive.open(name) as stream:
            item = parse(stream.read(_MAX_BYTES))
        why = "the file has no fields at its end, as each item of Joplin has; export the note again"
        yield name, item or Failure(name, "damaged", why)


def note(item: Item, location: str, name: str, reading: ReadContext, labels: list[str]) -> Record | Failure:
    """The record of a note; a failure for one that is encrypted."""
    if item.fields.get("encryption_applied") == "1":
        why = "the note is encrypted; let Joplin decrypt it, and export it again"
        return Failure(name, "encrypted", why)
    text = _LINK.sub(r"\1", f"{item.title}\n\n{item.text}").strip()
    created, updated = item.time("created_time"), item.time("updated_time")
    ts = created if updated is None else updated
    extra = {"labels": labels, "references": _references(item, reading)}
    return Record(
        source_id=reading.hash(f"joplin {item.fields.get('id', name)}"),
        text=text,
        rag_source_type="note",
        from_=item.fields.get("author") or None,
        subject=item.title or None,
        ts=ts,
        date_quality="exact" if ts is not None else "none",
        content_type="text/markdown",
        file_name=name.rpartition("/")[2],
        source_uri=location,
        locations=[location],
        numbers=reference_numbers.find_reference_numbers(text),
        extra={key: values for key, values in extra.items() if values} | changed(updated),
    )


def _references(item: Item, reading: ReadContext) -> list[str]:
    """The notes that a note links to."""
    linked = dict.fromkeys(target for _, target in _LINK.findall(item.text))
    return [f"notes:{reading.hash(f'joplin {target}')}" for target in linked]


def _time(text: str) -> int | None:
    """Seconds UTC of a date such as `2024-03-05T10:00:00.000Z`."""
    try:
        return int(datetime.fromisoformat(text).timestamp())
    except (ValueError, OverflowError):
        return None
