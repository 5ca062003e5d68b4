"""The Arrow schema and the DuckDB tables of declared rows (records.py), and rows as Arrow tables."""

from __future__ import annotations

import dataclasses
import functools
import operator
import types
import typing
from dataclasses import dataclass
from typing import Any, get_args, get_origin

import orjson
import pyarrow as pa

from relrag_pipelines.records import Float32, Json, Table
from relrag_pipelines.stores import pandas_probe

pandas_probe.probe()  # here, since whoever converts rows to Arrow takes their schema from this module


@dataclass(frozen=True)
class Column:
    """One column as declared: its name, Arrow type, whether it may be null, and its meaning."""

    attribute: str
    name: str
    type: pa.DataType
    nullable: bool
    json: bool
    meaning: str


_ARROW: dict[object, pa.DataType] = {
    str: pa.string(),
    int: pa.int64(),
    float: pa.float64(),
    Float32: pa.float32(),
    bool: pa.bool_(),
    Json: pa.string(),
}
_EMPTY: dict[str, Any] = {"string": "", "int64": 0, "double": 0.0, "float": 0.0, "bool": False}
_SQL = {"string": "VARCHAR", "int64": "BIGINT", "double": "DOUBLE", "float": "FLOAT", "bool": "BOOLEAN"}


@functools.cache
def columns(row: type) -> tuple[Column, ...]:
    """The declared columns of a row type, in order."""
    hints = typing.get_type_hints(row, include_extras=True)
    declared_columns = []
    for declared in dataclasses.fields(row):
        hint, meaning = get_args(hints[declared.name])[:2]
        kind, nullable = _not_none(hint)
        declared_columns.append(
            Column(declared.name, declared.name.rstrip("_"), _arrow_type(kind), nullable, kind == Json, meaning)
        )
    return tuple(declared_columns)


@functools.cache
def arrow_schema(row: type) -> pa.Schema:
    """The Arrow schema of a row type; columns that may not be empty are not nullable."""
    return pa.schema([pa.field(column.name, column.type, nullable=column.nullable) for column in columns(row)])


def to_table(rows: list[Any], row: type) -> pa.Table:
    """Rows of one type as an Arrow table in the declared column order."""
    arrays = []
    for column in columns(row):
        values = list(map(operator.attrgetter(column.attribute), rows))
        if column.json:
            values = [orjson.dumps(value, option=orjson.OPT_SORT_KEYS).decode() for value in values]
        elif values and pa.types.is_list(column.type) and pa.types.is_struct(column.type.value_type):
            values = [value and [dataclasses.asdict(part) for part in value] for value in values]
        arrays.append(pa.array(values, column.type))
    return pa.Table.from_arrays(arrays, schema=arrow_schema(row))


def conform(table: pa.Table, row: type) -> pa.Table:
    """A table that another schema version wrote, in the shape that its rows have now.

    A column that it lacks has the default of its field, or what counts as empty; one that is no more declared is
    dropped.
    """
    if table.schema.equals(arrow_schema(row)):
        return table
    defaults = {field_.name.rstrip("_"): _default(field_) for field_ in dataclasses.fields(row)}
    arrays = []
    for column in columns(row):
        if column.name in table.column_names:
            arrays.append(pa.array(table[column.name].to_pylist(), column.type))
        else:
            value = defaults[column.name]
            if value is None and not column.nullable:
                value = _EMPTY.get(str(column.type), [])
            value = orjson.dumps(value).decode() if column.json and not isinstance(value, str) else value
            arrays.append(pa.array([value] * table.num_rows, column.type))
    return pa.Table.from_arrays(arrays, schema=arrow_schema(row))


def _default(declared: dataclasses.Field[Any]) -> Any:
    if declared.default_factory is not dataclasses.MISSING:
        return declared.default_factory()
    return None if declared.default is dataclasses.MISSING else declared.default


def ddl(table: Table, extra: tuple[str, ...] = ()) -> list[str]:
    """The statements that create the table and its indexes in DuckDB, re-runnable; `extra` are further columns.

    The key is an index too: made when the rows are there, it takes half the memory of one that they are inserted into.
    """
    parts = [
        f'"{column.name}" {_sql_type(column.type)}{"" if column.nullable else " NOT NULL"}'
        + _sql_default(table.row, column)
        + (" USING COMPRESSION uncompressed" if column.name in table.uncompressed else "")
        for column in columns(table.row)
    ]
    key = ", ".join(f'"{name}"' for name in table.key)
    return [
        f"CREATE TABLE IF NOT EXISTS {table.name} ({', '.join([*parts, *extra])})",
        f"CREATE UNIQUE INDEX IF NOT EXISTS key_{table.name} ON {table.name} ({key})",
    ] + [f'CREATE INDEX IF NOT EXISTS {name} ON {table.name} ("{column}")' for name, column in table.indexes.items()]


def _sql_default(row: type, column: Column) -> str:
    """The default of a column, where its field has a number or a text for one."""
    (value,) = [_default(declared) for declared in dataclasses.fields(row) if declared.name == column.attribute]
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return ""
    literal = f"'{value}'" if isinstance(value, str) else value
    return f" DEFAULT {literal}"


def _not_none(hint: Any) -> tuple[Any, bool]:
    if get_origin(hint) is types.UnionType:
        (kind,) = [part for part in get_args(hint) if part is not types.NoneType]
        return kind, True
    return hint, False


def _arrow_type(kind: Any) -> pa.DataType:
    if get_origin(kind) in (list, tuple):
        return pa.list_(_arrow_type(get_args(kind)[0]))
    if dataclasses.is_dataclass(kind):
        return pa.struct([pa.field(column.name, column.type) for column in columns(typing.cast(type, kind))])
    return _ARROW[kind]


def _sql_type(kind: pa.DataType) -> str:
    if pa.types.is_list(kind):
        return _sql_type(kind.value_type) + "[]"
    if pa.types.is_struct(kind):
        return "STRUCT(" + ", ".join(f'"{part.name}" {_sql_type(part.type)}' for part in kind) + ")"
    return _SQL[str(kind)]
