"""Relations between records, as the records themselves name them.

`build_edges()` gives the claims of one source and month; edge_rows.py makes their rows.
"""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from relrag_pipelines.links import edge_rows
from relrag_pipelines.links.message_references import message_id_edges, references
from relrag_pipelines.records import AUDIO_REF
from relrag_pipelines.sources import RECORD_TYPES

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
    """An edge for each record of a thread."""
    rows = records.filter(pc.is_valid(records["thread_id"]))
    return edge_rows.thread_member_edges(rows["thread_id"], rows["asset_id"], "thread_id")


def attachments(records: pa.Table) -> pa.Table:
    """An edge for each record that another one contains."""
    contained = pc.and_(pc.is_valid(records["parent_asset_id"]), pc.is_valid(records["index_in_parent"]))
    rows = records.filter(contained)
    return edge_rows.attachment_edges(rows["parent_asset_id"], rows["asset_id"], "parent_asset_id")


def replies(records: pa.Table) -> pa.Table:
    """An edge for each record that answers another one; the claim waits where the other is not in the archive."""
    answers = pc.and_(pc.is_valid(records["parent_asset_id"]), pc.is_null(records["index_in_parent"]))
    rows = records.filter(answers)
    return edge_rows.reply_edges(rows["parent_asset_id"], rows["asset_id"], "parent_asset_id")


def chunk_members(chunks: pa.Table) -> pa.Table:
    """An edge for each passage, and for each message of each chat window."""
    windows = pc.greater(pc.list_value_length(chunks["members"]), 0)
    inside, passages = chunks.filter(windows), chunks.filter(pc.invert(windows))
    members = inside["members"].combine_chunks()
    owners = inside["asset_id"].take(pc.list_parent_indices(members))
    return pa.concat_tables(
        [
            edge_rows.chunk_edges(pc.list_flatten(members), owners, "window"),
            edge_rows.chunk_edges(passages["asset_id"], passages["chunk_id"], "chunk"),
        ]
    )


def transcripts(records: pa.Table) -> pa.Table:
    """An edge for each call that has a transcript."""
    of_audio = pc.starts_with(pc.fill_null(records["parent_ref"], ""), AUDIO_REF)
    calls = pc.and_(pc.is_in(records["rag_source_type"], _SPOKEN), of_audio)
    rows = records.filter(pc.and_(calls, pc.not_equal(records["text"], "")))
    return edge_rows.transcript_edges(rows["parent_ref"], rows["asset_id"], "transcript")
