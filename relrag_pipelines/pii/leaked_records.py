"""Records that were redacted and still hold a value that was replaced in another one."""

from __future__ import annotations

from collections.abc import Mapping

import pyarrow as pa

from relrag_pipelines.pii import PIIRedactor, pseudonyms, stored_text
from relrag_pipelines.pii.known_values import APART, KnownValues
from relrag_pipelines.pii.redact_tables import channel_of

FAULT = "known_value"
MEANING = (
    "it still held a value that was replaced in a record of the same month, so it was left out; please report it with "
    "the kind of source"
)


def withhold(
    redacted: pa.Table, redactor: PIIRedactor, default_channel: str, originals: Mapping[str, str]
) -> tuple[pa.Table, list[str]]:
    """The rows without those that hold one of the values and may not, and the ids of these.

    `originals` are values by pseudonym, as `redact_records` gives them for the same rows; they are looked for by other
    means than the redactor's. Only these are asked, so that a month depends on nothing but itself.
    """
    values = ((pseudonyms.entity_of(name), value) for name, value in originals.items())
    known = KnownValues(values, redactor.allowed)
    if not known or not stored_text.may_hold(redacted, known):
        return redacted, []
    rows = redacted.to_pylist()
    held = [
        bool(
            known.entities(APART.join(stored_text.texts(row)))
            & redactor.hidden(channel_of(row["rag_source_type"], default_channel))
        )
        for row in rows
    ]
    names = [row["asset_id"] for row, found in zip(rows, held, strict=True) if found]
    return redacted.filter(pa.array([not one for one in held], pa.bool_())), names
