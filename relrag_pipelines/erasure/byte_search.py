"""Searches every byte that an archive stores for values; the proof of erasure is based on it.

The raw bytes of every file are searched for each value as UTF-8, UTF-16 of both byte orders, and JSON-escaped. Packed
content is read as well: the strings of parquet, DuckDB and SQLite, and the payloads of points, also on a server.
"""

from __future__ import annotations

import itertools
import json
import sqlite3
import zlib
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import ahocorasick_rs
import duckdb
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from relrag_pipelines.erasure import raw_items
from relrag_pipelines.files import atomic
from relrag_pipelines.files.sparse_files import iter_data
from relrag_pipelines.stores import catalog, retired_generations, vector_store
from relrag_pipelines.stores.vectors.protocol import StoreError

MIN_BYTES = 6
"""shorter values occur in packed bytes by chance, so they are searched for in unpacked text only"""
_BATCH_ROWS, _FETCHED_ROWS = 8_192, 256
_RAW_FOLDERS = ("raw", "mirror")
"""folders of private/ with original bytes of items"""


_RAW_PAIRS = {("private", folder) for folder in _RAW_FOLDERS}


@dataclass
class SearchResult:
    """The result of a search."""

    files: int = 0
    holding: dict[str, int] = field(default_factory=dict)
    """file, relative to the home -> number of values in it"""
    hits: set[str] = field(default_factory=set, repr=False)
    """the values that occur in any file"""
    unreadable: list[str] = field(default_factory=list)
    """files whose content could not be read; their raw bytes were searched"""
    opaque_files: int = 0
    """files with unopened content, such as PDF, zip or PGP within a mail that could not be fully read"""


class SearchPatterns:
    """Values to search for, all in one pass."""

    def __init__(self, values: Sequence[str], *, plain: bool = False) -> None:
        """`plain` searches for UTF-8 only."""
        self.values = list(values)
        patterns: list[bytes] = []
        self._value_of: list[int] = []
        for number, value in enumerate(self.values):
            value_patterns = [_utf8(value)] if plain else encodings(value)
            patterns += value_patterns
            self._value_of += [number] * len(value_patterns)
        self.longest = max(map(len, patterns), default=1)
        self._automaton = ahocorasick_rs.BytesAhoCorasick(patterns) if patterns else None

    def values_in(self, data: bytes) -> set[str]:
        """The values that occur in the bytes."""
        return {value for value, _, _ in self._matches(data)}

    def whole(self, data: bytes) -> set[str]:
        """The values that occur as whole words; the bytes are UTF-8."""
        return {value for value, start, end in self._matches(data) if _is_whole_word(data, start, end)}

    def _matches(self, data: bytes) -> Iterator[tuple[str, int, int]]:
        if self._automaton is not None:
            for pattern, start, end in self._automaton.find_matches_as_indexes(data, overlapping=True):
                yield self.values[self._value_of[pattern]], start, end


def encodings(value: str) -> list[bytes]:
    """The bytes of a value in each encoding: UTF-8, UTF-16 of both byte orders, and JSON-escaped once and twice."""
    escaped = json.dumps(value)[1:-1]
    texts = [value, json.dumps(value, ensure_ascii=False)[1:-1], escaped, json.dumps(escaped)[1:-1]]
    texts.append(_upper_escapes(escaped))
    encoded = [_utf8(text) for text in texts]
    encoded += [value.encode(charset, "surrogatepass") for charset in ("utf-16-le", "utf-16-be")]
    return list(dict.fromkeys(encoded))


def search(home: Path, values: Sequence[str], words: Sequence[str] = ()) -> SearchResult:
    """Searches every file below `home` for the values, and for the words as whole words.

    `values` are searched for in raw bytes and unpacked text, `words` only in unpacked text.
    """
    result, byte_patterns, word_patterns = SearchResult(), SearchPatterns(values), SearchPatterns(words, plain=True)
    for name in atomic.files(home):
        path = home / name
        if path.is_symlink() or not path.is_file():
            continue
        result.files += 1
        try:
            hits = _hits_in_bytes(path, byte_patterns)
        except FileNotFoundError:  # such as the journal of a database that another process had open
            continue
        try:
            result.opaque_files += _is_raw(path) and raw_items.is_packed(path.read_bytes())
            for text in unpacked_text(path):
                hits |= byte_patterns.values_in(text) | word_patterns.whole(text)
        except (OSError, ValueError, pa.ArrowException, duckdb.Error, sqlite3.Error, StoreError) as error:
            result.unreadable.append(f"{name} ({type(error).__name__})")
        if hits:
            result.holding[name] = len(hits)
            result.hits |= hits
    return result


