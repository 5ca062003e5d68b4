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
    plain = replace(
        record,
        locations=[],
        asset_id=plain_id(record.asset_id),
        source_id=plain_id(record.source_id),
        parent_ref=record.parent_ref and plain_id(record.parent_ref),
        parent_asset_id=record.parent_asset_id and plain_id(record.parent_asset_id),
    )
    serialised = orjson.dumps(plain, option=orjson.OPT_SORT_KEYS)
    return keys.content_hash(serialised), len(serialised)
