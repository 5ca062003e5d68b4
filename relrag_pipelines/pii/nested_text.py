"""Extracts the strings in stored values: from lists, structs, compressed bytes and escaped JSON."""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any

import pyarrow as pa


def texts(value: Any) -> Iterator[str]:
    """The strings within a value; bytes are decompressed and decoded."""
    if isinstance(value, str):
        yield value
        yield from _unescape(value)
    elif isinstance(value, bytes):
        yield from texts(_decode(value))
    elif isinstance(value, Mapping):
        for key, element in value.items():
            yield from texts(key)
            yield from texts(element)
    elif isinstance(value, list | tuple):
        for element in value:
            yield from texts(element)


def _unescape(text: str) -> Iterator[str]:
    """The strings of JSON in the text, if it contains escapes."""
    if "\\u" in text:
        with suppress(ValueError):
            yield from texts(json.loads(text))


def _decode(data: bytes) -> str:
    """Bytes as text: Dagster compresses data of runs; UTF-16 is assumed if most odd bytes are zero."""
    with suppress(zlib.error):
        data = zlib.decompress(data)
    if data[1::2].count(0) * 4 > len(data):
        return data.decode("utf-16-le", "replace")
    return data.decode("utf-8", "replace")


def is_packed(kind: pa.DataType) -> bool:
    """Whether an array of this type is read value by value: bytes and maps."""
    binary = (pa.types.is_binary, pa.types.is_large_binary, pa.types.is_fixed_size_binary, pa.types.is_map)
    return any(check(kind) for check in binary)
