"""Relations between records: found in records, stated by the owner, read from the published generation.

month_edges.py and message_references.py find the edges that the records of a month name themselves, edge_rows.py makes
the row of each; stores/shared_key_edges.py adds those between records of all sources that share a number, a file or a
text. The functions below are for the owner and for other programs: what they write is kept in private/journal.jsonl;
what they read is the published generation, with what was written since (later_links.py).
"""

from relrag_pipelines.links.edge_rows import LinkError, generate_asset_id
from relrag_pipelines.links.manual import (
    delete_asset_edge,
    get_asset_neighbors,
    get_thread_members,
    link_assets,
    link_attachment,
    link_chunk,
    link_thread_member,
)
from relrag_pipelines.links.month_edges import build_edges

__all__ = [
    "LinkError",
    "build_edges",
    "delete_asset_edge",
    "generate_asset_id",
    "get_asset_neighbors",
    "get_thread_members",
    "link_assets",
    "link_attachment",
    "link_chunk",
    "link_thread_member",
]
