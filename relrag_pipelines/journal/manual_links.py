"""Links that the owner added or removed, stored in the journal; the last entry about a link counts."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from relrag_pipelines.journal import journal
from relrag_pipelines.records import ManualLink


def append(home: Path, words: Iterable[ManualLink]) -> None:
    """Appends these statements, and syncs them to disk."""
    journal.append(home, words)


def load(home: Path) -> list[ManualLink]:
    """The last statement about each link, sorted by link."""
    last_links = {
        (link.src_asset_ref, link.dst_asset_ref, link.relation_type): link
        for link in journal.statements(home, ManualLink)
    }
    return [last_links[key] for key in sorted(last_links)]
