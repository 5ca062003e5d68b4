"""Records on their way out of private/: every string redacted by the policy of its record's channel.

Ids are not redacted: the export made them safe whatever the policy, so that they mean one record under all of them.
They are looked at once more, and one that still shows personal data is replaced by its keyed hash. A record that
cannot be redacted is left out and reported.

A record may know that a number is a phone: its sender is one, a card or a call names it as one. Then it is one in all
of that record, however it looks. And what goes from the text goes from the record's numbers, where no word is near.
"""

from __future__ import annotations

import bisect
import re
from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from relrag_pipelines.pii import (
    PIIRedactor,
    RedactionError,
    Replacement,
    pseudonyms,
    redacted_numbers,
)
from relrag_pipelines.pii.known_values import KnownValues
from relrag_pipelines.pii.phones import record_phones
from relrag_pipelines.pii.record_strings import OUR_REF, RecordStrings, TextKey
from relrag_pipelines.records import Record
from relrag_pipelines.sources import record_type
from relrag_pipelines.stores.table_schema import arrow_schema

FAULT = "redaction"

_KEPT = {"asset_id", "parent_asset_id", "content_hash", "source", "kind", "timestamp", "spoken"}
"""columns that this project writes itself"""
_IDS = {"source_id", "thread_id", "parent_ref"}
_OURS_IN_IDS = r"\bh?\d*[a-f][0-9a-f]+\b|\b\d{8}T\d{6}\b"
"""hashes and local times"""
_QUOTED_REF = re.compile(f'"(?:{OUR_REF.pattern})"')
_ID_WITH_PII = r"[@＠﹫]|%40|(?:\p{Nd}\P{Nd}{0,3}){7}"
FailedRows = npt.NDArray[np.bool_]
"""which rows could not be redacted"""
PhoneSetIndex = npt.NDArray[np.int64]
"""for each row or value the number of the phones that its record knows of, 0 for none"""


def channel_of(rag_source_type: str, default: str) -> str:
    """The channel whose policy a record is redacted by: that of its type, else the one of its source.

    The source's is `default`, which replaces most, where neither its kind nor its settings name another. Only whole
    types count: `emailing_plan` is no mail, and falls to a policy that replaces more.
    """
    return record_type(rag_source_type).channel or default


def strip_keyed_refs(text: str) -> str:
    """JSON without the strings in it that are keyed hashes, or references made of one: their digits mean nothing."""
    return _QUOTED_REF.sub('""', text)


def redact_records(
    records: pa.Table,
    redactor: PIIRedactor,
    default_channel: str,
    originals: dict[str, str] | None = None,
    values: KnownValues | None = None,
) -> tuple[pa.Table, list[tuple[str, str]]]:
    """Record rows redacted, ordered by asset_id, and asset_id and fault of those that could not be.

    With redaction off the rows stay as they are. `originals` is given each value that was replaced, by its pseudonym;
    where the policy shows none, by the one it would have. `values` are found wherever they stand.
    """
    schema = arrow_schema(Record)
    records = records.select(schema.names).cast(schema)
    parts, failed = [schema.empty_table()], []
    columns = [name for name in schema.names if name not in _KEPT | _IDS]
    if not redactor.enabled:
        return records.sort_by("asset_id"), []
    channels = [channel_of(kind, default_channel) for kind in records["rag_source_type"].to_pylist()]
    for channel in sorted(set(channels)):
        rows = records.filter(pa.array([one == channel for one in channels])).combine_chunks()
        known = record_phones.declared_phones_by_row(rows, redactor, channel, columns)
        gone = {} if originals is None else originals
        redacted, bad = _redact(rows, redactor, channel, known, gone, values)
        parts.append(redacted.filter(pa.array(~bad)))
        failed += [(asset_id, FAULT) for asset_id in rows["asset_id"].filter(pa.array(bad)).to_pylist()]
    return pa.concat_tables(parts).sort_by("asset_id"), sorted(failed)


def _redact(
    rows: pa.Table,
    redactor: PIIRedactor,
    channel: str,
    known: dict[int, tuple[str, ...]],
    originals: dict[str, str],
    values: KnownValues | None,
) -> tuple[pa.Table, FailedRows]:
    """The rows redacted and which could not be; `known` are phones by row, `originals` gets what was replaced."""
    phones = [(), *dict.fromkeys(known.values())]
    numbered = {some: number for number, some in enumerate(phones)}
    knows = np.zeros(rows.num_rows, dtype="int64")
    knows[list(known)] = [numbered[some] for some in known.values()]
    hint = "" if values else redactor.hint(channel)
    hint = f"{hint}|{pseudonyms.PATTERN}" if hint else ""
    strings = RecordStrings(redactor, channel, phones, originals, values)
    bad = np.zeros(rows.num_rows, dtype=bool)
    columns = {}
    for field in rows.schema:
        column = rows[field.name].combine_chunks()
        if field.name in _IDS:
            column, wrong = _safe_ids(column, redactor)
            bad |= wrong
        elif field.name == "numbers":
            column, wrong = _numbers(rows, strings.string, knows)
            bad |= wrong
        elif field.name not in _KEPT:
            column, wrong = _map_strings(column, knows, strings.change(field.name), hint)
            bad |= wrong
        columns[field.name] = column
    told = list(zip(rows["text"].to_pylist(), knows.tolist(), strict=True))
    titled = zip(rows["subject"].to_pylist(), knows.tolist(), strict=True)
    gone = [
        strings.numbers.get(one, {}) | strings.numbers.get(other, {}) for one, other in zip(titled, told, strict=True)
    ]
    columns["numbers"] = redacted_numbers.redact(columns["numbers"], gone, redactor)
    for name in ("pages", "spoken"):
        columns[name] = _shift_offsets(told, rows[name].combine_chunks(), strings.passes)
    return pa.table(columns, schema=rows.schema), bad


