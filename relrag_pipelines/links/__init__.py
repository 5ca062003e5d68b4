"""Relations between records: found in what was read, said by the owner, read from what is published.

record_edges.py and message_references.py give what the records of a month name themselves; stores/catalog_links.py adds
what records of all sources share. The functions below are the door for the owner and for other programs: what they
write is kept in private/journal.jsonl and holds from the next sync on, what they read is the published generation.
"""

from relrag_pipelines.links.manual import (
    LinkError,
    delete_asset_edge,
    generate_asset_id,
    get_asset_neighbors,
    get_thread_members,
    link_assets,
    link_attachment,
    link_chunk,
    link_thread_member,
)
from relrag_pipelines.links.record_edges import build_edges

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
