"""SQLite databases of other programs, opened for reading: the file is never written to, nor anything put beside it.

Where the program has not yet moved its newest rows from the write-ahead log (`-wal`) into the file, both are copied
into a folder of their own, where SQLite can apply the log. Which tables and columns there are depends on the version of
the program, so readers probe them. Format: https://www.sqlite.org/fileformat2.html
"""

from __future__ import annotations

import functools
import itertools
import shutil
import sqlite3
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

from relrag_pipelines.files.atomic import make_private
from relrag_pipelines.files.regular_files import open_plain
from relrag_pipelines.records import Failure
from relrag_pipelines.sources import UNREADABLE

HEADER = b"SQLite format 3\0"
_LOG = "-wal"
_LONGEST_VALUE = 2**26
"""bytes of a text or blob that is read"""
_STEPS_BETWEEN_CHECKS = 1_000_000
_CHECKS_BETWEEN_ROWS = 20_000
"""steps of SQLite without a row, in millions, after which a query counts as endless: minutes"""

Row = tuple[Any, ...]


class Database:
    """An open database."""

    def __init__(self, connection: sqlite3.Connection, file: Path) -> None:
        self._connection, self.file = connection, file
        self._checks = 0
        connection.set_progress_handler(self._is_endless, _STEPS_BETWEEN_CHECKS)

    @functools.cached_property
    def tables(self) -> dict[str, frozenset[str]]:
        """The columns of each table, both in lower case."""
        names = self._connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
        return {
            str(name).lower(): frozenset(
                str(row[1]).lower() for row in self._connection.execute(f"PRAGMA table_info({_quoted(str(name))})")
            )
            for (name,) in names
        }

    def has(self, table: str, *columns: str) -> bool:
        """Whether there is a table with these columns."""
        return table in self.tables and self.tables[table].issuperset(columns)

    def column(self, table: str, name: str, alias: str = "", missing: str = "NULL") -> str:
        """The SQL of a column; of one that this version lacks what stands in its place."""
        return f"{alias or table}.{name}" if self.has(table, name) else missing

    def rows(self, query: str, values: Sequence[Any] | Mapping[str, Any] = ()) -> Iterator[Row]:
        """The rows of a query. Raises sqlite3.DatabaseError."""
        try:
            for row in self._connection.execute(query, values):
                self._checks = 0
                yield row
        except UnicodeDecodeError:  # a damaged file whose names of columns are no UTF-8
            raise sqlite3.DatabaseError("database disk image is malformed") from None

    def stream(self, query: str) -> Iterator[Row]:
        """The rows of a query over a whole table, quicker than `rows`. Raises sqlite3.DatabaseError."""
        cursor = self._connection.execute(query)
        return itertools.chain.from_iterable(iter(functools.partial(self._block, cursor), []))

    def _block(self, cursor: sqlite3.Cursor) -> list[Row]:
        self._checks = 0
        return cursor.fetchmany(1000)

    def _is_endless(self) -> bool:
        self._checks += 1
        return self._checks > _CHECKS_BETWEEN_ROWS


def is_database(file: Path) -> bool:
    """Whether a file begins like a database; False if it cannot be read."""
    try:
        with open_plain(file) as stream:
            return stream.read(len(HEADER)) == HEADER
    except OSError:
        return False


@contextmanager
def open_database(file: Path, scratch: Path | None = None) -> Iterator[Database]:
    """A database with the rows of its log. Raises sqlite3.DatabaseError and OSError.

    A database with a log is copied into a folder below `scratch`, which is removed afterwards; without one, below the
    system's temporary folder.
    """
    log = file.with_name(f"{file.name}{_LOG}")
    if not (log.is_file() and log.stat().st_size):
        with open_plain(file):  # refuses what is no plain file
            pass
        with closing(_connect(file, "immutable=1")) as connection:
            yield Database(connection, file)
        return
    if scratch is not None:
        make_private(scratch)
    with tempfile.TemporaryDirectory(prefix="relrag-", dir=scratch) as folder:  # for its owner only
        copy = Path(folder) / "copy.db"
        for source, target in ((file, copy), (log, copy.with_name(f"{copy.name}{_LOG}"))):
            with open_plain(source) as stream, target.open("wb") as written:
                shutil.copyfileobj(stream, written, 2**20)
        with closing(_connect(copy, "mode=rw")) as connection:
            yield Database(connection, file)


def holds(file: Path, table: str, *columns: str) -> bool:
    """Whether a file is a database that has a table with these columns."""
    if not is_database(file):
        return False
    try:
        with open_database(file) as database:
            return database.has(table, *columns)
    except (sqlite3.Error, OSError):
        return False


def failure_of(error: sqlite3.Error | OSError) -> Failure:
    """What is said of a database that cannot be read, or not to its end."""
    if isinstance(error, OSError):
        reason = error.strerror or type(error).__name__
        return Failure("", UNREADABLE, f"the file cannot be read ({reason}); check that it is there", whole_unit=True)
    name = getattr(error, "sqlite_errorname", "") or type(error).__name__
    return Failure("", "damaged", f"the database cannot be read to its end ({name}); copy it again", whole_unit=True)


def _connect(file: Path, mode: str) -> sqlite3.Connection:
    connection = sqlite3.connect(f"file:{quote(str(file))}?{mode}", uri=True, check_same_thread=False)
    connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _LONGEST_VALUE)
    connection.execute("PRAGMA trusted_schema = OFF")
    connection.execute("PRAGMA query_only = ON")
    # texts may be cut within a character
    connection.text_factory = functools.partial(str, encoding="utf-8", errors="replace")
    return connection


def _quoted(name: str) -> str:
    escaped = name.replace('"', '""')
    return f'"{escaped}"'
