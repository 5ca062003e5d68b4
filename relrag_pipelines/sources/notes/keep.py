"""Notes of Google Keep, as Takeout writes them: a JSON and an HTML file each, of which the JSON is read.

A note is known by the microsecond in which it was made. Notes in the trash are left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import orjson

from relrag_pipelines.records import Failure, Json, Record
from relrag_pipelines.sources import ReadContext
from relrag_pipelines.sources.formats.members import Member
from relrag_pipelines.sources.formats.text_cleaning import clean
from relrag_pipelines.sources.formats.versions import changed
from relrag_pipelines.sources.notes.links import NoteLinks
from relrag_pipelines.sources.notes.names import title_of
from relrag_pipelines.text import reference_numbers

_FIELDS = (b'"isTrashed"', b'"userEditedTimestampUsec"')
_HTML = re.compile(rb"<title>.*?</title>.*?class=\"note\"", re.DOTALL)


def is_keep_json(head: bytes) -> bool:
    """Whether a file that begins so is a note of Keep."""
    return all(name in head for name in _FIELDS)


def is_keep_html(head: bytes) -> bool:
    """Whether a page that begins so is a note of Keep."""
    return (b".listitem" in head and b".note" in head) or _HTML.search(head) is not None


def read(data: bytes, member: Member, reading: ReadContext, links: NoteLinks) -> Iterator[Record | Failure]:
    """The record of a note, or a failure with the reason why it has no record."""
    try:
        note = orjson.loads(data)
    except orjson.JSONDecodeError:
        yield Failure(
            member.inner_path, "not_json", "the note is not JSON, or was cut off; export it again", whole_unit=True
        )
        return
    if not isinstance(note, dict) or not ("textContent" in note or "listContent" in note or "title" in note):
        if not member.inner_path:
            yield Failure("", "wrong_format", "no note of Google Keep; exclude the file", whole_unit=True)
        return
    if note.get("isTrashed") is True:
        yield Failure(member.inner_path, "ignored", "the note lies in the trash of Keep")
        return
    yield _record(note, member, reading)


def _record(note: Json, member: Member, reading: ReadContext) -> Record:
    title = _text(note, "title") or title_of(member.path)
    labels = [_text(label, "name") for label in _objects(note, "labels")]
    people = [_text(person, "email") for person in _objects(note, "sharees")]
    text = "\n".join(filter(None, [_text(note, "title"), _text(note, "textContent"), *_items(note), *_pages(note)]))
    created, edited = _seconds(note, "createdTimestampUsec"), _seconds(note, "userEditedTimestampUsec")
    ts = edited if edited is not None else created
    extra = {"labels": [label for label in labels if label], "attachments": _attachments(note)}
    extra |= {"archived": ["yes"]} if note.get("isArchived") is True else {}
    return Record(
        source_id=reading.hash(f"keep {note.get('createdTimestampUsec') or member.path}"),
        text=text,
        rag_source_type="note",
        participants=[person for person in people if person],
        subject=title or None,
        ts=ts,
        date_quality="exact" if ts is not None else "none",
        content_type="application/json",
        file_name=member.name,
        source_uri=member.location,
        locations=[member.location],
        numbers=reference_numbers.find_reference_numbers(text),
        extra={name: values for name, values in extra.items() if values} | changed(edited),
    )


def _text(parent: Json, name: str) -> str:
    value = parent.get(name)
    return clean(value).strip() if isinstance(value, str) else ""


def _objects(parent: Json, name: str) -> list[Json]:
    value = parent.get(name)
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def _items(note: Json) -> Iterator[str]:
    for item in _objects(note, "listContent"):
        yield f"- [{'x' if item.get('isChecked') is True else ' '}] {_text(item, 'text')}"


def _pages(note: Json) -> Iterator[str]:
    """The web pages that a note shows."""
    for page in _objects(note, "annotations"):
        yield " ".join(filter(None, (_text(page, "title"), _text(page, "description"), _text(page, "url"))))


def _attachments(note: Json) -> list[str]:
    return [name for file in _objects(note, "attachments") if (name := _text(file, "filePath"))]


def _seconds(note: Json, name: str) -> int | None:
    value = note.get(name)
    return value // 1_000_000 if type(value) is int and 0 < value < 2**62 else None
