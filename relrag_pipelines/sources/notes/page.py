"""Notes as plain text (Apple), as a web page (Keep), and tables of Notion (CSV)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import PurePosixPath

from relrag_pipelines.records import Failure, Record
from relrag_pipelines.sources import ReadContext
from relrag_pipelines.sources import document as documents
from relrag_pipelines.sources.document.document_date import document_date
from relrag_pipelines.sources.formats.members import Member
from relrag_pipelines.sources.notes.links import NoteLinks
from relrag_pipelines.sources.notes.names import native_name, title_of


def read(data: bytes, member: Member, reading: ReadContext, links: NoteLinks) -> Iterator[Record | Failure]:
    """The record of a note, preceded by its failures."""
    document = documents.extract(data, member.name, reading.limits)
    yield from (
        replace(failure, location=f"{member.inner_path} {failure.location}".strip()) for failure in document.failures
    )
    if not document.readable:
        return
    ts, quality = document_date(document, member.name, member.mtime * 10**9, reading.timezone)
    yield Record(
        source_id=reading.hash(native_name(str(PurePosixPath(member.path)))),
        text=document.text,
        rag_source_type="note",
        subject=title_of(member.path) or document.title,
        ts=ts,
        date_quality=quality,
        content_type=document.content_type,
        file_name=member.name,
        source_uri=member.location,
        locations=[member.location],
        numbers=document.numbers,
    )
