"""A document filed in Paperless-ngx, read from its API or from an export."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True)
class FiledDocument:
    """A document with what its owner filed it under, by names instead of ids."""

    id: int
    title: str
    content: str
    """the text that Paperless recognised"""
    created: str
    """the document's date: a day, or a time of an older server; ISO 8601"""
    added: str
    modified: str
    mime_type: str
    """of the original"""
    original_name: str
    checksum: str
    """of the original, hex; which hash it is depends on the version of the server"""
    correspondent: str = ""
    document_type: str = ""
    storage_path: str = ""
    language: str = ""
    address: str = ""
    """the document's page on the server"""
    archive_serial_number: int | None = None
    page_count: int | None = None
    tags: list[str] = field(default_factory=list)
    custom_fields: list[list[str]] = field(default_factory=list)
    """name and value of each"""
    notes: list[list[str]] = field(default_factory=list)
    """day, author and text of each"""
    archive: Path | None = None
    """the PDF/A that Paperless made"""
    original: Path | None = None
    """the file as it was filed"""

    def filing(self) -> Iterator[str]:
        """What it is filed under, as lines of text."""
        if self.document_type:
            yield f"Document type: {self.document_type}"
        if self.tags:
            yield f"Tags: {', '.join(self.tags)}"
        for name, value in self.custom_fields:
            yield f"{name}: {value}"
        for day, author, note in self.notes:
            yield f"Note ({', '.join(filter(None, (day, author)))}): {note}"
