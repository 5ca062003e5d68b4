"""Records that were redacted and still hold a value that was replaced elsewhere."""

from __future__ import annotations

from collections.abc import Mapping

import pyarrow as pa
import pyarrow.compute as pc

from relrag_pipelines.pii import PIIRedactor, known_columns, pseudonyms, redact_tables
from relrag_pipelines.pii.known_values import KnownValues

FAULT = "known_value"
MEANING = (
    "it still held a value that was replaced in another record, so it was left out; please report it with the kind of "
    "source"
)


def find(rows: pa.Table, known: KnownValues, redactor: PIIRedactor, default_channel: str) -> dict[int, set[str]]:
    """The numbers of the rows that hold a value which their record's channel hides, and its entities.

    The rows are of records, or of what is made of a record and tells its `rag_source_type`.
    """
    found: dict[int, set[str]] = {}
    for kind in pc.unique(rows["rag_source_type"]).to_pylist():
        hidden = known.restrict(redactor.hidden_entities(redact_tables.channel_of(kind, default_channel)))
        places = pc.indices_nonzero(pc.equal(rows["rag_source_type"], kind)).to_pylist() if hidden else []
        some = rows if len(places) == rows.num_rows else rows.take(pa.array(places, pa.int64()))
        for number, held in known_columns.rows_that_hold(some, hidden):
            found[places[number]] = {one.entity for one in held}
    return found


def redact(
    records: pa.Table, redactor: PIIRedactor, default_channel: str, originals: dict[str, str]
) -> tuple[pa.Table, list[tuple[str, str]]]:
    """`redact_records`, but a record that then still holds a value which was replaced is redacted once more.

    That value is replaced wherever the record holds it: an account has words around it in a text, and none in the name
    of a file. The fault of a record that holds it even then is `FAULT`. What is replaced is looked for by other means
    than the redactor's, and only in the same rows, so that a month depends on nothing but itself; values of other
    months and sources are looked for before a generation is published.
    """
    rows, failed = redact_tables.redact_records(records, redactor, default_channel, originals)
    held = _ids(rows, originals, redactor, default_channel)
    if not held:
        return rows, failed
    some = records.filter(pc.is_in(records["asset_id"], held))
    values = _known_values(originals, redactor)
    again, failed_again = redact_tables.redact_records(some, redactor, default_channel, originals, values)
    rows = pa.concat_tables([_drop_rows(rows, held), again]).sort_by("asset_id")
    held = _ids(rows, originals, redactor, default_channel)
    faults = [*failed, *failed_again, *((one, FAULT) for one in held.to_pylist())]
    return _drop_rows(rows, held), sorted(faults)


def _known_values(originals: Mapping[str, str], redactor: PIIRedactor) -> KnownValues:
    values = ((pseudonyms.entity_of(name), value) for name, value in originals.items())
    return KnownValues.of(values, redactor.allowed)


def _ids(rows: pa.Table, originals: Mapping[str, str], redactor: PIIRedactor, default_channel: str) -> pa.Array:
    """The ids of the rows that hold one of the values and may not."""
    found = find(rows, _known_values(originals, redactor), redactor, default_channel)
    return rows["asset_id"].take(pa.array(sorted(found), pa.int64())).combine_chunks()


def _drop_rows(rows: pa.Table, ids: pa.Array) -> pa.Table:
    return rows.filter(pc.invert(pc.is_in(rows["asset_id"], ids)))
