"""Discord: channels as DiscordChatExporter writes them, and own messages in Discord's data package.

A message has the same id in both, so that one that both hold is one record.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from pathlib import Path

from relrag_pipelines.files.regular_files import open_plain
from relrag_pipelines.sources import ReadContext, Unit
from relrag_pipelines.sources.chats import export_files
from relrag_pipelines.sources.chats.export_files import ExportFiles, Item
from relrag_pipelines.sources.discord import chat_exporter, data_package

_KIND = "discord"


def read(unit: Unit, reading: ReadContext) -> Iterator[Item]:
    """The messages of a unit, and the files that were sent with them."""
    if not _is_list_of_package(unit.file):  # which is read with the messages
        read_file = functools.partial(_read_file, functools.cache(data_package.list_of_package))
        yield from export_files.read_export(unit, reading, _holds_messages, read_file)


def recognise(file: Path) -> bool:
    """Whether a file holds messages or names of channels, or one in a zip does."""
    return _is_list_of_package(file) or export_files.recognises(file, _holds_messages)


def _is_list_of_package(file: Path) -> bool:
    if file.name not in data_package.LISTS:
        return False
    with open_plain(file) as stream:
        return data_package.is_list(stream.read(export_files.HEAD))


def _holds_messages(path: str, head: bytes) -> bool:
    return chat_exporter.is_export(head) or data_package.is_export(head)


def _read_file(read_list: data_package.ReadList, files: ExportFiles, path: str, reading: ReadContext) -> Iterator[Item]:
    is_package = data_package.is_export(export_files.head(files, path))
    if is_package:
        return data_package.read(_KIND, files, path, reading, read_list)
    return chat_exporter.read(_KIND, files, path, reading)
