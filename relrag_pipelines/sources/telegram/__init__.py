"""Chats exported by Telegram Desktop: result.json, of one chat or of the whole account, and pages of HTML.

The JSON is written by Telegram Desktop's export_output_json.cpp, the HTML by export_output_html.cpp. A message has the
id of its chat and its own; pages name their chat by its title only, so its id is looked up in the result.json that
Telegram writes beside them when both are exported, and is made of the title otherwise.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from relrag_pipelines.sources import ReadContext, Unit
from relrag_pipelines.sources.chats import export_files
from relrag_pipelines.sources.chats.export_files import ExportFiles, Item
from relrag_pipelines.sources.telegram import export_html, export_json


def read(unit: Unit, reading: ReadContext) -> Iterator[Item]:
    """The messages of a unit, and the files that were sent with them."""
    yield from export_files.read_export(unit, reading, _holds_messages, _read_file)


def recognise(file: Path) -> bool:
    """Whether a file begins like an export of Telegram, or one in a zip does."""
    return export_files.recognises(file, _holds_messages)


def _holds_messages(path: str, head: bytes) -> bool:
    return export_json.is_export(head) or export_html.is_export(head)


def _read_file(files: ExportFiles, path: str, reading: ReadContext) -> Iterator[Item]:
    is_json = export_json.is_export(export_files.head(files, path))
    return export_json.read(files, path, reading) if is_json else export_html.read(files, path, reading)
