"""Whether a fault came from a full disk."""

from __future__ import annotations

import errno
import sqlite3

from relrag_pipelines.errors import SafeError

FULL = "no space is left on the disk"
"""how the message of a fault begins that came from a full disk"""

_DISK_FULL_MESSAGES = ("no space left", "disk is full", "disk full", "disk quota exceeded", "not enough disk space")
"""how DuckDB, SQLite and Qdrant tell it; none of them has an exception of its own for it"""


class DiskFull(SafeError):
    """Nothing can be written where RELRAG_HOME lies; the message says how much room is needed."""


def is_disk_full_error(error: BaseException) -> bool:
    """Whether an exception, or one that it came from, tells of a disk that takes no more."""
    import duckdb  # only where something went wrong: it takes a tenth of a second

    seen: set[int] = set()
    chain: list[BaseException | None] = [error]
    while chain:
        exception = chain.pop()
        if exception is None or id(exception) in seen:
            continue
        seen.add(id(exception))
        if isinstance(exception, OSError) and exception.errno in (errno.ENOSPC, errno.EDQUOT):
            return True
        # the text of any other exception may be text of the archive
        if (isinstance(exception, sqlite3.Error | duckdb.Error) or type(exception) is Exception) and _tells(exception):
            return True
        chain += [exception.__cause__, exception.__context__]
    return False


def _tells(error: BaseException) -> bool:
    message = str(error).lower()
    return any(words in message for words in _DISK_FULL_MESSAGES)
