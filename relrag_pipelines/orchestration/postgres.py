"""Checks the PostgreSQL database in which Dagster is to store runs and events."""

import importlib.util
import os

import sqlalchemy

from relrag_pipelines.settings import SettingsError

_POSTGRES_URL = "DAGSTER_POSTGRES_URL"


def check() -> None:
    """Says what is wrong with the database, without its password, before Dagster tries for long."""
    if importlib.util.find_spec("dagster_postgres") is None:
        raise SettingsError('dagster_storage is "postgres", which needs dagster-postgres; install relrag[postgres]')
    example = "postgresql+psycopg2://user:password@host:5432/database"
    url = os.environ.get(_POSTGRES_URL, "")
    # without the driver in its name, SQLAlchemy takes another one
    if not url.startswith("postgresql+psycopg2://"):
        problem = "is not set" if not url else "does not begin with postgresql+psycopg2://"
        raise SettingsError(f'dagster_storage is "postgres", but {_POSTGRES_URL} {problem}; write it as {example}')
    try:
        engine = sqlalchemy.create_engine(url, poolclass=sqlalchemy.pool.NullPool)
        with engine.connect():
            return
    except (sqlalchemy.exc.ArgumentError, ValueError):
        raise SettingsError(f"{_POSTGRES_URL} cannot be read; write it as {example}") from None
    except sqlalchemy.exc.SQLAlchemyError as error:
        where = f"{engine.url.host}:{engine.url.port or 5432}, database {engine.url.database}"
        fault = type(error).__name__
    raise SettingsError(f"PostgreSQL at {where} cannot be used ({fault}); check that it runs, and {_POSTGRES_URL}")
