"""The hash that tells whether a record has changed."""

from dataclasses import replace

import orjson

from relrag_pipelines.privacy.keys import Keys
from relrag_pipelines.records import Record
from relrag_pipelines.sources.mail_ids import plain_id


def content_hash(record: Record, keys: Keys) -> tuple[str, int]:
    """The hash of a record's content, and its size in bytes.

    A mail's id depends on the other mails of its source, so only its plain id counts.
    """
    ids = (record.asset_id, record.source_id, record.parent_ref, record.parent_asset_id)
    if any("~" in (name or "") for name in ids):
        record = _with_plain_ids(record)
    locations, record.locations = record.locations, []  # a copy would take as long as the rest
    try:
        serialised = orjson.dumps(record, option=orjson.OPT_SORT_KEYS)
    finally:
        record.locations = locations
    return keys.content_hash(serialised), len(serialised)


def _with_plain_ids(record: Record) -> Record:
    return replace(
        record,
        asset_id=plain_id(record.asset_id),
        source_id=plain_id(record.source_id),
        parent_ref=record.parent_ref and plain_id(record.parent_ref),
        parent_asset_id=record.parent_asset_id and plain_id(record.parent_asset_id),
    )
