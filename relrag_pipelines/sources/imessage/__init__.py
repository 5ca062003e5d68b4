"""Messages of a Mac, `chat.db`: iMessage, SMS and RCS, as macOS stores them and iPhones synchronise them.

The database has no published form. Its tables are `message`, `chat`, `handle` (an account of somebody, by number or
address), `attachment`, and joins of these; columns come and go with the version of macOS, and are probed. Reactions
(tapbacks) are messages of their own that name their target, and become part of it. A message has a GUID, which is the
same on every device.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path

from relrag_pipelines.files.regular_files import RefusedFile
from relrag_pipelines.records import Failure
from relrag_pipelines.sources import ReadContext, Unit
from relrag_pipelines.sources.chats.export_files import Item
from relrag_pipelines.sources.formats import sqlite_file
from relrag_pipelines.sources.imessage.messages import MessagesDatabase

_IDENTIFYING = ("message", "guid", "handle_id", "is_from_me")
"""a table and columns that every version has"""


def read(unit: Unit, reading: ReadContext) -> Iterator[Item]:
    """The messages of a database, and the files that were sent with them."""
    try:
        if not unit.size:
            yield Failure("", "empty", "the file is empty; copy it again", whole_unit=False)
            return
        if not sqlite_file.is_database(unit.file):
            yield Failure(
                "", "not_a_chat", "it is not a database; copy chat.db again, or exclude the file", whole_unit=True
            )
            return
        with sqlite_file.open_database(unit.file, reading.scratch) as database:
            if database.has(*_IDENTIFYING):
                yield from MessagesDatabase(database, unit, reading).items()
            else:
                what = "the database has no messages of Messages; exclude the file"
                yield Failure("", "not_a_chat", what, whole_unit=True)
    except RefusedFile:
        raise
    except (sqlite3.Error, OSError) as error:
        yield sqlite_file.failure_of(error)


def recognise(file: Path) -> bool:
    """Whether a file is such a database."""
    return sqlite_file.holds(file, *_IDENTIFYING)
