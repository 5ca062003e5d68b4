"""Chats of WhatsApp: exported as a .txt or a .zip of it and its media, and the databases of Android and iOS.

msgstore.py and chat_storage.py read the databases; database_rows.py makes their records. waha_server.py mirrors the
chats of a WAHA server, and waha_item.py reads the messages of the mirror.

The format of exports is undocumented and depends on the phone's language, clock and version. timestamps.py parses the
beginning of messages, date_order.py and calendars.py interpret dates, system_messages.py recognises what WhatsApp
itself writes into messages, chat_name.py reads file names, day_halves.py the words beside times. A chat
is read twice, as a stream: detect_format.py finds the charset, the form of its messages and the order of day and month,
chat.py makes records. date_order_fallback.py finds the order where the dates don't show it.
"""

from __future__ import annotations

import functools
import io
import sqlite3
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import BinaryIO

from relrag_pipelines.files.regular_files import RefusedFile, open_plain
from relrag_pipelines.records import Failure, Record
from relrag_pipelines.sources import UNREADABLE, CoveredInterval, ReadContext, Unit
from relrag_pipelines.sources.chats.export_files import ArchiveFiles, FolderFiles, sent_file
from relrag_pipelines.sources.formats import safe_zip, sqlite_file
from relrag_pipelines.sources.remote.secrets import SecretError
from relrag_pipelines.sources.whatsapp import chat_name as titles
from relrag_pipelines.sources.whatsapp import chat_storage, crypt15, msgstore, waha_item
from relrag_pipelines.sources.whatsapp.chat import Chat, read_chat
from relrag_pipelines.sources.whatsapp.date_order_fallback import HEAD_BYTES, OrderHint, detect_order
from relrag_pipelines.sources.whatsapp.detect_format import declared_charset
from relrag_pipelines.sources.whatsapp.timestamps import PARTS, find_form

_DATABASES = (".db", ".sqlite")
_SCHEMAS = {
    msgstore.NEW_SCHEMA: msgstore.read,
    msgstore.OLD_SCHEMA: msgstore.read,
    chat_storage.SCHEMA: chat_storage.read,
}
"""a table with columns by which a database is recognised -> what reads it"""
_NO_DATABASE = "it is not a database, or an encrypted one; decrypt it or copy it again, or exclude the file"
_HEAD_BYTES = 4096
_BLOCK = 2**18


def read(unit: Unit, reading: ReadContext) -> Iterator[Record | Failure | CoveredInterval]:
    """The messages of a unit, and the files that they name."""
    reading = replace(reading, picture_failures=[])
    try:
        yield from _READERS.get(unit.file.suffix.lower(), _read_text)(unit, reading)
        yield from reading.picture_failures
    except safe_zip.ZipRejected as refused:
        yield refused.failure
    except UnicodeDecodeError:
        yield Failure("", "charset", "the file changed while it was read; read it again", whole_unit=True)
    except RefusedFile:
        raise
    except OSError as error:
        reason = error.strerror or type(error).__name__
        yield Failure("", UNREADABLE, f"the file cannot be read ({reason}); check that it is there", whole_unit=True)


def recognise(file: Path) -> bool:
    """Whether a file looks like an export by its first lines, or for a zip by those of a chat in it."""
    if file.suffix.lower() in _DATABASES:
        return any(sqlite_file.holds(file, *schema) for schema in _SCHEMAS)
    if file.suffix.lower() == crypt15.SUFFIX:
        return crypt15.is_backup(file)
    try:
        if file.suffix.lower() != ".zip":
            with open_plain(file) as stream:
                return _begins_like_a_chat(stream)
        with safe_zip.open_archive(file, max_ratio=1000, max_bytes=2**40) as archive:
            return any(_looks_like_a_chat(archive, name) for name in _chats_in(archive, file.name))
    except (safe_zip.ZipRejected, OSError):
        return False


def _read_text(unit: Unit, reading: ReadContext) -> Iterator[Record | Failure | CoveredInterval]:
    return read_chat(_lone_chat(unit, reading), reading)


def _read_plain_database(unit: Unit, reading: ReadContext) -> Iterator[Record | Failure]:
    return _read_database(unit, reading, unit.file)


def _read_database(unit: Unit, reading: ReadContext, file: Path) -> Iterator[Record | Failure]:
    """The messages of a database, which is a unit or was decrypted from one."""
    if not sqlite_file.is_database(file):
        yield Failure("", "not_a_chat", _NO_DATABASE, whole_unit=True)
        return
    try:
        with sqlite_file.open_database(file, reading.scratch) as database:
            reader = next((reader for schema, reader in _SCHEMAS.items() if database.has(*schema)), None)
            if reader is None:
                yield Failure("", "not_a_chat", "the database holds no chats; exclude the file", whole_unit=True)
            else:
                yield from reader(database, unit, reading)
    except sqlite3.Error as error:
        yield sqlite_file.failure_of(error)


def _read_backup(unit: Unit, reading: ReadContext) -> Iterator[Record | Failure]:
    """The messages of an encrypted backup; the files that they name lie beside the backup."""
    try:
        with crypt15.decrypted(unit.file, reading.secret(), reading.scratch, reading.archive_max_bytes) as database:
            yield from _read_database(unit, reading, database)
    except (crypt15.UnreadableBackup, SecretError) as error:
        yield Failure("", "encrypted", f"{error}; then run `relrag failures retry`", whole_unit=True)


