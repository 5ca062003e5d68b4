"""SMS, MMS and calls: of Android, as SMS Backup & Restore saves them, and of Google Voice in Google Takeout."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from relrag_pipelines.sources import ReadContext, Unit
from relrag_pipelines.sources.chats import export_files
from relrag_pipelines.sources.chats.export_files import ExportFiles, Item
from relrag_pipelines.sources.sms import backup_xml, google_voice

_KIND = "sms"


def read(unit: Unit, reading: ReadContext) -> Iterator[Item]:
    """The messages of a unit, and the files that were sent with them."""
    yield from export_files.read_export(unit, reading, _holds_messages, _read_file)


def recognise(file: Path) -> bool:
    """Whether a file begins like a backup of messages, or one in a zip does."""
    return export_files.recognises(file, _holds_messages_of_phone)


def _holds_messages(path: str, head: bytes) -> bool:
    return backup_xml.is_backup(head) or google_voice.is_export(head)


def _holds_messages_of_phone(path: str, head: bytes) -> bool:
    return _holds_messages(path, head) and not backup_xml.is_of_signal(head)


def _read_file(files: ExportFiles, path: str, reading: ReadContext) -> Iterator[Item]:
    is_voice = google_voice.is_export(export_files.head(files, path))
    return (google_voice.read if is_voice else backup_xml.read_backup)(_KIND, files, path, reading)
