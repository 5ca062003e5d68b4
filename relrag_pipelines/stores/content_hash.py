"""The hash that tells whether a record has changed."""

import orjson

from relrag_pipelines.privacy.keys import Keys
from relrag_pipelines.records import Record


def content_hash(record: Record, keys: Keys) -> tuple[str, int]:
    """The hash of all that a record says, and how many bytes that is."""
    locations, record.locations = record.locations, []
    try:
        said = orjson.dumps(record, option=orjson.OPT_SORT_KEYS)
        return keys.content_hash(said), len(said)
    finally:
        record.locations = locations
