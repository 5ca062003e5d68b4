"""Notes of Evernote, as its export writes them: a file of XML (.enex) with the notes of a notebook.

A note is known by the second in which it was made and its title. The bytes of attached files, most of such a file, are
skipped; their names are kept. Format: http://xml.evernote.com/pub/evernote-export4.dtd, and ENML for the contents.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import BinaryIO
from xml.parsers import expat

from relrag_pipelines.records import Failure, Record
from relrag_pipelines.sources import ReadContext
from relrag_pipelines.sources.document import html
from relrag_pipelines.sources.formats.members import Member
from relrag_pipelines.sources.formats.safe_zip import ZipRejected
from relrag_pipelines.sources.formats.text_cleaning import clean
from relrag_pipelines.sources.formats.versions import changed
from relrag_pipelines.text import reference_numbers

_BLOCK = 2**18
_MAX_FIELD = 16 * 2**20
"""characters of one field, above which the rest is left out"""
_FIELDS = frozenset({"title", "content", "created", "updated", "tag", "author", "source-url", "file-name"})
_TODO = re.compile(r"<en-todo\b([^>]*)>(?:</en-todo>)?")
_PROLOG = re.compile(r"\A\s*(?:<\?xml[^>]*>|<!DOCTYPE[^>]*>|\s)*")


def is_enex(head: bytes) -> bool:
    """Whether a file that begins so is an export of Evernote."""
    return b"<en-export" in head


def read(member: Member, reading: ReadContext) -> Iterator[Record | Failure]:
    """The records of the notes of a file, and a failure where it ends before it should."""
    seen: Counter[str] = Counter()
    position, is_whole = 0, True
    with member.open() as stream:
        for item in _notes(stream):
            if isinstance(item, Failure):
                is_whole = False
                yield Failure(f"{member.inner_path} {item.location}".strip(), item.fault, item.message, whole_unit=True)
                continue
            position += 1
            yield _record(item, position, member, reading, seen)
    if not position and is_whole:
        yield Failure(member.inner_path, "empty", "the export holds no note; if the notebook has some, export it again")


Fields = dict[str, list[str]]
"""name of an element of a note -> its texts, in the file's order"""


class _NoteParser:
    """Collects the fields of notes while a file is parsed piece by piece."""

    def __init__(self) -> None:
        self.notes: list[Fields] = []
        """notes that have ended and were not taken yet"""
        self._fields: Fields | None = None
        self._parts: list[str] | None = None
        self._length = 0
        self._parser = expat.ParserCreate()
        self._parser.buffer_text = True
        self._parser.StartElementHandler = self._start
        self._parser.EndElementHandler = self._end
        self._parser.CharacterDataHandler = self._add

    def feed(self, block: bytes, *, is_last: bool = False) -> None:
        """Parses a piece. Raises ExpatError."""
        self._parser.Parse(block, is_last)

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        if name == "note":
            self._fields = {}
        self._parts, self._length = ([], 0) if name in _FIELDS else (None, 0)

    def _add(self, text: str) -> None:
        self._length += len(text)
        if self._parts is not None and self._length <= _MAX_FIELD:
            self._parts.append(text)

    def _end(self, name: str) -> None:
        if name == "note" and self._fields is not None:
            self.notes.append(self._fields)
            self._fields = None
        elif self._parts is not None and self._fields is not None:
            self._fields.setdefault(name, []).append("".join(self._parts))
        self._parts = None


def _notes(stream: BinaryIO) -> Iterator[Fields | Failure]:
    """The notes of a file; a failure where it is damaged."""
    parser = _NoteParser()
    try:
        while block := stream.read(_BLOCK):
            parser.feed(block)
            yield from _taken(parser)
        parser.feed(b"", is_last=True)
    except (expat.ExpatError, ZipRejected):
        yield from _taken(parser)
        why = "the file is damaged or ends before it should, what precedes was read; export it again"
        yield Failure("", "truncated", why)


def _taken(parser: _NoteParser) -> list[Fields]:
    notes, parser.notes = parser.notes, []
    return notes


def _record(fields: Fields, position: int, member: Member, reading: ReadContext, seen: Counter[str]) -> Record:
    title, content = _first(fields, "title"), _first(fields, "content")
    created, updated = _time(_first(fields, "created")), _time(_first(fields, "updated"))
    body = _text_of(content)
    text = "\n".join(filter(None, (title, body, _first(fields, "source-url"))))
    key = f"enex {_first(fields, 'created')} {title}"
    seen[key] += 1
    ts = created if updated is None else updated
    extra = {"labels": _all(fields, "tag"), "attachments": _all(fields, "file-name")}
    return Record(
        source_id=reading.hash(key if seen[key] == 1 else f"{key} {seen[key]}"),
        text=text,
        rag_source_type="note",
        from_=_first(fields, "author") or None,
        subject=title or None,
        ts=ts,
        date_quality="exact" if ts is not None else "none",
        content_type="application/enex+xml",
        file_name=member.name,
        source_uri=member.location,
        locations=[f"{member.location}#N{position}"],
        numbers=reference_numbers.find_reference_numbers(text),
        extra={name: values for name, values in extra.items() if values} | changed(updated),
    )


def _all(fields: Fields, name: str) -> list[str]:
    return [text for text in (clean(value).strip() for value in fields.get(name, ())) if text]


def _first(fields: Fields, name: str) -> str:
    return next(iter(_all(fields, name)), "")


def _text_of(content: str) -> str:
    """The text of a note's contents, which are a kind of HTML."""
    page = _TODO.sub(_box, _PROLOG.sub("", content))
    return html.extract(f"<meta charset=utf-8>{page}".encode())[0].text if page else ""


def _box(match: re.Match[str]) -> str:
    return "[x] " if 'checked="true"' in match[1] else "[ ] "


def _time(text: str) -> int | None:
    """Seconds UTC of a date such as `20230310T120000Z`; None for others."""
    try:
        return int(datetime.strptime(text, "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC).timestamp())
    except ValueError:
        return None
