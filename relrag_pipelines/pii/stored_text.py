"""The text within whatever is stored: strings in lists and structs, bytes unpacked and decoded, JSON unescaped."""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from relrag_pipelines.pii.known_values import APART, KnownValues


def may_hold(rows: pa.RecordBatch | pa.Table, known: KnownValues) -> bool:
    """Whether any of the rows holds one of the values, told by the distinct strings of each column."""
    return any(known.entities(APART.join(_distinct(column))) for column in rows.columns)


def texts(value: Any) -> Iterator[str]:
    """The strings within a value; bytes are unpacked and decoded."""
    if isinstance(value, str):
        yield _unescaped(value)
    elif isinstance(value, bytes):
        yield _decoded(value)
    elif isinstance(value, Mapping):
        for key, one in value.items():
            yield from texts(key)
            yield from texts(one)
    elif isinstance(value, list | tuple):
        for one in value:
            yield from texts(one)


def _unescaped(text: str) -> str:
    """The text, with what JSON in it stands for beside it where that differs."""
    if "\\u" not in text:
        return text
    try:
        return APART.join([text, *texts(json.loads(text))])
    except ValueError:
        return text


def _decoded(data: bytes) -> str:
    """Bytes as text: Dagster packs what it keeps of runs; two bytes a character where every other one is empty."""
    with suppress(zlib.error):
        data = zlib.decompress(data)
    if data[1::2].count(0) * 4 > len(data):
        return data.decode("utf-16-le", "replace")
    return data.decode("utf-8", "replace")


def _distinct(array: pa.Array | pa.ChunkedArray) -> Iterator[str]:
    """The distinct strings of a column, those within lists, structs and bytes as well."""
    if isinstance(array, pa.ChunkedArray):
        array = array.combine_chunks()
    kind = array.type
    if pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind):
        yield from _distinct(pc.list_flatten(array))
    elif pa.types.is_map(kind):
        yield from texts(array.to_pylist())
    elif pa.types.is_struct(kind):
        for part in array.flatten():
            yield from _distinct(part)
    elif pa.types.is_dictionary(kind):
        yield from _distinct(array.dictionary)
    elif any(check(kind) for check in _TEXT):
        yield from texts(pc.unique(array.drop_null()).to_pylist())


_TEXT = (
    pa.types.is_string,
    pa.types.is_large_string,
    pa.types.is_string_view,
    pa.types.is_binary,
    pa.types.is_large_binary,
    pa.types.is_fixed_size_binary,
)
