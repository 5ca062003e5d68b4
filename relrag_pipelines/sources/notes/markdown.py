"""Notes as Markdown, of Obsidian and Notion, with their front matter, tags and links."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime

from relrag_pipelines.records import Failure, Record
from relrag_pipelines.sources import ReadContext
from relrag_pipelines.sources.document import text_markdown
from relrag_pipelines.sources.document.document_date import document_date
from relrag_pipelines.sources.formats.charset_detection import CharsetError
from relrag_pipelines.sources.formats.members import Member
from relrag_pipelines.sources.notes.links import NoteLinks, shown_links
from relrag_pipelines.sources.notes.names import has_notion_id, native_name, title_of
from relrag_pipelines.text import reference_numbers

_FRONT_MATTER = re.compile(r"\A---[ \t]*\n(.*?)\n(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL)
_FIELD = re.compile(r"^([A-Za-z][\w -]{0,40}):[ \t]*(.*(?:\n[ \t]*-[ \t].*|\n[ \t]+\S.*)*)$", re.MULTILINE)
_TAG = re.compile(r"(?<![\w&/#])#([^\W\d][\w/-]{0,80})")
_CODE = re.compile(r"```.*?(?:```|\Z)|`[^`\n]*`", re.DOTALL)
_CREATED = ("date", "created", "created_at", "creation date")
_MAX_TAGS = 100


def read(data: bytes, member: Member, reading: ReadContext, links: NoteLinks) -> Iterator[Record | Failure]:
    """The record of a note, or a failure with the reason why it has no record."""
    try:
        document, _ = text_markdown.markdown(data)
    except CharsetError as error:
        yield Failure(member.inner_path, error.fault, f"{error}; save the note as UTF-8", whole_unit=True)
        return
    fields = _front_matter(document.text)
    if document.date is None:
        document.date, document.date_has_time = _created(fields)
    ts, quality = document_date(document, member.name, member.mtime * 10**9, reading.timezone)
    title = title_of(member.path)
    text = shown_links(document.text)
    extra = {
        "tags": _tags(fields, document.text),
        "aliases": _values(fields.get("aliases", "")),
        "references": [
            f"notes:{reading.hash(native_name(path))}" for path in links.targets(document.text, member.path)
        ],
    }
    yield Record(
        source_id=reading.hash(native_name(member.path)),
        text=text if title in text[:300] or has_notion_id(member.path) else f"{title}\n\n{text}",
        rag_source_type="note",
        from_=document.author,
        subject=title or document.title,
        ts=ts,
        date_quality=quality,
        content_type=text_markdown.MARKDOWN,
        file_name=member.name,
        source_uri=member.location,
        locations=[member.location],
        numbers=reference_numbers.find_reference_numbers(text),
        extra={name: values for name, values in extra.items() if values},
    )


def _front_matter(text: str) -> dict[str, str]:
    match = _FRONT_MATTER.match(text)
    return {name.strip().casefold(): value for name, value in _FIELD.findall(match[1])} if match else {}


def _values(text: str) -> list[str]:
    """The values of a field: one, a list in brackets, or a line each behind a dash."""
    lines = [line.strip().removeprefix("- ").strip() for line in text.strip().strip("[]").split("\n")]
    values = [value.strip().strip("\"'") for line in lines for value in line.split(",")]
    return [value for value in values if value and value != "-"][:_MAX_TAGS]


def _tags(fields: dict[str, str], text: str) -> list[str]:
    stated = _values(fields.get("tags", "") or fields.get("tag", ""))
    body = _CODE.sub("", _FRONT_MATTER.sub("", text))
    return list(dict.fromkeys([*(tag.lstrip("#") for tag in stated), *_TAG.findall(body)]))[:_MAX_TAGS]


def _created(fields: dict[str, str]) -> tuple[datetime | None, bool]:
    """When the front matter says that the note was made, and whether it states a time of day."""
    for name in _CREATED:
        text = fields.get(name, "").strip().strip("\"'")
        try:
            return datetime.fromisoformat(text), len(text) > len("2024-04-06")
        except ValueError:
            continue
    return None, True
