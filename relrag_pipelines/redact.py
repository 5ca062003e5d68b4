"""Redaction of whole tables: every string of a record, after the policy of its channel.

Ids are not looked at: the export step made them safe, and they must mean one record under any policy. A record of
which anything cannot be redacted is left out and reported; it is never passed on as it was.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import orjson
import pyarrow as pa
import pyarrow.compute as pc

from relrag_pipelines.pii import Change, PIIRedactor, RedactionError, apply
from relrag_pipelines.records import Record, arrow_schema

IDS = frozenset(
    {
        "asset_id",
        "source",
        "kind",
        "rag_source_type",
        "source_id",
        "thread_id",
        "parent_asset_id",
        "parent_ref",
        "timestamp",
        "date_quality",
        "content_hash",
        "language",
    }
)
"""columns that are made by this project or made safe by the export step"""

_CHANNELS = {"whatsapp": "whatsapp", "email": "gmail", "paperless": "paperless", "call": "call_recording"}
_FAULT = "redaction"

Redact = Callable[[str], str]


def channel_of(rag_source_type: str, otherwise: str) -> str:
    """The policy for records of that type: that of their own channel, else the source's."""
    return next((channel for prefix, channel in _CHANNELS.items() if rag_source_type.startswith(prefix)), otherwise)


def redact_records(records: pa.Table, redactor: PIIRedactor, channel: str) -> tuple[pa.Table, list[tuple[str, str]]]:
    """Record rows with every string redacted, and (asset_id, fault) of those that had to be left out.

    channel is the policy of records whose type has none of its own. The order of the rows is kept.
    """
    if not redactor.enabled or not records.num_rows:
        return records, []
    kinds = records["rag_source_type"]
    channels = {kind: channel_of(kind, channel) for kind in pc.unique(kinds).to_pylist()}
    if len(set(channels.values())) == 1:
        return _redact(records, redactor, next(iter(channels.values())))
    parts, failed = [], []
    order = records.append_column("order", pa.array(range(records.num_rows)))
    for name in sorted(set(channels.values())):
        of_channel = pa.array([kind for kind, used in channels.items() if used == name])
        rows = order.filter(pc.is_in(kinds, of_channel))
        positions = dict(zip(rows["asset_id"].to_pylist(), rows["order"].to_pylist(), strict=True))
        redacted, left_out = _redact(rows.drop_columns(["order"]), redactor, name)
        failed += left_out
        column = pa.array([positions[asset_id] for asset_id in redacted["asset_id"].to_pylist()], pa.int64())
        parts.append(redacted.append_column("order", column))
    return pa.concat_tables(parts).sort_by("order").drop_columns(["order"]), failed


def _redact(records: pa.Table, redactor: PIIRedactor, channel: str) -> tuple[pa.Table, list[tuple[str, str]]]:
    failed = np.zeros(records.num_rows, bool)
    hint = redactor.hint(channel)
    columns: dict[str, Any] = {name: records[name].combine_chunks() for name in records.column_names}

    def clean(values: pa.Array, rows: np.ndarray[Any, Any]) -> pa.Array:
        return _clean(values, rows, failed, hint, lambda text: redactor.redact(text, channel))

    columns["text"], columns["pages"] = _redact_paged(columns, redactor, channel, failed, hint)
    for name, column in columns.items():
        if name in IDS or name == "text":
            continue
        if name == "extra":
            walk = _walker(lambda text: redactor.redact(text, channel))
            columns[name] = _clean(column, np.arange(len(column)), failed, r"[@\p{Nd}]", walk)
        elif pa.types.is_string(column.type):
            columns[name] = clean(column, np.arange(len(column)))
        elif pa.types.is_list(column.type) and name != "pages":
            columns[name] = _in_lists(column, clean)
    table = pa.Table.from_arrays([columns[name] for name in records.column_names], schema=arrow_schema(Record))
    if not failed.any():
        return table, []
    ids = records["asset_id"].filter(pa.array(failed)).to_pylist()
    return table.filter(pa.array(~failed)), [(asset_id, _FAULT) for asset_id in ids]


