"""Writes and reads an index as parquet files in a folder."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pyarrow.parquet as pq

from relrag_pipelines.files import atomic
from relrag_pipelines.graphrag.schema import ALL, OPTIONAL, Tables, to_arrow
from relrag_pipelines.stores import parquet_file


def write(tables: Tables, folder: Path) -> None:
    """Writes `<table>.parquet` for every table that there is, for the owner only. Equal tables give equal bytes.

    Raises pyarrow.ArrowInvalid or ArrowTypeError before any file is replaced where a value is of another type.
    """
    stored = {name: to_arrow(name, tables[name]) for name in ALL if name in tables or name not in OPTIONAL}
    for name, table in stored.items():
        with atomic.replace_file(folder / f"{name}.parquet") as beside:
            pq.write_table(table, beside)


def read(folder: Path, name: str) -> pd.DataFrame | None:
    """One table; None where there is no such file."""
    path = folder / f"{name}.parquet"
    return parquet_file.read(path).to_pandas() if path.exists() else None
