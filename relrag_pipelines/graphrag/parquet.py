"""Writes and reads an index as parquet files in a folder."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pyarrow.parquet as pq

from relrag_pipelines.files import atomic
from relrag_pipelines.graphrag.schema import ALL, OPTIONAL, Tables, to_arrow
from relrag_pipelines.stores import parquet_file


def write(tables: Tables, folder: Path) -> None:
    """Writes `<table>.parquet` for every existing table, readable for the owner only. Equal tables give equal bytes.

    Raises pyarrow.ArrowInvalid or ArrowTypeError for a value of another type, before any file is replaced.
    """
    stored = {name: to_arrow(name, tables[name]) for name in ALL if name in tables or name not in OPTIONAL}
    for name, table in stored.items():
        with atomic.replace_file(folder / f"{name}.parquet") as temporary:
            pq.write_table(table, temporary)


def read(folder: Path, name: str) -> pd.DataFrame | None:
    """One table; None if its file doesn't exist."""
    path = folder / f"{name}.parquet"
    return parquet_file.read(path).to_pandas() if path.exists() else None
