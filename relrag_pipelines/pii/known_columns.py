"""Which rows of a table hold a known value, told column by column and far quicker than row by row.

The strings of a column are searched where they lie, one after another, for digits and letters alone. Each row that
holds a value is found so; others may be, and few are, so `KnownValues.values_in` has the last word.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from relrag_pipelines.pii import nested_text
from relrag_pipelines.pii.known_values import APART, LEAST_PHONE, HeldValue, KnownValues, fold_case

Rows = npt.NDArray[np.int64]
"""numbers of rows, in order"""

_LONGEST_GAP = 12
"""bytes between two digits of a number at most: three characters of up to four bytes"""
_OTHER_DIGITS = r"[^\P{Nd}0-9]"
_APART = ord("x")
"""between runs of digits"""
_BREAKS = np.zeros(256, bool)
_BREAKS[[0, *b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"]] = True
"""bytes that no number goes across"""


def rows_that_hold(table: pa.Table | pa.RecordBatch, known: KnownValues) -> Iterator[tuple[int, set[HeldValue]]]:
    """The number of each row that holds values, and these."""
    rows = rows_that_may_hold(table, known)
    for number, row in zip(rows.tolist(), table.take(pa.array(rows)).to_pylist() if len(rows) else (), strict=True):
        if held := known.values_in(APART.join(nested_text.texts(row))):
            yield number, held


def rows_that_may_hold(table: pa.Table | pa.RecordBatch, known: KnownValues) -> Rows:
    """The rows of which any string, those in lists, structs and bytes as well, may hold one of the values."""
    found = [np.empty(0, np.int64)]
    parts: dict[bool, list[tuple[pa.Array, Rows]]] = {}
    for column in table.columns if known and table.num_rows else ():
        whole = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
        for strings, rows in _strings(whole, np.arange(len(whole))):
            # a look at many short columns costs more than their bytes; the case of ASCII is folded far quicker
            parts.setdefault(_bytes_of(strings).isascii(), []).append((strings, rows))
    for alike in parts.values():
        rows = np.concatenate([some for _, some in alike])
        found.append(rows[_places(pa.concat_arrays([strings for strings, _ in alike]), known)])
    return np.unique(np.concatenate(found))


def _strings(array: pa.Array, rows: Rows) -> Iterator[tuple[pa.Array, Rows]]:
    """The strings within an array without nulls, and the row that each belongs to."""
    kind = array.type
    if pa.types.is_dictionary(kind):
        yield from _strings(array.dictionary_decode(), rows)
    elif pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind):
        lengths = pc.fill_null(pc.list_value_length(array), 0).to_numpy(zero_copy_only=False)
        yield from _strings(array.flatten(), np.repeat(rows, lengths))
    elif pa.types.is_struct(kind):
        for part in array.flatten():
            yield from _strings(part, rows)
    elif pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind):
        there = array.is_valid().to_numpy(zero_copy_only=False)
        yield array.drop_null().cast(pa.large_string()), rows[there]
    elif nested_text.is_packed(kind):
        values = [(row, nested_text.texts(value)) for row, value in zip(rows.tolist(), array.to_pylist(), strict=True)]
        told = [(row, text) for row, texts in values for text in texts]
        yield pa.array([text for _, text in told], pa.large_string()), np.array([row for row, _ in told], np.int64)


def _places(strings: pa.Array, known: KnownValues) -> Rows:
    """Which of the strings may hold a value."""
    ended = pc.binary_join_element_wise(strings, *(pa.scalar(one, pa.large_string()) for one in (APART, "")))
    data = _bytes_of(ended)
    ends = _ends(data)
    if len(ends) != len(strings):  # some hold a NUL of their own
        cut = pc.match_substring(strings, APART)
        others = _matching(pc.invert(cut))
        return np.union1d(_matching(cut), others[_places(strings.filter(pc.invert(cut)), known)])
    found = [ends.searchsorted(_digit_places(data, known))]
    plain = data.lower() if data.isascii() else fold_case(data.decode("utf-8", "replace")).encode()
    plain = plain.replace(b"%40", b"@") if b"%40" in plain else plain
    starts = [start for _, start, _ in known.by_letters.find_matches_as_indexes(plain, overlapping=True)]
    found.append((_ends(plain) if starts else ends).searchsorted(np.array(starts, np.int64)))
    if not data.isascii():
        found.append(_matching(pc.match_substring_regex(strings, _OTHER_DIGITS)))
    if b"\\u" in data:
        found.append(_matching(pc.match_substring(strings, "\\u")))
    return np.unique(np.concatenate(found))


def _bytes_of(strings: pa.Array) -> bytes:
    """What the strings are, one after another, as UTF-8."""
    if not len(strings):
        return b""
    _, offsets, data = strings.buffers()
    bounds = np.frombuffer(offsets, np.int64)[[strings.offset, strings.offset + len(strings)]]
    return memoryview(data)[bounds[0] : bounds[1]].tobytes()


def _ends(data: bytes) -> Rows:
    return np.flatnonzero(np.frombuffer(data, np.uint8) == 0)


def _matching(mask: pa.Array) -> Rows:
    return np.flatnonzero(mask.to_numpy(zero_copy_only=False))


def _digit_places(data: bytes, known: KnownValues) -> Rows:
    """Where, however they are grouped, the digits of a value begin."""
    codes = np.frombuffer(data, np.uint8)
    places = np.flatnonzero(codes - np.uint8(48) < 10)
    if len(places) < LEAST_PHONE:
        return np.empty(0, np.int64)
    starts = np.flatnonzero(np.concatenate(([True], _breaks(codes, places))))
    lengths = np.diff(starts, append=len(places))
    long = lengths >= LEAST_PHONE
    kept = places[np.repeat(long, lengths)]
    runs = lengths[long]
    put = np.arange(len(kept)) + np.repeat(np.arange(len(runs)), runs)
    stream = np.full(len(kept) + len(runs), _APART, np.uint8)
    stream[put] = codes[kept]
    matches = known.by_digits.find_matches_as_indexes(stream.tobytes(), overlapping=True)
    found: Rows = kept[put.searchsorted(np.array([start for _, start, _ in matches], np.int64))]
    return found


def _breaks(codes: npt.NDArray[np.uint8], places: Rows) -> npt.NDArray[np.bool_]:
    """Between which of the digits a number cannot go on."""
    gaps = np.diff(places) - 1
    broken = gaps > _LONGEST_GAP
    near = np.flatnonzero((gaps > 0) & ~broken)
    for step in range(1, _LONGEST_GAP + 1):
        near = near[gaps[near] >= step]
        broken[near] |= _BREAKS[codes[places[near] + step]]
    return broken