def unpacked_text(path: Path) -> Iterator[bytes]:
    """Yields the unpacked text of a file as UTF-8, its strings separated by NUL."""
    with path.open("rb") as file:
        head = file.read(16)
    if head.startswith(b"PAR1"):
        yield from _parquet(path)
    elif head[8:12] == b"DUCK":
        yield from _duckdb(path)
    elif head.startswith(b"SQLite format 3"):
        yield from _sqlite(path)
    elif path.name in vector_store.PACKED and path.parent.name == retired_generations.VECTORS:
        yield from (json.dumps(payload, ensure_ascii=False).encode() for payload in vector_store.payloads(path.parent))
    elif _is_raw(path):
        yield from map(_utf8, raw_items.texts(path.read_bytes()))
    elif path.suffix in (".json", ".jsonl", ".vtt", ".yaml", ".err", ".out", ""):
        yield from iter_data(path, 0)


def _is_raw(path: Path) -> bool:
    """Whether the file holds the original bytes of an item, below private/raw/ or private/mirror/."""
    return any(pair in _RAW_PAIRS for pair in itertools.pairwise(path.parts[:-2]))


def distinct_strings(array: Any) -> Iterator[bytes]:
    """The distinct strings within an Arrow array, lists and structs included."""
    yield from (join_strings(pc.unique(strings)) for strings in _string_arrays(array))


def join_strings(strings: pa.Array) -> bytes:
    """Strings or bytes as UTF-8, separated by NUL."""
    return b"\0".join(_utf8(value) if isinstance(value, str) else value for value in strings.to_pylist())


def _string_arrays(array: Any) -> Iterator[pa.Array]:
    """The arrays of strings and of bytes within an array, without nulls."""
    if isinstance(array, pa.ChunkedArray):
        array = array.combine_chunks()
    if pa.types.is_list(array.type) or pa.types.is_large_list(array.type):
        yield from _string_arrays(pc.list_flatten(array))
    elif pa.types.is_struct(array.type):
        for part in array.flatten():
            yield from _string_arrays(part)
    elif pa.types.is_dictionary(array.type):
        yield from _string_arrays(array.dictionary)
    elif pa.types.is_string(array.type) or pa.types.is_large_string(array.type) or pa.types.is_binary(array.type):
        yield array.drop_null()


def _batch_strings(batch: pa.RecordBatch) -> Iterator[bytes]:
    """Yields the distinct strings of a batch, over all columns of a type together."""
    arrays_by_type: dict[pa.DataType, list[pa.Array]] = defaultdict(list)
    for column in batch.columns:
        for strings in _string_arrays(column):
            arrays_by_type[strings.type].append(strings)
    for arrays in arrays_by_type.values():
        yield join_strings(pc.unique(pa.concat_arrays(arrays)))


def _parquet(path: Path) -> Iterator[bytes]:
    with pq.ParquetFile(path) as file:
        yield str(file.schema_arrow.metadata or "").encode()
        for batch in file.iter_batches(_BATCH_ROWS):
            yield from _batch_strings(batch)


def _duckdb(path: Path) -> Iterator[bytes]:
    for _, batches in catalog.tables(path, _BATCH_ROWS):
        for batch in batches:
            yield from _batch_strings(batch)


def _sqlite(path: Path) -> Iterator[bytes]:
    with closing(sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)) as connection:
        names = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
        for (name,) in names:
            quoted = name.replace('"', '""')
            rows = connection.execute(f'SELECT * FROM "{quoted}"')  # noqa: S608
            while batch := rows.fetchmany(_FETCHED_ROWS):
                yield b"\0".join(_cell(value) for row in batch for value in row if isinstance(value, str | bytes))


def _cell(value: str | bytes) -> bytes:
    return _utf8(value) if isinstance(value, str) else _decompress(value)


def _decompress(data: bytes) -> bytes:
    """Decompresses zlib data, as Dagster stores the definitions of its runs; returns other data unchanged."""
    try:
        return zlib.decompress(data)
    except zlib.error:
        return data


def _is_whole_word(data: bytes, start: int, end: int) -> bool:
    first_letter = data[start : start + 4].decode("utf-8", "ignore")[:1]
    last_letter = data[max(start, end - 4) : end].decode("utf-8", "ignore")[-1:]
    previous = data[max(0, start - 4) : start].decode("utf-8", "ignore")[-1:]
    following = data[end : end + 4].decode("utf-8", "ignore")[:1]
    return not (previous.isalnum() and first_letter.isalnum()) and not (following.isalnum() and last_letter.isalnum())


def _upper_escapes(escaped: str) -> str:
    parts = escaped.split("\\u")
    return "\\u".join([parts[0], *(part[:4].upper() + part[4:] for part in parts[1:])])


def _utf8(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _hits_in_bytes(path: Path, patterns: SearchPatterns) -> set[str]:
    """The values in the raw bytes of a file."""
    pieces = iter_data(path, patterns.longest - 1)
    return {value for piece in pieces for value in patterns.values_in(piece)}
