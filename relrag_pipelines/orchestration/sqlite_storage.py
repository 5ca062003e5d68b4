"""Dagster's storages in SQLite, quicker to open and to use.

Dagster makes an engine of SQLAlchemy for every statement, and throws away with it the SQL that it compiled. And
whenever it opens a database it reads all its migrations (90 files), also where there is nothing to migrate. Its rows
are JSON that repeats the names of all its fields; here they are compressed. Command line, web server, daemon and the
runs that it starts all use these: dagster.yaml names them.
"""

from __future__ import annotations

import functools
import os
import sqlite3
import threading
import zlib
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any

from dagster import DagsterEvent, DagsterEventType, EventLogEntry
from dagster._core.storage.event_log import ConsolidatedSqliteEventLogStorage
from dagster._core.storage.event_log.schema import AssetCheckExecutionsTable, AssetKeyTable, SqlEventLogStorageTable
from dagster._core.storage.runs import SqliteRunStorage
from dagster._core.storage.runs.schema import RunsTable
from dagster._core.storage.schedules import SqliteScheduleStorage
from dagster._core.storage.sqlite import SQLITE_BUSY_TIMEOUT_SECONDS, create_db_conn_string
from dagster._serdes import ConfigurableClassData
from sqlalchemy import (
    Connection,
    Dialect,
    Engine,
    QueuePool,
    Text,
    TypeDecorator,
    create_engine,
    event,
    inspect,
    make_url,
)
from sqlalchemy.exc import InvalidatePoolError
from sqlalchemy.pool import ConnectionPoolEntry

from relrag_pipelines.files.failpoints import failpoint

# Dagster's own setting: events of one step that are there together are stored by `store_event_batch`
os.environ.setdefault("DAGSTER_EVENT_BATCH_SIZE", "500")


