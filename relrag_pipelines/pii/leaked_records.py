"""Redacts records again that still contain a value that was replaced elsewhere."""

from __future__ import annotations

from collections.abc import Mapping

import pyarrow as pa
import pyarrow.compute as pc

from relrag_pipelines.pii import PIIRedactor, known_columns, redact_tables
from relrag_pipelines.pii.known_values import KnownValues
from relrag_pipelines.privacy import pseudonyms

FAULT = "known_value"
MEANING = (
    "it still held a value that was replaced in another record, so it was left out; please report it with the kind of "
    "source"
)


def find(rows: pa.Table, values: KnownValues, redactor: PIIRedactor, default_channel: str) -> dict[int, set[str]]:
    """The numbers of the rows that contain a value hidden by their channel's policy, with the entities.

    The rows are records, or derived from records, with a `rag_source_type`.
    """
    entities_by_row: dict[int, set[str]] = {}
    for kind in pc.unique(rows["rag_source_type"]).to_pylist():
        hidden = values.restrict(redactor.hidden_entities(redact_tables.channel_of(kind, default_channel)))
        places = pc.indices_nonzero(pc.equal(rows["rag_source_type"], kind)).to_pylist() if hidden else []
        channel_rows = rows if len(places) == rows.num_rows else rows.take(pa.array(places, pa.int64()))
        for number, row_values in known_columns.rows_that_hold(channel_rows, hidden):
            entities_by_row[places[number]] = {value.entity for value in row_values}
    return entities_by_row


def redact(
    records: pa.Table, redactor: PIIRedactor, default_channel: str, originals: dict[str, str]
) -> tuple[pa.Table, list[tuple[str, str]]]:
    """Like `redact_records`, but redacts a record again if it still contains a replaced value.

    The value is then replaced in all strings of the record: an account may have context words in a text, and none in
    a file name. A record that still contains it fails with `FAULT`. Values are searched for independently of the
    redactor's recognisers, and only in these rows, so that a month depends on itself alone; values of other months
    and sources are searched for before a generation is published.
    """
    rows, failed = redact_tables.redact_records(records, redactor, default_channel, originals)
    leaked_ids = _ids(rows, originals, redactor, default_channel)
    if not leaked_ids:
        return rows, failed
    leaked_records = records.filter(pc.is_in(records["asset_id"], leaked_ids))
    values = _known_values(originals, redactor)
    redacted_again, failed_again = redact_tables.redact_records(
        leaked_records, redactor, default_channel, originals, values
    )
    rows = pa.concat_tables([_drop_rows(rows, leaked_ids), redacted_again]).sort_by("asset_id")
    leaked_ids = _ids(rows, originals, redactor, default_channel)
    faults = [*failed, *failed_again, *((asset_id, FAULT) for asset_id in leaked_ids.to_pylist())]
    return _drop_rows(rows, leaked_ids), sorted(faults)


def _known_values(originals: Mapping[str, str], redactor: PIIRedactor) -> KnownValues:
    values = ((pseudonyms.entity_of(name), value) for name, value in originals.items())
    return KnownValues.from_pairs(values, redactor.allowed)


def _ids(rows: pa.Table, originals: Mapping[str, str], redactor: PIIRedactor, default_channel: str) -> pa.Array:
    """The ids of the rows that contain one of the values although their channel hides it."""
    row_numbers = find(rows, _known_values(originals, redactor), redactor, default_channel)
    return rows["asset_id"].take(pa.array(sorted(row_numbers), pa.int64())).combine_chunks()


def _drop_rows(rows: pa.Table, ids: pa.Array) -> pa.Table:
    return rows.filter(pc.invert(pc.is_in(rows["asset_id"], ids)))