def _lone_chat(unit: Unit, reading: ReadContext) -> Chat:
    folders = [folder.name for folder in unit.file.parents][: len(PurePosixPath(unit.path).parts)]

    sent = functools.partial(sent_file, FolderFiles(unit, reading), folder=str(PurePosixPath(unit.path).parent))
    title = titles.title(unit.file.name, *folders)
    others = functools.partial(_hints_of_others, unit, "", reading)
    return Chat(title, unit.path, lambda: open_plain(unit.file), sent, others=others)


def _read_zip(unit: Unit, reading: ReadContext) -> Iterator[Record | Failure | CoveredInterval]:
    with safe_zip.open_archive(unit.file, reading.archive_max_ratio, reading.archive_max_bytes) as archive:
        yield from archive.failures
        chats = _chats_in(archive, unit.file.name)
        if not chats and not archive.failures:
            message = f"none of its {len(archive.members)} files is a chat"
            yield Failure("", "not_a_chat", f"{message}; export the chat again, or exclude the file", whole_unit=True)
        for member in chats:
            yield from read_chat(_chat_in(unit, archive, PurePosixPath(member), reading), reading)


def _chat_in(unit: Unit, archive: safe_zip.SafeZip, member: PurePosixPath, reading: ReadContext) -> Chat:
    folders = [folder.name for folder in member.parents if folder.name]

    sent = functools.partial(sent_file, ArchiveFiles(unit, archive, reading), folder=str(member.parent))

    def opener() -> BinaryIO:
        return archive.open(str(member))

    title = titles.title(member.name, *folders, unit.file.name)
    others = functools.partial(_hints_of_others, unit, str(member), reading)
    return Chat(title, unit.path, opener, sent, str(member), others)


def _hints_of_others(unit: Unit, member: str, reading: ReadContext) -> list[OrderHint]:
    """What all other chats of the source show about the order of day and month."""
    units = {unit_.path: unit_ for unit_ in (*reading.units(), unit)}
    hints: list[OrderHint] = []
    for path, other in units.items():
        for name, hint in _order_hints(other, reading.archive_max_ratio, reading.archive_max_bytes):
            if (path, name) != (unit.path, member):
                hints.append(hint)
    return hints


@functools.lru_cache(maxsize=10_000)
def _order_hints(unit: Unit, max_ratio: int, max_bytes: int) -> list[tuple[str, OrderHint]]:
    """The hint of each chat of a unit, with the chat's name in the archive; none for an unreadable unit."""
    hints: list[tuple[str, OrderHint | None]] = []
    try:
        if unit.file.suffix.lower() != ".zip":
            with open_plain(unit.file) as stream:
                hints.append(("", detect_order(stream.read(HEAD_BYTES))))
        else:
            with safe_zip.open_archive(unit.file, max_ratio, max_bytes) as archive:
                for name in _chats_in(archive, unit.file.name):
                    with archive.open(name) as member:
                        hints.append((name, detect_order(member.read(HEAD_BYTES))))
    except (safe_zip.ZipRejected, OSError):
        pass
    return [(name, hint) for name, hint in hints if hint]


def _chats_in(archive: safe_zip.SafeZip, archive_name: str) -> list[str]:
    """The chats among the texts of an archive, folder by folder; the other texts are attachments.

    A chat has the name that iOS gives every chat, or the archive's own, or a name that WhatsApp gives another chat. If
    no text of a folder has such a name, its chats are the texts that begin like one.
    """
    own = titles.chat_key(titles.title(archive_name))
    folders: dict[PurePosixPath, list[PurePosixPath]] = {}
    for name in archive.members:
        path = PurePosixPath(name)
        if path.suffix.lower() == ".txt" and not path.name.startswith("._") and path.parts[0] != "__MACOSX":
            folders.setdefault(path.parent, []).append(path)
    chats: list[PurePosixPath] = []
    for texts in folders.values():
        chats += _chats_by_name(texts, own) or [text for text in texts if _looks_like_a_chat(archive, str(text))]
    return [str(chat) for chat in chats]


def _chats_by_name(texts: list[PurePosixPath], own_key: str) -> list[PurePosixPath]:
    """The texts of a folder that are chats by their names; `own_key` is the key of the archive's title."""
    if nameless := [text for text in texts if titles.is_nameless(text.name)]:
        return nameless
    title_by_text = {text: title for text in texts if (title := titles.named_title(text.name))}
    own = [text for text, title in title_by_text.items() if titles.chat_key(title) == own_key]
    return own or list(title_by_text)


def _looks_like_a_chat(archive: safe_zip.SafeZip, name: str) -> bool:
    with archive.open(name) as stream:
        return _begins_like_a_chat(stream)


def _begins_like_a_chat(stream: BinaryIO) -> bool:
    """Whether the first non-blank line begins like a message, and one of the first messages has a sender."""
    head = stream.read(_HEAD_BYTES)
    charset = declared_charset(lambda: io.BytesIO(head))
    lines = "\n" + head.decode(charset.name, "replace").replace("\r\n", "\n")
    form = find_form(lines)
    if form is None:
        return False
    before, *parts = form.messages.split(lines)
    return not before.strip() and any(": " in body for body in parts[4::PARTS])


_READERS: dict[str, Callable[[Unit, ReadContext], Iterator[Record | Failure | CoveredInterval]]] = {
    ".zip": _read_zip,
    crypt15.SUFFIX: _read_backup,
    waha_item.SUFFIX: waha_item.read,
    **dict.fromkeys(_DATABASES, _read_plain_database),
}
"""what reads a unit, by its suffix; every other one is a text"""
