"""Records that were redacted and still hold a value that was replaced elsewhere."""

from __future__ import annotations

from collections.abc import Mapping

import pyarrow as pa
import pyarrow.compute as pc

from relrag_pipelines.pii import PIIRedactor, known_columns, pseudonyms
from relrag_pipelines.pii.known_values import KnownValues
from relrag_pipelines.pii.redact_tables import channel_of

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
        hidden = known.only(redactor.hidden(channel_of(kind, default_channel)))
        places = pc.indices_nonzero(pc.equal(rows["rag_source_type"], kind)).to_pylist() if hidden else []
        some = rows if len(places) == rows.num_rows else rows.take(pa.array(places, pa.int64()))
        for number, held in known_columns.rows_that_hold(some, hidden):
            found[places[number]] = {one.entity for one in held}
    return found


def withhold(
    redacted: pa.Table, redactor: PIIRedactor, default_channel: str, originals: Mapping[str, str]
) -> tuple[pa.Table, list[str]]:
    """The rows without those that hold one of the values and may not, and the ids of these.

    `originals` are values by pseudonym, as `redact_records` gives them for the same rows; they are looked for by other
    means than the redactor's. Only these are asked, so that a month depends on nothing but itself; those of other
    months and sources are looked for before a generation is published.
    """
    values = ((pseudonyms.entity_of(name), value) for name, value in originals.items())
    found = find(redacted, KnownValues.of(values, redactor.allowed), redactor, default_channel)
    if not found:
        return redacted, []
    kept = [number not in found for number in range(redacted.num_rows)]
    return redacted.filter(pa.array(kept)), redacted["asset_id"].take(pa.array(sorted(found))).to_pylist()
