"""The row of each type of edge, as the stage of a month and the owner's links make it.

An edge points from the part to the whole: from a message to its thread, an attachment to its mail, a passage to its
record. Each function takes columns, so that a month of a million messages takes one call; a link is a column of one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import pyarrow as pa
import pyarrow.compute as pc

from relrag_pipelines.errors import RelragError
from relrag_pipelines.records import Edge
from relrag_pipelines.stores.table_schema import arrow_schema

CHUNK = "chunk:"
THREAD = "thread:"
Refs: TypeAlias = Sequence[str] | pa.Array | pa.ChunkedArray


class LinkError(RelragError, ValueError):
    """Two ends or a relation type that cannot form an edge. The message names the wrong value and the accepted ones."""

    stored = "a relation that the owner stated cannot be used"


def generate_asset_id(source: str, source_id: str) -> str:
    """The name of a record everywhere: `<kind>:<native id>`, the same for all its passages.

    `source` is the kind that reads it (gmail, whatsapp, ...). Raises LinkError where one of them is empty or the kind
    holds a colon, which separates the two.
    """
    if not source or not source_id or ":" in source:
        raise LinkError(f'kind "{source}" and native id "{source_id}" make no id; the form is <kind>:<native id>')
    return f"{source}:{source_id}"


def attachment_edges(parents: Refs, children: Refs, provenance: str) -> pa.Table:
    """An edge from each attached or embedded record (child) to the record that contains it (parent)."""
    return edge_table(children, parents, "attachment_of", provenance)


def thread_member_edges(thread_ids: Refs, members: Refs, provenance: str) -> pa.Table:
    """An edge from each record to `thread:<id>`. Records of a thread have no edges between each other."""
    return edge_table(members, _with_prefix(THREAD, thread_ids), "thread_member", provenance)


def chunk_edges(parents: Refs, chunks: Refs, provenance: str) -> pa.Table:
    """An edge from each passage to its record, or from a chat window to a message in it."""
    return edge_table(_passage_refs(chunks), parents, "chunk_of", provenance)


def reply_edges(answered: Refs, replies: Refs, provenance: str) -> pa.Table:
    """An edge from each reply to the message that it answers."""
    return edge_table(replies, answered, "reply_to", provenance)


def transcript_edges(recordings: Refs, transcripts: Refs, provenance: str) -> pa.Table:
    """An edge from each call with a transcript to its recording, `audio:<keyed hash of its bytes>`."""
    return edge_table(transcripts, recordings, "transcript_of", provenance)


def edge_table(src: Refs, dst: Refs, relation_type: str, provenance: str, confidence: float = 1.0) -> pa.Table:
    """Edges of one type, each from a ref to the ref in the same position."""
    src, dst = _strings(src), _strings(dst)
    size = len(src)
    columns = [src, dst, pa.repeat(relation_type, size), pa.repeat(confidence, size), pa.repeat(provenance, size)]
    return pa.Table.from_arrays(columns, names=arrow_schema(Edge).names).cast(arrow_schema(Edge))


def _with_prefix(prefix: str, values: Refs) -> pa.ChunkedArray:
    return pc.binary_join_element_wise(prefix, _strings(values), "")


def _passage_refs(chunks: Refs) -> pa.ChunkedArray:
    """`chunk:<id>` of each id of a passage; what has a colon is a ref already."""
    values = _strings(chunks)
    return pc.if_else(pc.match_substring(values, ":"), values, _with_prefix(CHUNK, values))


def _strings(values: Refs) -> pa.Array | pa.ChunkedArray:
    return values if isinstance(values, pa.Array | pa.ChunkedArray) else pa.array(values, pa.string())
