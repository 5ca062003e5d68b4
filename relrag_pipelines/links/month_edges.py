"""Relations between records, as the records themselves name them.

`edges()` gives the claims of one source and month. An edge points from the part to the whole: from a message to its
thread, an attachment to its mail, a chunk to its record.
"""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from relrag_pipelines.links.message_references import message_id_edges, references
from relrag_pipelines.records import AUDIO_REF, Edge
from relrag_pipelines.sources import RECORD_TYPES
from relrag_pipelines.stores.table_schema import arrow_schema

CHUNK = "chunk:"
THREAD = "thread:"
_SPOKEN = pa.array([type_.name for type_ in RECORD_TYPES.values() if type_.spoken])


def build_edges(records: pa.Table, chunks: pa.Table) -> pa.Table:
    """Claims of one month: thread_member, attachment_of, reply_to, references, chunk_of and transcript_of.

    Each stands once; they are ordered by their key. records are redacted Record rows, chunks are Chunk rows of the same
    source and month.
    """
    tables = [thread_members(records), attachments(records), replies(records), references(records)]
    claims = pa.concat_tables([*tables, message_id_edges(records), chunk_members(chunks), transcripts(records)])
    return claims.sort_by(
        [("src_asset_ref", "ascending"), ("dst_asset_ref", "ascending"), ("relation_type", "ascending")]
    )


def thread_members(records: pa.Table) -> pa.Table:
    """Each record of a thread to `thread:<id>`: a star, never all pairs."""
    rows = records.filter(pc.is_valid(records["thread_id"]))
    return _claims(rows["asset_id"], _with_prefix(THREAD, rows["thread_id"]), "thread_member", "thread_id")


def attachments(records: pa.Table) -> pa.Table:
    """Each record that another one contains to its container."""
    contained = pc.and_(pc.is_valid(records["parent_asset_id"]), pc.is_valid(records["index_in_parent"]))
    rows = records.filter(contained)
    return _claims(rows["asset_id"], rows["parent_asset_id"], "attachment_of", "parent_asset_id")


def replies(records: pa.Table) -> pa.Table:
    """Each record that answers another one to that one; the claim waits where the other is not in the archive."""
    answers = pc.and_(pc.is_valid(records["parent_asset_id"]), pc.is_null(records["index_in_parent"]))
    rows = records.filter(answers)
    return _claims(rows["asset_id"], rows["parent_asset_id"], "reply_to", "parent_asset_id")


def chunk_members(chunks: pa.Table) -> pa.Table:
    """Each chunk to its record; each chat window to every message in it."""
    windows = pc.greater(pc.list_value_length(chunks["members"]), 0)
    inside, passages = chunks.filter(windows), chunks.filter(pc.invert(windows))
    members = inside["members"].combine_chunks()
    owners = inside["asset_id"].take(pc.list_parent_indices(members))
    return pa.concat_tables(
        [
            _claims(owners, pc.list_flatten(members), "chunk_of", "window"),
            _claims(_with_prefix(CHUNK, passages["chunk_id"]), passages["asset_id"], "chunk_of", "chunk"),
        ]
    )


def transcripts(records: pa.Table) -> pa.Table:
    """Each call that has a transcript to the audio it is of: `audio:<keyed hash of its bytes>`."""
    of_audio = pc.starts_with(pc.fill_null(records["parent_ref"], ""), AUDIO_REF)
    calls = pc.and_(pc.is_in(records["rag_source_type"], _SPOKEN), of_audio)
    rows = records.filter(pc.and_(calls, pc.not_equal(records["text"], "")))
    return _claims(rows["asset_id"], rows["parent_ref"], "transcript_of", "transcript")


def _with_prefix(prefix: str, values: pa.ChunkedArray) -> pa.ChunkedArray:
    return pc.binary_join_element_wise(prefix, values, "")


def _claims(src: pa.ChunkedArray, dst: pa.ChunkedArray, relation: str, provenance: str) -> pa.Table:
    size = len(src)
    columns = [src, dst, pa.repeat(relation, size), pa.repeat(1.0, size), pa.repeat(provenance, size)]
    return pa.Table.from_arrays(columns, names=arrow_schema(Edge).names).cast(arrow_schema(Edge))