class CompressedText(TypeDecorator[str]):
    """Compresses text in SQLite. Rows of earlier versions, which hold plain text, are still read."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Dialect) -> Any:
        """What is stored: bytes of zlib in SQLite, else the text."""
        return value if value is None or dialect.name != "sqlite" else zlib.compress(value.encode())

    def process_result_value(self, value: Any, dialect: Dialect) -> str | None:
        """The text."""
        return zlib.decompress(value).decode() if isinstance(value, bytes) else value


# columns that no query of Dagster compares
for _column in (
    SqlEventLogStorageTable.c.event,
    AssetCheckExecutionsTable.c.evaluation_event,
    AssetKeyTable.c.last_materialization,
    RunsTable.c.run_body,
):
    _column.type = CompressedText()

_engines: dict[str, Engine] = {}
"""by the URL of their database"""
_OF_EXECUTION = {
    DagsterEventType.ENGINE_EVENT,
    DagsterEventType.LOGS_CAPTURED,
    DagsterEventType.RESOURCE_INIT_STARTED,
    DagsterEventType.RESOURCE_INIT_SUCCESS,
    DagsterEventType.STEP_OUTPUT,
}
_left_out: set[DagsterEventType] = set()
_unannounced: set[str] = set()
_batch = threading.local()
"""`current`: URL and connection of the batch that this thread stores; `latest`: the newest event of each asset in it"""


def _engine(url: str) -> Engine:
    return _engines.get(url) or _engines.setdefault(url, _make_engine(url))


def _make_engine(url: str) -> Engine:
    """An engine that keeps connections open from one event to the next: opening takes longer than an event."""
    engine = create_engine(url, poolclass=QueuePool, connect_args={"timeout": SQLITE_BUSY_TIMEOUT_SECONDS})
    event.listen(engine, "connect", _prepare)
    event.listen(engine, "checkout", _refuse_replaced)
    event.listen(engine, "commit", _before_commit)
    return engine


def _prepare(connection: sqlite3.Connection, record: ConnectionPoolEntry) -> None:
    # safe in WAL mode against a killed process and a corrupt file; a power cut may cost the last events, and losing
    # them loses no data
    connection.execute("PRAGMA synchronous = NORMAL")
    connection.execute("PRAGMA secure_delete = ON")  # compressed bytes of a deleted run would stay in free pages
    record.info["file"] = _identity(connection)


def _refuse_replaced(connection: sqlite3.Connection, record: ConnectionPoolEntry, _: object) -> None:
    """Has a connection to a file that was put away or replaced, as by `relrag restore`, opened again."""
    if record.info["file"] != _identity(connection):
        raise InvalidatePoolError


def _identity(connection: sqlite3.Connection) -> tuple[int, int] | None:
    """Device and number of the file that now bears the name of the database; None if none does."""
    (_, _, path) = connection.execute("PRAGMA database_list").fetchone()
    try:
        status = Path(path).stat()
    except FileNotFoundError:
        return None
    return status.st_dev, status.st_ino


def _before_commit(connection: Connection) -> None:
    failpoint("dagster.commit", Path(connection.engine.url.database or ""))


@contextmanager
def few_events(tables: Collection[str]) -> Iterator[None]:
    """Has this process store fewer events: none that only says how a step was executed, in one process and without
    resources, and none that only announces one of these assets, which are made together within a second.
    """
    _left_out.update(_OF_EXECUTION)
    _unannounced.update(tables)
    try:
        yield
    finally:
        _left_out.clear()
        _unannounced.clear()


def _is_left_out(event: DagsterEvent | None) -> bool:
    if event is None:
        return False
    if event.event_type != DagsterEventType.ASSET_MATERIALIZATION_PLANNED:
        return event.event_type in _left_out
    return event.asset_key is not None and event.asset_key.to_user_string() in _unannounced


def _without_repetitions(event: EventLogEntry) -> EventLogEntry:
    """The event without what it says twice: its message, the node of its step, and run, step and job as tags."""
    inner = event.dagster_event
    if inner is None or not inner.message:
        return event
    node = None if inner.step_handle else inner.node_handle
    return event._replace(user_message="", dagster_event=inner._replace(logging_tags={}, node_handle=node))


@contextmanager
def closing_connections() -> Iterator[None]:
    """Leaves no connection open at the end, so that the files can be put away."""
    _dispose()
    try:
        yield
    finally:
        _dispose()


def _dispose() -> None:
    for url in list(_engines):
        _engines.pop(url).dispose()


@contextmanager
def _connect(url: str) -> Iterator[Connection]:
    batch_url, batch_connection = getattr(_batch, "current", ("", None))
    if batch_connection is not None and batch_url == url:
        yield batch_connection
        return
    with _engine(url).connect() as connection, connection.begin():
        yield connection


def _has_schema(url: str) -> bool:
    """Whether Dagster has made this database: it holds the version of its tables, which is written after them."""
    path = Path(make_url(url).database or "")
    if not path.exists():
        return False
    with closing(sqlite3.connect(path)) as connection, suppress(sqlite3.Error):
        return connection.execute("SELECT 1 FROM alembic_version").fetchone() is not None
    return False


class EventLogStorage(ConsolidatedSqliteEventLogStorage):
    """The events of all runs, in one database."""

    @contextmanager
    def _connect(self) -> Iterator[Connection]:
        with _connect(self._conn_string) as connection:
            yield connection

    def store_event(self, event: EventLogEntry) -> None:
        """Stores an event, unless `few_events` leaves it out."""
        if not _is_left_out(event.dagster_event):
            super().store_event(_without_repetitions(event))

    def store_event_batch(self, events: Sequence[EventLogEntry]) -> None:
        """Stores events in one transaction, and of each asset only the last in the table of assets."""
        latest: dict[str, tuple[EventLogEntry, int]] = {}
        with _connect(self._conn_string) as connection:
            _batch.current, _batch.latest = (self._conn_string, connection), latest
            try:
                super().store_event_batch(events)
            finally:
                del _batch.current, _batch.latest
            for event, event_id in latest.values():
                super()._store_asset_event(connection, event, event_id)

    def _store_asset_event(self, conn: Connection, event: EventLogEntry, event_id: int) -> None:
        latest: dict[str, tuple[EventLogEntry, int]] | None = getattr(_batch, "latest", None)
        if latest is None or event.dagster_event is None or event.dagster_event.asset_key is None:
            super()._store_asset_event(conn, event, event_id)
        else:
            latest[event.dagster_event.asset_key.to_string()] = event, event_id

    @functools.cached_property
    def _known(self) -> set[str]:
        """Tables, and columns of that of the assets, that are there: asked for every event, and they stay."""
        return set()

    def has_table(self, table_name: str) -> bool:
        """Whether there is a table of that name."""
        if table_name not in self._known:
            with _engine(self._conn_string).connect() as connection:
                if not inspect(connection).has_table(table_name):
                    return False
            self._known.add(table_name)
        return True

    def _has_asset_key_col_on_connection(self, conn: Connection, column_name: str) -> bool:
        column = f"{AssetKeyTable.name}.{column_name}"
        if column not in self._known:
            if not super()._has_asset_key_col_on_connection(conn, column_name):
                return False
            self._known.add(column)
        return True


class RunStorage(SqliteRunStorage):
    """The runs."""

    @classmethod
    def from_config_value(cls, inst_data: ConfigurableClassData | None, config_value: Mapping[str, Any]) -> RunStorage:
        """The storage that dagster.yaml asks for, its database made where there is none."""
        url = create_db_conn_string(config_value["base_dir"], "runs")
        if not _has_schema(url):
            cls.from_local(inst_data=inst_data, **config_value)
        return cls(url, inst_data)

    @contextmanager
    def connect(self) -> Iterator[Connection]:
        """A connection in a transaction."""
        with _connect(self._conn_string) as connection:
            yield connection


class ScheduleStorage(SqliteScheduleStorage):
    """The ticks of schedules and sensors."""

    @classmethod
    def from_config_value(
        cls, inst_data: ConfigurableClassData | None, config_value: Mapping[str, Any]
    ) -> ScheduleStorage:
        """The storage that dagster.yaml asks for, its database made where there is none."""
        url = create_db_conn_string(config_value["base_dir"], "schedules")
        if not _has_schema(url):
            cls.from_local(inst_data=inst_data, **config_value)
        return cls(url, inst_data)

    @contextmanager
    def connect(self) -> Iterator[Connection]:
        """A connection in a transaction."""
        with _connect(self._conn_string) as connection:
            yield connection