def _clean(
    values: pa.Array, rows: np.ndarray[Any, Any], failed: np.ndarray[Any, Any], hint: str, redact: Redact
) -> pa.Array:
    """The values redacted, those that could hold something; rows[i] is the record of values[i]."""
    mask = pc.fill_null(pc.match_substring_regex(values, hint), False)
    positions = np.flatnonzero(mask.to_numpy(zero_copy_only=False))
    if not len(positions):
        return values
    known: dict[str, str | None] = {}
    redacted = []
    for position, value in zip(positions, values.filter(mask).to_pylist(), strict=True):
        if value not in known:
            try:
                known[value] = redact(value)
            except RedactionError:
                known[value] = None
        failed[rows[position]] |= known[value] is None
        redacted.append(known[value] or "")
    return pc.replace_with_mask(values, mask, pa.array(redacted, pa.string()))


def _in_lists(column: pa.ListArray, clean: Callable[[pa.Array, np.ndarray[Any, Any]], pa.Array]) -> pa.Array:
    """A column of lists of strings, or of structs with a name, redacted."""
    rows = pc.list_parent_indices(column).to_numpy(zero_copy_only=False)
    values = column.flatten()
    if pa.types.is_struct(column.type.value_type):
        fields = list(column.type.value_type)
        parts = [values.field(field.name) for field in fields]
        names = [clean(part, rows) if field.name == "name" else part for field, part in zip(fields, parts, strict=True)]
        values = pa.StructArray.from_arrays(names, fields=fields)
    else:
        values = clean(values, rows)
    lengths = pc.list_value_length(column).to_numpy(zero_copy_only=False)
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
    return pa.ListArray.from_arrays(pa.array(offsets), values, type=column.type)


def _redact_paged(
    columns: dict[str, Any], redactor: PIIRedactor, channel: str, failed: np.ndarray[Any, Any], hint: str
) -> tuple[pa.Array, pa.Array]:
    """Texts redacted, and the offsets of their pages moved along."""
    texts, pages = columns["text"], columns["pages"]
    paged = pc.and_(pc.greater(pc.list_value_length(pages), 0), pc.match_substring_regex(texts, hint))
    if not pc.any(paged).as_py():
        return _clean(texts, np.arange(len(texts)), failed, hint, lambda text: redactor.redact(text, channel)), pages
    new_texts, new_pages = texts.to_pylist(), pages.to_pylist()
    looked_at = pc.match_substring_regex(texts, hint).to_pylist()
    for row, text in enumerate(new_texts):
        if not looked_at[row]:
            continue
        try:
            new_texts[row], new_pages[row] = _redact_pages(text, new_pages[row], redactor, channel)
        except RedactionError:
            new_texts[row], new_pages[row], failed[row] = "", [], True
    return pa.array(new_texts, texts.type), pa.array(new_pages, pages.type)


def _redact_pages(
    text: str, pages: list[dict[str, int]], redactor: PIIRedactor, channel: str
) -> tuple[str, list[dict[str, int]]]:
    for changes in redactor.passes(text, channel):
        moved = _mover(changes)
        pages = [{**page, "start": moved(page["start"]), "end": moved(page["end"])} for page in pages]
        text = apply(text, changes)
    return text, pages


def _mover(changes: list[Change]) -> Callable[[int], int]:
    """Where an offset lies after the changes; one inside a replaced stretch moves to its end."""

    def moved(offset: int) -> int:
        shift = 0
        for change in changes:
            if change.start >= offset:
                break
            if offset < change.end:
                return change.start + shift + len(change.new)
            shift += len(change.new) - (change.end - change.start)
        return offset + shift

    return moved


def _walker(redact: Redact) -> Redact:
    """Redacts every string in a JSON text, keys too."""

    def walk(value: Any) -> Any:
        if isinstance(value, str):
            return redact(value)
        if isinstance(value, list):
            return [walk(part) for part in value]
        if isinstance(value, dict):
            return {redact(key): walk(part) for key, part in value.items()}
        if isinstance(value, int | float) and not isinstance(value, bool):
            # a number can be a phone or a card: it stays one only if it reveals nothing
            written = redact(str(value))
            return value if written == str(value) else written
        return value

    return lambda text: orjson.dumps(walk(orjson.loads(text)), option=orjson.OPT_SORT_KEYS).decode()
