"""Chats of Facebook Messenger, as Meta's "Download your information" holds them in JSON; see chats/meta.py."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from relrag_pipelines.sources import ReadContext, Unit
from relrag_pipelines.sources.chats import export_files, meta
from relrag_pipelines.sources.chats.export_files import ExportFiles, Item

_KIND = "messenger"


def read(unit: Unit, reading: ReadContext) -> Iterator[Item]:
    """The messages of a unit, and the files that were sent with them."""
    yield from export_files.read_export(unit, reading, lambda path, head: meta.is_export(head), _read_file)


def recognise(file: Path) -> bool:
    """Whether a file is a conversation of Messenger, or a zip with some."""
    return export_files.recognises(
        file, lambda path, head: meta.is_export(head) and not meta.is_of_instagram(path, head)
    )


def _read_file(files: ExportFiles, path: str, reading: ReadContext) -> Iterator[Item]:
    return meta.read(_KIND, files, path, reading, export_files.head(files, path))
