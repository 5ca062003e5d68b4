"""A GraphRAG index on disk, as Microsoft's tool or this project wrote it, brought to the columns of 3.x.

Layouts: 3.x (`documents.parquet`, a text unit has one `document_id`), 2.x (the same files, `document_ids`), 1.x
(`create_final_*.parquet` with the columns of 2.x, or the names of 2.x) and those before 1.0 (`create_final_*`, entities
have a `name`, communities no members: these stand in `create_final_nodes`). What is missing or damaged becomes a
problem that is listed, never an error.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from relrag_pipelines.errors import RelragError
from relrag_query.graphrag.citations import Dataset

State = tuple[tuple[str, int, int, int], ...]
"""see `state`"""


class IndexMissing(RelragError):
    """There is no GraphRAG index in the folder that was named."""


@dataclass(frozen=True)
class _Table:
    """The columns of a table that tracing reads."""

    columns: tuple[str, ...]
    former_names: dict[str, str]
    """what a column was called before"""
    required: bool = True
    """an index without it has a problem"""
    query_columns: tuple[str, ...] = ()
    """further columns that queries read, if there are any"""
    for_tracing: bool = True
    """read for tracing, too"""


CLAIM = ("type", "status", "start_date", "end_date", "description")
"""columns of a claim, apart from its subject"""
_COLUMNS = {
    "documents": _Table(("id", "title", "text"), {"raw_content": "text"}, query_columns=("creation_date",)),
    "text_units": _Table(("id", "text", "document_id"), {"document_ids": "document_id"}),
    "entities": _Table(
        ("id", "human_readable_id", "title", "text_unit_ids"), {"name": "title"}, query_columns=("type", "description")
    ),
    "relationships": _Table(
        ("id", "human_readable_id", "source", "target", "text_unit_ids"), {}, query_columns=("description", "weight")
    ),
    "communities": _Table(
        ("community", "entity_ids", "relationship_ids", "text_unit_ids"), {"id": "community"}, query_columns=("level",)
    ),
    "community_reports": _Table(("community", "title", "full_content"), {}, query_columns=("summary", "rank", "level")),
    "covariates": _Table(
        ("id", "human_readable_id", "text_unit_id"),
        {},
        required=False,
        query_columns=("subject_id", *CLAIM, "source_text"),
    ),
    "entity_people": _Table(("entity_id", "person_id"), {}, required=False),
    "vocabulary": _Table(("word", "key", "noun", "text_units"), {}, required=False),
    "record_texts": _Table(("record_id", "text_hash"), {}, required=False, for_tracing=False),
    "text_vectors": _Table(("text_hash", "model", "vector"), {}, required=False, for_tracing=False),
    "nodes": _Table(("title", "community", "id"), {}, required=False),
    "text_unit_chunks": _Table(
        ("text_unit_id", "chunk_id", "page_number", "last_page_number"),
        {},
        required=False,
        query_columns=("ts", "last_ts", "asset_id"),
    ),
}
_LISTS = {"text_unit_ids", "entity_ids", "relationship_ids", "document_id"}
_NUMBERS = {"human_readable_id", "community"}
_NUMBERED = {
    Dataset.REPORTS: ("community_reports", "community"),
    Dataset.ENTITIES: ("entities", "human_readable_id"),
    Dataset.RELATIONSHIPS: ("relationships", "human_readable_id"),
    Dataset.CLAIMS: ("covariates", "human_readable_id"),
}
"""the table and column that a cited number counts in; of Sources it is the row of text_units"""


@dataclass(frozen=True)
class Index:
    """An opened index: what tracing needs of its tables."""

    folder: Path
    layout: str
    """3.x, 2.x, 1.x or 0.x"""
    tables: dict[str, pd.DataFrame]
    """those of 3.x by name, also where a file is missing: then without rows"""
    problems: tuple[str, ...]
    """what is missing or could not be read"""

    @property
    def counts(self) -> dict[str, int]:
        """Rows of each table that has any."""
        return {table: len(rows) for table, rows in self.tables.items() if len(rows)}

    def row(self, dataset: Dataset, number: int) -> int | None:
        """The row with a cited number; None if there is none."""
        if dataset == Dataset.SOURCES:
            return number if number < len(self.tables["text_units"]) else None
        return self.row_of(*_NUMBERED[dataset], number)

    def row_of(self, table: str, column: str, value: object) -> int | None:
        """The first row with a value."""
        rows = self.rows_of(table, column, [value])
        return rows[0] if rows else None

    def rows_of(self, table: str, column: str, values: Sequence[object]) -> list[int]:
        """The rows with these values, in the order of the values; unknown ones are left out."""
        lookup = self._lookup(table, column) if len(values) else {}
        return [lookup[value] for value in values if value in lookup]

    def cell(self, table: str, column: str, row: int) -> Any:
        """One value; a list where the column holds lists."""
        if (table, column) not in self._arrays:
            self._arrays[table, column] = self.tables[table][column].array
        return self._arrays[table, column][row]

    @functools.cached_property
    def _arrays(self) -> dict[tuple[str, str], Any]:
        """A frame takes ten times as long to give one value as the array of its column."""
        return {}

    @functools.cached_property
    def _lookups(self) -> dict[tuple[str, str], dict[object, int]]:
        return {}

    def _lookup(self, table: str, column: str) -> dict[object, int]:
        """Values and their rows; of equal values the first row. Cached on first use."""
        lookup = self._lookups.get((table, column))
        if lookup is None:
            values = self.tables[table][column].tolist()
            rows = range(len(values) - 1, -1, -1)
            lookup = self._lookups[table, column] = dict(zip(reversed(values), rows, strict=True))
        return lookup


def open_index(folder: Path, *, whole: bool = False) -> Index:
    """Opens the index in a folder, or in its folder `output`; with `whole`, columns that only queries read too.

    Raises IndexMissing if the folder has none of the tables.
    """
    location = next((path_ for path_ in (folder, folder / "output") if any(map(_table_name, _parquet(path_)))), None)
    if location is None:
        raise IndexMissing(
            f"{folder}: no GraphRAG index; it needs files such as community_reports.parquet or "
            "create_final_community_reports.parquet"
        )
    files = {name: path for path in _parquet(location) if (name := _table_name(path))}
    problems: list[str] = []
    paths = {name: files.get(name) if whole or table.for_tracing else None for name, table in _COLUMNS.items()}
    tables = {name: _read(name, path, problems, whole=whole) for name, path in paths.items()}
    layout = _layout(files)
    if layout == "0.x" and len(tables["nodes"]):
        tables["communities"] = _with_members(tables["communities"], tables["nodes"])
    return Index(location, layout, tables, tuple(problems))


def state(folder: Path) -> State:
    """A value that changes when the files of an opened index do: names, inodes, sizes and times."""
    stats = [(path.name, path.stat()) for path in _parquet(folder)]
    return tuple((name, stat.st_ino, stat.st_size, stat.st_mtime_ns) for name, stat in stats)


def _parquet(folder: Path) -> list[Path]:
    return sorted(folder.glob("*.parquet"), key=lambda path: (path.name.startswith("create_final_"), path.name))[::-1]


def _table_name(path: Path) -> str:
    """The name of the table in a file; empty if it has none."""
    name = path.stem.removeprefix("create_final_")
    return name if name in _COLUMNS else ""


def _read_columns(path: Path, names: list[str]) -> pd.DataFrame:
    # lists and texts stay with Arrow, and each id of a list in memory once: a million entities have three millions
    repeated = [f"{column}.list.{element}" for column in _LISTS for element in ("element", "item")]
    table = pq.read_table(path, columns=names, read_dictionary=repeated)
    frame: pd.DataFrame = table.combine_chunks().to_pandas(types_mapper=pd.ArrowDtype)
    return frame


def _read(name: str, path: Path | None, problems: list[str], *, whole: bool) -> pd.DataFrame:
    table = _COLUMNS[name]
    column_names = (*table.columns, *(table.query_columns if whole else ()))
    empty = pd.DataFrame({column: pd.Series(dtype=object) for column in column_names})
    if path is None:
        if table.required:
            problems.append(f"{name}.parquet is missing")
        return empty
    try:
        stored = set(pq.read_schema(path).names)
        columns = {column: _stored_name(table, column, stored) for column in column_names}
        frame = _read_columns(path, [former for former in columns.values() if former])
    except (pa.ArrowException, OSError, ValueError) as error:
        problems.append(f"{path.name} cannot be read: {type(error).__name__}")
        return empty
    missing = [column for column in table.columns if columns[column] is None]
    is_complete = name == "communities" and "community" not in missing
    if missing and table.required and not is_complete:
        problems.append(f"{path.name} has no column {', '.join(missing)}")
    return pd.DataFrame(
        {
            column: _clean(column, frame[former]) if former else _substitute(column, frame)
            for column, former in columns.items()
        }
    )


def _stored_name(table: _Table, column: str, stored: set[str]) -> str | None:
    """The name by which a file has a column: its own or a former one; None if it has none."""
    former_names = [older for older, newer in table.former_names.items() if newer == column]
    return next((name for name in (column, *former_names) if name in stored), None)


def _substitute(column: str, frame: pd.DataFrame) -> pd.Series[Any]:
    """The values for a column that a file lacks: before 1.0 the position was the number."""
    if column == "human_readable_id":
        return pd.Series(np.arange(len(frame)), index=frame.index)
    return pd.Series([None] * len(frame), index=frame.index, dtype=object)


def _clean(column: str, values: pd.Series[Any]) -> pd.Series[Any]:
    """Numbers as numbers, which were text before 1.0, and lists as lists, which were joined by commas."""
    if column in _NUMBERS:
        return pd.to_numeric(values, errors="coerce").fillna(-1).astype("int64")
    if column in _LISTS and column != "document_id" and pa.types.is_string(values.dtype.pyarrow_dtype):
        return values.str.split(",")
    return values


def _layout(files: dict[str, Path]) -> str:
    """By what the files are called and which columns they have."""
    schemas = {name: _columns(path) for name, path in files.items()}
    if any(path.stem.startswith("create_final_") for path in files.values()):
        return "1.x" if "community" in schemas.get("communities", ()) else "0.x"
    if "document_id" in schemas.get("text_units", ()):
        return "3.x"
    return "2.x" if "children" in schemas.get("communities", ()) else "1.x"


def _columns(path: Path) -> set[str]:
    try:
        return set(pq.read_schema(path).names)
    except (pa.ArrowException, OSError):
        return set()


def _with_members(communities: pd.DataFrame, nodes: pd.DataFrame) -> pd.DataFrame:
    """Communities with the entities that nodes put into them."""
    members = nodes.groupby("community")["id"].agg(list)
    return communities.assign(entity_ids=communities["community"].map(members))


def ids(value: object) -> list[str]:
    """A cell of ids as a list: it may hold one id, an array or nothing."""
    if value is None or value is pd.NA or isinstance(value, float):
        return []
    return [value] if isinstance(value, str) else [str(element) for element in value]  # type: ignore[attr-defined]
