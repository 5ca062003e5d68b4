"""Dagster's storages in SQLite, quicker to open and to use; dagster.yaml names them.

Dagster makes an engine of SQLAlchemy for every statement, and throws away with it the SQL that it compiled. And
whenever it opens a database it reads all its migrations (90 files), also where there is nothing to migrate.
"""

from __future__ import annotations

import functools
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any

from dagster._core.storage.event_log import ConsolidatedSqliteEventLogStorage
from dagster._core.storage.event_log.schema import AssetKeyTable
from dagster._core.storage.runs import SqliteRunStorage
from dagster._core.storage.schedules import SqliteScheduleStorage
from dagster._core.storage.sqlite import SQLITE_BUSY_TIMEOUT_SECONDS, create_db_conn_string
from dagster._serdes import ConfigurableClassData
from sqlalchemy import Connection, Engine, NullPool, Pool, QueuePool, create_engine, inspect, make_url

_engines: dict[str, Engine] = {}
"""by the URL of their database"""
_pools: list[type[Pool]] = [NullPool]
"""the last is used: each connection is closed after use, as Dagster does it, so that none keeps a file open that is put
away or replaced"""


def _engine(url: str) -> Engine:
    if url not in _engines:
        timeout = {"timeout": SQLITE_BUSY_TIMEOUT_SECONDS}
        _engines.setdefault(url, create_engine(url, poolclass=_pools[-1], connect_args=timeout))  # opens nothing yet
    return _engines[url]


@contextmanager
def open_connections() -> Iterator[None]:
    """Keeps connections open from one event to the next: a sync writes some hundred, and opening takes longer."""
    _dispose()
    _pools.append(QueuePool)
    try:
        yield
    finally:
        _pools.pop()
        _dispose()


def _dispose() -> None:
    for url in list(_engines):
        _engines.pop(url).dispose()


@contextmanager
def _connect(url: str) -> Iterator[Connection]:
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
