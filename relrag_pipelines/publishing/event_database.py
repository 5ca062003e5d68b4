"""Reads Dagster's tables from a PostgreSQL server: for the search for replaced values, and the daemon's heartbeats."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import sqlalchemy

NAME = "dagster/PostgreSQL"
"""stands for a file name in a leak: the database is not a file"""
_URL = "DAGSTER_POSTGRES_URL"
_BATCH_ROWS = 1_000


def tables(since: Mapping[str, int]) -> Iterator[tuple[str, Iterator[dict[str, Any]]]]:
    """Yields each table with its rows; `since` gives, by table, the `id` above which rows are read.

    Raises ConnectionError if the database cannot be read.
    """
    import sqlalchemy

    with _connect() as connection:
        for name in sorted(sqlalchemy.inspect(connection).get_table_names()):
            table = sqlalchemy.Table(name, sqlalchemy.MetaData(), autoload_with=connection)
            query = sqlalchemy.select(table)
            if name in since:
                query = query.where(table.c.id > since[name])
            mappings = connection.execution_options(yield_per=_BATCH_ROWS).execute(query).mappings()
            yield name, ({column: _plain(value) for column, value in row.items()} for row in mappings)


def last_row(table: str) -> int:
    """The highest `id` in a table, 0 if it is empty; ConnectionError if it cannot be read."""
    import sqlalchemy

    highest: sqlalchemy.Select[tuple[int | None]] = sqlalchemy.select(
        sqlalchemy.func.max(sqlalchemy.column("id"))
    ).select_from(sqlalchemy.table(table))
    with _connect() as connection:
        return int(connection.scalar(highest) or 0)


def heartbeat_age() -> float | None:
    """Seconds since the newest heartbeat of Dagster's daemon; None if there is none, or it cannot be read."""
    import sqlalchemy

    query = sqlalchemy.text("SELECT max(timestamp) FROM daemon_heartbeats")
    with suppress(ConnectionError), _connect() as connection:
        written: datetime | None = connection.scalar(query)
        if written:
            return (datetime.now(UTC).replace(tzinfo=None) - written).total_seconds()
    return None


@contextmanager
def _connect() -> Iterator[sqlalchemy.Connection]:
    import sqlalchemy

    try:
        engine = sqlalchemy.create_engine(os.environ.get(_URL, ""), poolclass=sqlalchemy.pool.NullPool)
        with engine.connect() as connection:
            yield connection
    except (
        sqlalchemy.exc.SQLAlchemyError,
        ImportError,
        ValueError,
    ) as error:  # the message may quote the password or a row
        fault = type(error).__name__
    else:
        return
    raise ConnectionError(fault)


def _plain(value: Any) -> Any:
    return value if value is None or isinstance(value, str | bytes | int | float | list | dict) else str(value)
