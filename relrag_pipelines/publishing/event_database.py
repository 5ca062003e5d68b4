"""Dagster's runs and events on a PostgreSQL server, as the search for replaced values reads them."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import sqlalchemy

NAME = "dagster/PostgreSQL"
"""by which a find names it: there is no such file"""
_URL = "DAGSTER_POSTGRES_URL"
_AT_ONCE = 1_000


def tables(since: Mapping[str, int]) -> Iterator[tuple[str, Iterator[dict[str, Any]]]]:
    """Each table of the database with its rows; only those whose `id` is above a number where `since` has one for it.

    Raises ConnectionError where it cannot be read.
    """
    import sqlalchemy

    with _connect() as connection:
        for name in sorted(sqlalchemy.inspect(connection).get_table_names()):
            table = sqlalchemy.Table(name, sqlalchemy.MetaData(), autoload_with=connection)
            query = sqlalchemy.select(table)
            if name in since:
                query = query.where(table.c.id > since[name])
            rows_ = connection.execution_options(yield_per=_AT_ONCE).execute(query).mappings()
            yield name, ({column: _plain(value) for column, value in row.items()} for row in rows_)


def last_row(table: str) -> int:
    """The highest `id` in a table, 0 where it has no row; ConnectionError where it cannot be read."""
    import sqlalchemy

    highest: sqlalchemy.Select[tuple[int | None]] = sqlalchemy.select(
        sqlalchemy.func.max(sqlalchemy.column("id"))
    ).select_from(sqlalchemy.table(table))
    with _connect() as connection:
        return int(connection.scalar(highest) or 0)


@contextmanager
def _connect() -> Iterator[sqlalchemy.Connection]:
    import sqlalchemy

    try:
        engine = sqlalchemy.create_engine(os.environ.get(_URL, ""), poolclass=sqlalchemy.pool.NullPool)
        with engine.connect() as connection:
            yield connection
    except (sqlalchemy.exc.SQLAlchemyError, ImportError, ValueError) as error:  # it may quote the password, or a row
        fault = type(error).__name__
    else:
        return
    raise ConnectionError(fault)


def _plain(value: Any) -> Any:
    return value if value is None or isinstance(value, str | bytes | int | float | list | dict) else str(value)
