"""Finds the rows of a table that contain a known value; searches columns, which is far faster than rows.

The strings of a column are searched in their buffer, by digits and letters only. This prefilter finds each row that
contains a value, and few others, which `KnownValues.values_in` then rejects.
"""

from __future__ import annotations

import string
from collections.abc import Iterator

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from relrag_pipelines.pii import nested_text
from relrag_pipelines.pii.known_values import APART, KnownValues, fold_case
from relrag_pipelines.pii.value_spellings import HeldValue, Places

_NON_ASCII_DIGITS = r"[^\P{Nd}0-9]"
_LETTERS = string.ascii_letters.encode()
"""separators: no number contains a letter"""
_DIGITS_AND_BREAKS = bytes.maketrans(_LETTERS, b"x" * len(_LETTERS))
_BETWEEN_DIGITS = bytes(set(range(256)) - {*_LETTERS, *string.digits.encode(), *APART.encode()})
"""bytes ignored between the digits of a number; more than numbers contain, so rows are checked again"""


def rows_that_hold(table: pa.Table | pa.RecordBatch, values: KnownValues) -> Iterator[tuple[int, set[HeldValue]]]:
    """The number of each row that contains values, with these values."""
    rows = rows_that_may_hold(table, values)
    for number, row in zip(rows.tolist(), table.take(pa.array(rows)).to_pylist() if len(rows) else (), strict=True):
        if row_values := values.values_in(APART.join(nested_text.texts(row))):
            yield number, row_values


def rows_that_may_hold(table: pa.Table | pa.RecordBatch, values: KnownValues) -> Places:
    """The rows that may contain one of the values in a string, including those in lists, structs and bytes."""
    candidates = [np.empty(0, np.int64)]
    parts: dict[bool, list[tuple[pa.Array, Places]]] = {True: [], False: []}
    for column in table.columns if values and table.num_rows else ():
        whole = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
        for strings, rows in _strings(whole, np.arange(len(whole))):
            # few large searches are faster than many small ones, and case folding of ASCII is faster
            for ascii_only, strings_with_rows in _by_script(strings, rows):
                parts[ascii_only].append(strings_with_rows)
    for group in filter(None, parts.values()):
        rows = np.concatenate([group_rows for _, group_rows in group])
        candidates.append(rows[_candidate_strings(pa.concat_arrays([strings for strings, _ in group]), values)])
    return np.unique(np.concatenate(candidates))


def _by_script(strings: pa.Array, rows: Places) -> Iterator[tuple[bool, tuple[pa.Array, Places]]]:
    """The ASCII strings and the other strings, each with their rows."""
    if _bytes_of(strings).isascii():
        yield True, (strings, rows)
        return
    mask = pc.string_is_ascii(strings)
    yield True, (strings.filter(mask), rows[_matching(mask)])
    others = pc.invert(mask)
    yield False, (strings.filter(others), rows[_matching(others)])


_LIST_KINDS = (pa.types.is_list, pa.types.is_large_list, pa.types.is_fixed_size_list)
_STRING_KINDS = (pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view)


def _strings(array: pa.Array, rows: Places) -> Iterator[tuple[pa.Array, Places]]:
    """The strings within an array, without nulls, and the row of each."""
    kind = array.type
    if pa.types.is_dictionary(kind):
        yield from _strings(array.dictionary_decode(), rows)
    elif any(is_kind(kind) for is_kind in _LIST_KINDS):
        lengths = pc.fill_null(pc.list_value_length(array), 0).to_numpy(zero_copy_only=False)
        yield from _strings(array.flatten(), np.repeat(rows, lengths))
    elif pa.types.is_struct(kind):
        for part in array.flatten():
            yield from _strings(part, rows)
    elif any(is_kind(kind) for is_kind in _STRING_KINDS):
        valid_rows = array.is_valid().to_numpy(zero_copy_only=False)
        yield array.drop_null().cast(pa.large_string()), rows[valid_rows]
    elif nested_text.is_packed(kind):
        values = [(row, nested_text.texts(value)) for row, value in zip(rows.tolist(), array.to_pylist(), strict=True)]
        pairs = [(row, text) for row, texts in values for text in texts]
        yield pa.array([text for _, text in pairs], pa.large_string()), np.array([row for row, _ in pairs], np.int64)


def _candidate_strings(strings: pa.Array, values: KnownValues) -> Places:
    """Indices of the strings that may contain a value."""
    ended = pc.binary_join_element_wise(strings, *(pa.scalar(ending, pa.large_string()) for ending in (APART, "")))
    data = _bytes_of(ended)
    ends = _ends(data)
    if len(ends) != len(strings):  # some hold a NUL of their own
        cut = pc.match_substring(strings, APART)
        others = _matching(pc.invert(cut))
        return np.union1d(_matching(cut), others[_candidate_strings(strings.filter(pc.invert(cut)), values)])
    candidates = [_strings_with_numbers(data, values)]
    plain = data.lower() if data.isascii() else fold_case(data.decode("utf-8", "replace")).encode()
    plain = plain.replace(b"%40", b"@") if b"%40" in plain else plain
    candidates.append(_string_numbers(plain, values.words.starts(plain, values.entities)))
    if not data.isascii():
        candidates.append(_matching(pc.match_substring_regex(strings, _NON_ASCII_DIGITS)))
    if b"\\u" in data:
        candidates.append(_matching(pc.match_substring(strings, "\\u")))
    return np.unique(np.concatenate(candidates))


def _bytes_of(strings: pa.Array) -> bytes:
    """The concatenated strings, as UTF-8."""
    if not len(strings):
        return b""
    _, offsets, data = strings.buffers()
    bounds = np.frombuffer(offsets, np.int64)[[strings.offset, strings.offset + len(strings)]]
    return memoryview(data)[bounds[0] : bounds[1]].tobytes()


def _ends(data: bytes) -> Places:
    return np.flatnonzero(np.frombuffer(data, np.uint8) == 0)


def _matching(mask: pa.Array) -> Places:
    return np.flatnonzero(mask.to_numpy(zero_copy_only=False))


def _strings_with_numbers(data: bytes, values: KnownValues) -> Places:
    """Indices of the strings that contain the digits of a value with anything but letters between them."""
    digits = data.translate(_DIGITS_AND_BREAKS, _BETWEEN_DIGITS)
    return _string_numbers(digits, values.numbers.starts(digits, values.entities))


def _string_numbers(data: bytes, places: Places) -> Places:
    """Indices of the NUL-terminated strings that contain these byte offsets."""
    return _ends(data).searchsorted(places) if len(places) else places
