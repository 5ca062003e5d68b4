"""Which columns each column of a month is computed from, for Dagster's column lineage.

Columns that only choose or order rows, such as `rag_source_type` of chat messages, are left out.
"""

from __future__ import annotations

from collections.abc import Mapping

from relrag_pipelines.records import TABLES
from relrag_pipelines.stages.month_stages import Stage
from relrag_pipelines.stores.table_schema import columns

Columns = tuple[tuple[str, str], ...]
"""pairs of table and column"""

_PEOPLE = ("from", "to", "participants", "people")
_IDENTITY: Columns = tuple(("private_records", column) for column in (*_PEOPLE, "rag_source_type"))
_TEXT: Columns = (("records", "text"), ("records", "extra"))
_PASSAGE: Columns = (*_TEXT, ("records", "from"), ("records", "file_name"))
_WINDOW: Columns = (("records", "asset_id"), ("records", "source_id"), ("records", "thread_id"))
_SPOKEN: Columns = (*_TEXT, ("records", "spoken"))
_VECTORS: Columns = (("chunks", "text"),)

COMPUTED: dict[str, dict[str, Columns]] = {
    "records": {"locations": (("private_records", "locations"), ("private_records", "unit"))},
    "identifiers": {
        "role": _IDENTITY,
        "kind": _IDENTITY,
        "value": _IDENTITY,
        "keyed": _IDENTITY,
        "entry": (*_IDENTITY, ("private_records", "asset_id")),
        "shared": _IDENTITY,
        "person_id": (("private_records", "people"),),
    },
    "chunks": {
        "chunk_id": _WINDOW,
        "asset_id": _WINDOW,
        "chunk_group_id": _WINDOW,
        "source_id": (("records", "source_id"), ("records", "thread_id")),
        "participants": (("records", "participants"), ("records", "from")),
        "chunk_index": _TEXT,
        "chunk_count": _TEXT,
        "text": _PASSAGE,
        "text_hash": _PASSAGE,
        "section": (("records", "extra"),),
        "start": _TEXT,
        "end": _TEXT,
        "page_number": (("records", "pages"), ("records", "text")),
        "last_page_number": (("records", "pages"), ("records", "text")),
        "members": (("records", "asset_id"), ("records", "thread_id"), ("records", "ts")),
        "last_ts": (("records", "ts"),),
        "start_second": _SPOKEN,
        "end_second": _SPOKEN,
    },
    "embeddings": {"vector": _VECTORS, "span_hashes": _VECTORS, "span_vectors": _VECTORS, "model": ()},
    "asset_asset_edges": {
        "src_asset_ref": (("records", "asset_id"), ("chunks", "chunk_id"), ("chunks", "asset_id")),
        "dst_asset_ref": (
            ("records", "thread_id"),
            ("records", "parent_asset_id"),
            ("records", "parent_ref"),
            ("records", "extra"),
            ("chunks", "asset_id"),
            ("chunks", "members"),
        ),
        "relation_type": (
            ("records", "thread_id"),
            ("records", "index_in_parent"),
            ("records", "rag_source_type"),
            ("records", "extra"),
            ("chunks", "members"),
        ),
        "confidence": (("records", "extra"),),
        "provenance": (("records", "extra"),),
    },
}
"""by table and column; () for a column that is the same whatever the input holds. Others keep their name"""


def sources_of(stage: Stage) -> Mapping[str, Columns]:
    """The input columns of each column of a stage's table; the column of the same name where nothing else is said."""
    computed = COMPUTED[stage.table]
    names = [column.name for column in columns(TABLES[stage.table].row)]
    return {name: computed.get(name, ((stage.inputs[0], name),)) for name in names}