def _map_strings(
    array: pa.Array, knows: PhoneSetIndex, change: Callable[[str, int], str], hint: str
) -> tuple[pa.Array, FailedRows]:
    """Every string in the array that the hint matches changed, in lists and structs too, and which rows failed."""
    if pa.types.is_string(array.type):
        return _mapped_strings(array, knows, change, hint)
    if pa.types.is_list(array.type):
        lengths = pc.fill_null(pc.list_value_length(array), 0).to_numpy()
        values, wrong = _map_strings(array.flatten(), np.repeat(knows, lengths), change, hint)
        starts = np.concatenate(([0], np.cumsum(lengths))).astype("int32")
        bad = np.zeros(len(array), dtype=bool)
        bad[np.repeat(np.arange(len(array)), lengths)[wrong]] = True
        return pa.ListArray.from_arrays(starts, values).cast(array.type), bad
    if pa.types.is_struct(array.type):
        mapped = [_map_strings(child, knows, change, hint) for child in array.flatten()]
        bad = np.logical_or.reduce([wrong for _, wrong in mapped])
        return pa.StructArray.from_arrays([child for child, _ in mapped], fields=list(array.type)), bad
    return array, np.zeros(len(array), dtype=bool)


def _mapped_strings(
    array: pa.Array, knows: PhoneSetIndex, change: Callable[[str, int], str], hint: str
) -> tuple[pa.Array, FailedRows]:
    """Each string changed once for all the rows that know the same phones."""
    encoded = array.dictionary_encode()
    count = max(1, len(encoded.dictionary))
    told = pc.add(encoded.indices.cast(pa.int64()), pa.array(knows * count)).dictionary_encode()
    knowing, places = np.divmod(told.dictionary.to_numpy(), count)
    words = encoded.dictionary.take(pa.array(places))
    mask = pc.match_substring_regex(words, hint)
    words, bad = _replace_masked(words, mask, lambda word, place: change(word, int(knowing[place])))
    return words.take(told.indices), _rows_with(told.indices, bad)


def _replace_masked(words: pa.Array, mask: pa.Array, change: Callable[[str, int], str]) -> tuple[pa.Array, list[int]]:
    """The words with those of the mask changed, given each with its place, and the places of those that failed."""
    changed, bad = [], []
    for place, word in zip(pc.indices_nonzero(mask).to_pylist(), words.filter(mask).to_pylist(), strict=True):
        try:
            changed.append(change(word, place))
        except RedactionError:
            changed.append("")
            bad.append(place)
    return pc.replace_with_mask(words, mask, pa.array(changed, pa.string())), bad


def _rows_with(indices: pa.Array, places: list[int]) -> FailedRows:
    return np.isin(pc.fill_null(indices, -1).to_numpy(), places)


def _safe_ids(array: pa.Array, redactor: PIIRedactor) -> tuple[pa.Array, FailedRows]:
    """Ids that show something replaced; hashes and local times are left out of the first, quick look at them."""
    encoded = array.dictionary_encode()
    telling = pc.match_substring_regex(pc.replace_substring_regex(encoded.dictionary, _OURS_IN_IDS, "-"), _ID_WITH_PII)
    words, bad = _replace_masked(encoded.dictionary, telling, lambda word, _: redactor.safe_id(word))
    return words.take(encoded.indices), _rows_with(encoded.indices, bad)


def _numbers(rows: pa.Table, redact: Callable[[str, int], str], knows: PhoneSetIndex) -> tuple[pa.Array, FailedRows]:
    """The numbers that stand alone redacted, and which rows failed."""
    listed, bad = rows["numbers"].to_pylist(), []
    for row in [row for row, some in enumerate(listed) if some]:
        alone = redacted_numbers.stand_alone(listed[row], rows["text"][row].as_py(), rows["subject"][row].as_py())
        try:
            listed[row] = [redact(one, int(knows[row])) if one in alone else one for one in listed[row]]
        except RedactionError:
            bad.append(row)
    return pa.array(listed, rows.schema.field("numbers").type), np.isin(np.arange(rows.num_rows), bad)


def _shift_offsets(told: list[TextKey], column: pa.Array, passes: dict[TextKey, list[list[Replacement]]]) -> pa.Array:
    """A column of stretches of the text, their offsets moved along with the redacted text."""
    stretches = column.to_pylist()
    touched = [row for row, one in enumerate(told) if stretches[row] and passes.get(one)]
    for row in touched:
        for changes in passes[told[row]]:
            for one in stretches[row]:
                one["start"], one["end"] = _shift(one["start"], changes), _shift(one["end"], changes)
    return pa.array(stretches, column.type) if touched else column


def _shift(offset: int, changes: list[Replacement]) -> int:
    """Where an offset comes to lie; one inside a replaced stretch moves to the end of what replaces it."""
    before = bisect.bisect_left(changes, offset, key=lambda change: change.start)
    shift = sum(len(change.new) - (change.end - change.start) for change in changes[:before])
    return max(offset, changes[before - 1].end) + shift if before else offset
