"""The edges of the open archive's catalog, by the names that its steps know them by."""

from __future__ import annotations

from relrag_pipelines.links.neighbors import Direction, Member, Neighbor
from relrag_pipelines.links.neighbors import attachments as get_attachments
from relrag_pipelines.links.neighbors import neighbors as get_asset_neighbors
from relrag_pipelines.links.neighbors import thread_members as get_thread_members

__all__ = ["Direction", "Member", "Neighbor", "get_asset_neighbors", "get_attachments", "get_thread_members"]
