"""Which rows of a table hold a known value, told column by column and far quicker than row by row.

The strings of a column are searched where they lie, one after another, for digits and letters alone. Each row that
holds a value is found so; others may be, and few are, so `KnownValues.values_in` has the last word.
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

_OTHER_DIGITS = r"[^\P{Nd}0-9]"
_LETTERS = string.ascii_letters.encode()
"""no number goes across one"""
_DIGITS_AND_BREAKS = bytes.maketrans(_LETTERS, b"x" * len(_LETTERS))
_BETWEEN_DIGITS = bytes(set(range(256)) - {*_LETTERS, *string.digits.encode(), *APART.encode()})
"""what may stand between the digits of a number; more than may, so a row that is found is looked at again"""


def rows_that_hold(table: pa.Table | pa.RecordBatch, known: KnownValues) -> Iterator[tuple[int, set[HeldValue]]]:
    """The number of each row that holds values, and these."""
    rows = rows_that_may_hold(table, known)
    for number, row in zip(rows.tolist(), table.take(pa.array(rows)).to_pylist() if len(rows) else (), strict=True):
        if held := known.values_in(APART.join(nested_text.texts(row))):
            yield number, held


def rows_that_may_hold(table: pa.Table | pa.RecordBatch, known: KnownValues) -> Places:
    """The rows of which any string, those in lists, structs and bytes as well, may hold one of the values."""
    found = [np.empty(0, np.int64)]
    parts: dict[bool, list[tuple[pa.Array, Places]]] = {True: [], False: []}
    for column in table.columns if known and table.num_rows else ():
        whole = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
        for strings, rows in _strings(whole, np.arange(len(whole))):
            # a look at many short columns costs more than their bytes; the case of ASCII is folded far quicker
            for ascii_only, some in _by_script(strings, rows):
                parts[ascii_only].append(some)
    for alike in filter(None, parts.values()):
        rows = np.concatenate([some for _, some in alike])
        found.append(rows[_places(pa.concat_arrays([strings for strings, _ in alike]), known)])
    return np.unique(np.concatenate(found))


def _by_script(strings: pa.Array, rows: Places) -> Iterator[tuple[bool, tuple[pa.Array, Places]]]:
    """The strings of ASCII alone, and the others, each with their rows."""
    if _bytes_of(strings).isascii():
        yield True, (strings, rows)
        return
    mask = pc.string_is_ascii(strings)
    yield True, (strings.filter(mask), rows[_matching(mask)])
    others = pc.invert(mask)
    yield False, (strings.filter(others), rows[_matching(others)])


def _strings(array: pa.Array, rows: Places) -> Iterator[tuple[pa.Array, Places]]:
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


def _places(strings: pa.Array, known: KnownValues) -> Places:
    """Which of the strings may hold a value."""
    ended = pc.binary_join_element_wise(strings, *(pa.scalar(one, pa.large_string()) for one in (APART, "")))
    data = _bytes_of(ended)
    ends = _ends(data)
    if len(ends) != len(strings):  # some hold a NUL of their own
        cut = pc.match_substring(strings, APART)
        others = _matching(pc.invert(cut))
        return np.union1d(_matching(cut), others[_places(strings.filter(pc.invert(cut)), known)])
    found = [_strings_with_numbers(data, known)]
    plain = data.lower() if data.isascii() else fold_case(data.decode("utf-8", "replace")).encode()
    plain = plain.replace(b"%40", b"@") if b"%40" in plain else plain
    found.append(_string_numbers(plain, known.words.starts(plain, known.entities)))
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


def _ends(data: bytes) -> Places:
    return np.flatnonzero(np.frombuffer(data, np.uint8) == 0)


def _matching(mask: pa.Array) -> Places:
    return np.flatnonzero(mask.to_numpy(zero_copy_only=False))


def _strings_with_numbers(data: bytes, known: KnownValues) -> Places:
    """Which of the strings hold the digits of a value one after another, whatever stands between them but letters."""
    digits = data.translate(_DIGITS_AND_BREAKS, _BETWEEN_DIGITS)
    return _string_numbers(digits, known.numbers.starts(digits, known.entities))


def _string_numbers(data: bytes, places: Places) -> Places:
    """Which strings these places lie in, where each string ends with a NUL."""
    return _ends(data).searchsorted(places) if len(places) else places
