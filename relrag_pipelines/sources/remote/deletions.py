"""Checks before items of a mirror are removed: an answer that lists too little must not delete what it leaves out.

A fetcher confirms each missing item or folder by the means of its protocol. This module adds the limit that holds for
all protocols, the one by which an export refuses to delete too many records.
"""

from __future__ import annotations

from collections.abc import Collection

from relrag_pipelines.sources.remote import FetchError, Server

FEW_ITEMS = 20
"""so many items may always go"""
SHARE = 5
"""more than one part in so many goes only with the owner's consent"""


def missing_items(server: Server, host: str, stored: Collection[str], listed: Collection[str]) -> set[str]:
    """The stored items that the server does not list.

    Raises FetchError if the mirror would shrink by more than a fifth, and by more than a few items: items that the
    server lists under another name, as after a new UIDVALIDITY, are no loss.
    """
    missing = set(stored).difference(listed)
    loss = len(stored) - len(listed)
    too_many = loss > FEW_ITEMS and loss * SHARE > len(stored)
    if too_many and not server.accept_deletions:
        raise FetchError(
            f"{host} lists {len(listed):,} items, and {len(stored):,} were fetched before; if that many were deleted, "
            "run `relrag sync --accept-deletions`, else look what the account may read (nothing was removed)"
        )
    return missing
